"""What becomes of a run that did not go well, by who has called it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from kinpair.cli.main import main

Q, QD = [0.3, 0.2], [0.0, 0.0]
RK4 = {"integrator": "rk4", "dt": 1e-2}


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


class Burns:
    """A torque that fails after a while in all runs whose elbow starts above a level."""

    def __init__(self) -> None:
        self.start = None

    def __call__(self, time, q, qd):
        self.start = q[1] if self.start is None else self.start
        if time > 0.255 and self.start > 0.4:
            raise RuntimeError("the motor is on fire")
        return np.zeros(2)


def test_a_function_that_fails_raises_with_its_error_as_the_cause(arm):
    with pytest.raises(kp.RunError) as caught:
        kp.simulate(arm, [0.0, 0.9], QD, duration=1.0, torque=Burns(), **RK4)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert caught.value.run.time[-1] == pytest.approx(0.25)
    assert caught.value.parts["time"] == caught.value.run.status.time


def test_a_closed_loop_that_fails_raises_too(arm):
    motion = kp.motion.cycloid(np.array([0.0, 0.9]), np.array([0.1, 0.9]), 1.0)
    with pytest.raises(kp.RunError, match="the motor is on fire"):
        kp.track(arm, motion, Burns(), **RK4)


def test_a_run_error_goes_to_other_processes(arm):
    error = pickle.loads(pickle.dumps(kp.RunError("it failed", run=None, time=1.0)))
    assert (str(error), error.run) == ("it failed", None)


def test_rows_of_a_batch_have_their_status_and_nothing_is_raised(arm):
    def root(time, q, qd):
        return np.array([np.sqrt(0.5 - q[1]), 0.0 * time])

    run = stopped(arm, [[0.0, 0.1], [0.0, 0.9]], QD, duration=0.1, torque=root, **RK4)
    assert {k: x.name for k, x in run.failures.items()} == {1: "refused"}
    assert "torque is nan for 'shoulder'" in run.failures[1].message


@pytest.mark.parametrize("out", [False, True], ids=["memory", "journal"])
def test_rows_of_a_sweep_have_their_status_and_nothing_is_raised(arm, out, tmp_path):
    study = kp.Study(arm, q=Q, duration=0.5, torque=Burns(), record=["final"], **RK4)
    table = kp.sweep(study, {"q.elbow": [0.1, 0.9]}, out=tmp_path if out else None, workers=0)
    assert table.errors.tolist() == [
        "",
        "Stopped at t = 0.26 s: torque raised RuntimeError: the motor is on fire",
    ]


def test_a_sweep_whose_progress_fails_raises_with_what_is_finished():
    def fails(part):
        raise ZeroDivisionError("no screen")

    with pytest.raises(kp.KinpairError, match="progress raised ZeroDivisionError: no screen") as caught:
        kp.sweep(lambda x: x, {"x": range(3)}, workers=0, progress=fails)
    assert len(caught.value.parts["table"]) > 0


def test_a_shell_has_one_message_and_no_warning(capsys):
    words = ["simulate", "double-pendulum", "--q", "2,1", "--duration", "10", "--integrator", "rk4", "--dt"]
    assert main([*words, "0.125"]) == 2
    out, err = capsys.readouterr()
    assert "but the energy does not add up" in " ".join(out.split())
    assert err.startswith("kinpair: Reached t = 10 s, but the energy does not add up since")
    assert err.count("does not add up") == 1
