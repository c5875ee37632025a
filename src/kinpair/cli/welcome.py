"""`kinpair` alone: what one can do with it."""

from __future__ import annotations

from rich.cells import cell_len

from kinpair import __version__
from kinpair.cli.language import translated
from kinpair.cli.screen import Screen

TASKS = {
    "look at a robot and move it": "kinpair view robot.urdf",
    "start a mechanism of your own": "kinpair new arm.toml",
    "see what is doubtful in a file": "kinpair check robot.urdf",
    "torques, accelerations, inertia": "kinpair dynamics robot.urdf --q 0.1,0.2,...",
    "let it move": "kinpair simulate four-bar --duration 2 --report run.html",
    "read its equations": "kinpair equations double-pendulum",
    "compare the formulations": "kinpair compare robot.urdf",
    "many runs": "kinpair sweep study.toml",
    "bundled mechanisms": "kinpair examples",
    "a first picture": "kinpair demo",
}


def welcome() -> None:
    """What one can do."""
    screen = Screen()
    screen.heading(f"kinpair {__version__}: dynamics of robots and mechanisms")
    screen.say()
    tasks = {translated(task): command for task, command in TASKS.items()}
    wide = max(map(cell_len, tasks))
    for task, command in tasks.items():
        screen.say(f"  {task}{' ' * (wide - cell_len(task))}   {command}")
    screen.say("\nkinpair --help names every command, kinpair COMMAND --help its options")
