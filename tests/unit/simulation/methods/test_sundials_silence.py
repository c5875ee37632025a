"""What SUNDIALS prints, in Python or in C, does not reach the terminal; what a user's function prints does."""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Barrier, Thread

from kinpair.simulation.steppers.sundials import SILENCE, WARNINGS

RUN = """
import sys
import warnings
import numpy as np
import kinpair as kp

warnings.simplefilter("ignore", kp.RunWarning)

class Torque:
    def __call__(self, time, q, qd):
        if time == 0.0 and sys.argv[2] == "loud":
            print("out of the torque")
        return np.array([1 / abs(0.5 - time), 0.0])

class Noise:
    rng = np.random.default_rng(0)
    def __call__(self, time, q, qd):
        return self.rng.normal(size=2) * 100

arm = kp.example("double-pendulum")
for torque in (Torque(), Noise()):
    run = kp.simulate(arm, [0.3, 0.2], [0.5, 0.1], duration=1.0, integrator=sys.argv[1], torque=torque, output=0.25)
    assert not run.status.ok, run.status
"""


def printed(*words: str, **more: str) -> tuple[str, str]:
    """What a process writes to its files 1 and 2, in C or in Python."""
    result = subprocess.run(
        [sys.executable, "-c", RUN, *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **more},
    )
    return result.stdout, result.stderr


def test_a_run_whose_steps_collapse_is_silent():
    """Noise: IDA reports in Python that no step passes."""
    assert printed("ida", "quiet") == ("", "")


def test_a_torque_is_all_that_is_heard_of_a_run_whose_steps_collapse():
    """A pole at 0.5 s: CVODE warns in C that t + h = t; noise: it reports in Python that no step passes."""
    out, err = printed("cvode", "loud")
    assert set(out.splitlines()) == {"out of the torque"}
    assert err == ""


def test_who_names_a_file_for_the_warnings_has_them_there(tmp_path):
    out, _ = printed("cvode", "quiet", **{WARNINGS: str(tmp_path / "warnings")})
    assert out == ""
    assert "are such that t + h = t" in (tmp_path / "warnings").read_text()


def message() -> None:
    """As scikit-sundae has it."""
    print("\n[CVode, Error: -4] at t = 0.1 the corrector convergence test failed repeatedly\n")


def test_a_thread_that_leaves_does_not_make_the_others_speak(capfd):
    both_inside, one_left, before = Barrier(2), Barrier(2), sys.stdout

    def first() -> None:
        with SILENCE.at_work():
            both_inside.wait()
        one_left.wait()

    def second() -> None:
        with SILENCE.at_work():
            both_inside.wait()
            one_left.wait()
            message()
            print("said by a torque")

    threads = [Thread(target=x) for x in (first, second)]
    for x in threads:
        x.start()
    for x in threads:
        x.join()
    assert sys.stdout is before
    assert capfd.readouterr() == ("said by a torque\n", "")


def test_the_silence_ends_with_the_work(capfd):
    with SILENCE.at_work(), SILENCE.at_work():
        message()
    message()
    assert capfd.readouterr().out.count("Error: -4") == 1
    assert WARNINGS not in os.environ
