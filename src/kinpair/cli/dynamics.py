"""`kinpair dynamics`: state in, all quantities out; `kinpair explain`: a formulation in that state, step by step."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair import InputError, Mechanism
from kinpair.cli import arguments
from kinpair.cli.answers import Question, State, answers, show
from kinpair.cli.arguments import Described, Flag, Numbers, Obeying, Option, Root, Snap
from kinpair.cli.output import print_json
from kinpair.compiler.background import in_passing
from kinpair.constraints.assembly.actuated import Actuators
from kinpair.constraints.rows.build import is_constrained

Words: TypeAlias = list[str] | None
Names = Annotated[
    Words,
    Parameter(consume_multiple=(1, None), negative="", metavar="NAME...", show_default=False),
]


@in_passing()
def dynamics(
    file: Described,
    /,
    *,
    q: Numbers = None,
    qd: Numbers = None,
    qdd: Numbers = None,
    tau: Numbers = None,
    method: Annotated[str | None, Parameter(metavar="NAME")] = None,
    solver: Annotated[str | None, Parameter(metavar="NAME")] = None,
    actuators: Names = None,
    time: float = 0.0,
    no_passive: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
    frame: Names = None,
    json: Flag = False,
) -> None:
    """Print efforts, accelerations, mass matrix, energy and reactions of a mechanism in one state.

    Give numbers separated by commas or blanks (0.1,pi/2,-3), by name (elbow=0.3,wrist=1), or in a JSON file
    (@state.json), in SI units and radians. Tables are rounded; --json has all digits.

    Under constraints, give independent coordinates, rates and accelerations by name; the remaining ones are
    computed.

    Parameters
    ----------
    q
        Coordinates. Default: zeros and unit quaternions; under constraints, the assembled start of the description.
    qd
        Rates. Default: zeros.
    qdd
        Accelerations of the inverse dynamics and the reactions. Default: zeros.
    tau
        Efforts of the forward dynamics. Default: zeros.
    method
        Formulation, such as newton-euler or denoc. Quantities that it does not give are computed by their defaults.
    solver
        Constraint solver, such as multipliers or udwadia-kalaba.
    actuators
        Actuated joints in the inverse dynamics of a closed mechanism, or all. Default: joints with an actuator or
        actuated = true in the file.
    time
        Time at which prescribed motions and other functions of time are evaluated [s].
    no_passive
        Leave out springs, dampers and friction of the joints.
    frame
        Print pose and Jacobian of these links or frames.
    json
        Print one JSON document instead of tables.
    """
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    if not np.isfinite(time):
        raise InputError(f"--time is {time}; give a finite number of seconds", option="--time")
    state, notes = state_of(mechanism, {"q": q, "qd": qd, "qdd": qdd, "tau": tau}, time)
    question = Question(
        mechanism,
        state,
        method,
        not no_passive,
        tuple(frame or ()),
        solver,
        chosen_actuators(mechanism, actuators),
        time,
    )
    results = {**answers(question), "notes": notes}
    if json:
        print_json(results)
    else:
        show(results, file)


def chosen_actuators(mechanism: Mechanism, words: Words) -> Actuators:
    """Return the argument `actuators` from the words after --actuators."""
    if words == ["all"] and "all" not in (*mechanism.joint_names, *mechanism.v_names):
        return "all"
    return None if words is None else tuple(words)


def state_of(mechanism: Mechanism, words: dict[str, Words], time: float) -> tuple[State, list[str]]:
    """The state, and what the constraints made of the numbers given."""
    still = np.zeros(mechanism.nv)
    options = {key: Option(f"--{key}", mechanism.v_names, still) for key in words}
    options["q"] = Option("--q", mechanism.q_names, mechanism.neutral())
    if not is_constrained(mechanism.model.description):
        return State(**{key: option.read(words[key]) for key, option in options.items()}), []
    stated = {key: option.stated(words[key]) for key, option in options.items()}
    obeying = Obeying(mechanism, time)
    q = obeying.positions(stated["q"])
    qd = obeying.rates(q, stated["qd"])
    qdd = obeying.accelerations(q, qd, stated["qdd"], stated["qd"])
    return State(q, qd, qdd, options["tau"].read(words["tau"])), obeying.notes


def explain(
    file: Described,
    /,
    *,
    method: Annotated[str, Parameter(metavar="NAME")] = "popov",
    q: Numbers = None,
    qd: Numbers = None,
    qdd: Numbers = None,
    tau: Numbers = None,
    latex: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
) -> None:
    """Print the intermediate results of a formulation in one state, with equation numbers.

    The method popov prints the algorithm KINPAIR pair by pair, up to the equations of motion. Other formulations
    print their symbols with equation numbers, shapes and meanings; --latex adds the values.

    Parameters
    ----------
    method
        Formulation or variant, such as popov, denoc, screw or lagrange/cylinders.
    q
        Coordinates. Default: zeros and unit quaternions; under constraints, the assembled start of the description.
    qd
        Rates. Default: zeros.
    qdd
        Accelerations; efforts are computed from them. Trees only.
    tau
        Efforts; accelerations are computed from them. Default: zeros.
    latex
        Print symbols and values in LaTeX.
    """
    named = kinpair.formulation(method)
    mechanism = arguments.mechanism(file, base=base, snap=snap)
    if qdd is not None and tau is not None:
        raise kinpair.InputError(
            "--qdd and --tau are both given; give one, the other is computed", options=["--qdd", "--tau"]
        )
    if qdd is not None and mechanism.closure is not None:
        raise kinpair.InputError(
            f"--qdd: accelerations do not determine the efforts of the closed mechanism {mechanism.name}; "
            "give --tau",
            option="--qdd",
        )
    state, _ = state_of(mechanism, {"q": q, "qd": qd, "qdd": qdd, "tau": tau}, 0.0)
    known = {"qdd": state.qdd} if qdd is not None else {"tau": state.tau}
    if latex:
        print(named.arrays(mechanism, state.q, state.qd, **known).latex())
    else:
        print(named.explain(mechanism, state.q, state.qd, **known))
