"""Limits of joints: what happens where a coordinate reaches its `lower` or `upper`, and an effort its `effort`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.description.schema import WAYS
from kinpair.errors import InputError, listed, nearest
from kinpair.forces.elements import owners_of
from kinpair.simulation.events.events import number
from kinpair.simulation.rounding import CLOSED, SLACK

if TYPE_CHECKING:
    from kinpair.algebra.arrays import Scalar, Vector
    from kinpair.constraints.rows.bounded import BoundedRow
    from kinpair.forces.springs import LimitSpring
    from kinpair.mechanism import Mechanism

LAWS = ("newton", "poisson")  # of restitution
RESTITUTION = 0.5  # where neither a run nor the description says it
CONTACT = 0.02  # [s]: half a swing on a spring whose stiffness is not given
DAMPED = 0.5  # and its damping, of the critical one


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """Behaviour at the limits of joints.

    * `way`: "ignore"; "stop": an impact without rebound, then locked until the limit would have to pull; "bounce": the
      rate comes back `restitution` times (a number, or a dict by coordinate; without it as the description gives it,
      else 0.5), and what comes back slower than `rest` [rad/s, m/s] stays, as with "stop"; "spring": a spring and a
      damper that push while the limit is passed;
    * `stiffness` [N/m, N m/rad], `damping`: numbers, or dicts by coordinate; where not given, such that a contact takes
      20 ms with the inertia at the start, half critically damped;
    * `impact`: law of restitution, "newton" (of the rates) or "poisson" (of the impulses of compression);
    * `saturate`: efforts on the joints are clipped to the largest `effort` of the description; `way` "saturate" does
      that alone, and ignores the limits of coordinates.
    """

    way: str = "stop"
    restitution: float | Mapping[str, float] | None = None
    rest: float = 1e-5
    stiffness: float | Mapping[str, float] | None = None
    damping: float | Mapping[str, float] | None = None
    saturate: bool = False
    impact: str = "newton"

    @property
    def saturates(self) -> bool:
        """True if efforts are clipped."""
        return self.saturate or self.way == "saturate"

    @property
    def unilateral(self) -> bool:
        """True if there are impacts."""
        return self.way in ("stop", "bounce")


@dataclass(frozen=True, slots=True)
class Limit:
    """One end of a coordinate: k in q, v in q̇, side +1 (lower) or −1 (upper), coefficient of restitution."""

    name: str
    k: int
    v: int
    side: float
    at: float
    restitution: float = 0.0

    def __hash__(self) -> int:
        return hash((self.name, self.side))

    @property
    def word(self) -> str:
        """Word for the end."""
        return "lower" if self.side > 0 else "upper"

    @property
    def label(self) -> str:
        """Name of its events, and of the row that holds it."""
        return f"{self.name} at its {self.word} limit"

    @property
    def leaving(self) -> str:
        """Name of the event that it holds no longer."""
        return f"{self.name} leaves its {self.word} limit"

    @property
    def slack(self) -> float:
        """Rounding of the gap."""
        return SLACK * max(1.0, abs(self.at))

    def gap(self, q: Vector) -> Scalar:
        """The distance left to the limit."""
        return self.side * (q[self.k] - self.at)

    @property
    def near(self) -> float:
        """The gap that counts as zero."""
        return CLOSED * max(1.0, abs(self.at))

    def is_reached(self, q: np.ndarray) -> Any:
        """True if there is no gap at q (nq,); of a batch (nq, rows), an answer for each."""
        return self.gap(q) <= self.near

    def rate(self, qd: Vector) -> Scalar:
        """Rate of the gap."""
        return self.side * qd[self.v]

    def bounded(self, q: np.ndarray, qd: np.ndarray) -> BoundedRow:
        """The row that keeps it from being passed, at a state."""
        from kinpair.constraints.rows.bounded import BoundedRow

        N = np.zeros(len(qd))
        N[self.v] = self.side
        return BoundedRow(self.label, float(self.gap(q)), float(self.rate(qd)), N)


def stated(mechanism: Mechanism, option: Any) -> Any:
    """Meaning of `limits=`: None for what the description says; where it says nothing, "stop" of a mechanism with
    geoms that touch, "ignore" of others."""
    data = mechanism.model.contacts
    silent = "stop" if data is not None and len(data.first) else "ignore"
    return mechanism.model.description.limits or silent if option is None else option


def limits_from(mechanism: Mechanism, option: Any) -> Limits:
    """Read the argument `limits=`; None: what the description says, "ignore" where it says nothing."""
    option = stated(mechanism, option)
    limits = Limits(option) if isinstance(option, str) else option
    name = mechanism.name
    if not isinstance(limits, Limits) or limits.way not in WAYS:
        shown = repr(limits.way) if isinstance(limits, Limits) else repr(option)
        raise InputError(f"{name}: limits is {shown}; it is one of {listed(WAYS)}, or a kinpair.Limits")
    if limits.impact not in LAWS:
        raise InputError(
            f"{name}: impact is {limits.impact!r}; it is one of {listed(LAWS)}", argument="impact"
        )
    e = limits.restitution
    if not (e is None or isinstance(e, Mapping) or 0.0 <= number(e) <= 1.0):
        raise InputError(f"{name}: restitution is {_shown(e)}; it lies between 0 and 1")
    for what, value in (("stiffness", limits.stiffness), ("damping", limits.damping)):
        if not (value is None or isinstance(value, Mapping) or 0.0 <= number(value) < np.inf):
            raise InputError(f"{name}: {what} is {value!r}; it is a number, zero or above", argument=what)
    if not 0.0 <= number(limits.rest) < np.inf:
        raise InputError(f"{name}: rest is {limits.rest!r}; it is a speed, zero or above")
    return limits


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, (int, float)) else repr(value)


def limits_of(mechanism: Mechanism, limits: Limits) -> tuple[Limit, ...]:
    """Every limit that the description gives."""
    m, joints = mechanism, mechanism.model.joints
    known = [
        name for k, name in enumerate(m.q_names) if np.isfinite([joints.lower[k], joints.upper[k]]).any()
    ]
    for what in ("restitution", "stiffness", "damping"):
        _check_names(m, what, getattr(limits, what), known)
    restitution = _described(m) if limits.restitution is None else limits.restitution
    sides: list[Limit] = []
    for k, name in enumerate(m.q_names):
        for side, at in ((1.0, float(joints.lower[k])), (-1.0, float(joints.upper[k]))):
            if np.isfinite(at):
                e = _of(restitution, name, 0.0) if limits.way == "bounce" else 0.0
                sides.append(Limit(name, k, _rate(m, name), side, at, float(e or 0.0)))
    return tuple(sides)


def _described(mechanism: Mechanism) -> dict[str, float]:
    """Coefficients of restitution by coordinate, as the description gives them, else `RESTITUTION`."""
    model, given = mechanism.model, {x.name: x.restitution for x in mechanism.model.description.joints}
    every = [(given.get(model.joint_names[i]), model.q_names[model.q_span[i]]) for i in model.moving]
    return {name: RESTITUTION if e is None else e for e, names in every for name in names}


def saturation(mechanism: Mechanism, limits: Limits, actuated: bool) -> tuple[float, ...]:
    """Return the largest size of each effort on a rate (nv,), or of each input (nu,) of an `actuated` mechanism; empty
    where nothing is clipped.

    Units: [N m] or [N]; infinite where the description has no limit, and of inputs of actuators.
    """
    if not limits.saturates:
        return ()
    model, largest = mechanism.model, mechanism.model.joints.effort
    if not actuated:
        return tuple(largest.tolist())
    bounds = np.full(mechanism.nu, np.inf)
    for owner in owners_of(model):
        drives = owner.element.drives if owner.element.nu else ()
        limited = [k for k in drives if np.isfinite(largest[k])]
        if limited and not owner.plain:
            raise InputError(
                f"{mechanism.name}: limits='saturate' clips efforts that are given, and actuator "
                f"{owner.element.name!r} makes the effort on {model.v_names[limited[0]]!r}; give the actuator its own "
                "limit, or load the mechanism with actuators=False",
                actuator=owner.element.name,
            )
        if limited:
            bounds[owner.u] = largest[limited]
    return tuple(bounds.tolist())


def _rate(mechanism: Mechanism, name: str) -> int:
    if name not in mechanism.v_names:
        raise InputError(
            f"{mechanism.name}: coordinate {name!r} has limits, and no rate of its own; limits='ignore' lets them be, "
            "mechanism.split() has joints of one degree"
        )
    return mechanism.v_names.index(name)


def _of(value: Any, name: str, otherwise: Any) -> Any:
    return value.get(name, otherwise) if isinstance(value, Mapping) else value


def _check_names(mechanism: Mechanism, what: str, option: Any, known: list[str]) -> None:
    values = dict(option) if isinstance(option, Mapping) else {}
    for name, value in values.items():
        if name not in known:
            raise InputError(
                f"{mechanism.name}: {what} names {name!r}, which has no limits; {nearest(str(name), known)}"
                f"Coordinates with limits: {listed(known)}"
            )
        if not 0.0 <= number(value) <= (1.0 if what == "restitution" else np.finfo(float).max):
            bounds = "between 0 and 1" if what == "restitution" else "zero or above"
            raise InputError(f"{mechanism.name}: {what} of {name!r} is {value!r}; it is {bounds}")


def limit_springs(mechanism: Mechanism, limits: Limits, q: np.ndarray) -> tuple[LimitSpring, ...]:
    """Springs at the limits; q: where the inertia is taken for those not given."""
    if limits.way != "spring":
        return ()
    from kinpair.forces.springs import LimitSpring

    model, ends = mechanism.model, limits_of(mechanism, limits)
    response = np.linalg.pinv(np.asarray(mechanism.mass_matrix(q))) if ends else np.zeros((0, 0))
    springs: list[LimitSpring] = []
    for end in ends:
        inertia = 1.0 / max(float(response[end.v, end.v]), 1e-300)
        k = _of(limits.stiffness, end.name, None)
        k = float(inertia * (np.pi / CONTACT) ** 2) if k is None else float(k)
        c = _of(limits.damping, end.name, None)
        c = DAMPED * 2.0 * np.sqrt(k * inertia) if c is None else float(c)
        i = next(i for i in model.moving if end.v in range(model.nv)[model.v_span[i]])
        bodies = (model.parent[i], i)
        springs.append(LimitSpring(end.label, bodies, end.v, end.k, end.side, end.at, k, float(c)))
    return tuple(springs)
