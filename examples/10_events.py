"""Let things hit: a ball that bounces, a door with a stop, a trailer that couples."""

import kinpair as kp

ball = kp.build(
    kp.Builder("ball")
    .link("ball", mass=2.0)
    .joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0)
)
run = kp.simulate(ball, [1.0], [0.0], duration=4.0, limits=kp.Limits("bounce", restitution=0.7))
print(run.summary)
print("first bounces at", [round(event.time, 6) for event in run.events[:4]], "s")

wagons = kp.Builder("wagons", gravity=(0, 0, 0)).link("engine", mass=3.0).link("trailer", mass=1.0)
wagons = wagons.joint("x", "prismatic", "ground", "engine", axis="x").joint(
    "y", "prismatic", "ground", "trailer", axis="x"
)
couple = kp.constraint.coupling("hook", "y", follows="x", offset=1.0)
meet = kp.Event("hook", lambda time, q, qd: q[1] - q[0] - 1.0, action=kp.Change(add=[couple]))
run = kp.simulate(kp.build(wagons), [0.0, 2.0], [2.0, 0.0], duration=1.0, events=[meet])
print(run.summary)
print("rates behind the coupling:", run.events[0].qd, "m/s; lost:", round(run.events[0].lost, 6), "J")
