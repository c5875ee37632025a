"""A run imports what it needs: no formulation, actuator, regulator or picture that it does not use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache

import pytest

RUN = """
import json, os, sys
import kinpair as kp
m = kp.example("four-bar")
q = m.assemble([0.3, 0.0, 0.0])
kp.simulate(m, q, [0.0, 0.0, 0.0], duration=0.1)
imported = sorted(name for name in sys.modules if name.startswith("kinpair"))
files = set()
def passed(frame, event, argument):
    files.add(frame.f_code.co_filename)
sys.setprofile(passed)
kp.simulate(m, q, [0.0, 0.0, 0.0], duration=0.1)
sys.setprofile(None)
package = os.path.dirname(kp.__file__)
print(json.dumps([imported, sorted(x for x in files if x.startswith(package))]))
"""
MODULES, FILES = (
    271,
    39,
)  # of kinpair: what a first run of a four-bar imports, what a second one passes through


@cache
def first_and_second() -> tuple[list[str], list[str]]:
    """Modules of kinpair that the first run imports, and files that the second one passes through."""
    environment = {**os.environ, "KINPAIR_WAIT": "1"}
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return tuple(json.loads(done.stdout))


@pytest.mark.parametrize(
    "part",
    [
        "analysis",
        "constraints.solve",
        "contact",
        "evaluation.body_loops",
        "forces.actuators",
        "formulations.kane",
        "friction.phases",
        "inverse_kinematics",
        "motion",
        "simulation.driver.contacts",
        "simulation.driver.resting",
        "simulation.driver.touching",
        "simulation.methods.looped",
        "simulation.methods.time_stepping",
        "control",
        "printed_equations.textbook",
        "viewer",
    ],
)
def test_a_plain_run_does_not_import_what_it_does_not_use(part):
    modules, _ = first_and_second()
    assert [name for name in modules if f"{name}.".startswith(f"kinpair.{part}.")] == []


def test_a_run_imports_few_modules_and_the_second_one_passes_through_few_files():
    modules, files = first_and_second()
    assert len(modules) <= MODULES
    assert len(files) <= FILES
