"""The changes that docs/extend.md shows work as they stand there, in as many files as the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kinpair

PAGE = Path(__file__).parents[2] / "docs" / "extend.md"
CONE = """
import coal, numpy as np, kinpair as kp

b = kp.Builder("cone")
for k, shape in enumerate(({"cone": [0.3, 0.6]}, {"box": [0.6, 0.4, 0.5]})):
    b.link(f"b{k}", mass=1.0, inertia=[1, 1, 1]).joint(f"f{k}", "free", "ground", f"b{k}")
    b.contact(f"g{k}", f"b{k}", **shape)
m, rng, distances, errors = kp.build(b), np.random.default_rng(0), [], []
for _ in range(200):
    turns = rng.normal(size=(2, 4))
    turns /= np.linalg.norm(turns, axis=1)[:, None]
    q = np.concatenate([np.r_[0.4 * rng.normal(size=3), turn] for turn in turns])
    poses, request = m.poses(q), coal.DistanceRequest()
    request.gjk_tolerance = request.epa_tolerance = 1e-10
    places = [coal.Transform3s(*poses[f"b{k}"]) for k in range(2)]
    solids = coal.Cone(0.3, 0.6), coal.Box(0.6, 0.4, 0.5)
    d = coal.distance(solids[0], places[0], solids[1], places[1], request, coal.DistanceResult())
    if d > -0.05:
        distances.append(d)
        errors.append(min(x.gap for x in m.contacts(q, margin=9.0)) - d)
assert len(errors) > 100 and min(distances) < 0.0
print(np.abs(errors).max() < 1e-7)
"""
RALSTON = """
import numpy as np, kinpair as kp

m = kp.example("double-pendulum")

def end(name, dt):
    return kp.simulate(m, [1.0, 0.5], [0.0, 0.0], duration=0.4, integrator=name, dt=dt).q[-1]

exact = end("rk4", 5e-4)
errors = [np.abs(end("ralston3", dt) - exact).max() for dt in (0.02, 0.01)]
print(2.8 < np.log2(errors[0] / errors[1]) < 3.2)
"""
RACK = """
import numpy as np, pathlib, kinpair as kp

pathlib.Path("wheel.toml").write_text('''
gravity = [0, -9.81, 0]
[[link]]
name = "wheel"
mass = 2.0
com = [0.1, 0.05, 0]
inertia = [0.02, 0.02, 0.03]
[[link]]
name = "rod"
mass = 1.0
com = [0.3, 0, 0]
inertia = [0.01, 0.02, 0.02]
[[joint]]
name = "roll"
kind = "rack"
pitch = -0.25
parent = "ground"
child = "wheel"
[[joint]]
name = "swing"
kind = "revolute"
axis = "x"
xyz = [0.1, 0, 0]
parent = "wheel"
child = "rod"
''')
m, state = kp.load("wheel.toml"), np.random.default_rng(0).normal(size=(3, 2))
run = kp.simulate(m, state[0], state[1], duration=2.0, rtol=1e-10, atol=1e-10)
disc = kp.build(kp.Builder("d").link("d", mass=2, inertia=[1, 1, 0.03]).joint("r", "rack", "ground", "d", pitch=-0.25))
errors = [abs(disc.mass_matrix([0.7])[0, 0] - (0.03 + 2 * 0.25**2)), run.balance.relative]
taus = [m.inverse_dynamics(*state, method=x) for x in ("denoc", "lagrange", "kane", "screw", "appell", "popov")]
errors += [np.abs(x - m.inverse_dynamics(*state)).max() for x in taus]
print(max(errors) < 1e-9)
"""
DRAG = """
import numpy as np, kinpair as kp

b = kp.Builder("diver").link("body", mass=80.0)
b.joint("fall", "prismatic", "ground", "body", axis="-z", friction={"law": "drag", "quadratic": 0.25})
m = kp.build(b)
run, v = kp.simulate(m, [0.0], [0.0], duration=20.0, rtol=1e-10, atol=1e-10), np.sqrt(80 * 9.81 / 0.25)
exact = v * np.tanh(9.81 * run.time / v)
print(np.abs(run.qd[:, 0] - exact).max() < 1e-7 and run.balance.relative < 1e-8)
"""
PROPELLER = """
import numpy as np, kinpair as kp

b = kp.Builder("boat").link("hull", mass=10.0).joint("surge", "prismatic", "ground", "hull", axis="x", damping=4.0)
m = kp.build(b.actuator("screw", "surge", "propeller", thrust=0.5))
run = kp.simulate(m, [0.0], [0.0], input=[-6.0], duration=4.0, rtol=1e-10, atol=1e-10)
exact = -0.5 * 36 / 4 * (1 - np.exp(-0.4 * run.time))
print(np.abs(run.qd[:, 0] - exact).max() < 1e-8 and run.balance.relative < 1e-8)
"""
POWER = """
import numpy as np, kinpair as kp

m, state = kp.example("stanford-arm"), np.random.default_rng(0).normal(size=(3, 5, 6))
power = m.kernel("effort_power")
exact = (m.inverse_dynamics(*state) * state[1]).sum(axis=1)
print(np.abs(power(*state) - exact).max() < 1e-9 and abs(power(*state[:, 0]) - exact[0]) < 1e-9)
"""
CHANGES = {  # by a file of the change: how many files it takes, and a program that uses it
    "pairs/rack.py": (2, RACK),
    "friction/laws/laws.py": (2, DRAG),
    "forces/actuators/machine.py": (3, PROPELLER),
    "contact/support.py": (2, CONE),
    "evaluation/quantities/table.py": (2, POWER),
    "simulation/methods/tableaux.py": (2, RALSTON),
}


def hunks(diff: str) -> list[tuple[str, str, str]]:
    """File, text before and text after of each hunk of a diff."""
    result, file = [], ""
    for part in re.split(r"^(?=--- |@@ )", diff, flags=re.MULTILINE):
        if part.startswith("--- "):
            file = re.search(r"^\+\+\+ b/src/(\S+)", part, re.MULTILINE)[1]
        elif part.startswith("@@ "):
            lines = part.splitlines()[1:]
            before = "\n".join(line[1:] for line in lines if line[:1] != "+")
            after = "\n".join(line[1:] for line in lines if line[:1] != "-")
            result.append((file, before, after))
    return result


@pytest.mark.parametrize("file", CHANGES)
def test_a_change_in_few_files_is_enough(file, tmp_path):
    count, program = CHANGES[file]
    shutil.copytree(
        Path(kinpair.__file__).parent, tmp_path / "kinpair", ignore=shutil.ignore_patterns("__pycache__")
    )
    diffs = re.findall(r"```diff\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    changes = next(hunks(diff) for diff in diffs if file in diff)
    assert len({changed for changed, _, _ in changes}) == count
    for changed, before, after in changes:
        path = tmp_path / changed
        text = path.read_text("utf-8") if before else ""
        assert text.count(before) == 1, before
        path.write_text(text.replace(before, after), "utf-8")
    run = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "True\n"


def test_every_change_of_the_page_is_made():
    assert len(re.findall(r"```diff\n", PAGE.read_text("utf-8"))) == len(CHANGES)
