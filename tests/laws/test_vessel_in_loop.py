"""The experiment of a vessel in a closed loop: the liquid 20 % heavier than known, a perturbed start."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

import kinpair as kp

TANK = kp.motion.Tank(radius=0.05, fill=0.10, height=0.13)
LIQUID = ("water", "wave1", "wave2")
OFF = {"waist": 0.02, "shoulder": -0.02, "wrist": 0.03}
NOTHING = 1e-12  # effort on a wave [N]


@cache
def known() -> kp.Mechanism:
    return kp.example("vessel-arm")


@cache
def carried() -> kp.motion.Transfer:
    pose = known().pose(known().start(), "vessel")
    path = kp.motion.line(pose, kp.FramePose(pose.rotation, pose.position + np.array([0.0, 1.0, 0.0])), 2.0)
    return kp.motion.vessel(known(), path, frame="vessel", tank=TANK)


def heavier(part: float) -> kp.Mechanism:
    """The arm with another mass of liquid, whose modes have their frequencies still."""
    d = known().model.description
    links = tuple(
        replace(x, mass=part * x.mass, inertia=tuple(part * y for y in x.inertia)) if x.name in LIQUID else x
        for x in d.links
    )
    joints = tuple(
        replace(x, stiffness=tuple(part * y for y in x.stiffness)) if x.name.startswith("wave") else x
        for x in d.joints
    )
    return kp.build(replace(d, links=links, joints=joints))


def level(q: np.ndarray) -> float:
    """The highest wave at the wall [m] in a run."""
    moved = q[:, 6:].reshape(-1, 2, 2)
    return float(np.sqrt(((TANK.waves[:, None] * moved).sum(1) ** 2).sum(-1)).max())


def wave(frequency: float) -> float:
    """The highest wave at the wall [m], with joints held by springs and dampers of a frequency [rad/s]."""
    m = known()
    inertia = dict(zip(m.v_names[:6], np.diag(m.mass_matrix(m.start()))[:6], strict=True))
    regulator = kp.regulator.pd(
        m,
        carried().motion,
        kp={name: frequency**2 * x for name, x in inertia.items()},
        kd={name: 2 * frequency * x for name, x in inertia.items()},
    )
    limits = {
        **dict(zip(m.v_names, m.model.joints.effort, strict=True)),
        **dict.fromkeys(m.v_names[6:], NOTHING),
    }
    loop = kp.regulator.in_loop(regulator, sample_time=1e-3, saturation=limits)
    run = kp.track(
        m,
        carried().motion,
        loop,
        plant=heavier(1.2),
        off=OFF,
        hold=0.5,
        integrator="rk4",
        dt=1e-3,
        output=5e-3,
    ).run
    assert np.abs(run.tau[:, 6:]).max() <= NOTHING
    return level(run.q)


def test_nothing_is_spilled_with_the_regulator_and_all_without():
    assert wave(20.0) < 0.5 * TANK.freeboard
    assert wave(0.0) > TANK.freeboard


MOTORS = dict.fromkeys(("waist", "shoulder", "elbow"), (0.3, 0.1, 100.0)) | dict.fromkeys(
    ("forearm-roll", "wrist", "hand-roll"), (0.8, 0.05, 50.0)
)  # resistance [ohm], constant [N m/A], ratio
VOLTAGE = 48.0


def driven(folder) -> kp.Mechanism:
    """The heavier arm with a direct-current motor in each joint."""
    file = folder / "driven.toml"
    kp.write_toml(heavier(1.2).model.description, file)
    motors = [
        f"""
[[actuator]]
name = "{joint} motor"
joint = "{joint}"
kind = "dc-motor"
resistance = {R}
torque_constant = {k}
voltage = {VOLTAGE}
gear = {{ ratio = {N} }}
"""
        for joint, (R, k, N) in MOTORS.items()
    ]
    file.write_text(file.read_text("utf-8") + "".join(motors), "utf-8")
    return kp.load(file)


def test_motors_carry_it_too(tmp_path):
    """Voltages of a resistance and a speed that the regulator knows, from a perturbed start: 48 V are enough."""
    known_arm, plant, x = known(), driven(tmp_path), carried().motion
    R, k, N = np.array([MOTORS[name] for name in known_arm.v_names[:6]]).T
    inertia = np.diag(known_arm.mass_matrix(known_arm.start()))[:6]
    times = np.linspace(0.0, 2.0, 401)
    plan = x.at(times)
    feed = known_arm.inverse_dynamics(plan.q, plan.qd, plan.qdd)[:, :6]

    def voltages(frequency):
        def u(time, q, qd):
            at = x.at(min(time, 2.0))
            wanted = np.array([np.interp(time, times, column) for column in feed.T])
            pull = frequency**2 * (at.q - q)[:6] + 2 * frequency * (at.qd - qd)[:6]
            tau = wanted + inertia * pull
            return np.concatenate([R * tau / (k * N) + k * N * qd[:6], np.zeros(4)])

        u.traceable = False  # a motion with hundreds of knots, evaluated as it is
        return u

    start = x.at(0.0).q.copy()
    for name, off in OFF.items():
        start[known_arm.q_names.index(name)] += off
    levels = {}
    for frequency, duration in ((20.0, 2.0), (0.0, 1.2)):
        run = kp.simulate(
            plant,
            start,
            np.zeros(10),
            duration=duration,
            input=voltages(frequency),
            integrator="rk4",
            dt=2e-3,
            output=1e-2,
        )
        assert frequency == 0.0 or np.abs(run.u[:, :6]).max() < VOLTAGE
        levels[frequency] = level(run.q)
    assert levels[20.0] < 0.5 * TANK.freeboard
    assert levels[0.0] > TANK.freeboard
