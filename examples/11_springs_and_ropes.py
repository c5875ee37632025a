"""Springs between points, ropes that go slack, and a law of your own."""

import numpy as np

import kinpair as kp

crane = kp.example("crane")
print(crane)
run = kp.simulate(crane, crane.start(), [0.5, 0, 0], duration=6.0, output=np.linspace(0, 6, 1201))
length = np.hypot(run.q[:, 1] - run.q[:, 0], run.q[:, 2] - 1.4)
changes = np.flatnonzero(np.diff(length > 2.0)) + 1
print(run.summary)
print("the rope changes between slack and taut at", np.round(run.time[changes], 2), "s")

door = (
    kp.Builder("door")
    .link("door", mass=8.0, com=[0, 0, 0.5], inertia=[0.7, 0.7, 0.01])
    .joint("hinge", "revolute", "ground", "door", axis="y", damping=0.5)
    .spring(
        "strut",
        "ground",
        "door",
        xyz=[0.5, 0, 0.2],
        child_xyz=[0, 0, 0.4],
        stiffness=800.0,
        damping=40.0,
        rest_length=0.6,
    )
)
m = kp.build(door)
print("effort that holds the door at 0.2 rad:", m.inverse_dynamics([0.2], [0.0], [0.0]), "N m")
runs = kp.simulate(
    m,
    [0.3],
    [0.0],
    duration=2.0,
    integrator="rk4",
    dt=1e-3,
    parameters={"strut.damping": np.array([40.0, 80.0, 160.0])},
)
print("after 2 s with three dampers:", runs.q[:, -1, 0], "rad")
