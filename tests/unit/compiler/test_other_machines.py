"""Code for processors that the tests do not run on: it uses vector instructions, and calls only sin and cos."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import pytest

import kinpair as kp
from kinpair.compiler import jit, machine_code
from kinpair.compiler.target import REALS, Machine

MACHINES = (
    Machine("aarch64-linux-gnu", "cortex-a72", "", 16),
    Machine("arm64-apple-macos", "apple-m1", "", 16),
)
OUTSIDE = {"sin", "cos"}  # of angles so large that they have to be reduced with care


def assembly(machine: Machine, form: str, monkeypatch) -> str:
    """Assembly text of the forward dynamics of a Stanford arm for another machine."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    options = {key: value for key, value in jit.OPTIONS.items() if key != "jit"}
    target = llvm.Target.from_triple(machine.triple)
    other = target.create_target_machine(cpu=machine.cpu, features=machine.features, **options)
    monkeypatch.setattr(machine_code, "host", lambda: machine)
    monkeypatch.setattr(jit, "target_machine", lambda: other)
    graph = kp.example("stanford-arm").kernel("forward_dynamics").graph
    return jit.assembly(machine_code.text_of(graph, REALS["float64"], form))


def in_lanes(text: str, instruction: str) -> int:
    """How many of these instructions work on two numbers at once; systems write them in two ways."""
    return len(re.findall(rf"\b{instruction}(?:\.2d|\s+v\d+\.2d)", text))


def called_outside(text: str, machine: Machine) -> set[str]:
    """Names of functions that are called and not in the text."""
    mark = "_" if "apple" in machine.triple else ""
    labels = set(re.findall(r"^([^\s:]+):", text, re.MULTILINE))
    called = set(re.findall(r"^\s+(?:bl|b)\s+([\w.]+)\s*$", text, re.MULTILINE))
    local = {x for x in called if x in labels or x.startswith((".L", "L"))}
    return {x.removeprefix(mark) for x in called - local}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda x: x.triple)
def test_batches_of_aarch64_use_two_lanes(machine, monkeypatch):
    text = assembly(machine, "batch", monkeypatch)
    assert in_lanes(text, "fmla") > 100
    assert in_lanes(text, "fmul") > 100
    assert called_outside(text, machine) == OUTSIDE


@pytest.mark.parametrize("machine", MACHINES, ids=lambda x: x.triple)
def test_one_state_of_aarch64_calls_nothing_but_sine_and_cosine(machine, monkeypatch):
    assert called_outside(assembly(machine, "one", monkeypatch), machine) == OUTSIDE
