"""Point of linearisation: the arguments, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kinpair.constraints.assembly.batch import at_time
from kinpair.errors import InputError, listed, nearest
from kinpair.forces.states import has_actuators
from kinpair.mechanism import Mechanism
from kinpair.system import System


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """q (..., nq), qd (..., nv), efforts tau (..., nv) and time: one state, or several with one axis in front.

    Internal states x (..., nx) and inputs u (..., nu), where there are any; tau is then what they do to the joints.
    """

    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    time: Any
    x: np.ndarray = field(default_factory=lambda: np.zeros(0))
    u: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def batch(self) -> tuple[int, ...]:
        """Shape in front."""
        return self.qd.shape[:-1]


def movable(what: str, given: Any) -> Mechanism | System:
    """A mechanism or a system that moves."""
    if not isinstance(given, Mechanism | System):
        raise InputError(
            f"{what} takes a Mechanism or a System, not {given!r}; load() takes files, example() names",
            argument="mechanism",
        )
    if not given.nv:
        raise InputError(f"{given.name}: nothing moves, so there is nothing to do for {what}")
    return given


def has_ports(m: Mechanism | System) -> bool:
    """True if there are internal states, or actuators whose inputs are not the joint efforts."""
    return isinstance(m, Mechanism) and bool(m.nx or has_actuators(m.model))


def check_no_ports(what: str, m: Mechanism | System) -> None:
    """Refuse internal states and actuators."""
    if has_ports(m):
        raise InputError(
            f"{m.name}: {what} is for mechanisms without actuators and internal states; leave them out of the "
            "description, or linearise about a state of your own"
        )


def point_of(m: Mechanism | System, q: Any, qd: Any, u: Any, time: Any, x: Any = None) -> Point:
    """The state and the inputs as arrays; rates and inputs that are not given are zero, internal states those of the
    start."""
    still, ports = np.zeros(m.nv), has_ports(m)
    if not ports and x is not None and np.size(x):
        raise InputError(f"{m.name}: has no internal states, and x has {np.size(x)} numbers", argument="x")
    own = {"q": q, "qd": still if qd is None else qd} | ({} if ports else {"tau": still if u is None else u})
    arrays = dict(zip(own, m.by_name(time, **own), strict=True))
    if ports:
        assert isinstance(m, Mechanism)
        arrays["x"] = m.x_start if x is None else numbers_of(m.name, "x", m.x_names, x, m.x_start)
        arrays["u"] = np.zeros(m.nu) if u is None else numbers_of(m.name, "u", m.u_names, u, np.zeros(m.nu))
    arrays = {name: m.checked(name, value) for name, value in arrays.items()}
    for name, value in arrays.items():
        if not np.isfinite(value).all():
            word = "u" if name == "tau" else name
            raise InputError(f"{m.name}: {word} holds NaN or infinity", argument=word)
    sizes = {len(a) for a in arrays.values() if a.ndim == 2} | ({np.size(time)} if np.ndim(time) else set())
    if len(sizes) > 1:
        counts = listed(map(str, sorted(sizes)))
        raise InputError(f"{m.name}: q, qd, u and time differ in how many states they have: {counts}")
    if sizes:
        (count,) = sizes
        every = arrays.items()
        arrays = {k: np.ascontiguousarray(np.broadcast_to(a, (count, a.shape[-1]))) for k, a in every}
    moments = at_time(time)
    moment = moments[:, 0] if moments.ndim == 2 else float(moments[0])
    if not ports:
        return Point(arrays["q"], arrays["qd"], arrays["tau"], moment)
    assert isinstance(m, Mechanism)
    tau = m.actuation(arrays["q"], arrays["qd"], arrays["x"], arrays["u"], moment).effort
    return Point(arrays["q"], arrays["qd"], tau, moment, arrays["x"], arrays["u"])


def numbers_of(owner: str, what: str, names: Sequence[str], given: Any, default: np.ndarray) -> Any:
    """Numbers, those by name as an array with the others at their default."""
    if not isinstance(given, Mapping):
        return given
    result = np.array(default, dtype=float)
    for name, value in given.items():
        if name not in names:
            raise InputError(
                f"{owner}: no {what} {name!r}; {nearest(str(name), names)}Names: {listed(names)}", name=name
            )
        result[list(names).index(name)] = value
    return result


def check_obeys(m: Mechanism | System, at: Point) -> None:
    """Refuse a state that breaks a constraint."""
    if m.closure is None or not m.closure.row_names:
        return
    for k in np.ndindex(*at.batch):
        which = f" (state {k[0]})" if k else ""
        time = float(at.time[k]) if k and np.ndim(at.time) else float(at.time)
        m.closure.check_obeys(at.q[k], at.qd[k], time, which)
