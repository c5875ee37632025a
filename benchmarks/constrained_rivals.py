"""A closed mechanism built again in Pinocchio and in MuJoCo, from kinpair's numbered model.

Both are given the spanning tree and one point constraint for each loop that is a spherical pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin

import kinpair as kp
from kinpair import conventions
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loop import LoopClosure
from kinpair.conventions import Convention
from kinpair.description.parts import Origin
from kinpair.model.model import Place

PIN_JOINTS = {
    "revolute": lambda: pin.JointModelRZ(),
    "prismatic": lambda: pin.JointModelPZ(),
    "universal": lambda: pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])),
    "planar": lambda: pin.JointModelPlanar(),
    "spherical": lambda: pin.JointModelSpherical(),
    "free": lambda: pin.JointModelFreeFlyer(),
}
X, Y, Z = np.eye(3).tolist()
MUJOCO_JOINTS = {  # type and axis, one after the other
    "revolute": (("HINGE", Z),),
    "prismatic": (("SLIDE", Z),),
    "universal": (("HINGE", X), ("HINGE", Y)),
    "planar": (("SLIDE", X), ("SLIDE", Y), ("HINGE", Z)),
    "spherical": (("BALL", Z),),
    "free": (("FREE", Z),),
}
SLENDER = 1e-9  # [kg m²]: MuJoCo wants every moment positive; of a rod that moves in a plane it does nothing
QUIET = "FRICTIONLOSS LIMIT CONTACT SPRING DAMPER ACTUATION SENSOR".split()


def on_the_ground(mechanism: kp.Mechanism) -> kp.Mechanism:
    """The same with free joints at the origin of the world, where MuJoCo has them."""
    description = mechanism.model.description
    joints = [replace(x, origin=Origin()) if x.kind == "free" else x for x in description.joints]
    return kp.build(replace(description, joints=tuple(joints)))


def loops(mechanism: kp.Mechanism) -> list[tuple[Place, Place]]:
    """Both places of every loop, on bodies of the model."""
    results = [x for x in constraints_of(mechanism.model) if isinstance(x, LoopClosure)]
    if any(x.pair.kind != "spherical" for x in results):
        raise NotImplementedError(f"{mechanism.name}: only points that meet are known here")
    return [x.places(mechanism.model) for x in results]


@dataclass(frozen=True, eq=False)
class InPinocchio:
    """The mechanism in Pinocchio: call it with the engine's q, v, τ."""

    model: Any
    data: Any
    constraints: Any
    constraint_data: Any
    settings: Any

    @classmethod
    def of(cls, mechanism: kp.Mechanism, mu: float = 0.0, iterations: int = 1) -> InPinocchio:
        """`mu` is the proximal parameter that redundant rows need, see Carpentier, Budhiraja & Mansard 2021."""
        model = pin_model(mechanism)
        points = pin.StdVec_RigidConstraintModel()
        for S, M in loops(mechanism):
            seat, moved = (pin.SE3(_floats(x.pose.R), _floats(x.pose.a)) for x in (S, M))
            point = pin.ContactType.CONTACT_3D
            points.append(pin.RigidConstraintModel(point, model, S.body, seat, M.body, moved))
        its_data = pin.StdVec_RigidConstraintData()
        for point in points:
            its_data.append(point.createData())
        data = model.createData()
        pin.initConstraintDynamics(model, data, points, its_data)
        return cls(model, data, points, its_data, pin.ProximalSettings(1e-14, mu, iterations))

    def __call__(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return pin.constraintDynamics(
            self.model, self.data, q, v, tau, self.constraints, self.constraint_data, self.settings
        )

    def convention(self, mechanism: kp.Mechanism) -> Convention:
        """The map of states there and back."""
        return conventions.pinocchio(mechanism, conventions.pinocchio_layout(self.model))


def pin_model(mechanism: kp.Mechanism) -> Any:
    """The spanning tree: body i of the model is joint i of Pinocchio's."""
    own, built = mechanism.model, pin.Model()
    built.name, built.gravity = own.name, pin.Motion(_floats(own.gravity), np.zeros(3))
    for i in own.moving:
        body = own.body[i]
        seat = pin.SE3(_floats(body.R_seat), _floats(body.a_seat))
        joint = built.addJoint(own.parent[i], PIN_JOINTS[body.pair.kind](), seat, own.joint_names[i])
        inertia = pin.Inertia(float(body.m), _floats(body.d), _floats(body.I))
        built.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return built


@dataclass(frozen=True, eq=False)
class InMujoco:
    """The mechanism in MuJoCo, its loops as `connect`."""

    model: Any
    names: dict[str, str]

    @classmethod
    def of(cls, mechanism: kp.Mechanism, impedance: float = 0.9) -> InMujoco:
        """`impedance`: how hard its constraints are, below one (solimp); the time they are stiff in is its default."""
        spec, names = mujoco.MjSpec(), {}
        own = mechanism.model
        spec.option.gravity = _floats(own.gravity)
        bodies = [spec.worldbody]
        for i in own.moving:
            bodies.append(_body(bodies[own.parent[i]], own, i, names))
        for k, (S, M) in enumerate(loops(mechanism)):
            for end, place in (("a", S), ("b", M)):
                bodies[place.body].add_site(name=f"{end}{k}", pos=_floats(place.pose.a))
            spec.add_equality(
                type=mujoco.mjtEq.mjEQ_CONNECT,
                objtype=mujoco.mjtObj.mjOBJ_SITE,
                name1=f"a{k}",
                name2=f"b{k}",
                solimp=[impedance, impedance, 0.001, 0.5, 2],
            )
        model = spec.compile()
        model.opt.disableflags = sum(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}") for flag in QUIET)
        return cls(model, names)

    def convention(self, mechanism: kp.Mechanism) -> Convention:
        """The map of states there and back; a joint of several degrees is several there."""
        return conventions.mujoco(mechanism, conventions.mujoco_layout(self.model, self.names))


def _body(parent: Any, own: Any, i: int, names: dict[str, str]) -> Any:
    body, kind = own.body[i], own.body[i].pair.kind
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, _floats(body.R_seat).ravel())
    built = parent.add_body(name=own.names[i], pos=_floats(body.a_seat), quat=quat)
    moments, axes = np.linalg.eigh(_floats(body.I))
    J = (axes * np.maximum(moments, SLENDER)) @ axes.T
    built.mass, built.ipos, built.explicitinertial = float(body.m), _floats(body.d), True
    built.fullinertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    steps = MUJOCO_JOINTS[kind]
    for k, (step, axis) in enumerate(steps):
        name = own.joint_names[i] if len(steps) == 1 else f"{own.joint_names[i]} {k}"
        if len(steps) > 1:
            names[name] = own.joint_names[i]
        built.add_joint(name=name, type=getattr(mujoco.mjtJoint, f"mjJNT_{step}"), axis=axis)
    return built


def _floats(x: Any) -> np.ndarray:
    return np.array(x, dtype=float)
