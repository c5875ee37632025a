"""Linear models of a humanoid and of an arm along a motion, and a closed loop beside the same loop over MuJoCo."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import process_time
from typing import Any

import mujoco
import numpy as np

import kinpair as kp
from benchmarks.mujoco_rival import mujoco_model
from benchmarks.planning import Row
from benchmarks.robots import random_states, robot
from kinpair import conventions

TURNS, QUICK_TURNS = 30, 8
STATES = 1000
DT, DURATION = 1e-3, 2.0
AGREE = 1e-9  # of the ends of both loops: rounding of 2000 steps
HUMANOID_MS, ALONG_MS, BICYCLE_MS, RATIO = 1.0, 20.0, 5.0, 5.0


def rows(turns: int) -> Iterator[Row]:
    """Every row."""
    yield from model_rows(turns)
    yield loop_row(turns)


def model_rows(turns: int) -> Iterator[Row]:
    """Second calls: about a state of a humanoid, along 1000 states of an arm."""
    for label in ("G1", "G1, free"):
        m = robot(label).load()
        s = random_states(m, 1)
        call = _linearise(m, s.q[0], 0.1 * s.qd[0], s.x[0])
        demanded = HUMANOID_MS if m.nv < 32 else None
        yield Row(f"linear model of {label}, {m.nv} rates", 1e3 * _best(call, turns), "ms", demanded)
    m = robot("UR5").load()
    s = random_states(m, STATES)
    call = _linearise(m, s.q, s.qd, s.x)
    yield Row(f"linear models of UR5 along {STATES} states", 1e3 * _best(call, turns), "ms", ALONG_MS)

    m = kp.example("bicycle")
    q = m.start()
    qd = m.velocities(q)
    call = partial(kp.linearise, m, q, qd)
    yield Row("linear model of the bicycle, again", 1e3 * _best(call, turns), "ms", BICYCLE_MS)


def _linearise(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Callable[[], Any]:
    return lambda: kp.linearise(m, q, qd, u=tau, passive=False)


def loop_row(turns: int) -> Row:
    """An arm of seven joints with gains that change in time, sampled at 1 kHz, both by RK4 at 1 kHz."""
    of = robot("xArm7")
    m = kp.build(
        replace(of.load().model.description, actuators=())
    )  # its transmissions are for another control
    start = np.linspace(-0.4, 0.4, m.nv)
    motion = kp.motion.cycloid(start, start + np.linspace(0.8, -0.5, m.nv), DURATION)
    effort = np.maximum(np.abs(np.diag(m.mass_matrix(start))), 1e-3)
    regulator = kp.regulator.lqr(
        m, motion, R=1.0 / effort**2, Q=1.0, degree=1.0, sample_time=DT, passive=False
    )
    q = start + 0.02
    options: dict[str, Any] = {"integrator": "rk4", "dt": DT, "output": DURATION, "passive": False}
    calls = {
        "ours": lambda: kp.simulate(m, q, np.zeros(m.nv), duration=DURATION, torque=regulator, **options).q[
            -1
        ],
        "theirs": _over_mujoco(of, m, regulator, q),
    }
    ends = {name: call() for name, call in calls.items()}
    error = float(np.abs(ends["ours"] - ends["theirs"]).max())
    assert error < AGREE, f"the loops end apart, by {error:.1e}"
    best = dict.fromkeys(calls, np.inf)
    for _ in range(turns):  # one after the other, so that both see the same machine
        for name, call in calls.items():
            best[name] = min(best[name], _seconds(call))
    return Row(
        f"closed loop of xArm7, {1e3 * best['ours']:.3g} ms: times MuJoCo's, {1e3 * best['theirs']:.3g} ms",
        best["theirs"] / best["ours"],
        "",
        RATIO,
        above=True,
    )


def _over_mujoco(of: Any, m: kp.Mechanism, regulator: Any, q: np.ndarray) -> Callable[[], np.ndarray]:
    """The same law in Python around mj_step: rows of the table, a product, efforts held for a step."""
    model = mujoco_model(of)
    assert model is not None
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, DT
    data, to = mujoco.MjData(model), conventions.mujoco(m, conventions.mujoco_layout(model))
    zeros = np.zeros((1, m.nv))
    begin = to.state(q[None], zeros, zeros, zeros)
    assert np.array_equal(begin.q[0], q), "joints of the same order are compared"
    t, n, steps = regulator.table, m.nv, round(DURATION / DT)
    every = [t.at(k * DT) for k in range(steps)]
    K, q0, v0, u0 = (np.array([t.part(row, name) for row in every]) for name in ("K", "q", "qd", "tau"))
    K, x0 = K.reshape(steps, n, 2 * n), np.concatenate([q0, v0], axis=1)

    def run() -> np.ndarray:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = q, 0.0
        qpos, qvel, applied, x = data.qpos, data.qvel, data.qfrc_applied, np.empty(2 * n)
        for k in range(steps):
            x[:n], x[n:] = qpos, qvel
            applied[:] = u0[k] - K[k] @ (x - x0[k])
            mujoco.mj_step(model, data)
        return qpos.copy()

    return run


def _best(call: Callable[[], Any], turns: int) -> float:
    call()
    return min(_seconds(call) for _ in range(turns))


def _seconds(call: Callable[[], Any]) -> float:
    began = process_time()
    call()
    return process_time() - began


def main() -> None:
    """`python -m benchmarks.linear [--quick]`."""
    parser = argparse.ArgumentParser(prog="benchmarks.linear", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer turns")
    turns = QUICK_TURNS if parser.parse_args().quick else TURNS
    for row in rows(turns):
        print(row, flush=True)


if __name__ == "__main__":
    main()
