"""Internal states and inputs, end to end: names, derivatives, runs by every way of giving inputs, files, steppers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from motors import Winding, driven, on_joint, with_elements

Q, QD, X = np.array([0.3, -0.5]), np.array([0.2, 0.4]), np.array([0.7])


def test_names_and_sizes():
    m = driven(rubbed="elbow")
    assert (m.nx, m.x_names) == (2, ("motor.current", "elbow.friction.bristle"))
    assert (m.nu, m.u_names) == (2, ("motor", "elbow"))  # the elbow has no actuator: its effort is an input
    plain = kp.example("double-pendulum")
    assert (plain.nx, plain.x_names, plain.u_names) == (0, (), plain.v_names)


def test_state_derivative_is_forward_dynamics_of_what_the_motor_does():
    m, plain = driven(), kp.example("double-pendulum")
    u = np.array([3.0, 0.5])
    qdd, x_rate = m.state_derivative(Q, QD, X, u)
    assert qdd == pytest.approx(plain.forward_dynamics(Q, QD, np.array([8.0 * X[0], u[1]])), rel=1e-13)
    assert x_rate == pytest.approx([(u[0] - 1.6 * X[0] - 8.0 * QD[0]) / 0.02], rel=1e-13)


def test_state_derivative_in_a_batch_compiled_and_by_the_reference_is_the_same():
    m = driven(rubbed="elbow")
    rng = np.random.default_rng(3)
    q, qd, x, u = (rng.normal(size=(9, 2)) for _ in range(4))
    batch, slow = m.state_derivative(q, qd, x, u), m.reference.state_derivative(q, qd, x, u)
    for k in range(9):
        one = m.state_derivative(q[k], qd[k], x[k], u[k])
        for several, interpreted, single in zip(batch, slow, one, strict=True):
            assert several[k] == pytest.approx(single, rel=1e-12)
            assert interpreted[k] == pytest.approx(single, rel=1e-11)


def test_without_actuators_the_inputs_are_the_joint_efforts():
    m = kp.example("double-pendulum")
    tau = np.array([1.0, -2.0])
    qdd, x_rate = m.state_derivative(Q, QD, u=tau)
    assert (qdd == m.forward_dynamics(Q, QD, tau)).all()
    assert x_rate.shape == (0,)
    by_input, by_torque = (kp.simulate(m, Q, QD, duration=0.2, **{word: tau}) for word in ("input", "torque"))
    assert (by_input.q == by_torque.q).all()
    assert (by_input.u == by_torque.tau).all()


def test_a_closed_mechanism_obeys_its_constraints_under_a_motor():
    m = driven("four-bar", "crank")
    q = m.start()
    qd = m.velocities(q, {"crank": 1.0})
    u = np.array([20.0, 0.0, 0.0])
    qdd, _ = m.state_derivative(q, qd, X, u)
    plain = kp.example("four-bar")
    assert qdd == pytest.approx(plain.forward_dynamics(q, qd, [8.0 * X[0], 0.0, 0.0]), rel=1e-12)
    run = kp.simulate(m, q, qd, duration=0.5, input={"motor": 20.0})
    assert run.status.ok
    assert run.balance.relative < 1e-9
    assert run.residual.worst[0] < 1e-9


def by_function(time, q, qd, x):
    return [4.0 + np.sin(3.0 * time) - 0.2 * x[0], -0.1 * qd[1]]


def test_the_balance_of_energy_closes_and_has_the_names_of_what_took_it():
    m = driven(rubbed="elbow")
    run = kp.simulate(m, Q, QD, duration=1.0, input=by_function, x={"motor.current": 0.7})
    assert run.status.ok
    assert run.balance.relative < 1e-9
    assert set(run.supplied) == {"motor.voltage", "elbow"}
    assert set(run.losses) == {"motor.copper", "elbow.friction"}
    assert sum(x[-1] for x in run.supplied.values()) == pytest.approx(run.work[-1], rel=1e-12)
    assert sum(x[-1] for x in run.losses.values()) == pytest.approx(run.loss[-1], rel=1e-12)
    assert run.x[0].tolist() == [0.7, 0.0]
    assert run.u[0] == pytest.approx([4.0 - 0.14, -0.04])
    assert run.tau[:, 0] == pytest.approx(8.0 * run.x[:, 0])


@pytest.mark.parametrize("integrator", ["dopri5", "cvode", "ida"])
def test_every_adaptive_integrator_carries_internal_states(integrator):
    m = driven()
    reference = kp.simulate(m, Q, QD, duration=0.5, input=by_function, x=X)
    run = kp.simulate(m, Q, QD, duration=0.5, input=by_function, x=X, integrator=integrator)
    assert run.q[-1] == pytest.approx(reference.q[-1], abs=1e-6)
    assert run.x[-1] == pytest.approx(reference.x[-1], abs=1e-6)


def test_a_function_is_the_same_recorded_called_and_read_from_a_table():
    m = driven()

    class Called:
        def __call__(self, time, q, qd, x):
            return by_function(time, q, qd, x)

    recorded = kp.simulate(m, Q, QD, duration=0.3, input=by_function)
    called = kp.simulate(m, Q, QD, duration=0.3, input=Called())
    assert called.x[-1] == pytest.approx(recorded.x[-1], rel=1e-7)
    assert "The input is called from Python" in called.notes[0]
    times = np.linspace(0.0, 0.3, 2001)
    values = np.stack([np.interp(times, recorded.time, recorded.u[:, k]) for k in range(2)], axis=1)
    table = kp.simulate(m, Q, QD, duration=0.3, input=(times, values))
    assert table.x[-1] == pytest.approx(recorded.x[-1], rel=1e-4)  # straight lines between 300 samples


@pytest.mark.parametrize("integrator", ["dop853", "rk4", "cvode"])
def test_a_sampled_controller_sees_internal_states(integrator):
    m = driven()

    def sampled(time, q, qd, x):
        return [4.0 - 2.0 * x[0], 0.0]

    sampled.sample_time = 0.05
    how = {"dt": 1e-3} if integrator == "rk4" else {}
    run = kp.simulate(m, Q, QD, duration=0.2, input=sampled, integrator=integrator, **how)
    held = run.u[:, 0].reshape(-1)
    for k in range(4):
        here = (run.time > 0.05 * k + 1e-9) & (run.time < 0.05 * (k + 1) - 1e-9)
        at = int(np.argmin(np.abs(run.time - 0.05 * k)))
        assert held[here] == pytest.approx(4.0 - 2.0 * run.x[at, 0], rel=1e-9)


def test_a_batch_is_its_rows():
    m = driven()
    q, x = np.array([Q, 1.2 * Q, 0.1 * Q]), np.array([[0.0], [0.5], [1.0]])
    many = kp.simulate(m, q, QD, duration=0.1, input=[4.0, 0.0], x=x, integrator="rk4", dt=1e-3)
    assert (many.x.shape, many.u.shape) == ((3, 101, 1), (3, 101, 2))
    for k in range(3):
        one = kp.simulate(m, q[k], QD, duration=0.1, input=[4.0, 0.0], x=x[k], integrator="rk4", dt=1e-3)
        assert many.x[k] == pytest.approx(one.x, rel=1e-12)
    assert many.losses["motor.copper"].shape == (3, 101)


def test_accelerations_and_reactions_at_samples_are_those_of_the_motion():
    m = driven(rubbed="elbow")
    run = kp.simulate(m, Q, QD, duration=0.2, input=by_function, x=[0.7, 0.01])
    k = 57
    qdd, _ = m.state_derivative(run.q[k], run.qd[k], run.x[k], run.u[k], run.time[k])
    assert run.qdd[k] == pytest.approx(qdd, rel=1e-12)
    assert run.reactions["shoulder"].shape == (201, 6) or run.reactions["shoulder"].shape[1] == 6


def test_a_file_holds_internal_states_inputs_and_the_account(tmp_path):
    m, path = driven(rubbed="elbow"), tmp_path / "run.h5"
    run = kp.simulate(m, Q, QD, duration=0.2, input=by_function, x=[0.7, 0.01], save=path)
    again = kp.load_run(path, mechanism=m)
    whole = kp.simulate(m, Q, QD, duration=0.2, input=by_function, x=[0.7, 0.01])
    for name in ("x", "u", "account", "tau"):
        assert (getattr(again, name) == getattr(whole, name)).all(), name
        assert (getattr(run, name) == getattr(whole, name)).all(), name
    assert again.losses["motor.copper"][-1] == whole.losses["motor.copper"][-1]
    whole.save(tmp_path / "whole.h5")
    assert (kp.load_run(tmp_path / "whole.h5", mechanism=m).x == whole.x).all()
    columns = whole.to_pandas()
    assert {"x.motor.current", "u.motor", "account.loss motor.copper"} <= set(columns)
    assert columns.attrs["units"]["x.motor.current"] == "A"
    assert whole.to_xarray()["x"].sel(state="motor.current").shape == (len(whole.time),)


def test_a_run_goes_on_with_its_internal_states(tmp_path):
    m, path = driven(), tmp_path / "run.h5"
    how = {"duration": 0.4, "integrator": "rk4", "dt": 1e-3}
    whole = kp.simulate(m, Q, QD, input=by_function, x=X, **how)

    class StopError(Exception):
        pass

    def stop(part):
        if part > 0.4:
            raise KeyboardInterrupt

    kp.simulate(m, Q, QD, input=by_function, x=X, save=path, checkpoint=1e-9, progress=stop, **how)
    run = kp.resume(path, input=by_function, mechanism=m)
    assert run.status.ok
    assert (run.x == whole.x).all()
    assert (run.account == whole.account).all()


def test_a_stepper_has_internal_states():
    m = driven()
    s = kp.stepper(m, dt=1e-3)
    s.reset(Q, QD, x=X)
    s.step([4.0, 0.0], 50)
    run = kp.simulate(m, Q, QD, duration=0.05, input=[4.0, 0.0], x=X, integrator="rk4", dt=1e-3)
    assert (s.x == run.x[-1]).all()
    assert (s.q == run.q[-1]).all()


def test_summary_and_page_have_internal_states(tmp_path):
    run = kp.simulate(driven(), Q, QD, duration=0.1, input=[4.0, 0.0])
    page = run.report(tmp_path / "run.html").read_text()
    assert "x motor.current" in page
    assert "u motor" in page
    titles = [axis.get_title(loc="left") or axis.get_title() for axis in run.plot().axes]
    assert {"internal states", "inputs"} <= set(titles)


def test_two_motors_have_their_states_and_inputs_in_order():
    m = kp.example("double-pendulum")
    two = with_elements(m, *(on_joint(m, Winding, f"m{k}", joint) for k, joint in enumerate(m.v_names)))
    assert two.x_names == ("m0.current", "m1.current")
    assert two.u_names == ("m0", "m1")
    _, x_rate = two.state_derivative(Q, QD, [1.0, 2.0], [5.0, 7.0])
    assert x_rate == pytest.approx([(5 - 1.6 - 8 * QD[0]) / 0.02, (7 - 3.2 - 8 * QD[1]) / 0.02])


def test_without_passive_parts_a_motor_still_acts():
    m = driven()
    assert m.state_derivative(Q, QD, X, [1.0, 0.0], passive=False).x_rate[0] != 0.0
    assert replace(m.model, added=()).added == ()
