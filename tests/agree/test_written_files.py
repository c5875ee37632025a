"""Files written in other formats give the same dynamics when they are read, without the parts that are reported."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import mujoco
import numpy as np
import pytest

import kinpair as kp
import robots
import zoo
from families import family
from kinpair.model.split import split_description

EXACT = 1e-12
STEPS = {  # kinds of joints that a format has as hinges and slides in a row
    ".urdf": {"universal", "cylindrical"},
    ".sdf": {"planar", "cylindrical"},
    ".xml": {"universal", "cylindrical", "planar"},
}
REJECTED = {  # by the kind of a joint, or its place
    **{("lead-screw", x): "helical" for x in (".urdf", ".xml")},
    **{(name, x): "free" for name in ("delta", "stewart", "rolling-disk") for x in (".sdf", ".xml")},
}
MOTORS = ("dc-actuator", "servo")  # their rotors are left out with the motor
ROBOTS = ("xarm/xarm7", "panda/panda", "kinova/kinova", "bolt/bolt")
CASES = family(
    [(name, ending) for name in (*kp.examples(systems=False), *robots.urdf_files()) for ending in STEPS],
    [
        f"{name} {ending}"
        for name in (
            "planar-3r",
            "two-handed-arm",
            "gripper",
            "four-bar",
            "five-bar",
            "biped",
            "chain-curtain",
            "cylindrical-arm",
            "lead-screw",
            "xarm/xarm7",
            "floating-arm",
            "bouncing-ball",
        )
        for ending in STEPS
    ],
    "further files of the same law",
    lambda case: f"{case[0]} {case[1]}",
)


KINDS = {  # of joints of random trees
    ".urdf": ("revolute", "prismatic", "planar", "universal", "cylindrical", "fixed"),
    ".sdf": ("revolute", "prismatic", "helical", "spherical", "universal", "cylindrical", "planar", "fixed"),
    ".xml": ("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "fixed"),
}


@cache
def mechanism(name: str) -> kp.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kp.load(robots.urdf_files()[name]) if "/" in name else kp.example(name)


def written(m: kp.Mechanism, ending: str, folder) -> tuple[kp.Mechanism, kp.Mechanism, tuple[str, ...]]:
    """The tree as written and as read, both without actuators, and what was left out."""
    file = folder / f"file{ending}"
    description = m.model.description
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left_out = kp.write(m, file)
        bare = split_description(description, kinds=STEPS[ending], passive=False)
        before = kp.build(bare, constraints=False, actuators=False)
        after = kp.load(file, constraints=False, actuators=False, gravity=description.gravity)
    return before, after, left_out


def places(m: kp.Mechanism, names, there) -> list[int]:
    """Where each name is in the other file; SDF renames joints that have the names of links, and free ones."""
    children = {joint.name: joint.child for joint in m.model.description.joints}

    def called(name: str) -> tuple[str, ...]:
        joint, _, part = name.rpartition(".")
        return name, f"{name}_joint", f"{joint}_joint.{part}", f"{children.get(joint)}.{part}"

    return [next(there.index(x) for x in called(name) if x in there) for name in names]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}{case[1]}")
def test_what_is_read_moves_as_what_was_written(case, tmp_path):
    name, ending = case
    if name in MOTORS or name.endswith("/ur3"):
        return
    if kind := REJECTED.get(case):
        with pytest.raises(kp.DescriptionError, match=f"is {kind}"):
            kp.write(mechanism(name), tmp_path / f"file{ending}")
        return
    before, after, left_out = written(mechanism(name), ending, tmp_path)
    assert max(differences(before, after, left_out)) <= EXACT


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ending", KINDS)
def test_a_random_tree_is_read_as_it_was_written(ending, seed, tmp_path):
    before, after, left_out = written(zoo.tree(seed, 6, KINDS[ending]), ending, tmp_path)
    assert max(differences(before.reference, after.reference, left_out)) <= EXACT


@pytest.mark.parametrize("ending", KINDS)
def test_bounds_of_joints_are_kept_or_reported(ending, tmp_path):
    bounds = {"lower": (-1.0,), "upper": (2.0,), "velocity": (3.0,), "effort": (4.0,)}
    tree = zoo.tree(1, 3, ("revolute", "prismatic")).model.description
    joints = tuple(replace(joint, **bounds) for joint in tree.joints)
    _, after, left_out = written(kp.build(replace(tree, joints=joints)), ending, tmp_path)
    read = [joint for joint in after.model.description.joints if joint.kind != "fixed"]
    assert len(read) == len(joints)
    for joint in read:
        missing = [key for key, value in bounds.items() if getattr(joint, key) != value]
        assert all(any(key in x and joint.name in x for x in left_out) for key in missing), missing


def differences(before, after, left_out) -> tuple[float, float]:
    """Relative errors of the efforts and of the place of a link of what was read."""
    s = zoo.motion(before, seed=3)
    q, qd, qdd = np.zeros(after.nq), np.zeros(after.nv), np.zeros(after.nv)
    rates = places(before, before.v_names, after.v_names)
    q[places(before, before.q_names, after.q_names)] = s.q
    qd[rates] = s.qd
    rotors = any("rotor" in x for x in left_out)
    acceleration = 0.0 * s.qdd if rotors else s.qdd  # rotors that are left out act on accelerations alone
    qdd[rates] = acceleration
    expected = before.inverse_dynamics(s.q, s.qd, acceleration)
    result = after.inverse_dynamics(q, qd, qdd, passive=False)[rates]
    link = before.model.names[-1]
    place = zoo.relative_error(after.pose(q, link).position, before.pose(s.q, link).position)
    return zoo.relative_error(result, expected), place


@pytest.mark.parametrize("ending", [".urdf", ".xml"])
@pytest.mark.parametrize("name", ["four-bar", "five-bar", "gripper", "slider-crank"])
def test_loops_and_couplings_are_kept(name, ending, tmp_path):
    m, file = mechanism(name), tmp_path / f"file{ending}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left_out = kp.write(m, file)
        other = kp.load(file, gravity=m.model.description.gravity)
    assert not any("constraint" in x for x in left_out)
    q = m.start()
    rng = np.random.default_rng(2)
    qd, tau = m.velocities(q, dict.fromkeys(m.actuated(), 1.3)), rng.normal(size=m.nv)
    there = places(m, m.v_names, other.v_names)
    inputs = np.zeros((3, m.nv))
    inputs[:, there] = q, qd, tau
    assert np.abs(other.constraint_residual(inputs[0])).max() <= 1e-9
    result = other.forward_dynamics(*inputs, passive=False)[there]
    assert zoo.relative_error(result, m.forward_dynamics(q, qd, tau, passive=False)) <= 1e-10


@pytest.mark.parametrize("name", ["two-handed-arm", "xarm/xarm7"])
def test_mujoco_reads_what_is_written(name, tmp_path):
    before, _, _ = written(mechanism(name), ".xml", tmp_path)
    text = (tmp_path / "file.xml").read_text("utf-8")
    start = text.find("<asset>")
    bare = text if start < 0 else text[:start] + text[text.index("</asset>") + 8 :]
    bare = "\n".join(line for line in bare.splitlines() if "<geom" not in line)
    model = mujoco.MjModel.from_xml_string(bare)
    data = mujoco.MjData(model)
    s = zoo.motion(before, seed=4)
    order = places(before, [model.joint(k).name for k in range(model.njnt)], before.v_names)
    data.qpos[:], data.qvel[:], data.qacc[:] = s.q[order], s.qd[order], s.qdd[order]
    model.dof_armature[:] = 0.0
    tau = np.zeros(model.nv)
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    mujoco.mj_rne(model, data, 1, tau)
    assert zoo.relative_error(tau, before.inverse_dynamics(s.q, s.qd, s.qdd)[order]) <= 1e-9


def test_parts_without_a_place_in_the_format_are_named(tmp_path):
    b = kp.Builder("arm", gravity=[0, 0, -1])
    b.link("a", mass=1.0, inertia=[1, 1, 1])
    b.joint(
        "j",
        "revolute",
        "ground",
        "a",
        axis="y",
        stiffness=3.0,
        rotor_inertia=0.1,
        friction={"law": "viscous", "viscous": 1.0},
    )
    b.spring("rope", "ground", "a", stiffness=4.0, rest_length=0.1, tension_only=True)
    with pytest.warns(kp.DescriptionWarning):
        left_out = kp.write(b, tmp_path / "arm.urdf")
    assert left_out == (
        "URDF has no friction law; left out: 'j'",
        "URDF has no spring of a joint; left out: 'j'",
        "URDF has no rotor inertia; left out: 'j'",
        "URDF has no gravity; left out: '0 0 -1'",
        "URDF has no spring between points of this kind; left out: 'rope'",
    )


def test_an_unknown_ending_is_rejected(tmp_path):
    with pytest.raises(kp.InputError, match=r"kinpair writes \.urdf, \.sdf, \.xml, \.toml"):
        kp.write(kp.example("scara"), tmp_path / "scara.usd")
