"""Studies: each case is the simulation it says, recorded as asked."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair import Grid, InputError, Study

FIXED = {"integrator": "rk4", "dt": 1e-3, "output": 0.01}
WORDS = [
    "final",
    "min q.elbow",
    "max energy",
    "peak qd.shoulder",
    "samples q.elbow",
    "energy drift",
    "final time",
]


@pytest.fixture(scope="module")
def arm():
    return kp.example("double-pendulum")


@pytest.mark.parametrize("options", [FIXED, {"output": 0.01}], ids=["fixed", "adaptive"])
def test_a_case_is_the_simulation_of_its_inputs(arm, options):
    study = Study(arm, q={"shoulder": 0.4}, torque={"elbow": 0.1}, record=WORDS, duration=0.2, **options)
    over = {
        "q.elbow": [0.1, 0.7],
        "qd.elbow": [0.0, 1.0],
        "torque.shoulder": [0.0, 2.0],
        "upper.mass": [1.0, 3.0],
    }
    table = kp.sweep(study, over, workers=0)
    assert len(table) == 16
    for k in (0, 5, 15):
        elbow, rate, torque, mass = (table[name][k] for name in over)
        run = kp.simulate(
            arm,
            [0.4, elbow],
            [0.0, rate],
            torque=[torque, 0.1],
            parameters={"upper.mass": mass},
            duration=0.2,
            **options,
        )
        energy = run.energy.kinetic + run.energy.potential
        expected = {
            "final q.shoulder": run.q[-1, 0],
            "final qd.elbow": run.qd[-1, 1],
            "min q.elbow": run.q[:, 1].min(),
            "max energy": energy.max(),
            "peak qd.shoulder": np.abs(run.qd[:, 0]).max(),
            "samples q.elbow": run.q[:, 1],
            "final time": 0.2,
        }
        for name, value in expected.items():
            np.testing.assert_allclose(table[name][k], value, rtol=1e-12, atol=1e-12, err_msg=name)
        assert table["energy drift"][k] == pytest.approx(run.balance.error, abs=1e-12)


def test_digits_do_not_depend_on_what_is_beside_a_case(arm):
    study = Study(arm, duration=0.1, **FIXED)
    rows = tuple((x,) for x in np.linspace(0, 1, 11))
    together = study.run(["q.elbow"], rows)
    apart = [study.run(["q.elbow"], [row])[0] for row in rows]
    assert together == apart


def test_options_vary_too(arm):
    study = Study(arm, q=[0.3, 0.2], **FIXED)
    table = kp.sweep(study, {"duration": [0.1, 0.2], "integrator": ["rk4", "semi-implicit-euler"]}, workers=0)
    run = kp.simulate(
        arm, [0.3, 0.2], [0.0, 0.0], duration=0.2, **FIXED | {"integrator": "semi-implicit-euler"}
    )
    assert table["final q.elbow"][3] == pytest.approx(run.q[-1, 1], rel=1e-12)
    assert len(set(table["final q.elbow"])) == 4


def test_functions_of_the_result_are_recorded(arm):
    def reach(run):
        return {"reach": run.q[:, 0].max(), "path": run.q[::5, 0]}

    def steps(run):
        return run.steps

    table = kp.sweep(
        Study(arm, duration=0.1, record=["final", reach, steps], **FIXED), {"q.elbow": [0.1, 0.2]}, workers=0
    )
    assert table.outputs[-3:] == ("reach", "path", "steps")
    assert table["path"].shape == (2, 3)
    assert table["steps"].tolist() == [100, 100]


class Integral:
    """A controller with a memory."""

    sample_time = 0.01

    def __init__(self):
        self.sum = 0.0

    def __call__(self, time, q, qd):
        self.sum = self.sum + q
        return -self.sum


def test_a_controller_begins_each_case_without_a_memory(arm):
    study = Study(arm, q=[0.3, 0.2], duration=0.1, torque=Integral(), **FIXED)
    one, two = study.run(["q.elbow"], [(0.1,), (0.1,)])
    assert one == two
    run = kp.simulate(arm, [0.3, 0.1], [0.0, 0.0], duration=0.1, torque=Integral(), **FIXED)
    assert one.values["final q.elbow"] == run.q[-1, 1]


def test_a_run_that_does_not_arrive_is_a_failed_case(arm):
    study = Study(arm, duration=0.1, record="final", **FIXED)
    table = kp.sweep(study, {"qd.shoulder": [0.0, 1e200]}, workers=0)
    assert table.failed.tolist() == [False, True]
    assert table.errors[1].startswith("Stopped at t = ")
    assert np.isnan(table["final q.elbow"][1])
    assert np.isfinite(table["final q.elbow"][0])


@pytest.mark.parametrize(
    ("name", "options", "over"),
    [
        ("four-bar", {"hold": "none", "dt": 5e-3, "duration": 0.1}, {"qd.crank": [0.0, 40.0, 0.1]}),
        (
            "double-pendulum",
            {"dt": 0.125, "duration": 2.5},
            {"q.elbow": [0.0, 1.0, 2.0], "q.shoulder": [0.0, 1.5]},
        ),
        (
            "double-pendulum",
            {"dt": 0.25, "duration": 2.5},
            {"q.elbow": [0.0, 1.0, 2.0], "q.shoulder": [0.0, 1.5]},
        ),
    ],
)
def test_the_error_of_a_case_is_the_status_of_its_run(name, options, over):
    """Whatever a run says of itself, together with others or alone."""
    study = Study(name, integrator="rk4", record="final", **options)
    table = kp.sweep(study, over, workers=0)
    alone = Study(name, integrator="rk4", record=["final", lambda run: {"steps": run.steps}], **options)
    apart = kp.sweep(alone, over, workers=0)
    assert table.failed.tolist() == apart.failed.tolist()
    reached = [not error.startswith("Stopped") for error in table.errors]
    first = table.outputs[0]
    assert np.isfinite(table[first]).tolist() == reached == np.isfinite(apart[first]).tolist()
    if name == "four-bar":
        assert table.failed.tolist() == [False, True, False]
        assert "the constraints have drifted apart" in table.errors[1]
    assert [x.split(" s", 1)[0] for x in table.errors] == [x.split(" s", 1)[0] for x in apart.errors]


def test_a_case_that_cannot_be_started_fails_alone(arm):
    table = kp.sweep(Study(arm, duration=0.1, **FIXED), {"dt": [1e-3, 3e-3]}, workers=0)
    assert table.failed.tolist() == [False, True]
    assert "not a whole number of steps" in table.errors[1]


def test_closed_mechanisms_are_assembled_around_what_varies():
    linkage = kp.example("four-bar")
    study = Study(
        linkage, duration=0.05, record=["samples q.crank", "samples q.output", "samples q.coupler"], **FIXED
    )
    table = kp.sweep(study, {"q.crank": [0.1, 0.3]}, workers=0)
    assert table["samples q.crank"][:, 0].tolist() == [0.1, 0.3]
    for k in range(2):
        q = [table[f"samples q.{name}"][k, 0] for name in linkage.q_names]
        np.testing.assert_allclose(linkage.assemble(q), q, atol=1e-9)


def test_units_are_those_of_the_joints():
    study = Study("cart-pole", duration=0.1, record=["final", "peak tau.slide", "energy drift"])
    names = study.mechanism.q_names
    units = study.units([f"q.{names[0]}", f"qd.{names[1]}", f"torque.{names[0]}", "dt"]) if names else {}
    assert [*units.values()][:4] == ["m", "rad/s", "N", "s"]
    assert units["energy drift"] == "J"
    assert units[f"final q.{names[1]}"] == "rad"


def test_fingerprints_tell_studies_apart_and_last():
    def case(x, y=1.0):
        return x + y

    def other(x, y=1.0):
        return x - y

    from kinpair.sweeps.work import Function

    marks = [
        Study("double-pendulum", duration=1.0).fingerprint,
        Study("double-pendulum", duration=2.0).fingerprint,
        Study("double-pendulum", q=[0.1, 0.0], duration=1.0).fingerprint,
        Study("cart-pole", duration=1.0).fingerprint,
        Study("double-pendulum", duration=1.0, record=lambda run: 1.0).fingerprint,
        Study("double-pendulum", duration=1.0, record=lambda run: 2.0).fingerprint,
        Function(case).fingerprint,
        Function(other).fingerprint,
    ]
    assert len(set(marks)) == len(marks)
    assert Study("double-pendulum", duration=1.0).fingerprint == marks[0]


@pytest.mark.parametrize(
    ("given", "over", "message"),
    [
        ({"durations": 1.0}, {}, "double-pendulum: no option 'durations'; did you mean 'duration'? "),
        ({"q": {"elbo": 1.0}}, {}, "double-pendulum: q has no entry 'elbo'; did you mean 'elbow'? "),
        (
            {"record": ["max q.elbo"]},
            {},
            "double-pendulum: record has 'max q.elbo', and there is no 'q.elbo'; did you",
        ),
        ({"record": ["maximum"]}, {}, "double-pendulum: record has 'maximum'; "),
        (
            {"record": []},
            {},
            "double-pendulum: record is (); give words such as 'final' or functions of the Result",
        ),
        (
            {"parameters": {"uper.mass": 1.0}},
            {},
            "double-pendulum: no parameter 'uper.mass'; did you mean 'upper.mass'",
        ),
        ({}, {"q.elbo": [1.0]}, "double-pendulum: no input 'q.elbo'; did you mean 'q.elbow'? "),
        ({}, {"q.elbow": ["a"]}, "double-pendulum: q.elbow is 'a'; give numbers"),
        ({}, {"q.elbow": [1.0]}, "double-pendulum: no duration given; give duration= [s], or vary it"),
        (
            {"duration": "one"},
            {},
            "double-pendulum: duration is 'one'; it must be a number above zero",
        ),
        (
            {"duration": 1.0},
            {"dt": [1e-3, "a"]},
            "double-pendulum: dt is 'a'; it must be a number above zero",
        ),
        ({"duration": 1.0, "time": "x"}, {}, "double-pendulum: time is 'x'; it must be a finite number"),
        ({"duration": 1.0, "rtol": -1}, {}, "double-pendulum: rtol is -1; it must be a number above zero"),
        ({"duration": 1.0, "output": []}, {}, "double-pendulum: output is empty; give an interval [s], or"),
        (
            {"torque": Integral()},
            {"torque.elbow": [1.0]},
            "double-pendulum: torque is not constant, so its entries",
        ),
    ],
)
def test_what_is_no_study_is_refused(given, over, message):
    with pytest.raises(InputError) as refused:
        kp.sweep(Study("double-pendulum", **given), over or {"q.elbow": Grid(0, 1, 2)}, workers=0)
    assert str(refused.value).startswith(message)
