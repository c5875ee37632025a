"""Every kind of joint converts to each engine that has it: a swinging arm carries the tip by one of each.

The tolerance is that of test_conventions.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody import tree as drake_tree
from pydrake.multibody.plant import MultibodyPlant

import kinpair as kp
import zoo
from engines import Drake, Mujoco, Pinocchio, disagreement
from kinpair import conventions
from kinpair.description.parts import GROUND, X_AXIS, Y_AXIS, Z_AXIS, Description, Joint, Link, Origin
from kinpair.description.urdf import parse_urdf
from kinpair.description.warning_list import WarningList
from kinpair.pairs import PAIRS

TOLERANCE = 1e-12
PITCH = 0.03
HINGE_AT = RigidTransform([0.1, 0.2, 0.3])
JOINT_AT = RigidTransform(RotationMatrix.MakeXRotation(0.4), [0.5, 0.1, 0])
AXES = {"universal": (X_AXIS, Y_AXIS)}


def links() -> tuple[Link, Link]:
    rng = np.random.default_rng(5)
    return zoo.link(rng, "arm"), zoo.link(rng, "tip")


def written(pose: RigidTransform) -> Origin:
    return Origin(tuple(pose.translation().tolist()), tuple(pose.rotation().matrix().ravel().tolist()))


def swinging(kind: str) -> kp.Mechanism:
    axis, axis2 = AXES.get(kind, (Z_AXIS, None))
    hinge = Joint("swing", "revolute", GROUND, "arm", written(HINGE_AT))
    joint = Joint(
        "j", kind, "arm", "tip", written(JOINT_AT), axis=axis, axis2=axis2, pitch=PITCH * (kind == "helical")
    )
    return kp.build(Description(f"swinging {kind}", links(), (hinge, joint)))


def assert_agree(ours: kp.Mechanism, theirs, names=None) -> conventions.Convention:
    c = theirs.convention(ours, names=names)
    for seed in range(5):
        errors = disagreement(ours, theirs, c, zoo.motion(ours, seed))
        assert max(errors.values()) <= TOLERANCE, (seed, errors)
    return c


def composite(*joints):
    built = pin.JointModelComposite()
    for joint in joints:
        built.addJoint(joint)
    return built


PINOCCHIO_JOINTS = {
    "revolute": pin.JointModelRUBZ(),
    "prismatic": pin.JointModelPZ(),
    "helical": pin.JointModelHelicalUnaligned(np.array(Z_AXIS), PITCH),
    "cylindrical": composite(pin.JointModelRZ(), pin.JointModelPZ()),
    "universal": pin.JointModelUniversal(np.array(X_AXIS), np.array(Y_AXIS)),
    "spherical": pin.JointModelSpherical(),
    "planar": pin.JointModelPlanar(),
    "free": pin.JointModelFreeFlyer(),
}


def in_pinocchio(kind: str) -> Pinocchio:
    model, parent = pin.Model(), 0
    rows = zip(
        ("swing", "j"),
        (pin.JointModelRZ(), PINOCCHIO_JOINTS[kind]),
        (HINGE_AT, JOINT_AT),
        links(),
        strict=True,
    )
    for name, joint, at, link in rows:
        parent = model.addJoint(parent, joint, pin.SE3(at.GetAsMatrix4()), name)
        model.appendBodyToJoint(
            parent, pin.Inertia(link.mass, np.array(link.com), link.tensor()), pin.SE3.Identity()
        )
        model.addBodyFrame(link.name, parent, pin.SE3.Identity(), 0)
    return Pinocchio(model)


MUJOCO_JOINTS = {
    "revolute": '<joint name="j" axis="0 0 1"/>',
    "prismatic": '<joint name="j" type="slide" axis="0 0 1"/>',
    "cylindrical": '<joint name="a" axis="0 0 1"/><joint name="b" type="slide" axis="0 0 1"/>',
    "universal": '<joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/>',
    "spherical": '<joint name="j" type="ball"/>',
    "planar": '<joint name="a" type="slide" axis="1 0 0"/><joint name="b" type="slide" axis="0 1 0"/>'
    '<joint name="c" axis="0 0 1"/>',
}


def numbers(x) -> str:
    return " ".join(repr(float(value)) for value in x)


def mujoco_body(link: Link, at: RigidTransform, joints: str, inside: str = "") -> str:
    place = f'pos="{numbers(at.translation())}" quat="{numbers(at.rotation().ToQuaternion().wxyz())}"'
    mass = f'mass="{link.mass}" pos="{numbers(link.com)}" fullinertia="{numbers(link.inertia)}"'
    return f'<body name="{link.name}" {place}><inertial {mass}/>{joints}{inside}</body>'


def in_mujoco(kind: str) -> Mujoco:
    arm, tip = links()
    inside = mujoco_body(tip, JOINT_AT, MUJOCO_JOINTS[kind])
    world = mujoco_body(arm, HINGE_AT, '<joint name="swing" axis="0 0 1"/>', inside)
    return Mujoco(mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{world}</worldbody></mujoco>"))


DRAKE_JOINTS = {
    "revolute": lambda F, M: drake_tree.RevoluteJoint("j", F, M, Z_AXIS),
    "prismatic": lambda F, M: drake_tree.PrismaticJoint("j", F, M, Z_AXIS),
    "helical": lambda F, M: drake_tree.ScrewJoint("j", F, M, Z_AXIS, 2 * np.pi * PITCH, 0.0),
    "universal": lambda F, M: drake_tree.UniversalJoint("j", F, M),
    "spherical": lambda F, M: drake_tree.BallRpyJoint("j", F, M),
    "planar": lambda F, M: drake_tree.PlanarJoint("j", F, M),
}


def drake_inertia(link: Link) -> drake_tree.SpatialInertia:
    xx, yy, zz, xy, xz, yz = link.inertia
    I = drake_tree.RotationalInertia(xx, yy, zz, xy, xz, yz)
    return drake_tree.SpatialInertia.MakeFromCentralInertia(link.mass, link.com, I)


def in_drake(kind: str) -> Drake:
    plant = MultibodyPlant(0.0)
    arm, tip = (plant.AddRigidBody(link.name, drake_inertia(link)) for link in links())
    seat = plant.AddFrame(drake_tree.FixedOffsetFrame("hinge", plant.world_frame(), HINGE_AT))
    plant.AddJoint(drake_tree.RevoluteJoint("swing", seat, arm.body_frame(), Z_AXIS))
    seat = plant.AddFrame(drake_tree.FixedOffsetFrame("seat", arm.body_frame(), JOINT_AT))
    plant.AddJoint(DRAKE_JOINTS[kind](seat, tip.body_frame()))
    plant.Finalize()
    return Drake(plant)


KINDS = [
    (make, kind)
    for make, known in (
        (in_pinocchio, PINOCCHIO_JOINTS),
        (in_mujoco, MUJOCO_JOINTS),
        (in_drake, DRAKE_JOINTS),
    )
    for kind in known
]


@pytest.mark.parametrize(("make", "kind"), KINDS, ids=lambda x: getattr(x, "__name__", x))
def test_every_kind_of_joint(make, kind):
    several = make is in_mujoco and 'name="a"' in MUJOCO_JOINTS[kind]
    names = dict.fromkeys("abc"[: len(PAIRS[kind].v_parts)], "j") if several else None
    ours = swinging(kind)
    c, m = assert_agree(ours, make(kind), names), zoo.motion(ours, seed=5)
    back = c.from_state(*c.state(m.q, m.qd, m.qdd, m.qd))
    for result, arguments in zip(back[1:], (m.qd, m.qdd, m.qd), strict=True):
        assert zoo.relative_error(result, arguments) <= TOLERANCE
    for result, arguments in zip(ours.pose(back.q, "tip"), ours.pose(m.q, "tip"), strict=True):
        assert zoo.relative_error(result, arguments) <= TOLERANCE


def test_a_drake_base_by_roll_pitch_yaw():
    plant = MultibodyPlant(0.0)
    body = plant.AddRigidBody("arm", drake_inertia(links()[0]))
    plant.AddJoint(drake_tree.RpyFloatingJoint("base", plant.world_frame(), body.body_frame()))
    plant.Finalize()
    ours = kp.build(Description("brick", links()[:1], ()), base="free")
    assert_agree(ours, Drake(plant))


def test_planar_of_a_urdf_in_mujoco_is_three_joints():
    inertial = (
        '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    text = (
        f'<robot name="trolley"><link name="floor"/><link name="trolley">{inertial}</link><joint name="j" '
        'type="planar"><parent link="floor"/><child link="trolley"/><axis xyz="0 0 1"/></joint></robot>'
    )
    ours = kp.build(parse_urdf(text, source="trolley.urdf", warnings=WarningList()))
    assert_agree(ours, Mujoco.read(text, False), dict.fromkeys(("j_TX", "j_TY", "j_RZ"), "j"))
