"""Loads of joints and loops by name: wrenches, and loads of bearings and motors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.model.model import Model

# pairs with an axis, z of their seat
AXIAL = ("revolute", "prismatic", "helical", "cylindrical", "planar", "pin", "plane-weld", "turn", "face")


class Reactions(dict[str, np.ndarray]):
    """Wrench [moment; force] (…, 6) on the child by name of the joint or loop.

    What redundant constraints carry against each other shows in no motion: `undetermined` marks the components
    concerned. These are then the least that balance, or shared out by the compliance given.
    """

    _marks: Callable[[], np.ndarray] | None = None

    @property
    def undetermined(self) -> dict[str, np.ndarray]:
        """Components by name: which of the six components are not unique (…, 6)."""
        if self._marks is None:
            return {name: np.zeros(w.shape, dtype=bool) for name, w in self.items()}
        marks = self._marks()
        return {name: marks[..., k, :] for k, name in enumerate(self)}

    @property
    def unique(self) -> bool:
        """True if every component is determined by the motion and the efforts."""
        return self._marks is None or not self._marks().any()

    def marked_by(self, marks: Callable[[], np.ndarray]) -> Reactions:
        """Return reactions with a function that finds what is not unique (…, names, 6), asked for once when needed."""
        found: list[np.ndarray] = []

        def once() -> np.ndarray:
            if not found:
                found.append(marks())
            return found[0]

        self._marks = once
        return self


def by_name(names: tuple[str, ...], w: np.ndarray) -> Reactions:
    """Rows of a matrix (…, names, 6) by name."""
    return Reactions(zip(names, w if w.ndim == 2 else w.swapaxes(0, 1)))  # noqa: B905, a third of the time


class BearingLoad(NamedTuple):
    """Wrench on the child as its bearing feels it: sizes across the axis, signed along it."""

    radial_force: Any
    axial_force: Any
    bending_moment: Any
    axial_moment: Any


def bearing_loads(model: Model, reactions: Mapping[str, np.ndarray]) -> dict[str, BearingLoad]:
    """Bearing loads of the joints and loops that have an axis."""
    return {
        name: _on_bearing(w, axes[name]) for name, w in reactions.items() if name in (axes := _axes(model))
    }


def _axes(model: Model) -> dict[str, np.ndarray]:
    """Direction of the axis by joint or loop, in axes of the joint frame as described."""
    return model.once("bearing_axes", lambda: _found_axes(model))


def _found_axes(model: Model) -> dict[str, np.ndarray]:
    tree = {
        model.joint_names[i]: model.R_joint[i].T[:, 2]
        for i in model.moving
        if model.body[i].pair.kind in AXIAL
    }
    loops = {
        x.name: np.asarray(x.turn)[:, 2]
        for x in constraints_of(model)
        if isinstance(x, LoopClosure) and x.pair.kind in AXIAL
    }
    return tree | loops


def _on_bearing(w: np.ndarray, e: np.ndarray) -> BearingLoad:
    n, f = w[..., :3], w[..., 3:]
    axial_force, axial_moment = f @ e, n @ e
    radial = np.linalg.norm(f - axial_force[..., None] * e, axis=-1)
    bending = np.linalg.norm(n - axial_moment[..., None] * e, axis=-1)
    return BearingLoad(radial, axial_force, bending, axial_moment)


class MotorLoad(NamedTuple):
    """Behind the gear: torque of the motor, what of it reaches the gear beyond its own rotor, and its speed."""

    torque: Any
    gear_torque: Any
    speed: Any


def motor_loads(model: Model, qd: np.ndarray, qdd: np.ndarray, tau: np.ndarray) -> dict[str, MotorLoad]:
    """Motor loads of the joints with a rotor or a gear ratio.

    τ_motor = τ/N,   τ_gear = (τ − N² J q̈)/N,   ω = N q̇                                    (ML1)
    """
    number = {model.joint_names[i]: i for i in model.moving}
    found: dict[str, MotorLoad] = {}
    for joint in model.description.joints:
        ratio = joint.gear_ratio
        geared = ratio not in (0.0, 1.0) or joint.rotor_inertia
        if not (geared and joint.name in number) or model.body[number[joint.name]].pair.nv != 1:
            continue
        k = model.v_span[number[joint.name]].start
        effort, inertia = tau[..., k], model.body[number[joint.name]].rotor[0]
        found[joint.name] = MotorLoad(
            effort / ratio, (effort - inertia * qdd[..., k]) / ratio, ratio * qd[..., k]
        )
    return found
