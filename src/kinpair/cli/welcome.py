"""`kinpair` alone: what one can do with it."""

from __future__ import annotations

from kinpair import __version__
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
    wide = max(map(len, TASKS))
    for task, command in TASKS.items():
        screen.say(f"  {task:{wide}}   {command}")
    screen.say("\nkinpair --help names every command, kinpair COMMAND --help its options")
