"""The generalised-α method as loops over the bodies: each step of Newton's method takes time in proportion to them.

Of a tree without constraints the matrix of (AL3) is H and a diagonal: what springs and dampers of joints add. So the
step is solved by articulated bodies (AB1)–(AB4), without a matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.algebra.choice import where
from kinpair.compiler.rolled import Rolled
from kinpair.forces.elements import loads_on
from kinpair.forces.joint import walked_slopes
from kinpair.formulations import articulated, newton_euler
from kinpair.model.model import Body
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.generalised_alpha import GeneralisedAlpha, Kept, begins, distance
from kinpair.simulation.methods.looped import Recording
from kinpair.simulation.methods.steps import body_ahead

SIZE = "size"


class Reached(NamedTuple):
    """The end of a step of one body, see `GeneralisedAlpha.rates`; and how q̇₁ and q₁ change with q̈₁."""

    q: Vector
    qd: Vector
    a: Vector
    mean: Vector
    of_rates: Scalar
    of_coordinates: Scalar


def _reach(method: GeneralisedAlpha, body: Body, *given: Any) -> Reached:
    q, qd, qdd, a, before, slip, dt, flag = given
    rate, a1, mean = method.rates(dt, begins(flag), qd, qdd, Kept(a, before, 0.0, slip))
    return Reached(body_ahead(body, q, dt, mean), rate, a1, mean, *method.slopes(dt, begins(flag)))


def _fresh(body: Body, flag: Scalar, new: Vector, old: Vector) -> Vector:
    return where(begins(flag), new, old) if len(new) else np.zeros(0)


@dataclass(frozen=True, eq=False)
class AlphaStep:
    """A step on the tape: the unknowns z, what is kept in them or in the state, and the end of the step."""

    method: GeneralisedAlpha
    x: Recording

    @property
    def size(self) -> int:
        """Entries of z."""
        return self.method.size(self.x.d)

    @property
    def places(self) -> dict[str, int]:
        """Places where the vectors of z begin: q̈₁, then what is kept."""
        n = self.x.d.model.nv
        return {"qdd": 0, "a": n + 1, "before": 2 * n + 1, "slip": 3 * n + 2}

    def unknown(self, name: str) -> Any:
        """A vector of z."""
        return self.x.roller.vector(name, array="z", start=self.places[name], size=self.size)

    @property
    def flag(self) -> Any:
        """The last entry of the state, for every body."""
        return self.x.roller.tape.scalar("y", self.x.d.ny - 1, self.x.d.ny)

    def reached(self) -> Any:
        """`Reached` by body."""
        tape, state = self.x.roller.tape, self.x.state
        vectors: list[Any] = [state.q, state.qd, *map(self.unknown, self.places)]
        given = (*(v.field for v in vectors), tape.scalar("dt"), self.flag)
        return self.x.roller.each(self.x.model, partial(_reach, self.method), *given)

    def vector(self, step: Callable[..., Any], *values: Any, spans: str = "v") -> Any:
        """A vector of the results of a step of each body."""
        return self.x.roller.joined(self.x.roller.each(self.x.model, step, *values), spans)

    def part(self, reached: Any, name: str, spans: str = "v") -> Any:
        """A vector of what is reached."""
        return self.vector(lambda _, end: getattr(end, name), reached, spans=spans)


def start(method: GeneralisedAlpha, d: Dynamics) -> Rolled:
    """z, see `GeneralisedAlpha.start`."""
    with np.errstate(all="ignore"):
        step = AlphaStep(method, Recording.of(d))
        x, size = step.x, step.size
        qdd = x.accelerations()
        for source, targets in {"qdd": ("qdd", "before"), "a": ("a",)}.items():
            old = x.before(source, x.remembered[source])
            here = step.vector(_fresh, step.flag, qdd.field, old.field)
            for target in targets:
                x.write(here, step.places[target], size)
        x.write(x.before("slip", x.remembered["slip"]), step.places["slip"], size)
        for place in (d.model.nv, step.places["slip"] - 1):  # powers of constraints
            x.write([0.0], place, size)
        return x.finish("start")


def improve(method: GeneralisedAlpha, d: Dynamics) -> Rolled:
    """Better z, and how far it was, see `GeneralisedAlpha.improve`."""
    with np.errstate(all="ignore"):
        step = AlphaStep(method, Recording.of(d))
        x, roller, reached = step.x, step.x.roller, step.reached()
        q, qd = step.part(reached, "q", "q"), step.part(reached, "qd")
        qdd = step.unknown("qdd")
        acting = loads_on(x.model, State(q, qd), passive=d.passive)
        residual = (
            x.state.tau + acting.efforts - newton_euler.inverse_dynamics(x.model, q, qd, qdd, acting.wrenches)
        )
        added = step.vector(_added, reached, *walked_slopes(x.model))
        change: Any = articulated.solve(x.model, q, residual, added).qdd
        x.write(qdd + change, 0, step.size)
        for name in ("a", "before", "slip"):
            x.write(step.unknown(name), step.places[name], step.size)
        for place in (d.model.nv, step.places["slip"] - 1):
            x.write([0.0], place, step.size)
        dt, flag = (roller.totals(name, k, 1, n)[0] for name, k, n in (("dt", 0, 0), ("y", d.ny - 1, d.ny)))
        largest = [roller.largest(v, 1.0) for v in (q, qd, step.unknown("a"))]
        of_rates = method.slopes(dt, begins(flag))[0]
        roller.tape.result(SIZE, distance(roller.largest(change), of_rates, largest, dt, 1.0))
        return roller.tape.finish("improve")


def _added(body: Body, reached: Reached, stiffness: Vector, damping: Vector) -> Vector:
    return reached.of_coordinates * stiffness + reached.of_rates * damping


def finish(method: GeneralisedAlpha, d: Dynamics) -> Rolled:
    """y₁, see `GeneralisedAlpha.finish`."""
    with np.errstate(all="ignore"):
        step = AlphaStep(method, Recording.of(d))
        x, reached, layout = step.x, step.reached(), d.layout
        q, mean = step.part(reached, "q", "q"), step.part(reached, "mean")
        x.write(q, layout.q.start, d.ny)
        x.write(step.part(reached, "qd"), layout.qd.start, d.ny)
        ledger, rest = x.carried()
        h = x.roller.totals("dt", 0, 1, 0)[0]
        powers = (x.powers(replace(x.state, q=q, qd=mean)) for q in (x.state.q, q))
        mean_powers = [0.5 * (p + s) for p, s in zip(*powers, strict=True)]
        x.write([e + h * p for e, p in zip(ledger, mean_powers, strict=True)], layout.work.start, d.ny)
        x.write(rest, layout.account.stop, d.ny)
        kept = {"a": step.part(reached, "a"), "qdd": step.unknown("qdd"), "slip": step.unknown("slip") * 0.0}
        for name, place in x.remembered.items():
            x.write(kept[name], place, d.ny)
        x.write([0.0], x.remembered["slip"] - 1, d.ny)
        x.write([1.0], d.ny - 1, d.ny)
        return x.finish("finish")


PROGRAMS: Mapping[str, Callable[[GeneralisedAlpha, Dynamics], Rolled]] = {
    "start": start,
    "improve": improve,
    "finish": finish,
}


def programs_of(d: Dynamics, solved: Any) -> dict[str, Rolled]:
    """The programs of a method that is solved for, by name; none where there are no loops."""
    if not isinstance(solved, GeneralisedAlpha):
        return {}
    return {name: make(solved, d) for name, make in PROGRAMS.items()}
