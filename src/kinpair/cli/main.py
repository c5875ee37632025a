"""The command `kinpair`: its commands, and what becomes of a mistake."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    UnusedCliTokensError,
)

from kinpair import KinpairError, __version__
from kinpair.cli.cache import cache
from kinpair.cli.check import check
from kinpair.cli.compare import compare
from kinpair.cli.completion import completion
from kinpair.cli.demo import demo
from kinpair.cli.dynamics import dynamics
from kinpair.cli.equations import equations
from kinpair.cli.examples import examples
from kinpair.cli.gait import gait
from kinpair.cli.info import info
from kinpair.cli.new import new
from kinpair.cli.nominal import nominal
from kinpair.cli.report import report
from kinpair.cli.resume import resume
from kinpair.cli.screen import Screen
from kinpair.cli.show import show
from kinpair.cli.simulate import simulate
from kinpair.cli.sweep import sweep
from kinpair.cli.track import track
from kinpair.cli.transfer import transfer
from kinpair.cli.view import view
from kinpair.cli.welcome import welcome

WRONG_INPUT, FAULT = 2, 1

app = App(
    name="kinpair",
    help="Dynamics of robots and mechanisms, by every classical formulation, from your own file.",
    help_epilogue="Start with: kinpair demo, kinpair examples, kinpair info scara",
    help_format="plaintext",
    version=__version__,
)
USAGE: dict[Callable[..., None], str] = {
    view: "FILE [OPTIONS]",
    new: "FILE.toml [OPTIONS]",
    check: "FILE [OPTIONS]",
    info: "FILE [OPTIONS]",
    dynamics: "FILE [OPTIONS]",
    simulate: "FILE [OPTIONS]",
    resume: "FILE [OPTIONS]",
    nominal: "FILE [OPTIONS]",
    transfer: "FILE [OPTIONS]",
    track: "FILE [OPTIONS]",
    gait: "[FILE] [OPTIONS]",
    report: "RUN.h5 [OPTIONS]",
    show: "FILE [OPTIONS]",
    compare: "FILE [OPTIONS]",
    equations: "FILE [OPTIONS]",
    sweep: "STUDY.toml [OPTIONS]",
    examples: "[NAME]",
    demo: "[OPTIONS]",
    cache: "[OPTIONS]",
    completion: "SHELL",
}
for command, usage in USAGE.items():
    app.command(command, usage=f"Usage: kinpair {command.__name__} {usage}", help_epilogue="")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command in `words` (default: the command line) and return the exit code."""
    arguments = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        return _run([_shielded(word) for word in arguments]) if arguments else _greeted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _greeted() -> int:
    welcome()
    return 0


def _run(words: list[str]) -> int:
    try:
        app(words, console=Screen(), exit_on_error=False, print_error=False, result_action="return_value")
        if sys.stdout is not None:  # type: ignore[redundant-expr]
            sys.stdout.flush()
        return 0
    except KinpairError as error:
        return _say(str(error), WRONG_INPUT)
    except CycloptsError as error:
        return _say(_worded(error), WRONG_INPUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _say(f"{error.filename or 'standard output'}: {error.strerror}", FAULT)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
        return _say(f"{fault}; this is a fault of kinpair, please report it with the command", FAULT)


def _say(message: str, code: int) -> int:
    print("kinpair:", " ".join(message.split()), file=sys.stderr)
    return code


_NEGATIVE = re.compile(r"-(\d|\.\d|pi|π)")


def _shielded(word: str) -> str:
    """-0.3,0.5 and -pi/2 are numbers: a blank in front keeps them from being read as options."""
    return f" {word}" if _NEGATIVE.match(word) else word


def _missing(error: Any) -> str:
    name = error.keyword or error.argument.name
    if name.startswith("-"):
        return f"{name} needs a value"
    return f"no {name} given; write it before the options"


_COMMANDS = re.compile("Available commands: .*", re.DOTALL)


def _available(_: object) -> str:
    """All of them."""
    return f"Available commands: {', '.join(command.__name__ for command in USAGE)}"


_WORDING: tuple[tuple[type[CycloptsError], Callable[[Any], str]], ...] = (
    (MissingArgumentError, _missing),
    (UnusedCliTokensError, lambda error: f"{' '.join(error.unused_tokens).strip()!r} was not expected"),
    (CycloptsError, lambda error: _COMMANDS.sub(_available, str(error)).rstrip(".")),
)


def _worded(error: CycloptsError) -> str:
    sentence = next(word(error) for kind, word in _WORDING if isinstance(error, kind))
    command = " ".join(("kinpair", *(error.command_chain or ())))
    return f"{sentence[:1].lower()}{sentence[1:]} (see {command} --help)"
