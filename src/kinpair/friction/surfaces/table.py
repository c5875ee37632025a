"""Table of the laws of each pair, the surfaces of a model, and the surfaces of a joint as an element.

The element has what others ask before any load is known. Its efforts come from the solve for the
accelerations, see `kinpair.friction.loads`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.errors import InputError
from kinpair.forces.element import Element, Instant
from kinpair.friction.laws.laws import Level
from kinpair.friction.surfaces.bearing import Ball, Guide, Journal, Pin, Sleeve
from kinpair.friction.surfaces.gear import Servo, ServoData, Teeth
from kinpair.friction.surfaces.surface import Grip, Surface
from kinpair.friction.surfaces.thread import Thread
from kinpair.model.model import Model, SurfaceData

Numbers: TypeAlias = Mapping[str, Scalar]
Make: TypeAlias = Callable[[SurfaceData, Any], list[Surface]]  # of the data and the pair


def surfaces_of(model: Model) -> tuple[Surface, ...]:
    """Surfaces of a model, in the order of the description, with the coefficients of `model.time`."""
    return tuple(
        _with_viscous(model, surface)
        for data in model.surfaces
        for surface in MADE[data.law, model.body[data.body].pair.kind](
            _at(data, model.time), model.body[data.body].pair
        )
    )


def _at(data: SurfaceData, time: Scalar) -> SurfaceData:
    """Return the data with coefficients that change as they are at a time [s]; NaN below zero.    (LV1)"""
    if not data.signals:
        return data
    changed = {key: Level(data.numbers[key], x).at_time(time) for key, x in data.signals.items()}
    return replace(data, numbers={**data.numbers, **changed}, signals={})


def at_moment(model: Model, time: Scalar) -> Model:
    """Return the model with `model.time`, where a coefficient of friction depends on it."""
    return replace(model, time=time) if any(x.signals for x in model.surfaces) else model


def check_coefficients(model: Model) -> None:
    """Reject a coefficient of friction below zero at `model.time`."""
    for data in model.surfaces:
        for key, value in _at(data, model.time).numbers.items():
            if data.signals and np.isnan(value):
                raise InputError(
                    f"{model.name}: {data.name} has a {key} below zero at t = {float(model.time):.9g} s; friction "
                    "resists motion, so its coefficient is zero or above",
                    element=data.name,
                )


def _grip(x: Numbers) -> Grip:
    mu, speed = x["mu"], x.get("stribeck_speed", 0.0)
    return Grip(mu, x.get("mu_static", mu), speed, x.get("exponent", 2.0), "stribeck_speed" in x)


def _preload(x: Numbers) -> Scalar:
    return x.get("preload", 0.0)


def _journal(data: SurfaceData, pair: Any) -> list[Surface]:
    x = data.numbers
    size = x["radius"], x["thrust_radius"], x["length"], _preload(x)
    return [Journal(data.name, data.body, _grip(x), *size)]


def _sleeve(data: SurfaceData, pair: Any) -> list[Surface]:
    x = data.numbers
    return [Sleeve(data.name, data.body, _grip(x), x["radius"], x["length"], _preload(x))]


def _ball(data: SurfaceData, pair: Any) -> list[Surface]:
    x = data.numbers
    return [Ball(data.name, data.body, _grip(x), x["radius"], _preload(x))]


def _cross(data: SurfaceData, pair: Any) -> list[Surface]:
    x = data.numbers
    size = x["radius"], x["thrust_radius"], x["length"], _preload(x)
    return [Pin(f"{data.name}.pin{k + 1}", data.body, _grip(x), *size, k) for k in range(2)]


def _guide(data: SurfaceData, pair: Any) -> list[Surface]:
    x = data.numbers
    return [Guide(data.name, data.body, _grip(x), x["length"], x["width"], _preload(x))]


def _thread(data: SurfaceData, pair: Any) -> list[Surface]:
    x = data.numbers
    return [Thread(data.name, data.body, _grip(x), x["radius"], pair.pitch, _preload(x))]


def _gear(data: SurfaceData, pair: Any) -> list[Surface]:
    along, x = pair.p(np.zeros(1))[:, 0], data.numbers
    if "efficiency" not in x:
        return [Teeth(data.name, data.body, _grip(x), along, _preload(x))]
    drive = np.divide(1.0, x["efficiency"]) - 1.0  # (FE5)
    back = 1.0 - x["efficiency_back"] if "efficiency_back" in x else None
    return [Teeth(data.name, data.body, Grip(1.0, 1.0), along, 0.0, drive, back)]


SERVO: dict[str, str] = {  # keys of the description, names of the source
    "level": "f_b",
    "motor_share": "l_m",
    "load_share": "l_e",
    "motor_share_static": "l_ms",
    "load_share_static": "l_es",
    "motor_square": "q_m",
    "load_square": "q_e",
    "stribeck_speed": "v_s",
    "exponent": "alpha",
}


def _servo(data: SurfaceData, pair: Any) -> list[Surface]:
    x = data.numbers
    surplus = x["level_static"] - x["level"]
    numbers = ServoData(f_s=surplus, **{name: x[key] for key, name in SERVO.items()})
    return [Servo(data.name, data.body, Grip(1.0, 1.0), pair.p(np.zeros(1))[:, 0], numbers)]


def _with_viscous(model: Model, surface: Surface) -> Surface:
    """A servo with its own viscous friction and that of its bearings (a power of the speed), which are no load; other
    surfaces as they are. A plain viscous law next to a servo is a damper outside, and a load.    (FE4)"""
    if not isinstance(surface, Servo):
        return surface
    laws = [x for x in model.frictions if x.body == surface.body and x.law == "viscous"]
    own = [x.numbers for x in laws if x.is_power or x.name == surface.name]
    flows = tuple((x["viscous"], x.get("exponent", 1.0)) for x in own)
    return replace(surface, data=replace(surface.data, viscous=flows))


DRIVEN = ("revolute", "prismatic", "helical")  # by one motor
MADE: dict[tuple[str, str], Make] = {
    ("bearing", "revolute"): _journal,
    ("bearing", "cylindrical"): _sleeve,
    ("bearing", "spherical"): _ball,
    ("bearing", "universal"): _cross,
    ("guide", "prismatic"): _guide,
    ("thread", "helical"): _thread,
    **{("gear", kind): _gear for kind in DRIVEN},
    **{("servo", kind): _servo for kind in DRIVEN},
}


TOGETHER = ("cylindrical", "spherical")


@final
@dataclass(frozen=True, slots=True)
class LoadedJoint(Element):
    """Friction from load on the rates of one joint."""

    name: str
    bodies: tuple[int, ...]
    rates_held: tuple[int, ...]
    law: str
    together: bool  # do its rates slide as one?
    heats: tuple[str, ...]  # names of its losses, one a rate, or one where they slide as one
    changes: bool = False  # does a coefficient depend on time?
    from_load = True

    @property
    def timed(self) -> bool:
        """True if a coefficient is a function of time."""
        return self.changes

    @property
    def jumps(self) -> bool:
        """Flags where a rate changes its sign."""
        return not self.together

    @property
    def sticks(self) -> tuple[int, ...]:
        """All rates of the joint."""
        return self.rates_held

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups: all rates as one, or each by itself."""
        return (self.sticks,) if self.together else tuple((k,) for k in self.sticks)

    def heat(self, efforts: Vector, qd: Vector) -> Mapping[str, Scalar]:
        """Heat that it produces, by name [W], where friction from load has these efforts (nv,)."""
        powers: Sequence[Scalar] = [-(efforts[v] * qd[v]) for v in self.rates_held]
        return dict(zip(self.heats, [sum(powers, 0.0)] if self.together else powers, strict=True))

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """The rates, if each slides by itself."""
        return {} if self.together else {f"{self.name} {v}": at.state.qd[v] for v in self.sticks}


def loaded_joints(model: Model) -> list[Element]:
    """Joints under load in the description. Sleeves and balls slide in a plane or in space: their rates are locked
    together."""
    found: list[Element] = []
    for x in model.surfaces:
        rates = tuple(range(model.nv)[model.v_span[x.body]])
        together = model.body[x.body].pair.kind in TOGETHER
        law = x.name.removeprefix(model.joint_names[x.body])
        heats = (x.name,) if together else tuple(f"{model.v_names[v]}{law}" for v in rates)
        found.append(
            LoadedJoint(
                x.name, (model.parent[x.body], x.body), rates, x.law, together, heats, bool(x.signals)
            )
        )
    return found
