"""A state where phases have ended or rates jump, and the numbers that are needed to go on from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.forces.elements import elements_of
from kinpair.friction.phases.states import Numbers, RestingStates
from kinpair.simulation.driver.impacts import RoughSurfaces, begun, rough_surfaces
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.loops import kernel_of
from kinpair.simulation.modes.modes import equations_of


class AtRest(NamedTuple):
    """State of each group at rest: its phase, and its share (rates,); the limits that stay closed, and those that
    open."""

    phase: list[float]
    share: list[np.ndarray]
    closed: tuple[Limit, ...] = ()
    opened: tuple[Limit, ...] = ()


@dataclass(frozen=True, eq=False)
class Standing:
    """State where phases have ended or rates jump: what moves, with its parameters p as arguments; time, state with the
    phases before, inputs; by place the groups at rest, and those of them that have reached their level; and the limits
    without gap and rate, those that would have to pull apart from the others; and the state `working` in which phases
    have ended, with the limits that are closed."""

    d: Dynamics
    p: np.ndarray
    time: float
    before: np.ndarray
    u: np.ndarray
    resting: Sequence[int] = ()
    leaving: Sequence[int] = ()
    closed: tuple[Limit, ...] = ()
    released: tuple[Limit, ...] = ()
    working: Standing | None = None

    @cached_property
    def own(self) -> Dynamics:
        """Dynamics with numbers for its parameters."""
        return self.d.concrete(self.p)

    def numbers(self, f: Any, y: np.ndarray) -> Any:
        """f(dynamics, time, y, u), compiled, at a state."""
        d = self.d
        kernel = kernel_of(d, f, time=(), y=(d.ny,), u=(d.nu,))
        return kernel(self.time, y, self.u, *((self.p,) if d.parameters else ()))

    def states(self, y: np.ndarray) -> RestingStates:
        """Return the solves in floats for friction at the time and the inputs."""
        d = self.own
        own = d.model.once(
            f"states {d.passive}", lambda: RestingStates(d.model, None, still=0.0, passive=d.passive)
        )
        operated = any(x.nu and x.sticks for x in elements_of(d.model, passive=d.passive, driven=True))
        inputs = np.asarray(d.state(self.time, y, self.u).u, dtype=float) if operated else None
        return own.at(self.time, inputs)

    def terms(self, numbers: Sequence[Any]) -> tuple[Numbers, np.ndarray]:
        """Return the terms of the solves in floats from `equations_of`, and the efforts of motors."""
        *terms, _, tau = numbers
        return Numbers(*terms)._replace(kept=self.d.kept), tau

    def rough_surfaces(self, y: np.ndarray, psi: np.ndarray | None = None) -> RoughSurfaces | None:
        """Return the surfaces under load that an impact at a state acts on; None where there is none.

        psi: residual of all rows, where constraints begin.
        """
        states = self.states(y)
        if all(x.kind == "level" for x in states.surfaces):
            return None
        x, tau = self.terms(self.numbers(equations_of, y))
        still = [0.0 * part for part in (x.F, x.b, x.c, x.beside)]
        jump = still[1] if psi is None else -psi
        impulsive = x._replace(F=still[0], b=jump, c=still[2], beside=still[3])
        q, qd = self.own.motion(y)
        response, joints = states.affine_of(impulsive, q, qd, 0.0 * tau)
        return rough_surfaces(response, states.system_of(response, joints, qd), states.G)

    @cached_property
    def rates(self) -> np.ndarray:
        """Numbers of the rates at rest: of groups, then of limits without a group."""
        own = [k for j in self.resting for k in self.d.groups[j].rates]
        return np.array([*own, *sorted({x.v for x in self.closed} - set(own))], dtype=int)

    def stopped(self, y: np.ndarray) -> np.ndarray:
        """Rates that obey the constraints with those at rest."""
        qd, rates = y[self.d.layout.qd].copy(), self.rates
        if not self.d.enforcement.joins:
            qd[rates] = 0.0
            return qd
        M, _, A, *_, psi, _ = self.numbers(equations_of, y)
        rows = np.zeros((len(rates), len(qd)))
        rows[np.arange(len(rates)), rates] = 1.0
        stopped = begun(M, np.concatenate([A, rows]), np.concatenate([psi, qd[rates]]), qd)
        stopped[rates] = 0.0
        return stopped
