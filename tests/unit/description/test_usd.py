"""Reading USD: bundled examples written as USD files, units, masses of colliders, and what is rejected or reported.

Numbers of joints and masses are of single precision in USD (1.2e-7 of themselves).
"""

from __future__ import annotations

import re
import sys
import warnings
from math import pi

import numpy as np
import pytest
from pxr import Gf, UsdGeom, UsdPhysics

import kinpair as kp
import usd_files
import zoo
from kinpair.description.parts import GROUND
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import about_y

SINGLE = 1e-5
EXAMPLES = (
    "planar-3r",
    "stanford-arm",
    "two-handed-arm",
    "scara",
    "four-bar",
    "slider-crank",
    "bennett",
    "five-bar",
)


def read(stage, folder, **options) -> kp.Mechanism:
    file = folder / "robot.usda"
    stage.Export(str(file))
    return kp.load(file, **options)


def message(stage, folder) -> str:
    with pytest.raises(kp.DescriptionError) as caught:
        read(stage, folder)
    return str(caught.value).replace(f"{folder}/", "")


def sentences(stage, folder) -> tuple[str, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return tuple(x.replace(f"{folder}/", "") for x in read(stage, folder).warnings)


def with_mass(prim, mass=2.0, moments=(0.5, 0.25, 0.375), centre=(0.25, 0.0, -0.5)):
    values = UsdPhysics.MassAPI.Apply(prim)
    values.GetMassAttr().Set(mass)
    values.GetDiagonalInertiaAttr().Set(Gf.Vec3f(*moments))
    values.GetCenterOfMassAttr().Set(Gf.Vec3f(*centre))


def hinge(**options):
    """A stage with one body that turns about y of the world, 1 m above the origin."""
    stage = usd_files.new_stage(**options)
    place = Pose(np.eye(3), np.array([0.0, 0.0, 1.0]))
    with_mass(usd_files.body(stage, "arm", place))
    turn = Pose(
        about_y(0.0) @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]), np.zeros(3)
    )  # z of it: y of the arm
    joint = usd_files.joint(stage, "pin", "revolute", (GROUND, "arm"), (place @ turn, turn))
    return stage, joint


@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (0.01, 0.001)], ids=["metres", "centimetres"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_written_as_usd_have_the_same_dynamics(name, length, mass, tmp_path):
    description = kp.example(name).model.description
    usd_files.write(description, tmp_path / "robot.usda", length, mass)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        before = kp.build(description, constraints=False, actuators=False).reference
        after = kp.load(tmp_path / "robot.usda")
        loops = len(after.model.description.constraints)
        after = kp.load(tmp_path / "robot.usda", constraints=False).reference
    assert loops == len(description.constraints)
    order = [after.v_names.index(f"joint_{usd_files.as_name(x)}") for x in before.v_names]
    motion = zoo.motion(before, seed=3)
    q, qd, qdd = (np.empty(before.nv) for _ in range(3))
    for there, here in ((q, motion.q), (qd, motion.qd), (qdd, motion.qdd)):
        there[order] = here
    H, tau = after.mass_matrix(q)[np.ix_(order, order)], after.inverse_dynamics(q, qd, qdd)[order]
    assert zoo.relative_error(H, before.mass_matrix(motion.q)) < SINGLE
    expected = before.inverse_dynamics(motion.q, motion.qd, motion.qdd, passive=False)
    assert zoo.relative_error(tau, expected) < SINGLE


def test_numbers_that_single_precision_holds_are_exact(tmp_path):
    m = read(hinge()[0], tmp_path)
    # about the pin: I_y + m (x² + z²) = 0.25 + 2 (0.0625 + 0.25)
    assert m.mass_matrix([0.3]) == pytest.approx(np.array([[0.875]]), abs=1e-14)
    # V = m g (1 + z cos q − x sin q), z = −0.5, x = 0.25
    assert m.gravity_forces([0.0]) == pytest.approx([-2 * 9.81 * 0.25], abs=1e-12)


def test_limits_in_degrees_and_the_start_of_the_stage(tmp_path):
    stage, joint = hinge()
    joint.GetLowerLimitAttr().Set(-90.0)
    joint.GetUpperLimitAttr().Set(45.0)
    arm = UsdGeom.Xformable(stage.GetPrimAtPath("/robot/arm"))
    turned = Gf.Matrix4d().SetRotate(Gf.Rotation(Gf.Vec3d(0, 1, 0), 30.0)).SetTranslateOnly(Gf.Vec3d(0, 0, 1))
    arm.GetOrderedXformOps()[0].Set(turned)
    m = read(stage, tmp_path)
    limits = m.model.joints
    assert (limits.lower[0], limits.upper[0]) == pytest.approx((-pi / 2, pi / 4))
    assert m.start() == pytest.approx([pi / 6], abs=1e-12)


def test_gravity_of_a_stage_with_y_up_and_of_a_scene(tmp_path):
    assert read(hinge(up="Y")[0], tmp_path).model.description.gravity == (0.0, -9.81, 0.0)
    stage, _ = hinge(length=0.5)
    scene = UsdPhysics.Scene.Define(stage, "/scene")
    scene.GetGravityMagnitudeAttr().Set(8.0)
    scene.GetGravityDirectionAttr().Set(Gf.Vec3f(1, 0, 0))
    assert read(stage, tmp_path).model.description.gravity == (4.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("define", "sizes", "volume", "moment"),
    [  # moment about x by mass: closed forms
        (UsdGeom.Cube, {"size": 0.5}, 0.125, 0.25 / 6),
        (UsdGeom.Sphere, {"radius": 0.5}, pi / 6, 0.1),
        (UsdGeom.Cylinder, {"radius": 0.5, "height": 2.0, "axis": "X"}, pi / 2, 0.125),
        (UsdGeom.Cylinder, {"radius": 0.5, "height": 2.0, "axis": "Y"}, pi / 2, 0.0625 + 1 / 3),
    ],
    ids=["cube", "sphere", "cylinder-x", "cylinder-y"],
)
def test_masses_of_colliders(define, sizes, volume, moment, tmp_path):
    stage = usd_files.new_stage()
    prim = usd_files.body(stage, "it")
    shape = define.Define(stage, "/robot/it/shape")
    for name, value in sizes.items():
        shape.GetPrim().GetAttribute(name).Set(value)
    UsdPhysics.CollisionAPI.Apply(shape.GetPrim())
    m = read(stage, tmp_path, base="free")
    link = m.model.description.links[-1]
    assert link.mass == pytest.approx(1000 * volume)
    assert link.inertia[0] == pytest.approx(moment * link.mass)
    UsdPhysics.MassAPI.Apply(prim).GetMassAttr().Set(3.0)
    link = read(stage, tmp_path, base="free").model.description.links[-1]
    assert (link.mass, link.inertia[0]) == pytest.approx((3.0, 3.0 * moment))


def test_a_generic_joint_is_the_pair_that_its_limits_leave(tmp_path):
    stage, _ = hinge()
    stage.RemovePrim("/robot/pin")
    joint = UsdPhysics.Joint.Define(stage, "/robot/pin")
    joint.GetBody1Rel().SetTargets(["/robot/arm"])
    joint.GetLocalPos0Attr().Set(Gf.Vec3f(0, 0, 1))
    for axis in ("transX", "transY", "transZ", "rotX", "rotZ"):
        limit = UsdPhysics.LimitAPI.Apply(joint.GetPrim(), axis)
        limit.GetLowAttr().Set(1.0)
        limit.GetHighAttr().Set(-1.0)
    m = read(stage, tmp_path)
    assert m.mass_matrix([0.3]) == pytest.approx(np.array([[0.875]]), abs=1e-14)
    UsdPhysics.LimitAPI(joint.GetPrim(), "rotX").GetHighAttr().Set(2.0)
    assert message(stage, tmp_path) == (
        "robot.usda:24: </robot/pin> is free along rotX, rotY; generic joints are read with one free axis, three free "
        "turns or none: write it as joints in a row"
    )


def test_what_is_left_out_is_reported_by_name(tmp_path):
    stage, joint = hinge()
    drive = UsdPhysics.DriveAPI.Apply(joint.GetPrim(), "angular")
    drive.GetStiffnessAttr().Set(10.0)
    drive.GetMaxForceAttr().Set(5.0)
    UsdPhysics.DistanceJoint.Define(stage, "/robot/rope").GetBody0Rel().SetTargets(["/robot/arm"])
    rope, drives = sentences(stage, tmp_path)
    assert "not simulated, although the motion depends on it: 1 distance joint ('rope')" in rope
    assert "</robot/pin> has 1 of 2 that are not taken: 'pin' (a drive to a target)" in drives
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read(stage, tmp_path).model.description.joints[0].effort == (5.0,)


def test_a_kinematic_body_stays_where_it_is(tmp_path):
    stage, _ = hinge()
    stage.GetPrimAtPath("/robot/arm").GetAttribute("physics:kinematicEnabled").Set(True)
    assert read(stage, tmp_path).nv == 0


def rejected():
    """Changes of the hinge, and what is said of them."""

    def massless(stage):
        stage.GetPrimAtPath("/robot/arm").GetAttribute("physics:mass").Set(0.0)

    def to_itself(stage):
        stage.GetPrimAtPath("/robot/pin").GetRelationship("physics:body0").SetTargets(["/robot/arm"])

    def nowhere(stage):
        stage.GetPrimAtPath("/robot/pin").GetRelationship("physics:body0").SetTargets(["/robot/leg"])

    def mirrored(stage):
        arm = UsdGeom.Xformable(stage.GetPrimAtPath("/robot/arm"))
        arm.AddScaleOp().Set(Gf.Vec3f(-1, 1, 1))

    def without_bodies(stage):
        stage.RemovePrim("/robot/arm")
        stage.RemovePrim("/robot/pin")

    return [
        (
            massless,
            "</robot/arm> has no mass and no collider; write physics:mass and physics:diagonalInertia",
        ),
        (to_itself, "</robot/pin> joins 'arm' to itself; physics:body0 and body1 must be different bodies"),
        (nowhere, "</robot/pin> names </robot/leg> as body0, which does not exist"),
        (
            mirrored,
            "</robot/arm> is sheared or mirrored, which no rigid body is; apply the transform to its points",
        ),
        (without_bodies, "</robot> has no rigid body (PhysicsRigidBodyAPI), so there is no mechanism in it"),
    ]


@pytest.mark.parametrize(("change", "sentence"), rejected(), ids=lambda x: getattr(x, "__name__", ""))
def test_rejections_name_file_line_and_prim(change, sentence, tmp_path):
    stage, _ = hinge()
    change(stage)
    place, _, rest = message(stage, tmp_path).partition(": ")
    assert place.startswith("robot.usda:")
    assert place.rpartition(":")[2].isdigit()
    assert rest == sentence


@pytest.mark.parametrize(
    ("attribute", "written", "sentence"),
    [
        ("mass", 'string physics:mass = "2"', "/robot/arm> has physics:mass = 2; expected a number"),
        (
            "centerOfMass",
            "float3[] physics:centerOfMass = [(1, 2, 3)]",
            "/robot/arm> has physics:centerOfMass = [(1, 2, 3)]; expected 3 numbers",
        ),
        (
            "localRot0",
            "float4 physics:localRot0 = (1, 0, 0, 0)",
            "/robot/pin> has physics:localRot0 = (1, 0, 0, 0); expected a quaternion",
        ),
        (
            "axis",
            'uniform token physics:axis = "W"',
            "/robot/pin> has physics:axis = 'W'; axes: X, Y, Z",
        ),
    ],
)
def test_an_attribute_of_another_type_is_rejected(attribute, written, sentence, tmp_path):
    stage, joint = hinge()
    joint.GetPrim().GetAttribute("physics:localRot0").Set(Gf.Quatf(1, 0, 0, 0))
    text = re.sub(
        rf"^( *).*physics:{attribute} = .*$", rf"\1{written}", stage.ExportToString(), flags=re.MULTILINE
    )
    file = tmp_path / "robot.usda"
    file.write_text(text, "utf-8")
    with pytest.raises(kp.DescriptionError) as caught:
        kp.load(file)
    place, _, rest = str(caught.value).partition(": <")
    assert re.search(r"robot\.usda:\d+$", place)
    assert rest == sentence


def test_lines_are_those_of_the_file_as_it_is_now(tmp_path):
    stage, _ = hinge()
    stage.GetPrimAtPath("/robot/arm").GetAttribute("physics:mass").Set(0.0)
    first = message(stage, tmp_path)
    file = tmp_path / "robot.usda"
    file.write_text(file.read_text("utf-8").replace("#usda 1.0\n", "#usda 1.0\n\n\n"), "utf-8")
    with pytest.raises(kp.DescriptionError) as caught:
        kp.load(file)
    lines = [int(text.split("robot.usda:")[1].split(":")[0]) for text in (first, str(caught.value))]
    assert lines[1] == lines[0] + 2


def test_a_file_that_is_not_utf_8(tmp_path):
    file = tmp_path / "robot.usda"
    file.write_bytes(b'#usda 1.0\ndef Xform "a\xff" {\n}')
    with pytest.raises(kp.DescriptionError, match=r"robot\.usda:2: is not UTF-8 text"):
        kp.load(file)


def test_a_file_that_is_not_usd(tmp_path):
    file = tmp_path / "robot.usda"
    file.write_text('#usda 1.0\ndef Xform "a" {\n foo\n}')
    with pytest.raises(kp.DescriptionError) as caught:
        kp.load(file)
    assert "\n" not in str(caught.value)
    assert "robot.usda:3: is not USD: Expected }" in str(caught.value)


def test_binary_files_are_read(tmp_path):
    stage, _ = hinge()
    stage.Export(str(tmp_path / "robot.usdc"))
    assert kp.load(tmp_path / "robot.usdc").mass_matrix([0.0]) == pytest.approx(
        np.array([[0.875]]), abs=1e-14
    )


def test_without_usd_core_the_extra_is_named(tmp_path, monkeypatch):
    stage, _ = hinge()
    stage.Export(str(tmp_path / "robot.usda"))
    monkeypatch.setitem(sys.modules, "pxr.Tf", None)
    with pytest.raises(
        kp.MissingExtraError, match=r'USD files need usd-core; install it with pip install "\.\[usd\]"'
    ):
        kp.load(tmp_path / "robot.usda")
