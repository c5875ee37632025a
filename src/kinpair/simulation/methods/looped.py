"""Programs of a run as loops over the bodies: the rate of the state, a step of semi-implicit Euler, energies.

They are what `Dynamics` says of a tree on which nothing but gravity, efforts, and springs and dampers of joints act:
sums over the bodies stand where lists stand there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinpair.algebra.choice import less, maximum, where
from kinpair.compiler.rolled import Rolled
from kinpair.constraints.quantities import along_tree
from kinpair.evaluation import quantities
from kinpair.evaluation.body_loops import ByBodyVector, Roller, obstacle, walking
from kinpair.evaluation.kernels import FEW, LOOPED, UNROLLED, are_loops_preferred
from kinpair.forces.elements import loads_on, losses
from kinpair.forces.states import driven_efforts
from kinpair.forces.walked_inputs import input_vector
from kinpair.formulations import kinematics
from kinpair.model.model import Body, Model
from kinpair.model.recursion import joined, rates, total
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics, with_quaternion
from kinpair.simulation.rounding import LEAST

OUT = "result"


def is_looped(d: Dynamics) -> bool:
    """True where the equations are loops over the bodies: those of many operations that nothing prevents."""
    closed = d.enforcement.along_tree
    few = not closed and len(d.model.moving) <= FEW
    return not (few or prevented(d)) and (closed or _is_long(d))


def _is_long(d: Dynamics) -> bool:
    """True where loops over the bodies are preferred to one formula of the rates of the state."""
    shapes = {"time": (), "y": (d.ny,), "u": (d.nu,)}
    with np.errstate(all="ignore"):
        count = rate(d).count["total"]
    if len(d.model.moving) > UNROLLED:
        return count > LOOPED
    return are_loops_preferred(count, lambda time, y, u: d.in_phase(y).rate(time, y, u), shapes)


def prevented(d: Dynamics) -> str:
    """Reason why the equations of a run cannot be loops over the bodies; empty where they can."""
    closed = d.enforcement.along_tree
    request = replace(d.request, quantity="loop_accelerations") if closed else d.request
    wide = along_tree.obstacle(d.model) if d.enforcement.joins and not closed else ""
    return wide or d.special or obstacle(d.model, request, driven=d.actuated)


@dataclass(frozen=True, eq=False)
class Recording:
    """The motion and the efforts of a run on a tape, and its results as parts of one vector."""

    d: Dynamics
    roller: Roller
    model: Model
    state: State

    @classmethod
    def of(cls, d: Dynamics) -> Recording:
        roller, model = walking(d.model, closed=d.enforcement.along_tree, driven=d.actuated)
        layout = d.layout
        q: Any = roller.vector("q", array="y", start=layout.q.start, size=d.ny)
        qd: Any = roller.vector("qd", array="y", start=layout.qd.start, size=d.ny)
        tau: Any = np.zeros(model.nv)
        control = d.input_layout.control.start
        if d.actuated:
            x: Any = roller.vector("x", array="y", start=layout.x.start, size=d.ny)
            u: Any = roller.vector("u", array="u", start=control, size=d.nu)
            return cls(d, roller, model, State(q, qd, x, u, tau=tau))
        if d.torque_in_u:
            tau = roller.vector("tau", array="u", start=control, size=d.nu)
        return cls(d, roller, model, State(q, qd, tau=tau))

    def write(self, value: Any, start: int, size: int) -> None:
        """Write a vector by body, or numbers, into the result."""
        if isinstance(value, ByBodyVector):
            self.roller.write(OUT, value, start, size)
        else:
            self.roller.tape.result(OUT, np.ravel(value), size=size, start=start)

    @property
    def remembered(self) -> dict[str, int]:
        """Vectors of the state that a method carries from step to step, each with its place; see `GeneralisedAlpha`."""
        start, n = self.d.layout.memory.start, self.d.model.nv
        return {"a": start, "qdd": start + n, "slip": start + 2 * n + 1} if self.d.memory else {}

    @property
    def of_inputs(self) -> dict[str, int]:
        """Vectors of the state that inputs have, each with its place: internal states, and the account."""
        if not self.d.actuated:
            return {}
        account = self.d.layout.account.start
        return {"x": self.d.layout.x.start, "supply": account, "losses": account + self.roller.size("supply")}

    def rates_of(self, name: str, state: State) -> Any:
        """Speed at which a vector of inputs changes."""
        return input_vector(self.model, state, "rates" if name == "x" else name)

    def before(self, name: str, start: int) -> ByBodyVector:
        """A vector of the state, from entry `start` on."""
        return self.roller.vector(name, array="y", start=start, size=self.d.ny)

    def carried(self) -> tuple[list[Any], list[Any]]:
        """Work and loss, and what is between the account and the memory of a method."""
        layout, ny = self.d.layout, self.d.ny
        ledger = self.roller.totals("y", layout.work.start, 2, ny)
        return ledger, self.roller.totals(
            "y", layout.account.stop, layout.memory.start - layout.account.stop, ny
        )

    def powers(self, state: State) -> list[Any]:
        """Rates of work and loss, as `Dynamics.powers` has them."""
        work = 0.0
        if self.d.actuated:
            work = total(self.model, _sum, 0.0, input_vector(self.model, state, "supply").field)
        elif self.d.torque_in_u:
            efforts = rates(self.model, state.tau), rates(self.model, state.qd)
            work = total(self.model, _power, 0.0, *efforts)
        return [work, sum(losses(self.model, state, passive=self.d.passive).values(), 0.0)]

    def accelerations(self) -> Any:
        """q̈, with every loop."""
        if not self.d.enforcement.along_tree:
            return quantities.accelerations(self.model, self.d.request, self.state, {})[0]
        efforts = loads_on(self.model, self.state, passive=self.d.passive).efforts
        q, qd, tau = self.state.q, self.state.qd, self.state.tau + efforts
        return along_tree.accelerations(self.model, q, qd, tau, 0.0, self.d.enforcement.alpha).solution.qdd

    def finish(self, name: str) -> Rolled:
        """The program, named for its code."""
        return self.roller.tape.finish(name, OUT)


def _sum(body: Body, powers: Any) -> Any:
    return sum(powers, 0.0)


def _power(body: Body, tau: Any, qd: Any) -> Any:
    return tau @ qd if len(qd) else 0.0


def rate(d: Dynamics) -> Rolled:
    """ẏ, see `Dynamics.rate`."""
    with np.errstate(all="ignore"):
        x = Recording.of(d)
        x.write(kinematics.dq_dt(x.model, x.state.q, x.state.qd), d.layout.q.start, d.ny)
        x.write(x.accelerations(), d.layout.qd.start, d.ny)
        x.write(x.powers(x.state), d.layout.work.start, d.ny)
        for name, start in x.of_inputs.items():
            x.write(x.rates_of(name, x.state), start, d.ny)
        x.write(np.zeros(d.ny - d.layout.account.stop), d.layout.account.stop, d.ny)
        return x.finish("rate")


def watched(d: Dynamics) -> Rolled:
    """Energies and efforts, see `Dynamics.watched`."""
    layout = d.watched_layout
    with np.errstate(all="ignore"):
        x = Recording.of(d)
        energies = replace(d, model=x.model).energies(x.state)
        x.write(list(energies), layout.kinetic.start, d.nw)
        efforts = driven_efforts(x.model, x.state) if d.actuated else x.state.tau
        x.write(joined(x.model, rates(x.model, efforts)), layout.tau.start, d.nw)
        if d.actuated:
            x.write(x.state.u, layout.u.start, d.nw)
        if d.enforcement.along_tree:
            x.write(along_tree.residuals(x.model, x.state.q, x.state.qd, 0.0), layout.residual.start, d.nw)
        return x.finish("watched")


def semi_implicit_euler(d: Dynamics) -> Rolled:
    """y₁, see `steps.semi_implicit_euler`; of coordinates whose derivatives are the rates."""
    with np.errstate(all="ignore"):
        x = Recording.of(d)
        dt = x.roller.tape.scalar("dt")
        ledger, rest = x.carried()
        later = x.roller.moved(x.state.qd, x.accelerations(), dt)
        x.write(x.roller.moved(x.state.q, later, dt), d.layout.q.start, d.ny)
        x.write(later, d.layout.qd.start, d.ny)
        h = x.roller.totals("dt", 0, 1, 0)[0]
        end = replace(x.state, qd=later)
        x.write([a + h * b for a, b in zip(ledger, x.powers(end), strict=True)], d.layout.work.start, d.ny)
        x.write(rest, d.layout.account.stop, d.ny)
        for name, start in x.of_inputs.items():
            x.write(x.roller.moved(x.before(name, start), x.rates_of(name, end), dt), start, d.ny)
        return x.finish("semi_implicit_euler")


def settled(d: Dynamics) -> Rolled:
    """y with quaternions of length one and with closed loops, see `Dynamics.settled`."""
    with np.errstate(all="ignore"):
        x = Recording.of(d)
        q, qd = kinematics.normalised(x.model, x.state.q), x.state.qd
        ledger, rest = x.carried()
        if d.traced:
            q, qd, least = along_tree.projected(x.model, q, qd, 0.0)
            worst, over = rest[-2], 1.0 / maximum(np.abs(least), LEAST)
            worse = less(worst, over)
            time = x.roller.totals("time", 0, 1, 0)[0]
            rest[-2:] = [where(worse, over, worst), where(worse, time, rest[-1])]
        x.write(q, d.layout.q.start, d.ny)
        x.write(qd, d.layout.qd.start, d.ny)
        x.write(ledger, d.layout.work.start, d.ny)
        x.write(rest, d.layout.account.stop, d.ny)
        for name, start in (x.of_inputs | x.remembered).items():
            x.write(x.before(name, start), start, d.ny)
        for k in (
            (2 * d.model.nv, d.memory - 1) if d.memory else ()
        ):  # a power, and whether anything is remembered
            x.write(x.roller.totals("y", d.layout.memory.start + k, 1, d.ny), d.layout.memory.start + k, d.ny)
        return x.finish("settled")


def looped_step(d: Dynamics, name: str) -> Callable[[Dynamics], Rolled] | None:
    """The step of a method of that name as loops; None where there is none."""
    return semi_implicit_euler if name == "semi-implicit-euler" and not with_quaternion(d.model) else None
