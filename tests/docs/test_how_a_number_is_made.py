"""The pictures of docs/how_a_number_is_made.md are the calls that happen."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how_a_number_is_made.md"
PROGRAM = '''
import json, sys, warnings
from pathlib import Path
import kinpair as kp

SOURCES = str(Path(kp.__file__).parent) + "/"

def record(call):
    """Functions on the stack at each entry of a function of kinpair, one line for each new stack."""
    stack, seen = [], {}
    def look(frame, event, value):
        if event == "call":
            file = frame.f_code.co_filename
            own = file.startswith(SOURCES) and not frame.f_code.co_name.startswith("<")
            stack.append(frame.f_code.co_name + " " + file[len(SOURCES):] if own else None)
            if own:
                seen.setdefault(tuple(x for x in stack if x))
        elif event == "return" and stack:
            stack.pop()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)

warnings.simplefilter("ignore")
m = kp.build(kp.Builder("arm").link("a", mass=1.0, com=[0, 0, -1], inertia=[1, 1, 1]).joint(
    "j", "revolute", "ground", "a", axis=[0, 1, 0]))
inverse = lambda: m.inverse_dynamics([0.1], [0.1], [0.1])
run = lambda: kp.simulate(m, [0.1], [0.1], duration=2e-3, integrator="rk4", dt=1e-3)
print(json.dumps({"first": record(inverse), "again": record(inverse), "run": record(run)}))
'''


def lines(heading: str) -> list[tuple[int, str]]:
    """Depth and "function file" of each line of the picture below a heading."""
    section = PAGE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    picture = re.search(r"```text\n(.*?)```", section, re.DOTALL)[1]
    matches = [re.match(r"( *)(\w+) +(\S+\.py) ", line) for line in picture.splitlines()]
    return [(len(x[1]) // 2, f"{x[2]} {x[3]}") for x in matches]


@pytest.fixture(scope="module")
def calls(tmp_path_factory):

    empty = str(tmp_path_factory.mktemp("cache"))
    environment = {**os.environ, "KINPAIR_CACHE": empty, "KINPAIR_WAIT": "1"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


@pytest.mark.parametrize(
    ("heading", "key"), [("One inverse dynamics", "first"), ("One step of a simulation", "run")]
)
def test_every_line_is_called_below_the_one_that_it_stands_under(calls, heading, key):
    picture = lines(heading)
    assert len(picture) >= 14
    path: list[str] = []
    for depth, name in picture:
        path[depth:] = [name]
        assert any(below(path, stack) for stack in calls[key]), " → ".join(path)


def below(path: list[str], stack: list[str]) -> bool:
    """True if the stack ends with the last of the path, and has the others in this order."""
    waiting = iter(stack)
    return stack[-1] == path[-1] and all(any(x == name for x in waiting) for name in path)


def test_the_second_call_enters_no_function_of_kinpair(calls):
    assert calls["again"] == []


def test_files_of_the_pictures_exist():
    import kinpair

    sources = Path(kinpair.__file__).parent
    every = [*lines("One inverse dynamics"), *lines("One step of a simulation")]
    assert all((sources / name.split()[1]).is_file() for _, name in every)
