"""Graph and LLVM text of five mechanisms, word for word.

A change of rules or formulations changes them: run this file as a program to write them anew, and read the diff.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import kinpair as kp
from kinpair.compiler.machine_code import text_of
from kinpair.compiler.target import REALS

HERE = Path(__file__).parent
MECHANISMS = {
    "double-pendulum": "forward_dynamics",
    "cart-pole": "inverse_dynamics",
    "planar-3r": "mass_matrix",
    "scara": "mass_matrix",
    "three-cylinders": "gravity_forces",
}
STAGES = {  # code for one state: the same on every machine
    "graph": lambda graph: f"{graph}\n",
    "ll": lambda graph: text_of(graph, REALS["float64"], "one").rstrip("\n") + "\n",
}


def text(name: str, stage: str) -> str:
    return STAGES[stage](kp.example(name).kernel(MECHANISMS[name]).graph)


def file(name: str, stage: str) -> Path:
    return HERE / f"{name}.{MECHANISMS[name]}.{stage}"


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", MECHANISMS)
def test_stage_is_as_it_was(name, stage):
    assert text(name, stage) == file(name, stage).read_text("utf-8")


def test_nothing_else_is_kept():
    kept = {path.name for path in HERE.iterdir() if path.suffix in (".graph", ".ll")}
    assert kept == {file(name, stage).name for name in MECHANISMS for stage in STAGES}


if __name__ == "__main__":
    for name in MECHANISMS:
        for stage in STAGES:
            file(name, stage).write_text(text(name, stage), "utf-8")
