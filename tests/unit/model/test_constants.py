"""Constants given by name are those of a body that can be."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

RK4 = {"integrator": "rk4", "dt": 1e-3, "duration": 0.01}


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"upper.mass": [1.0, 1e308]},
            "double-pendulum: parameters: upper.mass is 1e+308; the largest number that can be computed with is 1e+150",
        ),
        (
            {"upper.mass": -1.0},
            "double-pendulum: parameters: link 'upper' has mass -1 kg; a mass is zero or positive",
        ),
        (
            {"upper.mass": [1.0, 2.0, -0.5]},
            "double-pendulum: parameters: link 'upper' has mass -0.5 kg; a mass is zero or positive",
        ),
        (
            {"lower.inertia.yy": -1.0},
            "double-pendulum: parameters: link 'lower': inertia is not positive "
            "(principal moments -1, 0, 0.0833333)",
        ),
        (
            {"lower.inertia.xx": [1.0, 0.1], "lower.inertia.xy": [0.0, 9.0]},
            "double-pendulum: parameters: link 'lower': inertia is not positive "
            "(principal moments -8.90834, 0, 9.09167)",
        ),
    ],
)
def test_no_body_is_such(arm, given, message):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], parameters=given, **RK4)
    assert str(refused.value) == message


def test_a_tensor_of_no_real_body_is_told_as_a_description_tells_it(arm):
    options = {"upper.inertia.yy": np.array([0.05, 0.3])}
    with pytest.warns(kp.DescriptionWarning) as caught:
        run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], parameters=options, **RK4)
    assert [str(x.message) for x in caught] == [
        "double-pendulum: parameters: link 'upper': inertia breaks the triangle inequality (principal moments 0, "
        "0.0833333, 0.3: the largest exceeds the sum of the others); taken as it is"
    ]
    assert run.status.ok


def test_what_a_description_takes_is_taken(arm):
    assert kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], parameters={"upper.mass": 0.0}, **RK4).status.ok


def test_a_sweep_has_them_as_failed_cases(arm):
    study = kp.Study(arm, **RK4)
    table = kp.sweep(study, {"upper.mass": [1.0, -1.0, 2.0]}, workers=0)
    assert table.failed.tolist() == [False, True, False]
    assert "link 'upper' has mass -1 kg; a mass is zero or positive" in table.errors[1]
    assert not kp.sweep(study, {"upper.inertia.yy": [0.1, 0.3]}, workers=0).failed.any()
    with pytest.raises(kp.InputError, match="link 'upper' has mass -1 kg; a mass is zero or positive"):
        kp.Study(arm, parameters={"upper.mass": -1.0}, **RK4)
