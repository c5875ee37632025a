"""Long chains next to other engines, in one run: batches of 256 and MuJoCo, and a run of 1000 links next to Exudyn.

python -m benchmarks.long_rivals

General chains of `benchmarks.chains`. Pinocchio takes a batch by `rneaInParallel` and `abaInParallel`, in one thread.
MuJoCo computes `mj_inverse` and `mj_forward` of one state, without constraints, contacts and sensors. Exudyn simulates
the chain in minimal coordinates (`ObjectKinematicTree`), by its explicit method of order four and by generalised-α. The
error of a run is compared with `dop853` at tolerances of 1e-11.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks.chains import dh_chain
from benchmarks.constrained_exudyn import Exudyn
from benchmarks.timing import race, repeated

BATCH = 256
SIZES = (10, 30, 100, 300)
MUJOCO = (10, 100, 300, 1_000)
TURNS = 5
QUANTITIES = ("inverse_dynamics", "forward_dynamics")
LINKS, DURATION, STEP = 1_000, 0.01, 5e-4
Calls = dict[tuple[str, str], Callable[[], object]]


def pinocchio_model(mechanism: kp.Mechanism) -> Any:
    """The chain in Pinocchio."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(mechanism.model.gravity)
    for i in mechanism.model.moving:
        body = mechanism.model.body[i]
        place = pin.SE3(np.array(body.R_seat), np.array(body.a_seat))
        joint = model.addJoint(i - 1, pin.JointModelRZ(), place, f"joint {i}")
        inertia = pin.Inertia(float(body.m), np.array(body.d), np.array(body.I))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return model


def batch_row(n: int) -> str:
    """Time of a state in a batch, of both, and their ratio."""
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
    return _row(f"{n}, batch of {BATCH}", "Pinocchio", {k: t / times / BATCH for k, t in seconds.items()})


def _row(label: str, rival: str, seconds: dict[tuple[str, str], float]) -> str:
    cells: list[str] = []
    for quantity in QUANTITIES:
        ours, theirs = (1e6 * seconds[who, quantity] for who in ("kinpair", rival))
        cells += [f"{ours:.3g}", f"{theirs:.3g}", f"{theirs / ours:.1f}"]
    return f"| {label} | {rival} | {' | '.join(cells)} |"


def mujoco_row(n: int) -> str:
    """Time of one state, of both, and their ratio."""
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
    return _row(f"{n}, one state", "MuJoCo", {key: t / times for key, t in seconds.items()})


def _quaternion(R: np.ndarray) -> tuple[float, ...]:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return w, x, y, z


def exudyn_rows() -> list[str]:
    """Seconds of CPU and error of a run of 1000 links, by both."""
    chain = kp.build(kp.Builder("chain").chain("link", n=LINKS, length=100.0, mass=100.0, joint="revolute"))
    q, still = np.zeros(LINKS), np.zeros(LINKS)
    q[0] = 1.0
    exact = kp.simulate(chain, q, still, duration=DURATION, integrator="dop853", rtol=1e-11, atol=1e-11).q[-1]
    steps = round(DURATION / STEP)
    rows: list[str] = []

    def row(name: str, run: Callable[[], np.ndarray]) -> None:
        start = process_time()
        end = run()
        seconds = process_time() - start
        rows.append(f"| {name} | {steps} | {seconds:.3g} | {np.abs(end - exact).max():.1e} |")
        print(rows[-1], flush=True)

    def ours() -> np.ndarray:
        return kp.simulate(chain, q, still, duration=DURATION, integrator="rk4", dt=STEP).q[-1]

    row("kinpair, rk4, first run with compiling", ours)
    row("kinpair, rk4", ours)
    tree = Exudyn(chain, q, DURATION, still)
    row("Exudyn, tree, explicit of order four", partial(_explicit, tree, steps))
    row("Exudyn, tree, generalised-α", lambda: tree.run(steps))
    return rows


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


def main() -> None:
    """Print the tables as they are measured."""
    print(
        "| links | rival | inverse, kinpair [µs] | rival [µs] | ratio | forward, kinpair [µs] | rival [µs] | ratio |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for n in SIZES:
        print(batch_row(n), flush=True)
    for n in MUJOCO:
        print(mujoco_row(n), flush=True)
    print("\n| run of 1000 links | steps | CPU [s] | error [rad] |\n|---|---|---|---|")
    exudyn_rows()


if __name__ == "__main__":
    main()
