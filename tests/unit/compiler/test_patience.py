"""A line when something takes long, and only then, and only on terminals."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable

import pytest

import kinpair as kp
from kinpair.compiler import patience as module
from kinpair.compiler.patience import patience
from waiting import HANGS, wait_until


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "seconds", "line"),
    [
        (Terminal, 0.0, r"kinpair: compiling x \.\.\. \d+\.\d s\n"),
        (Terminal, HANGS, ""),
        (io.StringIO, 0.0, ""),
    ],
)
def test_long_work_is_told_on_terminals(monkeypatch, stream, seconds, line):
    screen = stream()
    monkeypatch.setattr(module, "PATIENCE", seconds)
    monkeypatch.setattr(sys, "stderr", screen)
    with patience("compiling x"):
        wait_until(lambda: screen.getvalue() or not line, "nothing was said")
    assert re.fullmatch(line, screen.getvalue())


def test_a_command_prints_lines_where_there_is_no_terminal(monkeypatch):
    """The part at work is named, and the seconds so far; short work stays silent."""
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with patience("gait of x", lines=True):
        pass
    assert not screen.getvalue()
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "PAUSE", 0.01)
    with patience("gait of x", lines=True), patience("compiling y"):
        wait_until(lambda: screen.getvalue().count("\n") > 2, "nothing was said")
    lines = screen.getvalue().splitlines()[1:]  # the first may be earlier than the part
    assert all(re.fullmatch(r"kinpair: gait of x \.\.\. compiling y \.\.\. \d+ s", x) for x in lines)


def test_parts_of_long_work_share_its_line(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    with patience("preparing x"):
        wait_until(screen.getvalue, "nothing was said")
        with patience("recording x"), patience("recording y"):
            pass
        with patience("compiling x"):
            pass
    line = r"kinpair: preparing x \.\.\. recording x \.\.\. recording y \.\.\. compiling x \.\.\. \d+\.\d s\n"
    assert re.fullmatch(line, screen.getvalue())


def test_the_part_at_work_is_named_when_patience_ends(monkeypatch):
    """Parts that were over before are not."""
    screen = Terminal()
    monkeypatch.setattr(module, "PATIENCE", HANGS)
    monkeypatch.setattr(sys, "stderr", screen)
    with patience("preparing x") as line:
        with patience("recording x"):
            pass
        with patience("compiling x"):
            line.show()
    assert screen.getvalue().startswith("kinpair: preparing x ... compiling x ...")
    assert screen.getvalue().endswith(" s\n")


def test_after_a_fault_the_next_work_has_its_own_line(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(sys, "stderr", screen)
    for _ in range(2):
        with pytest.raises(ValueError, match="no"), patience("compiling x"):  # noqa: PT012
            wait_until(lambda: screen.getvalue().endswith("..."), "nothing was said")
            raise ValueError("no")
    assert screen.getvalue().count("kinpair: compiling x ...") == 2


class AtOnce:
    """A timer that does not wait."""

    def __init__(self, seconds: float, function: Callable[[], None]) -> None:
        self.start, self.cancel = function, lambda: None


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_run_says_what_it_prepares(monkeypatch, tmp_path, integrator):
    """Recording, preparing the constraints and compiling, from the call to the first step."""
    screen = Terminal()
    monkeypatch.setattr(module, "Timer", AtOnce)
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path))
    build = kp.Builder("lonely").link("a", mass=1.0, inertia=[1.234, 1, 1])
    m = kp.build(build.joint("j", "revolute", "ground", "a"))
    kp.simulate(m, [0.1], [0.0], duration=0.1, integrator=integrator, progress=False)
    assert "kinpair: preparing the motion of 'lonely' ..." in screen.getvalue()
    assert "recording" in screen.getvalue()
    assert "compiling a time loop" in screen.getvalue()
