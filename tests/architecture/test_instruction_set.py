"""Tests and the processes they start compile for the instruction set that is asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import instruction_set
from kinpair.compiler import target


def test_this_process_and_others_compile_for_it(monkeypatch):
    """For the least of all, which is within what this run of the tests compiles for."""
    monkeypatch.setenv(instruction_set.VARIABLE, "sse2")
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    instruction_set.subprocesses_too()
    with instruction_set.compiling_for_target():
        assert target.host().width == 16
    program = "from kinpair.compiler import target; print(target.host().width)"
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(there.stdout) == 16


def test_an_unknown_one_is_refused(monkeypatch):
    monkeypatch.setenv(instruction_set.VARIABLE, "sse3")
    with pytest.raises(ValueError, match="KINPAIR_TEST_TARGET=sse3: give one of host, sse2, avx2"):
        instruction_set.compiling_for_target()
