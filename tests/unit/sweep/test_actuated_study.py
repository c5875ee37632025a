"""Studies of mechanisms with actuators: inputs and numbers of actuators vary, currents are recorded."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinpair as kp
from kinpair import InputError, Study
from motors import swing

FIXED = {"integrator": "rk4", "dt": 1e-3, "output": 0.01, "duration": 0.05}
ADAPTIVE = {"duration": 0.05, "rtol": 1e-8, "atol": 1e-10}


@pytest.mark.parametrize("options", [FIXED, ADAPTIVE], ids=["fixed", "adaptive"])
def test_a_case_is_the_simulation_of_its_inputs(options):
    m = swing("dc-motor")
    words = ["final", "final x.motor.current", "max u.motor", "peak tau.drive"]
    study = Study(m, q={"drive": 0.2}, record=words, **options)
    over = {"input.motor": [5.0, 20.0], "motor.resistance": [1.6, 3.2], "motor.gear.ratio": [20.0, 40.0]}
    table = kp.sweep(study, over, workers=0)
    assert len(table) == 8
    for k in (0, 3, 6):
        volts, ohms, ratio = (table[name][k] for name in over)
        numbers = {"motor.resistance": ohms, "motor.gear.ratio": ratio}
        run = kp.simulate(m, [0.2, 0.0], [0.0, 0.0], input=[volts], parameters=numbers, **options)
        assert table["final q.drive"][k] == pytest.approx(run.q[-1, 0], rel=1e-12, abs=1e-15)
        assert table["final x.motor.current"][k] == pytest.approx(run.x[-1, 0], rel=1e-12)
        assert table["max u.motor"][k] == volts
        assert table["peak tau.drive"][k] == pytest.approx(np.abs(run.tau[:, 0]).max(), rel=1e-12)


def test_units_of_inputs_and_columns():
    study = Study(swing("dc-motor"), record=["final x.motor.current", "max u.motor"], **FIXED)
    assert study.units(["input.motor", "motor.resistance", "motor.gear.ratio", "motor.inductance"]) == {
        "input.motor": "V",
        "motor.resistance": "ohm",
        "motor.gear.ratio": "",
        "motor.inductance": "H",
        "final x.motor.current": "A",
        "max u.motor": "V",
    }


def test_inputs_by_name_as_a_function_and_of_a_mechanism_without_actuators():
    m = swing("dc-motor")
    one = kp.sweep(Study(m, input={"motor": 8.0}, **FIXED), {"q.drive": [0.1, 0.2]}, workers=0)
    same = kp.sweep(Study(m, input=lambda t, q, qd: [8.0], **FIXED), {"q.drive": [0.1, 0.2]}, workers=0)
    assert np.array_equal(one["final q.drive"], same["final q.drive"])
    plain = kp.example("double-pendulum")
    by_input = kp.sweep(Study(plain, input=[0.0, 0.0], **FIXED), {"input.elbow": [1.0]}, workers=0)
    by_torque = kp.sweep(Study(plain, **FIXED), {"torque.elbow": [1.0]}, workers=0)
    assert by_input["final q.elbow"] == by_torque["final q.elbow"]


def test_a_study_goes_to_other_processes_whole():
    study = Study(swing("dc-motor"), input={"motor": 8.0}, **FIXED)
    other = pickle.loads(pickle.dumps(study))
    assert other.fingerprint == study.fingerprint
    assert np.array_equal(other.input, study.input)
    assert Study(swing("dc-motor"), input={"motor": 9.0}, **FIXED).fingerprint != study.fingerprint


@pytest.mark.parametrize(
    ("keys", "over", "message"),
    [
        (
            {"torque": [1.0, 0.0]},
            {},
            "dc-motor: has actuators, and they make the joint efforts; give input= in place of torque=",
        ),
        (
            {"torque": [1.0, 0.0], "input": [1.0]},
            {},
            "dc-motor: torque= and input= are both given; give one of them",
        ),
        (
            {"input": lambda t, q, qd: [np.sin(t)]},
            {"input.motor": [1.0]},
            "dc-motor: input is not constant, so its entries cannot vary; give input=[...]",
        ),
        (
            {"input": {"motr": 1.0}},
            {},
            "dc-motor: input has no entry 'motr'; did you mean 'motor'? Entries: motor",
        ),
    ],
)
def test_what_is_refused(keys, over, message):
    with pytest.raises(InputError) as problem:
        kp.sweep(Study(swing("dc-motor"), **keys, **FIXED), over or {"q.drive": [0.0]}, workers=0)
    assert str(problem.value) == message
