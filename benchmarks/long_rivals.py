"""Long chains next to other engines, in one run: batches of 256 and MuJoCo, and a run of 1000 links next to Exudyn.

python -m benchmarks.long_rivals

General chains of `benchmarks.chains`. Pinocchio takes a batch by `rneaInParallel` and `abaInParallel`, in one thread.
MuJoCo computes `mj_inverse` and `mj_forward` of one state, without constraints, contacts and sensors. Exudyn simulates
the chain in minimal coordinates (`ObjectKinematicTree`), by its explicit method of order four and by generalised-α. The
error of a run is compared with `dop853` at tolerances of 1e-11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks.chains import dh_chain
from benchmarks.constrained_exudyn import Exudyn
from benchmarks.long_mechanisms import QUANTITIES, pinocchio_model
from benchmarks.planning import Row as Figure
from benchmarks.timing import race, repeated

BATCH = 256
SIZES = (10, 30, 100, 300)
MUJOCO = (10, 100, 300, 1_000)
TURNS = 5
MANY, ONE = 6.0, 1.0  # demanded: times of Pinocchio in batches, of MuJoCo for one state, by ours
LINKS, DURATION, STEP = 1_000, 0.01, 5e-4
Calls = dict[tuple[str, str], Callable[[], object]]


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds of a state by (engine, quantity): ours and a rival's."""

    label: str
    rival: str
    seconds: dict[tuple[str, str], float]

    def ratio(self, quantity: str) -> float:
        """How many times longer the rival takes."""
        return self.seconds[self.rival, quantity] / self.seconds["kinpair", quantity]

    def __str__(self) -> str:
        cells = [
            f"{1e6 * self.seconds['kinpair', x]:.3g} | {1e6 * self.seconds[self.rival, x]:.3g} | {self.ratio(x):.1f}"
            for x in QUANTITIES
        ]
        return f"| {self.label} | {self.rival} | {' | '.join(cells)} |"


def batch_row(n: int) -> Pair:
    """A state in a batch."""
    import pinocchio as pin

    mechanism, rng = dh_chain(n), np.random.default_rng(n)
    q, qd, x = (0.1 * rng.normal(size=(BATCH, n)) for _ in range(3))
    model = pinocchio_model(mechanism)
    pool = pin.ModelPool(model, 1)
    Q, V, X = (np.asfortranarray(y.T) for y in (q, qd, x))
    result = np.empty_like(V)
    calls: Calls = {}
    for quantity, theirs in zip(QUANTITIES, (pin.rneaInParallel, pin.abaInParallel), strict=True):
        kernel = mechanism.kernel(quantity, rolled=True).compile("batch")
        out = kernel(q, qd, x)
        theirs(1, pool, Q, V, X, result)
        own = out[0] if isinstance(out, tuple) else out
        assert np.abs(result.T - own).max() < 1e-7 * np.abs(own).max()
        calls["kinpair", quantity] = partial(kernel, q, qd, x)
        calls["Pinocchio", quantity] = partial(theirs, 1, pool, Q, V, X, result)
    times = max(1, 300 // n)
    seconds = race({key: repeated(call, times=times) for key, call in calls.items()}, TURNS)
    return Pair(f"{n}, batch of {BATCH}", "Pinocchio", {k: t / times / BATCH for k, t in seconds.items()})


def mujoco_row(n: int) -> Pair:
    """One state."""
    import mujoco

    mechanism, rng = dh_chain(n), np.random.default_rng(n)
    spec = mujoco.MjSpec()
    spec.option.gravity = np.array(mechanism.model.gravity)
    spec.compiler.balanceinertia = False
    parent = spec.worldbody
    for i in mechanism.model.moving:
        body = mechanism.model.body[i]
        w, x, y, z = _quaternion(np.array(body.R_seat, dtype=float))
        parent = parent.add_body(name=f"b{i}", pos=np.array(body.a_seat, dtype=float), quat=[w, x, y, z])
        parent.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0.0, 0.0, 1.0], name=f"j{i}")
        I = np.array(body.I, dtype=float)
        parent.mass, parent.ipos = float(body.m), np.array(body.d, dtype=float)
        parent.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        parent.explicitinertial = True
    model = spec.compile()
    off = "CONSTRAINT EQUALITY FRICTIONLOSS LIMIT CONTACT SPRING DAMPER WARMSTART ACTUATION SENSOR ISLAND".split()
    model.opt.disableflags = sum(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}") for flag in off)
    data = mujoco.MjData(model)
    q, qd, x = (0.1 * rng.normal(size=n) for _ in range(3))
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, x
    data.qfrc_applied[:] = x
    calls: Calls = {}
    for quantity, theirs in zip(QUANTITIES, (mujoco.mj_inverse, mujoco.mj_forward), strict=True):
        kernel = mechanism.kernel(quantity, rolled=True).compile("one")
        kernel(q, qd, x)
        calls["kinpair", quantity] = partial(kernel, q, qd, x)
        calls["MuJoCo", quantity] = partial(theirs, model, data)
    mujoco.mj_forward(model, data)
    qdd = mechanism.kernel("forward_dynamics", rolled=True)(q, qd, x)[0]
    assert np.abs(data.qacc - qdd).max() < 1e-6 * np.abs(qdd).max()
    times = max(1, 1_000 // n)
    seconds = race({key: repeated(call, times=times) for key, call in calls.items()}, TURNS)
    return Pair(f"{n}, one state", "MuJoCo", {key: t / times for key, t in seconds.items()})


def _quaternion(R: np.ndarray) -> tuple[float, ...]:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return w, x, y, z


def exudyn_rows(*, explicit: bool) -> Iterator[tuple[str, float, float]]:
    """Who, seconds of CPU and error of a run of 1000 links; Exudyn's explicit method takes most of a minute."""
    chain = kp.build(kp.Builder("chain").chain("link", n=LINKS, length=100.0, mass=100.0, joint="revolute"))
    q, still = np.zeros(LINKS), np.zeros(LINKS)
    q[0] = 1.0
    exact = kp.simulate(chain, q, still, duration=DURATION, integrator="dop853", rtol=1e-11, atol=1e-11).q[-1]
    steps = round(DURATION / STEP)

    def ours() -> np.ndarray:
        return kp.simulate(chain, q, still, duration=DURATION, integrator="rk4", dt=STEP).q[-1]

    tree = Exudyn(chain, q, DURATION, still)
    runs: dict[str, Callable[[], np.ndarray]] = {
        "kinpair, rk4, first run with compiling": ours,
        "kinpair, rk4": ours,
        "Exudyn, tree, generalised-α": lambda: tree.run(steps),
    }
    if explicit:
        runs["Exudyn, tree, explicit of order four"] = partial(_explicit, tree, steps)
    for who, run in runs.items():
        start = process_time()
        end = run()
        yield who, process_time() - start, float(np.abs(end - exact).max())


def _explicit(rival: Exudyn, steps: int) -> np.ndarray:
    """A run of a tree in Exudyn by its explicit method of order four."""
    exu: Any = import_module("exudyn")
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.endTime = rival.duration
    settings.timeIntegration.numberOfSteps = steps
    rival.system.SolveDynamic(settings, solverType=exu.DynamicSolverType.RK44)
    ends = rival.system.systemData.GetODE2Coordinates()
    found = np.empty(rival.nq)
    found[rival.columns] = ends
    return found


def figures(quick: bool) -> Iterator[Figure]:
    """The least ratios, and the run next to Exudyn's method that is nearest to ours in time."""
    for demanded, pairs in (
        (MANY, map(batch_row, SIZES)),
        (ONE, map(mujoco_row, MUJOCO[: 3 if quick else None])),
    ):
        every = list(pairs)
        for quantity in QUANTITIES:
            worst = min(every, key=lambda pair, x=quantity: pair.ratio(x))
            name = quantity.replace("_", " ")
            what = f"{name} of chains of {worst.label}: times of {worst.rival} by ours, least of all"
            yield Figure(what, worst.ratio(quantity), "", demanded, above=True)
    found = {who: (seconds, error) for who, seconds, error in exudyn_rows(explicit=False)}
    (ours, error), (theirs, other) = found["kinpair, rk4"], found["Exudyn, tree, generalised-α"]
    what = f"run of {LINKS} links, {ours:.3g} s, error {error:.1e}: times of Exudyn by ours, its error {other:.1e}"
    yield Figure(what, theirs / ours, "", ONE, above=True)


def main() -> None:
    """Print the tables as they are measured."""
    print(
        "| links | rival | inverse, kinpair [µs] | rival [µs] | ratio | forward, kinpair [µs] | rival [µs] | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in (*map(batch_row, SIZES), *map(mujoco_row, MUJOCO)):
        print(row, flush=True)
    print("\n| run of 1000 links | CPU [s] | error [rad] |\n|---|---|---|")
    for who, seconds, error in exudyn_rows(explicit=True):
        print(f"| {who} | {seconds:.3g} | {error:.1e} |", flush=True)


if __name__ == "__main__":
    main()
