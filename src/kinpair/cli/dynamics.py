"""`kinpair dynamics`: state in, all quantities out."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from kinpair import Mechanism
from kinpair.cli import source
from kinpair.cli.answers import Question, State, answers
from kinpair.cli.dynamics_tables import show
from kinpair.cli.machine import print_json
from kinpair.cli.source import File, Flag
from kinpair.cli.state import Numbers, Option
from kinpair.loading import Base

Frames = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NAME...", show_default=False),
]


def dynamics(
    file: File,
    /,
    *,
    q: Numbers = None,
    qd: Numbers = None,
    qdd: Numbers = None,
    tau: Numbers = None,
    method: Annotated[str | None, Parameter(metavar="NAME")] = None,
    no_passive: Flag = False,
    base: Base = "fixed",
    frame: Frames = None,
    json: Flag = False,
) -> None:
    """Torques, accelerations, matrices, energy, reactions of a mechanism in one state.

    Numbers are separated by commas or blanks (0.1,pi/2,-3), given by name
    (elbow=0.3,wrist=1), or read from a JSON file (@state.json); SI units, radians.
    Tables are rounded for reading; --json has all digits.

    Parameters
    ----------
    file
        A description (.urdf, .xml, .toml, .csv), or the name of a bundled example.
    q
        Coordinates; default: zeros, unit quaternions.
    qd
        Rates; default: zeros.
    qdd
        Accelerations, for the inverse dynamics and the reactions; default: zeros.
    tau
        Efforts, for the forward dynamics; default: zeros.
    method
        Formulation, such as newton-euler or denoc; a quantity that it does not give is had by its default.
    no_passive
        Leave out springs, dampers and friction of the joints.
    base
        "free" lets the root link float.
    frame
        Links or frames whose pose and Jacobian to give.
    json
        Print one JSON document instead of tables.
    """
    mechanism = source.mechanism(file, base=base)
    state = _state(mechanism, {"q": q, "qd": qd, "qdd": qdd, "tau": tau})
    found = answers(Question(mechanism, state, method, not no_passive, tuple(frame or ())))
    if json:
        print_json(found)
    else:
        show(found, file)


def _state(mechanism: Mechanism, given: dict[str, Any]) -> State:
    names = {"q": mechanism.q_names}
    start = {"q": mechanism.neutral()}
    return State(
        **{
            key: Option(
                f"--{key}", names.get(key, mechanism.v_names), start.get(key, np.zeros(mechanism.nv))
            ).read(words)
            for key, words in given.items()
        }
    )
