"""The actuators of an MJCF file that drive a hinge or a slide, as actuators here; u is MuJoCo's ctrl.

The force of an actuator acts on its joint times the gear, and its length and speed are those of the joint times the
gear: the gear is that of a shaft. What has no counterpart here is named in one warning and left out, with every other
actuator of the same joint.

<dcmotor> of an MJCF file as a dc-motor.

MuJoCo has one constant k for torque and voltage: the geometric mean of what is given. From voltage U, stall torque and
no-load speed: k = U/ω₀, R = k U/τ_stall. A bound of the torque is one of the current where that follows at once.

The mass that each hinge and slide of an MJCF file feels as the file stands, all other joints free: 1/(H⁻¹)_jj.

MuJoCo turns damping ratios into dampings by it. H is that of the tree, body by body; J_b are the twists of the body per
rate, at the origin of the world:

    H = Σ_b J_bᵀ M_b J_b
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod, sqrt
from typing import NamedTuple

import numpy as np

from kinpair.description.actuator_parts import KINDS, Actuator
from kinpair.description.mjcf_actuator_law import Law, law_of
from kinpair.description.mjcf_bodies import Body, Moved, limits
from kinpair.description.mjcf_schema import ACTUATORS, NOT_JOINTS, OTHER_ACTUATORS
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_tendons import Tendons
from kinpair.description.mjcf_xml import Defaults, Tag
from kinpair.description.omitted import LeftOutError, left_out_message
from kinpair.description.parts import Joint, Numbers
from kinpair.errors import listed, nearest
from kinpair.spatial.rotation import skew


class Range(NamedTuple):
    """Bounds of an input, an activation or a force."""

    lower: float
    upper: float

    @property
    def even(self) -> bool:
        """True if the range is symmetric."""
        return self.lower == -self.upper


def felt_masses(bodies: list[Body], rotors: Mapping[str, float]) -> dict[str, float]:
    """Masses by joint; `rotors` are the inertias of rotors seen at the joints."""
    axes = {m.joint.name: _twists(body, m) for body in bodies for m in body.joints}
    first = np.cumsum([0, *(x.shape[1] for x in axes.values())]).tolist()
    span = {name: slice(a, b) for name, a, b in zip(axes, first, first[1:], strict=False)}
    H, J = np.zeros((first[-1], first[-1])), dict[str, np.ndarray]()
    for body in bodies:
        own = J[body.parent].copy() if body.parent in J else np.zeros((6, first[-1]))
        for m in body.joints:
            own[:, span[m.joint.name]] = axes[m.joint.name]
        J[body.name] = own
        H += own.T @ _mass(body) @ own
    for name, inertia in rotors.items():
        H[span[name], span[name]] += inertia * np.eye(axes[name].shape[1])
    flexible = np.linalg.pinv(H, hermitian=True)
    return {
        name: float(1.0 / flexible[k.start, k.start]) for name, k in span.items() if k.stop == k.start + 1
    }


def _twists(body: Body, moved: Moved) -> np.ndarray:
    """[ω; v] per rate (6, k), in axes of the world and at its origin."""
    seat = body.home @ moved.seat
    turns = {"revolute": body.home.R @ np.array([moved.joint.axis]).T, "prismatic": np.zeros((3, 0))}
    omega = turns.get(moved.joint.kind, np.eye(3))
    slides = {"prismatic": body.home.R @ np.array([moved.joint.axis]).T, "free": np.eye(3)}
    v = slides.get(moved.joint.kind, np.zeros((3, 0)))
    turning = np.concatenate([omega, skew(seat.a) @ omega])
    return np.hstack([turning, np.concatenate([np.zeros_like(v), v])])


def _mass(body: Body) -> np.ndarray:
    """M_b (6, 6), at the origin of the world."""
    b = body.inertia.moved(body.home.R, body.home.a)
    D = b.m * skew(b.d)
    return np.block([[b.about_origin(), D], [D.T, b.m * np.eye(3)]])


NOT_HERE = ("cogging", "controller", "thermal", "lugre")


def motor_numbers(tag: Tag, law: Law, voltage: Range | None, of_joint: Range | None) -> dict[str, float]:
    """Numbers by the keys of a dc-motor; `of_joint` bounds the torque that its joint takes, at the shaft."""
    x = dict(law.motor or ())
    if odd := [key for key in NOT_HERE if any(x.get(key, ()))]:
        raise LeftOutError(f"it has {odd[0]}")
    torque, current, current_rate = _filled(x, "saturation", 3)
    if current_rate:
        raise LeftOutError("it has a saturation of the rate of its current")
    numbers = _electric(tag, x)
    inductance, time = _filled(x, "inductance", 2)
    if inductance or time:
        numbers["inductance"] = inductance or time * numbers["resistance"]
    bounds = [torque] if torque else [current * numbers["torque_constant"]] if current else []
    if of_joint is not None:
        if not of_joint.even:
            raise LeftOutError("the actuatorfrcrange of its joint is not even")
        bounds.append(of_joint.upper)
    if bounds:
        if "inductance" in numbers:
            raise LeftOutError("its torque is bounded, and its current is not")
        numbers["current"] = min(bounds) / numbers["torque_constant"]
    if voltage is not None:
        if not voltage.even:
            raise LeftOutError("its ctrlrange is not even")
        numbers["voltage"] = voltage.upper
    return numbers


def _filled(x: Mapping[str, Numbers], key: str, count: int) -> Numbers:
    return (*x.get(key, ()), *(0.0,) * count)[:count]


def _electric(tag: Tag, x: Mapping[str, Numbers]) -> dict[str, float]:
    """R and k."""
    (voltage, stall, speed), (R,) = _filled(x, "nominal", 3), _filled(x, "resistance", 1)
    constants = [k for k in x.get("motorconst", ()) if k]
    k = prod(constants) ** (1.0 / len(constants)) if constants else 0.0
    if voltage and speed:
        k = sqrt(k * voltage / speed) if k else voltage / speed
    if not R and stall:
        R = k * voltage / stall
    if not R or not k:
        raise tag.error("is a dcmotor without resistance or motorconst; give both, or nominal")
    return {"resistance": R, "torque_constant": k}


SWITCHED_OFF = ("actuation is switched off", "its group is switched off")
SINGLE = ("revolute", "prismatic")


@dataclass(frozen=True, slots=True)
class Driven:
    """The joints as the actuators leave them, and the actuators that are taken."""

    joints: tuple[Joint, ...]
    actuators: tuple[Actuator, ...]


@dataclass(frozen=True, slots=True)
class _Declared:
    """An actuator of the file: its name, its joint or none, its element with the attributes of its class, its law."""

    name: str
    joint: str
    tag: Tag
    law: Law

    along: float = 1.0  # coefficient of the joint in the tendon that it acts on

    @property
    def ratio(self) -> float:
        """Ratio of its gear."""
        return (*self.tag.values("gear"), 1.0)[0] * self.along


@dataclass(frozen=True, slots=True)
class _Result:
    """An actuator of the file: what it is here, or why it is not taken; what it adds to its joint, seen there."""

    name: str
    joint: str
    reason: str = ""
    part: Actuator | None = None
    damping: float = 0.0
    armature: float = 0.0


class Actuators:
    """Reads actuators of joints that are known."""

    def __init__(
        self, bodies: list[Body], joints: Sequence[Joint], tendons: Tendons, settings: Settings, root: Tag
    ) -> None:
        self._tendons = tendons.by_name
        self._bodies = bodies
        self._moved: dict[str, Moved] = {m.joint.name: m for body in bodies for m in body.joints}
        self._joints = {joint.name: joint for joint in joints}
        self._settings = settings
        self._tags = [tag for section in root.each("actuator") for tag in section.inside]
        options = root.each("option")
        self._off = {word for x in options for flag in x.each("flag") for word in _switched_off(flag)}
        self._groups = {int(x) for tag in options for x in tag.values("actuatorgroupdisable")}

    def read(self, defaults: Defaults) -> Driven:
        """Read all actuators that can be taken, in the order of the file."""
        every = [self._declared(k, tag, defaults) for k, tag in enumerate(self._tags)]
        results = list(_alone([self._read(own, every) for own in every]))
        left_out = [(x.name, x.reason) for x in results if x.reason]
        if left_out:
            self._tags[0].called("the section <actuator>").lead(
                left_out_message(left_out, len(self._tags)), actuators=tuple(name for name, _ in left_out)
            )
        taken = {x.joint: x for x in results if x.part is not None}
        whole = bool(self._tags) and not left_out
        driven = {x.joint for x in results if x.reason not in SWITCHED_OFF}
        joints = tuple(
            _with(joint, taken.get(joint.name), joint.name in driven, whole)
            for joint in self._joints.values()
        )
        return Driven(joints, tuple(x.part for x in results if x.part is not None))

    def _declared(self, k: int, tag: Tag, defaults: Defaults) -> _Declared:
        name = tag.text("name") or f"actuator {k}"
        tag = tag.called(f"actuator {name!r}")
        if tag.name not in (*ACTUATORS, *OTHER_ACTUATORS):
            raise tag.error(
                f"is a <{tag.name}>, which is not an actuator of MJCF; {nearest(tag.name, ACTUATORS)}Actuators: "
                f"{listed((*ACTUATORS, *OTHER_ACTUATORS))}"
            )
        own = defaults.actuator(tag.known() if tag.name in ACTUATORS else tag)
        joint, along = tag.text("joint") or tag.text("jointinparent"), 1.0
        if (tendon := self._tendons.get(own.tag.text("tendon"))) and tendon.single:
            joint, along = tendon.single
        if joint and joint not in self._joints:
            raise tag.unknown("joint", joint, self._joints)
        return _Declared(name, joint, own.tag, law_of(own.elements), along)

    def _read(self, own: _Declared, every: list[_Declared]) -> _Result:
        try:
            return self._taken(own, every)
        except LeftOutError as problem:
            return _Result(own.name, own.joint, str(problem))

    def _taken(self, own: _Declared, every: list[_Declared]) -> _Result:
        name, tag, law = own.name, own.tag, own.law
        joint = self._joint(own)
        damping, *higher = tag.values("damping") or (0.0,)
        reasons = {
            law.strange: bool(law.strange),
            SWITCHED_OFF[0]: "actuation" in self._off,
            SWITCHED_OFF[1]: int(tag.number("group", 0.0)) in self._groups,
            "its gear is 0": own.ratio == 0.0,
            "it has damping of higher order": any(higher),
            "it has a delay": any(tag.values("delay")),
        }
        if reason := next((reason for reason, applies in reasons.items() if applies), ""):
            raise LeftOutError(reason)
        ratio = own.ratio
        armature, in_joint = tag.number("armature", 0.0), bool(joint.rotor_inertia)
        bounds = {what: self._range(tag, what) for what in ("ctrl", "force", "act")}
        of_joint = self._moved[joint.name].force
        if law.motor is not None:
            kind, numbers = "dc-motor", motor_numbers(tag, law, bounds["ctrl"], _at_shaft(of_joint, ratio))
        else:
            forces = _within(bounds["force"], _at_shaft(of_joint, ratio))
            law = self._damped(law, joint.name, ratio, every)
            inherited = _inherited(joint, law.inherits) if law.inherits > 0.0 else None
            kind, numbers = _affine(law, {**bounds, "force": forces}, inherited)
        if armature and not in_joint:
            numbers["rotor_inertia"] = armature
        ordered = tuple((key, numbers[key]) for key in KINDS[kind] if key in numbers)
        gear = (("ratio", ratio),) if ratio != 1.0 else ()
        part = Actuator(self._own(name, joint.name), joint.name, kind, ordered, gear, where=tag.where)
        seen = ratio * ratio
        return _Result(name, joint.name, "", part, damping * seen, armature * seen * in_joint)

    def _own(self, name: str, joint: str) -> str:
        """The name; one that another joint has gets a distinct name."""
        return f"{name} actuator" if name in self._joints and name != joint else name

    def _joint(self, own: _Declared) -> Joint:
        name, tag = own.joint, own.tag
        if not name:
            where = next((x for x in NOT_JOINTS if tag.has(x)), "")
            raise LeftOutError(
                f"it acts on the {where} {tag.text(where)!r}" if where else "it drives nothing"
            )
        if self._joints[name].kind not in SINGLE:
            raise LeftOutError(f"joint {name!r} has several coordinates")
        return self._joints[name]

    def _range(self, tag: Tag, what: str) -> Range | None:
        """ctrlrange, forcerange or actrange."""
        lower, upper = limits(tag, f"{what}limited", f"{what}range", self._settings)
        free = what == "ctrl" and "clampctrl" in self._off
        return Range(lower[0], upper[0]) if lower and not free else None

    def _damped(self, law: Law, joint: str, ratio: float, every: list[_Declared]) -> Law:
        """The law with a damping in the place of a damping ratio: −2 ζ √(k m), with the mass m that the shaft feels."""
        if not (zeta := law.damping_ratio):
            return law
        rotors = {name: x.rotor_inertia for name, x in self._joints.items() if name in self._moved}
        for x in every:
            if x.joint in rotors:
                rotors[x.joint] += x.ratio * x.ratio * x.tag.number("armature", 0.0)
        mass = felt_masses(self._bodies, rotors)[joint] / (ratio * ratio)
        return replace(law, bias=(*law.bias[:2], -2.0 * zeta * sqrt(law.gain[0] * mass)))


def _affine(
    law: Law, bounds: Mapping[str, Range | None], inherited: Range | None
) -> tuple[str, dict[str, float]]:
    """A plain effort where its limits reach as far up as down, else the whole law."""
    inputs, forces, activations = bounds["ctrl"], bounds["force"], bounds["act"] if law.dynamics else None
    if inherited is not None:
        inputs, activations = (
            (inputs, inherited) if law.dynamics == "integrator" else (inherited, activations)
        )
    gain = law.gain if law.sloped else (law.gain[0], 0.0, 0.0)
    bias = law.bias if law.biased else (0.0, 0.0, 0.0)
    plain = gain == (1.0, 0.0, 0.0) and not any(bias) and not law.dynamics
    both = [x for x in (inputs, forces) if x is not None]
    if plain and all(x.even for x in both):
        return "effort", {"effort": min(x.upper for x in both)} if both else {}
    numbers = {"gain": gain[0], "gain_position": gain[1], "gain_speed": gain[2]}
    numbers |= {"bias": bias[0], "bias_position": bias[1], "bias_speed": bias[2]}
    numbers = {key: x for key, x in numbers.items() if x or key == "gain"}
    for what, x in (("input", inputs), ("effort", forces), ("activation", activations)):
        if x is not None:
            numbers |= {f"{what}_lower": x.lower, f"{what}_upper": x.upper}
    if law.dynamics == "integrator":
        numbers["integral_rate"] = 1.0
    elif law.dynamics and law.time > 0.0:
        numbers["filter_time"] = law.time
    return "affine", numbers


def _at_shaft(of_joint: tuple[float, float] | None, ratio: float) -> Range | None:
    return Range(*sorted(bound / ratio for bound in of_joint)) if of_joint else None


def _within(own: Range | None, outer: Range | None) -> Range | None:
    """Bounds of what is bounded by one and then by the other."""
    if own is None or outer is None:
        return own or outer
    low, high = (min(max(bound, outer.lower), outer.upper) for bound in own)
    return Range(low, high)


def _inherited(joint: Joint, part: float) -> Range:
    if not joint.lower:
        raise LeftOutError(f"it has inheritrange, and joint {joint.name!r} has no range")
    middle, half = 0.5 * (joint.upper[0] + joint.lower[0]), 0.5 * (joint.upper[0] - joint.lower[0])
    return Range(middle - part * half, middle + part * half)


def _switched_off(flag: Tag) -> Iterator[str]:
    yield from (word for word in ("actuation", "clampctrl") if flag.text(word) == "disable")


def _alone(results: list[_Result]) -> Iterator[_Result]:
    """Leave out all actuators of a joint that has several: one of them alone would be another machine."""
    count = Counter(x.joint for x in results)
    for x in results:
        several = x.joint and count[x.joint] > 1 and not x.reason
        yield replace(x, part=None, reason=f"joint {x.joint!r} has {count[x.joint]}") if several else x


def _with(joint: Joint, own: _Result | None, driven: bool, whole: bool) -> Joint:
    """Return a joint with what its actuator adds to it. A joint whose actuator is left out is actuated all the same;
    where no actuator is left out, a joint without one has no input."""
    if own is None:
        return replace(joint, actuated=True if driven else False if whole else None)
    damping = (joint.damping or (0.0,))[0] + own.damping
    rotor = joint.rotor_inertia + own.armature
    return replace(joint, damping=(damping,) if damping else (), rotor_inertia=rotor)
