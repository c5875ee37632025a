"""A line when something takes long, and only then, and only on terminals."""

from __future__ import annotations

import io
import sys
import time

import pytest

from kinpair.compiler import patience as module
from kinpair.compiler.patience import patience


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "seconds", "line"),
    [
        (Terminal, 0.15, "kinpair: compiling x ... 0."),
        (Terminal, 0.0, ""),
        (io.StringIO, 0.15, ""),
    ],
)
def test_long_work_is_told_on_terminals(monkeypatch, stream, seconds, line):
    screen = stream()
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    monkeypatch.setattr(sys, "stderr", screen)
    with patience("compiling x"):
        time.sleep(seconds)
    assert screen.getvalue().startswith(line)
    assert bool(screen.getvalue()) == bool(line)
