"""The command `kinpair`: its commands, and what becomes of a mistake."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import getdoc
from typing import Any

from cyclopts import (
    App,
    CycloptsError,
    MissingArgumentError,
    UnusedCliTokensError,
)
from cyclopts.help import DefaultFormatter

from kinpair import __version__
from kinpair.cli.commands import COMMANDS
from kinpair.cli.language import chosen, in_language, speaking, translated
from kinpair.cli.screen import Screen
from kinpair.cli.version import asked, report
from kinpair.cli.welcome import welcome
from kinpair.errors import KinpairError, described

WRONG_INPUT, FAULT = 2, 1


def command_line(called: str = "") -> App:
    """All commands. The help of the one that is called is its docstring, that of the others their line in the table."""
    app = App(
        name="kinpair",
        help=translated(
            "Dynamics of robots and mechanisms, by every classical formulation, from your own file."
        ),
        help_epilogue=translated("Start with: kinpair demo, kinpair examples, kinpair info scara"),
        help_format="plaintext",
        help_formatter=in_language(DefaultFormatter()),
        version=__version__,
    )
    for name, (usage, line) in COMMANDS.items():
        about = {"help": _help(name)} if name == called else {"help": translated(line)}
        options = {"usage": f"Usage: kinpair {name} {usage}", "help_epilogue": ""}
        app.command(f"kinpair.cli.{name}:{name}", **options, **about)
    return app


def _help(name: str) -> str:
    """The docstring of a command before its parameters, paragraph by paragraph in the language of the command."""
    command = getattr(import_module(f"kinpair.cli.{name}"), name)
    text = (getdoc(command) or "").partition("\nParameters\n")[0]
    return "\n\n".join(translated(" ".join(part.split())) for part in text.strip().split("\n\n"))


def main(words: Sequence[str] | None = None) -> int:
    """Run the command in `words` (default: the command line) and return the exit code."""
    arguments = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        language, rest = chosen(arguments, os.environ)
    except KinpairError as error:
        return _say(str(error), WRONG_INPUT)
    try:
        with speaking(language):
            return _run([_shielded(word) for word in rest]) if rest else _greeted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _greeted() -> int:
    welcome()
    return 0


def _run(words: list[str]) -> int:
    if asked(words):
        print(report())
        return 0
    try:
        app = command_line(words[0])
        app(words, console=Screen(), exit_on_error=False, print_error=False, result_action="return_value")
        if sys.stdout is not None:  # type: ignore[redundant-expr]
            sys.stdout.flush()
        return 0
    except KinpairError as error:
        return _say(str(error.parts.get("shell", error)), WRONG_INPUT)
    except CycloptsError as error:
        return _say(_worded(error), WRONG_INPUT)
    except BrokenPipeError:
        raise
    except OSError as error:
        return _say(f"{error.filename or 'standard output'}: {error.strerror}", FAULT)
    except Exception as error:
        fault = described(error)
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
    return f"Available commands: {', '.join(COMMANDS)}"


_WORDING: tuple[tuple[type[CycloptsError], Callable[[Any], str]], ...] = (
    (MissingArgumentError, _missing),
    (UnusedCliTokensError, lambda error: f"{' '.join(error.unused_tokens).strip()!r} was not expected"),
    (CycloptsError, lambda error: _COMMANDS.sub(_available, str(error)).rstrip(".")),
)


def _worded(error: CycloptsError) -> str:
    sentence = next(word(error) for kind, word in _WORDING if isinstance(error, kind))
    command = " ".join(("kinpair", *(error.command_chain or ())))
    return f"{sentence[:1].lower()}{sentence[1:]} (see {command} --help)"
