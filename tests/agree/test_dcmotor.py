"""MuJoCo's `dcmotor` and the DC motor here, on the same motor: one of a sheet, behind a gear, on a pendulum.

MuJoCo has resistance, one constant for torque and voltage, inductance, rotor and damping of the bearings, and bounds of
voltage and torque; there the two models are the same, and so are the motions. RK4 at 1 ms is off by the fourth power of
its step: at half of it the difference is a sixteenth.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import kinpair as kp

R, K, J, B, N, LIMIT = 1.667, 0.0441, 85e-7, 2e-6, 30.0, 18.0
PENDULUM = """<mujoco><option integrator="RK4"><flag contact="disable"/></option><worldbody><body>
<joint name="hinge" axis="0 1 0"/><inertial mass="1.5" pos="0 0 -.3" diaginertia=".02 .02 .01"/></body></worldbody>
<actuator><dcmotor name="motor" joint="hinge" motorconst="{k}" resistance="{r}" gear="{n}" armature="{j}" damping="{b}"
ctrlrange="-{u} {u}"/></actuator></mujoco>"""


def ours() -> kp.Mechanism:
    """As a person writes it here."""
    builder = kp.Builder("pendulum").link("rod", mass=1.5, com=(0.0, 0.0, -0.3), inertia=(0.02, 0.02, 0.01))
    builder.joint("hinge", "revolute", "ground", "rod", axis="y")
    numbers = {"resistance": R, "torque_constant": K, "rotor_inertia": J, "damping": B, "voltage": LIMIT}
    return kp.build(
        builder.actuator("motor", "hinge", "dc-motor", **numbers, gear={"ratio": N}).description()
    )


def theirs(dt: float) -> np.ndarray:
    """q and q̇ after half a second at 24 V, of which 18 arrive."""
    model = mujoco.MjModel.from_xml_string(PENDULUM.format(k=K, r=R, n=N, j=J, b=B, u=LIMIT))
    model.opt.timestep = dt
    data = mujoco.MjData(model)
    data.ctrl[:], data.qpos[:] = 24.0, 0.4
    for _ in range(round(0.5 / dt)):
        mujoco.mj_step(model, data)
    return np.array([data.qpos[0], data.qvel[0]])


def test_the_motion_is_the_same():
    run = kp.simulate(ours(), [0.4], [0.0], duration=0.5, input=[24.0], rtol=1e-12, atol=1e-13)
    exact = np.array([run.q[-1, 0], run.qd[-1, 0]])
    coarse, fine = (np.abs(theirs(dt) - exact).max() for dt in (2e-3, 1e-3))
    assert abs(exact[1]) > 5.0
    assert fine < 1e-7
    assert coarse / fine == pytest.approx(16.0, rel=0.1)


def test_what_goes_to_heat_is_known_here_alone():
    """P = u i = k i ω + R i²: of the current that MuJoCo's force is, by name and to the last digit."""
    m = ours()
    run = kp.simulate(m, [0.4], [0.0], duration=0.5, input=[12.0])
    assert set(run.losses) == {"motor.copper", "motor.friction"}
    assert run.balance.relative < 1e-8
