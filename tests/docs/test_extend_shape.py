"""The change that docs/extend.md shows makes a new shape: a cone, in two files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kinpair

PAGE = Path(__file__).parents[2] / "docs" / "extend.md"
PROGRAM = """
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
print(np.abs(errors).max())
"""


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


def test_a_cone_is_two_files(tmp_path):
    shutil.copytree(
        Path(kinpair.__file__).parent, tmp_path / "kinpair", ignore=shutil.ignore_patterns("__pycache__")
    )
    diff = re.search(r"```diff\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
    changes = hunks(diff)
    assert len({file for file, _, _ in changes}) == 2
    for file, before, after in changes:
        path = tmp_path / file
        text = path.read_text("utf-8")
        assert text.count(before) == 1, before
        path.write_text(text.replace(before, after), "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 1e-7
