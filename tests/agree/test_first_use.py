"""The first calls of a long quantity are answered by the reference, the later ones by machine code."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from threading import Barrier, Event, Thread

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler import machine_code, making
from kinpair.compiler.background import in_passing, waiting, worker
from kinpair.compiler.making import Making
from kinpair.constraints.solve import problem
from kinpair.errors import InputError, LengthError
from kinpair.evaluation import calls
from waiting import HANGS, wait_until

built = machine_code.built


class Gate:
    """Holds up the compiler, and tells that it is there."""

    def __init__(self) -> None:
        self.reached, self.opened = Event(), Event()
        self.problem: Exception | None = None

    def built(self, *arguments):
        self.reached.set()
        assert self.opened.wait(HANGS)
        if self.problem is not None:
            raise self.problem
        return built(*arguments)


@pytest.fixture
def gate(monkeypatch, tmp_path):
    """Nothing waits, nothing is short, nothing is on disk; the compiler waits until the gate is opened."""
    gate = Gate()
    monkeypatch.setenv("KINPAIR_WAIT", "0")
    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path))
    monkeypatch.setattr(making, "SHORT", 0)
    monkeypatch.setattr(machine_code, "built", gate.built)
    yield gate
    gate.opened.set()


def made(arm: kp.Mechanism, quantity: str = "mass_matrix") -> Making:
    return arm.kernel(quantity).making


def states(arm: kp.Mechanism, rows: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(rows, arm.nq))


@pytest.mark.parametrize(("form", "rows"), [("one", ()), ("batch", (3,))])
def test_the_reference_answers_until_the_code_is_there(gate, form, rows):
    arm = kp.example("planar-3r")
    q = np.random.default_rng(1).normal(size=(*rows, arm.nq))
    assert np.array_equal(arm.mass_matrix(q), arm.reference.mass_matrix(q))
    assert gate.reached.wait(HANGS)
    assert np.array_equal(arm.mass_matrix(q), arm.reference.mass_matrix(q))
    assert not made(arm).made
    gate.opened.set()
    wait_until(lambda: form in made(arm).made, "no code")
    H = arm.mass_matrix(q)
    assert np.array_equal(H, arm.kernel("mass_matrix")(q))
    assert pytest.approx(arm.reference.mass_matrix(q), rel=1e-13, abs=1e-13) == H


def test_calls_go_straight_to_the_code_as_soon_as_it_is_there(gate):
    arm = kp.example("planar-3r")
    q = np.ones(arm.nq)
    arm.mass_matrix(q)
    assert "mass_matrix" not in vars(arm)
    gate.opened.set()
    wait_until(lambda: made(arm).made, "no code")
    arm.mass_matrix(q)
    assert type(vars(arm)["mass_matrix"]).__name__ == "builtin_function_or_method"
    out = np.empty((3, 3))
    assert arm.mass_matrix(q, out=out) is out


def test_what_is_short_is_compiled_at_once(gate, monkeypatch):
    monkeypatch.setattr(making, "SHORT", 1000)
    gate.opened.set()
    arm = kp.example("planar-3r")
    arm.mass_matrix(np.ones(arm.nq))
    assert made(arm).made


def test_code_on_disk_is_used_at_once(gate):
    gate.opened.set()
    q = np.ones(3)
    kp.example("planar-3r").compile("mass_matrix", batch=False)
    gate.opened.clear()
    arm = kp.example("planar-3r")
    arm.mass_matrix(q)
    assert made(arm).made


def test_large_batches_wait(gate, monkeypatch):
    monkeypatch.setattr(calls, "MOST_ROWS", 4)
    arm = kp.example("planar-3r")
    arm.mass_matrix(states(arm, 4))
    gate.opened.set()
    q = states(arm, 5)
    assert np.array_equal(arm.mass_matrix(q), arm.kernel("mass_matrix")(q))


def test_wrong_arguments_are_refused_alike(gate):
    arm = kp.example("planar-3r")
    with pytest.raises(InputError) as before:
        arm.mass_matrix(np.ones(2))
    gate.opened.set()
    arm.compile("mass_matrix")
    with pytest.raises(InputError) as after:
        arm.mass_matrix(np.ones(2))
    assert str(before.value) == str(after.value)


def test_what_goes_wrong_in_the_compiler_is_told_to_the_next_caller(gate):
    gate.problem = RuntimeError("the compiler failed")
    arm = kp.example("planar-3r")
    arm.mass_matrix(np.ones(3))
    gate.opened.set()
    wait_until(lambda: made(arm)._failures, "no failure")
    with pytest.raises(RuntimeError, match="the compiler failed"):
        arm.mass_matrix(np.ones(3))


def test_what_is_too_long_to_compile_stays_with_the_reference(gate):
    gate.problem = LengthError("too long")
    arm = kp.example("planar-3r")
    q = np.ones(3)
    arm.mass_matrix(q)
    gate.opened.set()
    wait_until(lambda: made(arm)._failures, "no failure")
    for _ in range(2):
        assert np.array_equal(arm.mass_matrix(q), arm.reference.mass_matrix(q))


def test_within_a_run_results_come_from_one_code(gate):
    """The function asks for a quantity that is being compiled when the run begins."""
    arm = kp.example("planar-3r")
    arm.gravity_forces(np.ones(3))
    assert gate.reached.wait(HANGS)
    gate.opened.set()
    seen = []

    def torque(time, q, qd):
        seen.append((np.array(q, dtype=float), arm.gravity_forces(np.array(q, dtype=float))))
        return seen[-1][1]

    torque.traceable = False
    kp.simulate(arm, np.ones(3), np.zeros(3), duration=0.02, integrator="rk4", dt=0.01, torque=torque)
    kernel = arm.kernel("gravity_forces")
    assert seen
    assert all(np.array_equal(tau, kernel(q)) for q, tau in seen)


def test_who_waits_gets_code(gate):
    gate.opened.set()
    arm, q = kp.example("planar-3r"), np.ones(3)
    with waiting():
        assert np.array_equal(arm.mass_matrix(q), arm.kernel("mass_matrix")(q))


def test_what_is_wanted_once_is_not_compiled(gate):
    arm, q = kp.example("planar-3r"), np.ones(3)
    with in_passing():
        assert np.array_equal(arm.mass_matrix(q), arm.reference.mass_matrix(q))
    assert not worker.busy


def test_bounded_multipliers_wanted_once_are_not_compiled(monkeypatch):
    monkeypatch.setenv("KINPAIR_WAIT", "0")
    J, g = np.random.default_rng(3).normal(size=(6, 8)), np.linspace(-2.0, 2.0, 6)
    groups = problem.intervals(np.full(6, -0.3), np.full(6, 0.3))
    expected = problem.solve(J @ J.T, g, groups)
    monkeypatch.setattr(problem, "_rooms", problem._Rooms())
    monkeypatch.setattr(problem, "_code", lambda: pytest.fail("compiled"))
    with in_passing():
        found = problem.solve(J @ J.T, g, groups)
    assert found.met
    assert np.abs(found.x - expected.x).max() <= 1e-12
    assert (np.abs(expected.x) == 0.3).any()
    assert (np.abs(expected.x) < 0.3).any()


def test_friction_from_load_waits(gate):
    """The reference solves it another way, with another answer where there are several."""
    gate.opened.set()
    m = kp.example("drawer")
    m.forward_dynamics(m.neutral(), np.ones(m.nv), np.zeros(m.nv))
    assert made(m, "forward_dynamics").made


def test_copies_made_meanwhile_compile_for_themselves(gate):
    arm, q = kp.example("planar-3r"), np.ones(3)
    arm.mass_matrix(q)
    assert gate.reached.wait(HANGS)
    copy = pickle.loads(pickle.dumps(arm))
    assert np.array_equal(copy.mass_matrix(q), arm.mass_matrix(q))
    gate.opened.set()
    wait_until(lambda: made(arm).made and made(copy).made, "no code")


def test_eight_threads_at_once(gate):
    """All call one fresh mechanism while code for one state and for batches is swapped in."""
    arm = kp.example("planar-3r")
    q = states(arm, 5)
    wanted = arm.reference.mass_matrix(q)
    barrier, wrong, done = Barrier(8), [], []

    def call(turn: int) -> None:
        barrier.wait()
        after = 0
        while after < 50:  # calls after both codes were there
            row = (turn + after) % 5
            for result, of in ((arm.mass_matrix(q[row]), wanted[row]), (arm.mass_matrix(q), wanted)):
                if not np.allclose(result, of, rtol=1e-13, atol=1e-13):
                    wrong.append(turn)
            after += len(made(arm).made) == 2
        done.append(turn)

    threads = [Thread(target=call, args=(k,), daemon=True) for k in range(8)]
    for thread in threads:
        thread.start()
    assert gate.reached.wait(HANGS)
    gate.opened.set()
    for thread in threads:
        thread.join(HANGS)
    assert sorted(done) == list(range(8))
    assert not wrong


PRELUDE = """
import os, sys, time
import numpy as np
import kinpair as kp
from kinpair.compiler import jit, making
making.SHORT = 0
inside = []
emit = jit.parsed
def parsed(*arguments):
    inside.append(1)
    return emit(*arguments)
jit.parsed = parsed
arm = kp.example("stanford-arm")
q = np.ones(arm.nq)
wanted = arm.reference.mass_matrix(q)
assert np.array_equal(arm.mass_matrix(q), wanted)
while not inside:  # until LLVM is at work
    time.sleep(0.001)
"""
FORK = """
arm.gravity_forces(q)  # waits for its turn in parent and child
child = os.fork()
for name in ("mass_matrix", "gravity_forces"):
    while "one" not in arm.kernel(name).making.made:
        assert np.allclose(getattr(arm, name)(q), getattr(arm.reference, name)(q), rtol=1e-12)
assert np.allclose(arm.mass_matrix(np.tile(q, (3, 1))), wanted, rtol=1e-12)
arm.compile("mass_matrix")
if child == 0:
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
"""
EXIT = """
arm.gravity_forces(q), arm.bias_forces(q, q), arm.coriolis_matrix(q, q)
sys.exit(3)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize(("script", "code"), [(FORK, 0), (EXIT, 3)], ids=["fork", "exit"])
def test_a_process_ends_and_forks_cleanly_while_code_is_made(script, code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PRELUDE + script)],
        env=os.environ | {"KINPAIR_WAIT": "0", "KINPAIR_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert (done.returncode, done.stderr) == (code, "")
