"""Tendons of MJCF files act here as they do in MuJoCo: springs, dampers, rotors, limits, transmissions, couplings."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import kinpair as kp

TOLERANCE = 1e-9
ARM = """<mujoco><compiler autolimits="true"/><default><tendon damping="0.2"/>
<default class="soft"><tendon stiffness="9"/></default></default><worldbody><site name="hook" pos="0.2 0.3 0.4"/>
<body name="upper"><joint name="a" axis="0 1 0" ref="10" stiffness="3" springref="20" damping="0.1"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
<body name="lower" pos="0 0 -0.5"><joint name="b" axis="0 1 0"/><site name="tip" pos="0 0.1 -0.4"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/></body></body></worldbody>
<tendon>{}</tendon>{}</mujoco>"""
CASES = {
    "spring of one joint": '<fixed name="t" class="soft" springlength="0.3"><joint joint="b" coef="-0.7"/></fixed>',
    "spring slack with those of the joints": '<fixed name="t" class="soft"><joint joint="a" coef="1.3"/></fixed>',
    "rotor": '<fixed name="t" armature="0.05"><joint joint="b" coef="2"/></fixed>',
    "between two sites": '<spatial name="t" class="soft"><site site="hook"/><site site="tip"/></spatial>',
    "between two sites, a length given": (
        '<spatial name="t" class="soft" springlength="0.2"><site site="hook"/><site site="tip"/></spatial>'
    ),
    "a measurement": '<fixed name="t" damping="0"><joint joint="a" coef="1"/><joint joint="b" coef="2"/></fixed>',
}


def loaded(text: str, tmp_path) -> tuple[kp.Mechanism, mujoco.MjModel]:
    file = tmp_path / "arm.xml"
    file.write_text(text, "utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)  # contact of geoms
        return kp.load(file), mujoco.MjModel.from_xml_path(str(file))


def forces(model: mujoco.MjModel, q, v, a, ctrl=None) -> np.ndarray:
    """Efforts beyond those of springs, dampers and actuators that produce the motion."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, v, a
    if ctrl is not None:
        data.ctrl[:] = ctrl
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    mujoco.mj_inverse(model, data)
    mujoco.mj_fwdActuation(model, data)
    return data.qfrc_inverse - data.qfrc_actuator


@pytest.mark.parametrize("name", CASES)
def test_what_acts_along_a_tendon(name, tmp_path):
    ours, theirs = loaded(ARM.format(CASES[name], ""), tmp_path)
    rng = np.random.default_rng(4)
    assert not any("tendon" in x for x in ours.warnings)
    for _ in range(3):
        q, v, a = rng.normal(size=(3, 2))
        expected = forces(theirs, q, v, a)
        assert ours.inverse_dynamics(q, v, a) == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE)


def test_limits_and_friction_of_a_tendon_of_one_joint_are_those_of_the_joint(tmp_path):
    text = '<fixed name="t" range="-1 0.5" frictionloss="2"><joint joint="b" coef="-0.5"/></fixed>'
    ours, theirs = loaded(ARM.format(text, ""), tmp_path)
    joint = ours.model.description.joints[1]
    assert (joint.lower, joint.upper, joint.friction) == ((-1.0,), (2.0,), (1.0,))
    data = mujoco.MjData(theirs)
    data.qpos[:] = 0, 2.001
    mujoco.mj_forward(theirs, data)
    assert mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON in data.efc_type


@pytest.mark.parametrize("kind", ['motor ctrlrange="-2 2" gear="3"', 'position kp="5" kv="0.3" gear="2"'])
def test_an_actuator_on_a_tendon_of_one_joint(kind, tmp_path):
    tendon = '<fixed name="t" damping="0"><joint joint="b" coef="-0.7"/></fixed>'
    ours, theirs = loaded(ARM.format(tendon, f'<actuator><{kind} name="m" tendon="t"/></actuator>'), tmp_path)
    rng = np.random.default_rng(5)
    q, v = rng.normal(size=(2, 2))
    qdd, _ = ours.state_derivative(q, v, np.zeros(ours.nx), np.array([1.1, 0.0])[: ours.nu], 0.0)
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, 1.1
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    mujoco.mj_forward(theirs, data)
    assert qdd == pytest.approx(data.qacc, rel=1e-8)


def test_equality_of_tendons_couples_their_joints(tmp_path):
    tendons = """<fixed name="t" damping="0"><joint joint="a" coef="2"/></fixed>
<fixed name="u" damping="0"><joint joint="b" coef="-0.5"/></fixed>"""
    equality = '<equality><tendon name="e" tendon1="t" tendon2="u" polycoef="0.1 3 0 0 0"/></equality>'
    ours, theirs = loaded(ARM.format(tendons, equality), tmp_path)
    q = ours.assemble([0.3, 0.4], fixed=["b"])
    data = mujoco.MjData(theirs)
    data.qpos[:] = q
    mujoco.mj_forward(theirs, data)
    rows = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
    assert data.efc_pos[rows] == pytest.approx([0.0], abs=1e-12)


def test_what_is_not_taken_is_reported(tmp_path):
    text = """<fixed name="t" stiffness="1"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed>
<spatial name="u" range="0 1"><site site="hook"/><site site="tip"/></spatial>"""
    ours, _ = loaded(ARM.format(text, ""), tmp_path)
    assert "2 tendons ('t', range of 'u')" in ours.warnings[0]
