"""Cost of transport of the compass walker over its speed: `python docs/pictures/compass_transport.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import kinpair as kp
from kinpair.viewer.curves import blank_figure, write_figure

HERE = Path(__file__).parent
SPEEDS = np.linspace(0.2, 0.8, 13)


def step(speed: float) -> kp.Optimum:
    """One periodic step on level ground by hip torque alone, of least ∫u²."""
    m = kp.example("compass-walker")
    free = {"q": None, "qd": None}
    return kp.optimise(
        m,
        start=free,
        end=free,
        repeat=kp.walking.heel_strike(m, "foot", np.array([[1.0, -1.0], [0.0, -1.0]])),
        actuators=["hip"],
        limits={"q": {"hip": 1.5}},
        boundary={
            "speed": lambda start, end: end.position("foot")[0] - speed * end.duration,
            "lands": (None, lambda start, end: end.velocity("foot")[2], 0.0),
        },
        duration=(0.2, 2.0),
    )


def transport(x: kp.Optimum, speed: float) -> float:
    """Positive work of the hip as a part of weight times way."""
    time = np.linspace(0.0, x.duration, 4001)
    power = x.input_at(time)[:, 0] * x.at(time).qd[:, 1]
    return float(np.trapezoid(np.maximum(power, 0.0), time) / (20.0 * 9.81 * speed * x.duration))


def write() -> None:
    """Draw the picture and print its numbers."""
    steps = [step(speed) for speed in SPEEDS]
    costs = [transport(x, speed) for x, speed in zip(steps, SPEEDS, strict=True)]
    figure = blank_figure(8.0, 3.2)
    left, right = figure.subplots(1, 2)
    left.plot(SPEEDS, costs, "o-")
    left.set_ylabel("positive work / (weight · way)")
    right.plot(SPEEDS, [x.duration for x in steps], "o-")
    right.set_ylabel("time of a step [s]")
    for axes, title in ((left, "cost of transport"), (right, "step time")):
        axes.set_xlabel("speed [m/s]")
        axes.set_title(title, loc="left")
        axes.grid(alpha=0.3)
    write_figure(figure, HERE / "compass-transport.png")
    for speed, cost, x in zip(SPEEDS, costs, steps, strict=True):
        print(f"{speed:.2f} m/s: {cost:.4f}, {x.duration:.3f} s, error {x.error:.1e}")


if __name__ == "__main__":
    write()
