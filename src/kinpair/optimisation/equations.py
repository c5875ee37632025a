"""Equations of what moves, as functions of one point of a motion: rates of the states, and residuals of algebraic
variables.

    ẋ = f(x, z, u, t, p),   0 = g(x, z, u, t, p)                                                       (OP4)

x: states, z: algebraic variables (accelerations, multipliers), u: inputs, p: parameters that are variables.
`kp.dynamics` makes them from a function; `mechanism_equations.py` from a Mechanism.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.algebra.user_arrays import argument, is_recorded, plain, result
from kinpair.algebra.user_functions import rebound
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.quantities.request import request_of
from kinpair.evaluation.quantities.wrenches import resultant
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.spatial.rotation import cross

GROUPS = ("states", "algebraic", "inputs")
Names = tuple[str, ...]
Place = Any  # name of a frame or link, (name, xyz), or a point of the world (3,)


@final
@dataclass(frozen=True, eq=False)
class Point:
    """One point of a motion, as functions of a user see it.

    `point.time`, `point.duration`; parts by attribute (`point.x`, `point.u`; of a mechanism `point.q`, `point.qd`,
    `point.qdd`, `point.x`, `point.u`); single entries and parameters by name: `point["theta"]`.
    """

    equations: Equations
    values: Mapping[str, Any]  # by group
    time: Any
    duration: Any
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, part: str) -> Any:
        parts = self.__dict__["equations"].parts if "equations" in self.__dict__ else {}
        if part not in parts:
            raise AttributeError(
                f"a point of {self.equations.name} has no part {part!r}; {nearest(part, parts)}"
                f"Parts: {listed(parts)}, time, duration"
            )
        group, place = parts[part]
        if group not in self.values:
            raise AttributeError(f"an end of a motion has its states only, not {part!r}")
        return self.values[group][place]

    def __getitem__(self, name: str) -> Any:
        if name in self.parameters:
            return self.parameters[name]
        for group in self.values:
            names = getattr(self.equations, group)
            if name in names:
                return self.values[group][names.index(name)]
        known = [x for group in self.values for x in getattr(self.equations, group)] + [*self.parameters]
        raise InputError(
            f"a point of {self.equations.name} has no entry {name!r}; {nearest(name, known)}Entries: {listed(known)}"
        )

    def position(self, place: Place) -> Any:
        """Position (3,) in the world of a frame or link, of a point (name, xyz) on it, or of a place (3,) [m]."""
        if not isinstance(place, str) and not isinstance(place[0], str):
            return np.asarray(place, dtype=float)
        name, xyz = (place, None) if isinstance(place, str) else place
        R, a = self._pose(name)
        return a if xyz is None else a + R @ np.asarray(xyz, dtype=float)

    def rotation(self, frame: str) -> Any:
        """Axes (3, 3) of a frame or link in the world, one in each column."""
        return self._pose(frame)[0]

    def velocity(self, frame: str) -> Any:
        """Velocity (3,) of the origin of a frame or link in the world [m/s]."""
        return self.twist(frame)[3:]

    def twist(self, frame: str) -> Any:
        """Angular and linear velocity (6,) of a frame or link, in world axes [rad/s], [m/s]."""
        model = self.equations.model(frame)
        return kinematics.jacobian(model, plain(self.q), model.place(frame)) @ plain(self.qd)

    def distance(self, first: Place, second: Place) -> Any:
        """Distance between two places [m]: frames, links, points (name, xyz) on them, or points of the world (3,)."""
        d = self.position(first) - self.position(second)
        return np.sqrt(d @ d)

    def resultant(self, at: Place = (0.0, 0.0, 0.0)) -> Any:
        """[moment; force] (6,) that the ground gives to the mechanism, at a place in world axes [N m], [N]."""
        request = request_of("resultant")
        q, qd, qdd = (plain(getattr(self, part)) for part in ("q", "qd", "qdd"))
        w = resultant(self.equations.model("ground"), request, q, qd, qdd, {})
        return carried(w, -self.position(at))

    def wrench(self, loop: str, at: Place) -> Any:
        """[moment; force] (6,) of a loop on its child, at a place in world axes [N m], [N]."""
        w, mark = self.equations.wrench(self, loop)
        return carried(w, mark - self.position(at))

    def _pose(self, frame: str) -> Any:
        model = self.equations.model(frame)
        return kinematics.pose(model, plain(self.q), model.place(frame))

    def arrays(self) -> Point:
        """The point with arrays that take ordinary NumPy functions."""
        if not any(is_recorded(x) for x in self.values.values()):
            return self
        values = {group: argument(x) for group, x in self.values.items()}
        parameters = {name: argument(x) for name, x in self.parameters.items()}
        return Point(self.equations, values, argument(self.time), argument(self.duration), parameters)


def inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of this package as one of points that takes them as they are."""

    def marked(*points: Point) -> Any:
        return function(*points)

    marked.takes_symbols = True  # type: ignore[attr-defined]
    return marked


def called(function: Callable[..., Any], *points: Point) -> Any:
    """Call a function of a user at points, whose entries are numbers or symbols."""
    recorded = any(is_recorded(x) for point in points for x in point.values.values())
    if recorded and not getattr(function, "takes_symbols", False):
        return result(rebound(function, {})(*(x.arrays() for x in points)))
    return function(*points)


def carried(w: Any, d: Any) -> Any:
    """A wrench [n; f] taken to another point, from which its own is d away: [n + d × f; f]."""
    return np.concatenate([w[:3] + cross(d, w[3:]), w[3:]])


def _without_loops(point: Point, loop: str) -> Any:
    raise InputError(f"{point.equations.name} has no loop {loop!r}: it has no constraints")


class Limited(NamedTuple):
    """A function of a point whose values have bounds."""

    name: str
    function: Callable[[Point], Any]
    lower: np.ndarray
    upper: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Equations:
    """Names, bounds and functions of what moves.    (OP4)

    parts: attribute of a point → (group, place in the group). simulated (x, u, time, parameters) → ẋ of a batch (k, nx)
    by another route than the residuals. costs: cost by name → function of a point.
    """

    name: str
    states: Names
    algebraic: Names
    inputs: Names
    parts: Mapping[str, tuple[str, slice]]
    rates: Callable[[Point], Any]
    residual: Callable[[Point], Any]
    simulated: Callable[..., np.ndarray]
    limits: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)  # by part, of the file
    costs: Mapping[str, Callable[[Point], Any]] = field(default_factory=dict)
    origin: np.ndarray = field(default_factory=lambda: np.zeros(0))  # states where nothing is given
    implicit: bool = False  # residuals fix derivatives of algebraic variables only: needs Radau points
    subject: Any = None  # the Mechanism
    path: tuple[Limited, ...] = ()
    wrench: Callable[[Point, str], tuple[Any, Any]] = _without_loops  # of a loop, and its point
    explicit: Callable[[Point], Any] | None = None  # rates without algebraic variables
    following: Callable[[np.ndarray, str], tuple[int, ...]] = lambda states, which: ()  # of an end, checked

    @property
    def nx(self) -> int:
        """Number of states."""
        return len(self.states)

    @property
    def size(self) -> int:
        """Number of variables at one point."""
        return sum(len(getattr(self, group)) for group in GROUPS)

    def spans(self) -> dict[str, slice]:
        """Place of each group among the variables of one point."""
        ends = np.cumsum([0, *(len(getattr(self, group)) for group in GROUPS)])
        return {group: slice(int(a), int(b)) for group, a, b in zip(GROUPS, ends, ends[1:], strict=False)}

    def short_names(self, part: str) -> Names:
        """Names of the entries of a part, those of its joints."""
        group, place = self.parts[part]
        return tuple(x.removesuffix(f".{part}") for x in getattr(self, group)[place])

    def model(self, frame: str) -> Model:
        """The model of the mechanism; InputError where the equations come from a function."""
        if self.subject is None:
            raise InputError(f"{self.name} has no frame {frame!r}: it is given by a function")
        return self.subject.model


@inner
def effort(point: Point) -> Any:
    """Sum of squares Σ u²."""
    return sum(x * x for x in point.u)


def dynamics(
    f: Callable[..., Any],
    states: Sequence[str],
    inputs: Sequence[str] = (),
    *,
    name: str = "",
) -> Equations:
    """Describe motion by ẋ = f(x, u, time), a function in NumPy terms, for `kp.optimise`.

    f (x, u), (x, u, time) or (x, u, time, parameters): rates of the states (nx,); x (nx,), u (nu,), time [s],
    parameters: those of `kp.optimise(..., parameters=)` by name. states, inputs: their names.
    """
    if isinstance(states, str) or isinstance(inputs, str):
        raise InputError("dynamics: states and inputs are sequences of names, such as ('position', 'rate')")
    names = tuple(map(str, states)), tuple(map(str, inputs))
    every = [*names[0], *names[1]]
    if not names[0] or len(set(every)) < len(every):
        raise InputError(f"dynamics: give each state and input a name of its own; names: {listed(every)}")
    count = _positional(f)

    def at_point(point: Point) -> Any:
        recorded = any(is_recorded(x) for x in point.values.values())
        p, own = point.arrays(), rebound(f, {}) if recorded else f
        xd = np.reshape(np.asarray(result(own(*(p.x, p.u, p.time, p.parameters)[:count])), dtype=object), -1)
        if len(xd) != len(names[0]):
            raise InputError(
                f"dynamics: f returns {len(xd)} rates for {len(names[0])} states {listed(names[0])}"
            )
        return xd

    kernels: dict[tuple[str, ...], Kernel] = {}

    def simulated(x: np.ndarray, u: np.ndarray, time: np.ndarray, p: Mapping[str, float]) -> np.ndarray:
        own = tuple(p)
        if own not in kernels:

            def recorded(x: Any, u: Any, time: Any, values: Any) -> Any:
                values = dict(zip(own, values, strict=False))
                return at_point(
                    Point(equations, {"states": x, "inputs": u[: len(names[1])]}, time, 0.0, values)
                )

            sizes = {"x": len(names[0]), "u": max(len(names[1]), 1), "p": max(len(own), 1)}
            shapes = {"x": (sizes["x"],), "u": (sizes["u"],), "time": (), "p": (sizes["p"],)}
            kernels[own] = Kernel(trace(recorded, shapes, name="rates"))
        values = np.array([*p.values()] or [0.0])
        u = u if len(names[1]) else np.zeros((len(x), 1))
        return kernels[own](x, u, time, np.broadcast_to(values, (len(x), len(values))))

    title = name or getattr(f, "__name__", "dynamics").strip("<>")
    equations = Equations(
        title,
        names[0],
        (),
        names[1],
        {"x": ("states", slice(None)), "u": ("inputs", slice(None))},
        at_point,
        lambda point: np.zeros(0),
        simulated,
        costs={"effort": effort},
        origin=np.zeros(len(names[0])),
        explicit=at_point,
    )
    return equations


def _positional(f: Callable[..., Any]) -> int:
    """Number of arguments that f takes, 2 to 4."""
    if not callable(f):
        raise InputError(
            f"dynamics: f is {f!r}; give a function (x, u) or (x, u, time) that returns the rates"
        )
    kinds = [p.kind for p in inspect.signature(f).parameters.values()]
    count = sum(
        k in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for k in kinds
    )
    if not 2 <= count <= 4:
        raise InputError(
            f"dynamics: f takes {count} arguments; give (x, u), (x, u, time) or (x, u, time, parameters)"
        )
    return count
