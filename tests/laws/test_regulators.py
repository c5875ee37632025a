"""Laws of closed loops: what a regulator promises, the motion keeps; and a loop is the same however it is run."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp

STEPS = {"integrator": "rk4", "dt": 1e-3}


@cache
def mechanism(name):
    return kp.example(name)


@cache
def swing():
    """A motion of the double pendulum between two places at which it does not stand by itself."""
    return kp.motion.cycloid([0.3, -0.2], [1.4, 0.7], 1.5)


@cache
def stanford():
    start = np.array([0.0, 0.5, 0.3, 0.2, 0.4, 0.1])
    return kp.motion.cycloid(start, start + np.array([1.0, 0.8, 0.2, -0.5, 0.6, 1.0]), 2.0)


def run(m, regulator, motion, offset=0.0, **options):
    start = motion.at(0.0)
    return kp.simulate(
        m, start.q + offset, start.qd, duration=motion.duration, torque=regulator, **{**STEPS, **options}
    )


# linear-quadratic regulators


@pytest.mark.parametrize("degree", [0.0, 2.0])
@pytest.mark.parametrize(
    ("name", "at", "inputs"),
    [
        ("cart-pole", [0.0, 0.0], ("slide",)),
        ("double-pendulum", [np.pi, 0.0], None),
        ("four-bar", None, None),
    ],
)
@pytest.mark.parametrize("sample_time", [None, 0.01])
def test_all_changes_die_away_as_fast_as_the_degree(name, at, inputs, degree, sample_time):
    m = mechanism(name)
    regulator = kp.regulator.lqr(m, at, degree=degree, inputs=inputs, sample_time=sample_time)
    values = np.linalg.eigvals(regulator.design.closed.A)
    rates = np.real(values) if sample_time is None else np.log(np.abs(values)) / sample_time
    assert rates.max() < -degree
    assert regulator.design.residual <= 1e-10


def test_gains_solve_the_equation_of_riccati():
    """(RG1) of the gains that are used, term by term."""
    m = mechanism("cart-pole")
    weights = {"q.slide": 10.0, "q.swing": 3.0}
    x = kp.regulator.lqr(m, [0.0, 0.0], Q=weights, R=0.1, degree=0.5, inputs=("slide",)).design
    A, B, Q = x.model.A + 0.5 * np.eye(4), x.model.B, np.diag([10.0, 3.0, 1.0, 1.0])
    terms = [x.S @ A, A.T @ x.S, -x.K.T * 0.1 @ x.K, Q]
    assert np.abs(sum(terms)).max() <= 1e-10 * max(np.abs(t).max() for t in terms)
    assert pytest.approx(B.T @ x.S / 0.1, rel=1e-9) == x.K


@pytest.mark.parametrize("sample_time", [None, 0.05])
def test_linear_model_along_a_motion_gives_the_gains_of_the_motion(sample_time):
    m, motion = mechanism("double-pendulum"), swing()
    of_motion = kp.regulator.lqr(
        m, motion, Q={"q.shoulder": 3.0}, degree=0.5, samples=31, sample_time=sample_time
    )
    time = 0.05 * np.arange(31)
    x = motion.at(time)
    model = kp.linearise(m, x.q, x.qd, u=m.inverse_dynamics(x.q, x.qd, x.qdd), time=time)
    Q = np.broadcast_to(np.diag([3.0, 1.0, 1.0, 1.0]), (len(time), 4, 4))
    found = kp.regulator.lqr(model, Q=Q, degree=0.5, sample_time=sample_time)
    size = 1e-9 * np.abs(found.design.K).max()
    np.testing.assert_allclose(found.design.K, of_motion.design.K, rtol=0, atol=size)
    for t in time[[0, 6, 15, 30]]:
        state = motion.at(t).q + 0.01, motion.at(t).qd
        np.testing.assert_allclose(found(t, *state), of_motion(t, *state), rtol=0, atol=size)


def test_an_upright_cart_pole_comes_back():
    m = mechanism("cart-pole")
    regulator = kp.regulator.lqr(m, [0.0, 0.0], inputs=("slide",), degree=1.0)
    back = kp.simulate(m, [0.2, 0.3], [0.0, 0.0], duration=8.0, torque=regulator, **STEPS)
    assert back.q[-1] == pytest.approx([0.0, 0.0], abs=1e-4)


def test_a_perturbed_arm_returns_to_its_motion_and_without_regulator_it_does_not():
    """Vukobratović's two levels: nominal efforts alone let the perturbation grow, feedback along the motion takes it
    away."""
    m, motion = mechanism("stanford-arm"), stanford()
    R = {"joint1": 1e-3, "joint2": 1e-3, "joint3": 1e-3, "joint4": 1.0, "joint5": 1.0, "joint6": 100.0}
    regulator = kp.regulator.lqr(m, motion, R=R, degree=2.0, samples=101)
    efforts = kp.motion.nominal(m, motion, samples=101)
    start, end = motion.at(0.0), motion.at(2.0).q
    runs = [
        kp.simulate(m, start.q + 0.02, start.qd, duration=2.0, torque=torque)
        for torque in (regulator, (efforts.time, efforts.effort))
    ]
    with_it, without = (np.abs(x.q[-1] - end).max() for x in runs)
    assert with_it < 1e-3
    assert without > 1.0


def test_standing_is_a_motion_that_stands():
    """Along a motion that stays where it is, gains are those about the state, with steps of time and without."""
    m, at = mechanism("double-pendulum"), np.array([0.4, 0.3])
    for sample_time in (None, 0.01):
        standing = kp.motion.polynomial(at, at, 1.0)
        along = kp.regulator.lqr(m, standing, degree=1.0, sample_time=sample_time, samples=11)
        about = kp.regulator.lqr(m, at, degree=1.0, sample_time=sample_time)
        assert (
            pytest.approx(np.broadcast_to(about.design.K, along.design.K.shape), rel=1e-8, abs=1e-9)
            == along.design.K
        )
        assert along(0.3, at + 0.01, [0.0, 0.1]) == pytest.approx(about(0.3, at + 0.01, [0.0, 0.1]), rel=1e-9)


# regulators that promise a motion of the deviation


def test_computed_torque_leaves_every_joint_its_own_oscillation():
    """ë + 2ζω ė + ω² e = 0 from e₀ at rest, ζ = 1: e = e₀ (1 + ωt) exp(−ωt).    (RG8)"""
    m, motion = mechanism("double-pendulum"), swing()
    regulator = kp.regulator.computed_torque(m, motion, frequency=6.0)
    x = run(m, regulator, motion, 0.1)
    e = motion.at(x.time).q - x.q
    wanted = -0.1 * (1 + 6.0 * x.time) * np.exp(-6.0 * x.time)
    assert e == pytest.approx(np.stack([wanted, wanted], axis=1), abs=1e-10)  # rk4 with steps of 1 ms


def test_force_feedback_tends_to_the_same_as_samples_come_faster():
    """Fed back in full, the load leaves k_p and k_d of each joint alone; what is late shrinks with the sample time."""
    m, motion = mechanism("double-pendulum"), swing()
    wanted = run(m, kp.regulator.computed_torque(m, motion, frequency=6.0), motion, 0.1, dt=2.5e-4)
    off = []
    for sample_time in (1e-3, 5e-4, 2.5e-4):
        regulator = kp.regulator.force_feedback(m, motion, frequency=6.0, sample_time=sample_time)
        off.append(np.abs(run(m, regulator, motion, 0.1, dt=2.5e-4).q - wanted.q).max())
    assert off[1] == pytest.approx(off[0] / 2, rel=0.2)
    assert off[2] == pytest.approx(off[1] / 2, rel=0.2)


def test_an_integral_takes_a_constant_load_away():
    m, at = mechanism("double-pendulum"), np.array([0.5, 0.2])
    options = {"kp": 60.0, "kd": 12.0, "sample_time": 1e-3}
    pd, pid = (kp.regulator.pd(m, at, ki=ki, **options) for ki in (0.0, 60.0))
    load = {m.frames[-1]: [0, 0, 0, 3.0, 0, 2.0]}
    ends = [
        kp.simulate(m, at, [0, 0], duration=12.0, torque=x, external=load, output=12.0, **STEPS).q[-1]
        for x in (pd, pid)
    ]
    assert np.abs(ends[0] - at).max() > 0.01
    assert ends[1] == pytest.approx(at, abs=1e-6)


# a loop is the same however it is run


def around(m, motion, **more):
    plain = kp.regulator.pd(m, motion, kp=40.0, kd=8.0)
    own = {"saturation": 25.0, "delay": 1e-2, "encoder": 1e-4, "noise": (1e-4, 1e-3)}
    return kp.regulator.in_loop(plain, sample_time=5e-3, **{**own, **more})


@pytest.mark.parametrize("integrator", ["dop853", "cvode", "taylor", "implicit-midpoint"])
def test_a_regulator_is_the_same_in_every_integrator(integrator):
    """Held efforts and a seeded memory: what is left are the errors of the integrators."""
    m, motion = mechanism("double-pendulum"), swing()
    regulator = around(m, motion, seed=4, encoder=None)  # at the edge of a step rounding decides
    exact = run(m, regulator, motion, 0.1, dt=5e-4, output=[1.0])
    options = {"dt": 5e-4} if integrator == "implicit-midpoint" else {"dt": None, "rtol": 1e-10}
    other = run(m, regulator, motion, 0.1, integrator=integrator, output=[1.0], **options)
    assert other.q[-1] == pytest.approx(exact.q[-1], abs=2e-6 if integrator == "implicit-midpoint" else 1e-8)


def test_a_stepper_and_a_batch_are_the_same_loop():
    m, motion = mechanism("double-pendulum"), swing()
    start, seeds = motion.at(0.0).q + 0.1, [1, 2, 3]
    singles = [run(m, around(m, motion, seed=seed), motion, 0.1, output=1.5).q[-1] for seed in seeds]
    batch = run(m, around(m, motion, seed=seeds), motion, 0.1, output=1.5)
    assert np.array_equal(batch.q[:, -1], singles)
    assert np.abs(singles[0] - singles[1]).max() > 1e-6
    s = kp.stepper(m, dt=1e-3, input=around(m, motion, seed=2))
    s.reset(start, [0.0, 0.0])
    for _ in range(30):
        s.step(steps=50)
    assert np.array_equal(s.q, singles[1])


def test_a_continuous_regulator_is_its_python_function():
    m, motion = mechanism("double-pendulum"), swing()
    regulator = kp.regulator.lqr(m, motion, degree=1.0, samples=31)

    def called(time, q, qd):
        return regulator(time, q, qd)

    called.traceable = False
    a, b = (run(m, x, motion, 0.1, output=0.3, dt=5e-3) for x in (regulator, called))
    assert a.q == pytest.approx(b.q, abs=1e-12)
    assert a.tau == pytest.approx(b.tau, abs=1e-10)


def test_a_loop_that_is_cut_in_two_is_the_same_loop(tmp_path):
    m, motion = mechanism("double-pendulum"), swing()
    regulator, file = around(m, motion, seed=7), tmp_path / "run.h5"
    start = motion.at(0.0).q + 0.1
    whole = kp.simulate(m, start, [0, 0], duration=1.0, torque=regulator, output=0.1, **STEPS)

    def stop(part):
        if part > 0.3:
            raise KeyboardInterrupt

    kp.simulate(
        m,
        start,
        [0, 0],
        duration=1.0,
        torque=regulator,
        output=0.1,
        save=file,
        checkpoint=1e-9,
        progress=stop,
        **STEPS,
    )
    again = kp.resume(file, torque=regulator)
    assert np.array_equal(again.q, whole.q)


def test_with_a_sample_time_efforts_are_held_and_with_limits_they_stay_within():
    m, motion = mechanism("double-pendulum"), swing()
    x = run(m, around(m, motion, seed=1), motion, 0.3)
    held = x.tau[:-1].reshape(-1, 5, 2)  # samples of 1 ms, efforts of 5 ms
    assert np.array_equal(held, np.broadcast_to(held[:, :1], held.shape))
    assert np.abs(x.tau).max() == 25.0


def test_a_delay_shifts_efforts_by_whole_samples():
    m, motion = mechanism("double-pendulum"), swing()
    plain = kp.regulator.pd(m, motion, kp=40.0, kd=8.0)
    late = kp.regulator.in_loop(plain, sample_time=1e-2, delay=3e-2)
    x = run(m, late, motion, 0.1, output=1e-2)
    asked = [plain(t, q, qd) for t, q, qd in zip(x.time, x.q, x.qd, strict=True)]
    assert x.tau[3:] == pytest.approx(np.array(asked[:-3]), abs=1e-9)
    assert x.tau[:3] == pytest.approx(np.broadcast_to(asked[0], (3, 2)), abs=1e-12)


def test_preview_makes_an_output_follow_what_is_known_ahead():
    """The hand of an arm follows a step of its place better the earlier the step is known."""
    m = mechanism("double-pendulum")
    frame = m.frames[-1]
    about = kp.equilibrium(m, [0.4, 0.5], free=m.v_names, fixed=m.v_names)
    model = about.linearise(outputs=[f"{frame}.x", f"{frame}.z"]).discrete(0.01)
    reference = kp.motion.polynomial([0.0, 0.0], [5e-4, -1e-3], 0.6)
    missed = []
    for steps in (1, 10, 40):
        regulator, _ = kp.regulator.preview(model, reference, steps=steps, Q=1.0, R=1e-6)
        x = kp.simulate(
            m, about.q, [0, 0], duration=1.5, torque=regulator, output=0.01, integrator="rk4", dt=2e-3
        )
        place = np.array([m.pose(q, frame).position[[0, 2]] for q in x.q])
        off = place - place[0] - reference.at(x.time).q
        missed.append(float(np.sqrt((off**2).mean())))
    assert np.abs(off[-1]).max() < 2e-6
    assert missed[0] > 5 * missed[1] > 5 * missed[2]


def test_dry_friction_is_fed_forward_where_gains_cannot_know_it():
    """At rest dry friction has no derivative: gains leave it out, the nominal efforts do not."""
    b = kp.Builder("slide")
    b.link("block", mass=2.0)
    b.joint("slide", "prismatic", "ground", "block", axis="x", friction=3.0)
    m = kp.build(b)
    motion = kp.motion.cycloid([0.0], [0.5], 1.0)
    with pytest.raises(kp.SingularError, match="no input moves it a little"):
        kp.regulator.lqr(m, motion)
    designs = {x: kp.regulator.lqr(m, motion, Q=100.0, passive=x, samples=51) for x in ("efforts", False)}
    assert pytest.approx(designs[False].design.K) == designs["efforts"].design.K
    missed = {x: kp.track(m, motion, regulator).rms[0] for x, regulator in designs.items()}
    assert missed["efforts"] < 0.05 * missed[False]
