"""What a simulation under constraints, or by another library, says when something is wrong with the wish."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import closed
import kinpair as kp


def sampled(time, q, qd):
    return -q


sampled.sample_time = 0.01  # type: ignore[attr-defined]


class Opaque:
    """A torque that cannot be recorded, and fails after half a second."""

    def __call__(self, time, q, qd):
        if time > 0.5:
            raise RuntimeError("the motor is on fire")
        return np.zeros(2)


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.mark.parametrize("method", ["implicit-midpoint", "variational"])
def test_methods_without_multipliers_take_no_constraints(method):
    linkage = kp.example("four-bar")
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(linkage, closed.start("four-bar"), np.zeros(3), duration=1.0, integrator=method)
    assert str(refused.value) == (
        f"four-bar: integrator {method!r} takes no constraints; 'rk4', 'dop853' and the other explicit ones do, "
        "and 'generalised-alpha'"
    )


def test_ida_takes_no_rows_that_take_turns():
    bennett, q = kp.example("bennett"), closed.start("bennett")
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(bennett, q, bennett.velocities(q, {"q1": 1.0}), duration=1.0, integrator="ida")
    assert str(refused.value) == (
        "bennett: integrator 'ida' needs constraint rows of which the same ones are independent throughout; 'cvode' "
        "and 'generalised-alpha' take any"
    )


@pytest.mark.parametrize("method", ["cvode", "ida", "taylor"])
def test_other_libraries_take_no_sample_time(arm, method):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, [0.3, 0.2], [0, 0], duration=1.0, torque=sampled, integrator=method)
    assert str(refused.value) == (
        f"double-pendulum: {method} takes no torque with a sample time; 'dop853' and 'rk4' do"
    )


def test_taylor_takes_no_kinks(arm):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(
            arm, [0.3, 0.2], [0, 0], duration=1.0, integrator="taylor",
            torque=lambda time, q, qd: -np.abs(qd),
        )  # fmt: skip
    assert str(refused.value) == (
        "integrator 'taylor' needs a motion without kinks, and this one contains 'abs' (friction, limits, or a choice "
        "in a torque); 'dop853' and 'cvode' take it"
    )


def test_taylor_takes_no_python(arm):
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, [0.3, 0.2], [0, 0], duration=1.0, integrator="taylor", torque=Opaque())
    assert str(refused.value) == (
        "double-pendulum: integrator 'taylor' takes efforts that are constant or can be recorded; write torque= in "
        "NumPy terms (docs/compiler.md)"
    )


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_a_torque_that_fails_ends_the_run_and_keeps_what_there_is(arm, method, capfd):
    run = kp.simulate(arm, [0.3, 0.2], [0, 0], duration=1.0, output=0.05, torque=Opaque(), integrator=method)
    assert run.status.name == "refused"
    assert run.status.message.endswith("torque raised RuntimeError: the motor is on fire")
    assert 0.4 < run.time[-1] <= 0.5
    assert np.isfinite(run.q).all()


@pytest.mark.parametrize(
    ("method", "module", "message"),
    [
        (
            "cvode",
            "sksundae.cvode",
            "integrators 'cvode' and 'ida' need scikit-sundae; pip install 'kinpair[stiff]'",
        ),
        (
            "ida",
            "sksundae.ida",
            "integrators 'cvode' and 'ida' need scikit-sundae; pip install 'kinpair[stiff]'",
        ),
        ("taylor", "heyoka", "integrator 'taylor' needs heyoka; pip install 'kinpair[stiff]'"),
    ],
)
def test_a_library_that_is_missing_is_asked_for(arm, method, module, message, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(kp.MissingExtraError) as refused:
        kp.simulate(arm, [0.3, 0.2], [0, 0], duration=1.0, integrator=method)
    assert str(refused.value) == message
