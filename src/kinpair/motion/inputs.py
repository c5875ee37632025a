"""Conversion of a motion to the inputs of actuators, through their own dynamics; limits that it exceeds, and energy
by loss."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from kinpair.algebra.arrays import columns
from kinpair.errors import InputError, LimitWarning, expect, listed
from kinpair.forces.actuators.actuator import Actuator
from kinpair.forces.actuators.control import Direct
from kinpair.forces.actuators.inverse import Exceeded, Samples, inverted
from kinpair.forces.elements import owners_of
from kinpair.forces.states import account_of
from kinpair.mechanism import Mechanism
from kinpair.model.state import State
from kinpair.motion.nominal import CALL, Nominal, nominal
from kinpair.motion.trajectory import Trajectory

SAMPLES = 2001


@final
@dataclass(frozen=True, eq=False)
class Inputs:
    """A motion and what drives it, at times (n,): inputs u (n, nu), internal states x (n, nx), joint efforts (n, nv).

    `table` is what `kp.simulate(..., input=)` takes to play it back from `x[0]`. `exceeded` has each limit that the
    motion needs more than, at its worst.
    """

    mechanism: Mechanism
    nominal: Nominal
    u: np.ndarray
    x: np.ndarray
    exceeded: tuple[Exceeded, ...]

    @property
    def time(self) -> np.ndarray:
        """Times of the samples [s] (n,)."""
        return self.nominal.time

    @property
    def table(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and inputs."""
        return self.time, self.u

    @cached_property
    def power(self) -> dict[str, np.ndarray]:
        """Power that comes in and is lost, by name [W] (n,); losses carry a minus.

        Friction from load is among the losses of trees; under constraints `nominal.loss` has it.
        """
        n, m = self.nominal, self.mechanism
        state = State(columns(n.q), columns(n.qd), columns(self.x), columns(self.u))
        rubbing = None if m.closure else columns(n.rubbing(n.motion.at(n.time), n.time, n.effort))
        supply, lost = account_of(m.model, state, passive=n.options["passive"], rubbing=rubbing)
        every = {**supply, **{name: -power for name, power in lost.items()}}
        return {
            name: np.broadcast_to(np.asarray(power, dtype=float), self.time.shape)
            for name, power in every.items()
        }

    @cached_property
    def energy(self) -> dict[str, float]:
        """Energy of each power over the whole motion [J]."""
        return {name: float(np.trapezoid(power, self.time)) for name, power in self.power.items()}

    @property
    def totals(self) -> dict[str, float]:
        """Energies of all actuators together [J], by kind: source, copper, friction, gear, ..."""
        found: dict[str, float] = {}
        for name, energy in self.energy.items():
            _, dot, kind = name.rpartition(".")
            if dot and name not in self.mechanism.u_names:
                found[kind] = found.get(kind, 0.0) + energy
        return found

    def __repr__(self) -> str:
        return f"<Inputs of {self.mechanism.name!r}: {self.time[-1]:g} s, {len(self.time)} samples>"

    def __str__(self) -> str:
        head = f"{self.mechanism.name}: inputs for a motion of {self.time[-1]:.6g} s"
        return "\n".join([head, *map(str, self.exceeded or ("within all limits of the actuators",))])


def inputs(
    m: Mechanism, motion: Trajectory | Mapping[str, Any], *, samples: int = SAMPLES, **options: Any
) -> Inputs:
    """Inputs with which the actuators make a motion, and internal states in between; options as of `nominal`.

    A LimitWarning names actuators whose voltage, current, effort or valve would have to go beyond its limit, when, and
    by how much. The motion should have as many continuous derivatives as the actuators have states, and one more.
    """
    expect("inputs", m, Mechanism)
    driven_by(m)
    return inputs_of(nominal(m, motion, samples=samples, **options))


def driven_by(m: Mechanism) -> list[Any]:
    """Elements that have inputs, checked: actuators among them, and none whose own controller finds the voltage."""
    driven = [x for x in owners_of(m.model) if x.element.nu]
    actuators = [x.element for x in driven if isinstance(x.element, Actuator)]
    if not actuators:
        m.actuated(m.start() if m.closure is not None else None, call=CALL)
        raise InputError(f"{m.name}: has no actuators; `kp.motion.nominal` has the joint efforts of a motion")
    for x in actuators:
        if not isinstance(x.control, Direct):
            raise InputError(
                f"{m.name}: actuator {x.name!r} is a servo: its input is the position that is wanted, and its "
                "controller finds the voltage; give it as a dc-motor to have that",
                actuator=x.name,
            )
    return driven


def inputs_of(found: Nominal) -> Inputs:
    """Inputs for a motion whose joint efforts are known; see `inputs`."""
    m, n = found.mechanism, len(found.time)
    u, x = np.zeros((n, m.nu)), np.tile(m.x_start, (n, 1))
    exceeded: list[Exceeded] = []
    for owner in driven_by(m):
        element = owner.element
        (v,) = element.drives
        if not isinstance(element, Actuator):
            u[:, owner.u] = found.effort[:, [v]]
            continue
        of = Samples(found.time, found.q[:, element.q], found.qd[:, v], found.effort[:, v])
        command, own, bounded = inverted(element, of)
        u[:, owner.u], x[:, owner.x] = command[:, None], own
        worst = (x.worst(element.name, m.v_names[v], what, of.time) for what, x in bounded.items())
        exceeded += [x for x in worst if x is not None]
    if exceeded:
        warnings.warn(f"{m.name}: {listed(map(str, exceeded), 6)}", LimitWarning, stacklevel=3)
    return Inputs(m, found, u, x, tuple(exceeded))
