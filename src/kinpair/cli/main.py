"""The command `kinpair`: its table of commands, its start page and version, and the handling of errors."""

from __future__ import annotations

import io
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module, metadata
from inspect import getdoc
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter, UnusedCliTokensError
from cyclopts.help import DefaultFormatter
from rich.cells import cell_len

from kinpair import __version__
from kinpair.cli.screen import VARIABLE, Screen, chosen, in_language, speaking, translated
from kinpair.errors import KinpairError, described

COMMANDS = {
    "view": (
        "FILE [OPTIONS]",
        "Show a mechanism in the browser and move it with sliders, or play stored runs. Ctrl-C stops the "
        "server.",
    ),
    "new": (
        "FILE.toml [OPTIONS]",
        "Write a commented TOML file of an arm as a starting point. Existing files are never replaced.",
    ),
    "check": (
        "FILE [OPTIONS]",
        "List warnings with remedies, loop closure and mobility.",
    ),
    "convert": (
        "FILE NEW [OPTIONS]",
        "Write a description in another format: URDF, SDF, MJCF (.xml) or TOML.",
    ),
    "info": (
        "FILE [OPTIONS]",
        "Print bodies, joints, frames, totals and warnings of a mechanism.",
    ),
    "dynamics": (
        "FILE [OPTIONS]",
        "Print efforts, accelerations, mass matrix, energy and reactions of a mechanism in one state.",
    ),
    "explain": (
        "FILE [OPTIONS]",
        "Print the intermediate results of a formulation in one state, with equation numbers.",
    ),
    "simulate": (
        "FILE [OPTIONS]",
        "Simulate a mechanism and print a summary.",
    ),
    "resume": (
        "FILE [OPTIONS]",
        "Continue a run that was interrupted, killed, or stopped by a full disk.",
    ),
    "nominal": (
        "FILE [OPTIONS]",
        "Compute efforts, power, energy and reactions along a motion, and check them against the limits of "
        "the file.",
    ),
    "transfer": (
        "FILE [OPTIONS]",
        "Carry an open vessel along a straight line: tilted, upright, and upright with a motion law that "
        "damps sloshing.",
    ),
    "track": (
        "FILE [OPTIONS]",
        "Simulate feedback control along a motion from a perturbed start; print errors, efforts and "
        "settling time.",
    ),
    "optimise": (
        "FILE --to COORDINATES [OPTIONS]",
        "Find the motion of least cost from rest to rest within limits.",
    ),
    "identify": (
        "FILE LOG... [OPTIONS]",
        "Identify masses, inertias, rotor inertias and friction of a mechanism from its logs.",
    ),
    "gait": (
        "[FILE] [OPTIONS]",
        "Compute a walking gait of a biped and check its balance.",
    ),
    "report": (
        "RUN.h5 [OPTIONS]",
        "Write a report of a stored run (.html) with animation, curves, tables and settings.",
    ),
    "show": (
        "FILE [OPTIONS]",
        "Print the compiled code of a quantity: graph, LLVM text, assembly, LaTeX or C.",
    ),
    "compare": (
        "FILE [OPTIONS]",
        "Compare all formulations on a mechanism: results, operation counts and times.",
    ),
    "equations": (
        "FILE [OPTIONS]",
        "Print the equations of motion of a mechanism in symbolic form.",
    ),
    "sweep": (
        "STUDY.toml [OPTIONS]",
        "Run the simulations of a study file, which lists what varies and what is recorded.",
    ),
    "examples": (
        "[NAME]",
        "List the bundled examples, or print the TOML file of one of them.",
    ),
    "demo": (
        "[OPTIONS]",
        "Compute torques of the Stanford arm along a motion by two formulations and plot them.",
    ),
    "cache": (
        "[OPTIONS]",
        "Print location, size and limit of the cache of compiled code.",
    ),
    "completion": (
        "SHELL",
        "Print a shell completion script: kinpair completion bash >> ~/.bashrc",
    ),
}

MODULES = {  # of commands whose module has another name
    **dict.fromkeys(("new", "convert", "examples", "check"), "descriptions"),
    **dict.fromkeys(("view", "report", "resume", "sweep"), "runs"),
    **dict.fromkeys(("nominal", "transfer", "gait"), "motions"),
    **dict.fromkeys(("show", "cache"), "equations"),
    "explain": "dynamics",
    "demo": "compare",
    "completion": "main",
}


_NAME = re.compile(r"^[A-Za-z0-9_.-]+", re.MULTILINE)
VARIABLES = ("KINPAIR_CACHE", "KINPAIR_CACHE_SIZE", VARIABLE)
ASKED = {"--version", "--verbose"}


def asked(words: list[str]) -> bool:
    """True if the words of a command line are --version and --verbose."""
    return set(words) == ASKED


def facts() -> Iterator[tuple[str, str]]:
    """Name and value of each fact: versions, processor, cache."""
    from kinpair.compiler.cache import default_directory
    from kinpair.compiler.target import host

    machine = host()
    yield "kinpair", __version__
    yield (
        "Python",
        f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}",
    )
    yield "system", platform.platform()
    yield (
        "processor",
        f"{machine.cpu}, {machine.triple}, {machine.width // 8} numbers in a vector, {os.cpu_count()} cores",
    )
    yield "cache", str(default_directory())
    for name in VARIABLES:
        if name in os.environ:
            yield name, os.environ[name]
    yield from libraries()


def libraries() -> Iterator[tuple[str, str]]:
    """Name and version of each installed library that kinpair or one of its extras needs."""
    names = dict.fromkeys(_NAME.findall("\n".join(metadata.requires("kinpair") or ())))
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            if name != "kinpair":
                yield name, metadata.version(name)


def report() -> str:
    """Return the facts, one a line."""
    rows = list(facts())
    wide = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{wide}}  {value}" for name, value in rows)


TASKS = {
    "show a robot and move it": "kinpair view robot.urdf",
    "write a first file of your own": "kinpair new arm.toml",
    "list the warnings of a file": "kinpair check robot.urdf",
    "torques, accelerations, inertia": "kinpair dynamics robot.urdf --q 0.1,0.2,...",
    "simulate a motion": "kinpair simulate four-bar --duration 2 --report run.html",
    "print symbolic equations": "kinpair equations double-pendulum",
    "compare the formulations": "kinpair compare robot.urdf",
    "many runs": "kinpair sweep study.toml",
    "bundled mechanisms": "kinpair examples",
    "a first picture": "kinpair demo",
}


def welcome() -> None:
    """Print a list of what one can do."""
    screen = Screen()
    screen.heading(f"kinpair {__version__}: dynamics of robots and mechanisms")
    screen.say()
    tasks = {translated(task): command for task, command in TASKS.items()}
    wide = max(map(cell_len, tasks))
    for task, command in tasks.items():
        screen.say(f"  {task}{' ' * (wide - cell_len(task))}   {command}")
    screen.say("\nkinpair --help lists all commands, kinpair COMMAND --help the options of a command")


WRONG_INPUT, FAULT = 2, 1


def command_line(called: str = "") -> App:
    """All commands. The help of the one that is called is its docstring, that of the others their line in the table."""
    app = App(
        name="kinpair",
        help=translated("Compute and simulate the dynamics of robots and mechanisms."),
        help_epilogue=translated("Start with: kinpair demo, kinpair examples, kinpair info scara"),
        help_format="plaintext",
        help_formatter=in_language(DefaultFormatter()),
        version=__version__,
    )
    for name, (usage, line) in COMMANDS.items():
        about = {"help": _help(name)} if name == called else {"help": translated(line)}
        options = {"usage": f"Usage: kinpair {name} {usage}", "help_epilogue": ""}
        app.command(f"{module_of(name)}:{name}", **options, **about)
    return app


def module_of(name: str) -> str:
    """Return the module that has a command."""
    return f"kinpair.cli.{MODULES.get(name, name)}"


def _help(name: str) -> str:
    """The docstring of a command before its parameters, paragraph by paragraph in the language of the command."""
    command = getattr(import_module(module_of(name)), name)
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
        return _say(f"{fault}; this is a bug in kinpair; please report it with the command", FAULT)


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
    """Names of all available methods."""
    return f"Available commands: {', '.join(COMMANDS)}"


_WORDING: tuple[tuple[type[CycloptsError], Callable[[Any], str]], ...] = (
    (MissingArgumentError, _missing),
    (UnusedCliTokensError, lambda error: f"unexpected argument {' '.join(error.unused_tokens).strip()!r}"),
    (CycloptsError, lambda error: _COMMANDS.sub(_available, str(error)).rstrip(".")),
)


def _worded(error: CycloptsError) -> str:
    sentence = next(word(error) for kind, word in _WORDING if isinstance(error, kind))
    command = " ".join(("kinpair", *(error.command_chain or ())))
    return f"{sentence[:1].lower()}{sentence[1:]} (see {command} --help)"


Shell = Literal["bash", "zsh", "fish", "powershell"]


def completion(shell: Annotated[Shell, Parameter(metavar="SHELL")], /) -> None:
    """Print a shell completion script: kinpair completion bash >> ~/.bashrc

    Parameters
    ----------
    shell
        bash, zsh, fish or powershell.
    """
    sys.stdout.write(command_line().generate_completion(prog_name="kinpair", shell=shell))
