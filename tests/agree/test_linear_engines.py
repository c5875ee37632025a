"""Linear models of trees beside MuJoCo's `mjd_transitionFD` and Pinocchio's derivatives."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import kinpair as kp
import zoo
from engines import bare_urdf
from families import family
from robots import urdf

DT = 1e-3
DIFFERENCE = 1e-6  # of central differences with steps of 1e-6, beside a step of 1e-3
ROBOTS = family(
    ["ur5_robot", "panda", "xarm7", "z1", "kinova"],
    usual=["ur5_robot"],
    reason="another arm of the same kind",
)


def loaded(name: str) -> tuple[kp.Mechanism, str]:
    text = bare_urdf(urdf(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf(name), constraints=False), text


@pytest.mark.parametrize("name", ROBOTS)
def test_mujoco_steps_as_the_model_says(name):
    """One semi-implicit step of theirs: v₁ = v + h q̈, q₁ = q + h v₁."""
    ours, text = loaded(name)
    options = '<mujoco><compiler balanceinertia="false" fusestatic="false"/></mujoco></robot>'
    theirs = mujoco.MjModel.from_xml_string(text.replace("</robot>", options))
    theirs.opt.timestep = DT
    flags = mujoco.mjtDisableBit
    theirs.opt.disableflags |= int(
        flags.mjDSBL_DAMPER | flags.mjDSBL_SPRING | flags.mjDSBL_CONSTRAINT | flags.mjDSBL_EULERDAMP
    )
    assert [theirs.joint(k).name for k in range(theirs.njnt)] == list(ours.v_names)
    s, n = zoo.motion(ours, 4), ours.nv
    data = mujoco.MjData(theirs)
    data.qpos[:], data.qvel[:] = s.q, s.qd
    mujoco.mj_forward(theirs, data)
    found = np.zeros((2 * n, 2 * n))
    mujoco.mjd_transitionFD(theirs, data, 1e-6, True, found, None, None, None)
    model = kp.linearise(ours, s.q, s.qd, passive=False)
    by_q, by_qd = model.A[n:, :n], model.A[n:, n:]
    rates = np.hstack([DT * by_q, np.eye(n) + DT * by_qd])
    step = np.vstack([np.hstack([np.eye(n), np.zeros((n, n))]) + DT * rates, rates])
    assert zoo.relative_error(step, found) < DIFFERENCE


@pytest.mark.parametrize("name", ROBOTS)
def test_pinocchio_has_the_same_derivatives(name):
    ours, text = loaded(name)
    theirs = pin.buildModelFromXML(text)
    assert list(theirs.names)[1:] == list(ours.v_names)
    if theirs.nq != theirs.nv:
        pytest.fail("continuous joints: their coordinates are cosines and sines")
    s, n = zoo.motion(ours, 5), ours.nv
    data = theirs.createData()
    tau = ours.inverse_dynamics(s.q, s.qd, s.qdd, passive=False)
    by_q, by_qd, by_tau = pin.computeABADerivatives(theirs, data, s.q, s.qd, tau)
    model = kp.linearise(ours, s.q, s.qd, u=tau, passive=False)
    condition = np.linalg.cond(ours.mass_matrix(s.q))
    bound = max(1e-9, 1e3 * np.finfo(float).eps * condition)
    assert zoo.relative_error(model.A[n:, :n], by_q) < bound
    assert zoo.relative_error(model.A[n:, n:], by_qd) < bound
    assert zoo.relative_error(model.B[n:], by_tau) < bound
