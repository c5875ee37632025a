"""Many runs: how far a double pendulum swings out, over starts and masses, kept in a folder and resumed."""

import tempfile

import kinpair as kp

study = kp.Study(
    "double-pendulum",
    q={"shoulder": 1.0},
    duration=2.0,
    integrator="rk4",
    dt=0.001,
    output=0.01,
    record=["peak q.elbow", "energy drift"],
)
over = {"q.elbow": kp.Grid(0.0, 1.0, 5), "lower.mass": kp.LatinHypercube(0.5, 2.0)}

with tempfile.TemporaryDirectory() as folder:
    table = kp.sweep(study, over, samples=20, seed=1, out=folder, workers=0)
    print(table.summary, "with", table.outputs)
    more = {**over, "q.elbow": kp.Grid(0.0, 1.0, 9)}
    table = kp.sweep(
        study, more, samples=20, seed=1, out=folder, resume=True, workers=0
    )  # computes the new ones
    print(kp.open_sweep(folder).summary)

far = table["peak q.elbow"].argmax()
print(
    "swings out farthest:",
    {name: round(float(table[name][far]), 3) for name in (*table.inputs, "peak q.elbow")},
)
print("energy is off by at most", f"{table['energy drift'].max():.0e}", table.units["energy drift"])
