"""Dry friction and limits: what they cost, how long runs with many events take, and creep next to MuJoCo's."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

import kinpair as kp
from benchmarks.planning import Row
from benchmarks.timing import race, repeated

TURNS, QUICK_TURNS = 30, 8
CALLS = 2000
BATCH = 1000
LEVEL, GRAVITY, LENGTH = 1.0, 9.81, 0.1
COST, RUN_MS, EVENT_MS, STOPS_MS = 1.3, 8.0, 2.0, 5.0  # demanded
LANES, IDLE = 256, 1.15  # motions of a batch with limits that are not reached, and what is demanded
BALLS, EVENTS = 64, 1.2  # the same with impacts
STIFFNESS, SPEED = 1600.0, 0.1  # of the spring and of the belt: some 120 switches in 10 s


def cost_rows(turns: int) -> Iterator[Row]:
    """Forward dynamics of a six-axis arm that moves, with friction in all joints against without."""
    plain = kp.example("kr5")
    joints = tuple(replace(x, friction=(LEVEL,)) for x in plain.model.description.joints)
    rough = kp.build(replace(plain.model.description, joints=joints))
    rng = np.random.default_rng(0)
    q, qd, tau = (rng.normal(size=(BATCH, 6)) for _ in range(3))
    for label, pick in (("one state", 0), (f"{BATCH} states", slice(None))):
        arguments = q[pick], qd[pick], tau[pick]
        calls = CALLS if pick == 0 else 20
        pair = [lambda m=m, a=arguments: m.forward_dynamics(*a) for m in (plain, rough)]
        best = _raced(pair, turns, calls)
        yield Row(f"forward dynamics with friction by without, {label}", best[1] / best[0], "", COST)


def run_row(turns: int) -> Row:
    """A mass on a belt for 10 s, second call."""
    m = kp.example("stick-slip")

    def spring(t: Any, q: Any, qd: Any) -> Any:
        return np.array([STIFFNESS * (SPEED * t - q[0])])

    def run() -> Any:
        return kp.simulate(m, [0.0], [0.0], duration=10.0, torque=spring, output=0.1)

    switches = len(run().events)
    return Row(
        f"stick–slip run of 10 s with {switches} switches", 1e3 * _raced([run], turns, 1)[0], "ms", RUN_MS
    )


def event_rows(turns: int) -> Iterator[Row]:
    """A pendulum for 1 s with an event of the user that happens, second call."""
    m = kp.example("double-pendulum")
    event = kp.Event("low", lambda t, q, qd: q[0])

    def run() -> Any:
        return kp.simulate(m, [0.3, 0.2], [1.0, 0.0], duration=1.0, events=[event])

    happened = len(run().events)
    what = f"run of 1 s with {happened} event{'s' * (happened != 1)} of the user"
    yield Row(what, 1e3 * _raced([run], turns, 1)[0], "ms", EVENT_MS)


def stop_row(turns: int) -> Row:
    """Ten sliders that fall on stops and are lifted off again, second call."""
    builder, number = kp.Builder("ten stops"), 10
    for k in range(number):
        builder.link(f"slider {k}", mass=1.0 + 0.1 * k)
        keys: dict[str, Any] = {"axis": "z", "lower": 0.0, "start": 0.05 + 0.02 * k}
        builder.joint(f"z{k}", "prismatic", "ground", f"slider {k}", **keys)
    m = kp.build(builder)

    def push(t: Any, q: Any, qd: Any) -> Any:
        return np.array([(30.0 + k) * np.sin(6.0 * t - 2.0) for k in range(number)])

    def run() -> Any:
        return kp.simulate(m, m.start(), np.zeros(number), duration=1.2, limits="stop", torque=push)

    happened = len(run().events)
    what = f"run of {number} stops that close and open, {happened} events"
    return Row(what, 1e3 * _raced([run], turns, 1)[0], "ms", STOPS_MS)


def limit_rows(turns: int) -> Iterator[Row]:
    """Batches with limits: none reached, by the same batch without limits; balls that bounce, by single runs."""
    description = kp.example("kr5").model.description
    joints = tuple(replace(x, lower=(-6.0,), upper=(6.0,)) for x in description.joints)
    arm, rng = kp.build(replace(description, joints=joints)), np.random.default_rng(0)
    q, qd = rng.uniform(-1.0, 1.0, (LANES, 6)), rng.uniform(-1.0, 1.0, (LANES, 6))

    def moved(limits: str) -> Any:
        return kp.simulate(arm, q, qd, duration=0.2, dt=1e-3, integrator="rk4", limits=limits)

    for limits in ("ignore", "stop"):
        moved(limits)
    best = _raced([lambda: moved("ignore"), lambda: moved("stop")], turns, 1)
    what = f"batch of {LANES} arms within limits that stop, by limits that are ignored"
    yield Row(what, best[1] / best[0], "", IDLE)
    builder = kp.Builder("ball").link("ball", mass=1.0)
    ball = kp.build(builder.joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0))
    heights, bounce = rng.uniform(0.1, 1.0, (BALLS, 1)), kp.Limits("bounce", restitution=0.5)
    options: dict[str, Any] = {"duration": 1.0, "dt": 1e-3, "integrator": "rk4", "limits": bounce}

    def together() -> Any:
        return kp.simulate(ball, heights, np.zeros((BALLS, 1)), **options)

    def apart() -> Any:
        return [kp.simulate(ball, height, [0.0], **options) for height in heights]

    happened = len(together().events)
    apart()
    best = _raced([together, apart], 3, 1)
    what = f"batch of {BALLS} balls for 1 s with {happened} impacts, by {BALLS} single runs"
    yield Row(what, best[0] / best[1], "", EVENTS)


def creep_rows() -> Iterator[Row]:
    """A hinge under half its friction level for 1 s: how fast it turns."""
    mass = 0.5 * LEVEL / (GRAVITY * LENGTH)
    text = (
        f'<mujoco><option gravity="0 0 -{GRAVITY}"/><worldbody><body><joint axis="0 1 0" frictionloss="{LEVEL}"/>'
        f'<geom type="sphere" size="0.01" mass="{mass}" pos="{LENGTH} 0 0"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    while data.time < 1.0:
        mujoco.mj_step(model, data)
    yield Row("creep of MuJoCo under half the level", abs(float(data.qvel[0])), "rad/s", None)
    builder = kp.Builder("hinge").link("arm", mass=mass, com=[LENGTH, 0, 0], inertia=[1e-4, 1e-4, 1e-4])
    m = kp.build(builder.joint("hinge", "revolute", "ground", "arm", axis="y", friction=LEVEL))
    run = kp.simulate(m, [0.0], [0.0], duration=1.0)
    yield Row("creep of kinpair under half the level", float(np.abs(run.qd).max()), "rad/s", 1e-12)


def _raced(calls: list[Callable[[], Any]], turns: int, times: int) -> list[float]:
    """Shortest seconds of each, one after the other in turn, so that all see the same machine."""
    many = {k: repeated(call, times=times) for k, call in enumerate(calls)}
    return [seconds / times for seconds in race(many, turns).values()]


def rows(turns: int) -> Iterator[Row]:
    """Every row."""
    yield from cost_rows(turns)
    yield run_row(turns)
    yield stop_row(turns)
    yield from event_rows(turns)
    yield from limit_rows(turns)
    yield from creep_rows()


def main() -> None:
    """`python -m benchmarks.friction`."""
    parser = argparse.ArgumentParser(prog="benchmarks.friction", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    for row in rows(QUICK_TURNS if parser.parse_args().quick else TURNS):
        print(row)


if __name__ == "__main__":
    main()
