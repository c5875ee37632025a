"""Actuators: how much faster than real time an arm with motors moves, and what its state derivative costs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks.planning import Row
from benchmarks.timing import race, wall_time

SINGLE, BATCH, DERIVATIVE, LOADED = 100.0, 400.0, 3.0, 6.0  # demanded
AGREED = 1e-10  # relative: 100 eps cond(H) of the arm is some 1e-11
ROWS, STATES, TURNS = 256, 1024, 7
CYLINDER, HALF = "cylinder-80-50-400", 0.5  # a data sheet; the time of the hexapod [s]
STIFF, SAME = 0.2, 1e-6  # seconds demanded of the hexapod; difference of two methods
AMPLITUDES = np.array([0.5, 0.3, -0.4, 0.6, 0.5, 0.7])


def positions(time: Any, q: Any, qd: Any) -> Any:
    """What the servos of the arm are to follow."""
    return AMPLITUDES * np.sin(2.0 * time)


def motion_rows() -> Iterator[Row]:
    """One motion at 1e-6 with friction that sticks and without, and a batch by fixed steps."""
    m, start = kp.example("motor-arm"), np.zeros(6)
    how: dict[str, Any] = {"integrator": "dopri5", "rtol": 1e-6, "atol": 1e-8, "input": positions}
    for words, passive in (("", True), (" without friction", False)):
        seconds = _least(lambda p=passive: kp.simulate(m, m.start(), start, duration=2.0, passive=p, **how))
        demanded = SINGLE if passive else None
        yield Row(f"motor-arm at 1e-6{words}, times real time", 2.0 / seconds, "", demanded, above=True)
    many = np.tile(m.start(), (ROWS, 1))
    fixed: dict[str, Any] = {"integrator": "rk4", "dt": 1e-3, "output": [1.0], "threads": 2}
    seconds = _least(
        lambda: kp.simulate(m, many, start, duration=1.0, input=positions, **fixed), 3, wall_time
    )
    yield Row(f"motor-arm, {ROWS} at once, times real time", ROWS / seconds, "", BATCH, above=True)


def derivative_rows() -> Iterator[Row]:
    """`state_derivative` of the arm with motors beside `forward_dynamics` of the arm without, in a batch."""
    m, plain, rng = kp.example("motor-arm"), kp.example("kr5"), np.random.default_rng(15)
    q, qd, tau = (rng.normal(size=(1024, 6)) for _ in range(3))
    x = np.tile(m.x_start, (1024, 1))
    whole, bare = _least_of(
        lambda: m.state_derivative(q, qd, x, q), lambda: plain.forward_dynamics(q, qd, tau)
    )
    yield Row("state_derivative of 1024 to plain forward dynamics", whole / bare, "times", DERIVATIVE)
    servo, rates = kp.example("servo"), rng.normal(size=(1024, 1))
    swing = servo.without_constraints()
    whole, bare = _least_of(
        lambda: servo.state_derivative(q[:, :1], rates, None, q[:, 1:2]),
        lambda: swing.forward_dynamics(q[:, :1], rates, tau[:, :1], passive=False),
    )
    yield Row("the same with friction from load, one joint", whole / bare, "times", LOADED)


def motor_rows() -> Iterator[Row]:
    """`state_derivative` of an arm with six motors, beside MuJoCo's `dcmotor` on the same one, in a batch."""
    import mujoco
    from mujoco.batch import Batch

    with TemporaryDirectory() as folder:
        file = Path(folder, "arm.xml")
        file.write_text(ARM)
        m, model = kp.load(file), mujoco.MjModel.from_xml_path(str(file))
    model.opt.timestep = 1e-18  # its force is that of the current at the end of a step
    rng, batch = np.random.default_rng(15), Batch(model, STATES, nthread=1)
    q, qd, x, u = (rng.normal(size=(STATES, 6)) for _ in range(4))
    batch.qpos, batch.qvel, batch.act, batch.ctrl = q, qd, x, u
    qacc = batch.bind("qacc")
    own, theirs = _least_of(lambda: m.state_derivative(q, qd, x, u, threads=1), batch.forward)
    apart = np.abs(m.state_derivative(q, qd, x, u)[0] - qacc).max() / np.abs(qacc).max()
    yield Row("an arm with six dcmotors, MuJoCo's time for a state derivative", theirs / own, "times ours")
    yield Row("the same, largest difference of accelerations", apart, "", AGREED)


def stiff_rows() -> Iterator[Row]:
    """A hexapod on six hydraulic cylinders, by the method that is chosen and by `cvode`."""
    legs = {f"slide{k}": {"kind": "hydraulic-cylinder", "sheet": CYLINDER} for k in range(1, 7)}
    m = kp.example("stewart").with_actuators(legs)
    how: dict[str, Any] = {"duration": HALF, "input": np.full(m.nu, 0.1)}
    ends: list[np.ndarray] = []
    for integrator, demanded in ((None, STIFF), ("cvode", None)):
        began = process_time()
        run = kp.simulate(m, integrator=integrator, **how)
        first, ends = process_time() - began, [*ends, run.q[-1]]
        least = min(
            _processor_time(lambda i=integrator: kp.simulate(m, integrator=i, **how)) for _ in range(3)
        )
        what = f"hexapod with six hydraulic cylinders, {HALF:g} s by {run.integrator}"
        yield Row(f"{what}, {run.steps} steps", least, "s", demanded)
        yield Row(f"{what}, first run", first, "s")
    yield Row(
        "the same, largest difference of both ends", float(np.abs(ends[0] - ends[1]).max()), "m, rad", SAME
    )


def _processor_time(run: Callable[[], Any]) -> float:
    began = process_time()
    run()
    return process_time() - began


LINK = """<body pos="0 0 .3" euler="90 0 0"><joint name="j{k}" axis="0 0 1"/>
<inertial pos="0 .1 .1" mass="{m}" diaginertia=".1 .1 .05"/>{inside}</body>"""
MOTOR = (
    '<dcmotor joint="j{k}" motorconst=".05" resistance="1.6" inductance="2.2e-3" gear="50" armature="1e-5"/>'
)


def _arm() -> str:
    inside = ""
    for k in reversed(range(6)):
        inside = LINK.format(k=k, m=6 - k, inside=inside)
    motors = "".join(MOTOR.format(k=k) for k in range(6))
    return f"<mujoco><worldbody>{inside}</worldbody><actuator>{motors}</actuator></mujoco>"


ARM = _arm()


def _least(run: Callable[[], Any], turns: int = TURNS, clock: Callable[[], float] = process_time) -> float:
    run()
    return race({"": run}, turns, clock)[""]


def _least_of(*runs: Callable[[], Any]) -> list[float]:
    """The least seconds of each, taken in turn."""
    for run in runs:
        run()
    return list(race(dict(enumerate(runs)), TURNS).values())


def rows() -> Iterator[Row]:
    """Every row."""
    yield from motion_rows()
    yield from derivative_rows()
    yield from motor_rows()
    yield from stiff_rows()


def main() -> None:
    """`python -m benchmarks.actuators`."""
    argparse.ArgumentParser(prog="benchmarks.actuators", description=__doc__).parse_args()
    for row in rows():
        print(row)


if __name__ == "__main__":
    main()
