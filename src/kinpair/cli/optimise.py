"""`kinpair optimise`: the motion of least cost that reaches a goal."""

from __future__ import annotations

import warnings
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair import InputError, Mechanism
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Numbers, Option, Root, Snap, start_of
from kinpair.cli.dynamics import Names
from kinpair.cli.output import Out, check_outputs, print_json
from kinpair.cli.screen import Screen
from kinpair.constraints.rows.build import is_constrained

Number = Annotated[float | None, Parameter(metavar="NUMBER", show_default=False)]
Seconds = Annotated[float | None, Parameter(metavar="SECONDS", show_default=False)]
Cost = Literal["effort", "energy", "time", "jerk"]


def optimise(
    file: Described,
    /,
    *,
    to: Numbers = None,
    q: Numbers = None,
    duration: Seconds = None,
    cost: Cost = "effort",
    limits: Annotated[bool, Parameter(negative="--no-limits")] = True,
    effort: Number = None,
    velocity: Number = None,
    actuators: Names = None,
    method: Annotated[str, Parameter(metavar="NAME")] = "radau-5",
    intervals: Annotated[int, Parameter(metavar="NUMBER")] = 30,
    accuracy: Annotated[float, Parameter(metavar="NUMBER")] = 1e-4,
    base: Root = "fixed",
    snap: Snap = 0.0,
    plot: Out = None,
    report: Out = None,
    json: Flag = False,
) -> None:
    """Find the motion of least cost from rest to rest within limits.

    The mesh is refined until a simulation of the result agrees with it. Ctrl-C keeps the last iterate.

    Parameters
    ----------
    to
        Final coordinates; coordinates without a value are constant.
    q
        Initial coordinates. Default: the start of the description.
    duration
        Duration of the motion [s]. Default: free for --cost time, else 1.
    cost
        Cost to minimise: effort (integral of squared inputs), energy, time or jerk.
    limits
        Apply the limits of the file: positions, rates, efforts, currents, voltages.
    effort
        Largest effort or input of every actuator.
    velocity
        Largest rate of every joint.
    actuators
        Actuated joints. Default: joints with an actuator or actuated = true in the file, or all.
    method
        Discretisation: trapezoidal, hermite-simpson, radau-3, radau-5 or shooting.
    intervals
        Number of intervals of the first mesh.
    accuracy
        Largest accepted error against a simulation, relative to 1 + |state|.
    plot
        Draw coordinates, rates and inputs (.png, .svg, .pdf).
    report
        Write a page with summary, picture, active limits and meshes (.html).
    json
        Print one JSON document with all samples.
    """
    check_outputs(file, plot=plot, report=report)
    m = arguments.mechanism(file, base=base, snap=snap)
    start = start_of(m, q)
    end = _end(m, start, to)
    own = {"u": effort, "qd": velocity}
    given = {name: value for name, value in own.items() if value is not None}
    none = {} if limits else dict.fromkeys(("q", "qd", "qdd", "u"), np.inf)
    bounds = {**none, **given}
    seconds = None if duration is None and cost == "time" else duration or 1.0
    chosen = None if actuators is None else [name for word in actuators for name in word.split(",")]
    options: dict[str, Any] = {"method": method, "intervals": intervals, "accuracy": accuracy}
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", kinpair.RunWarning)
        x = kinpair.optimise(
            m, start=start, end=end, duration=seconds, cost=cost, limits=bounds, actuators=chosen, **options
        )
    if plot is not None:
        x.plot(plot)
    if report is not None:
        x.report(report)
    if json:
        print_json(_document(m, x))
        return
    screen = Screen()
    for line in [*x.summary().splitlines(), *(str(note.message) for note in notes)]:
        screen.say(line)
    for name, path in (("picture", plot), ("page", report)):
        if path is not None:
            screen.say(f"{name}: {path}")


def _end(m: Mechanism, start: np.ndarray, to: list[str] | None) -> np.ndarray:
    """Coordinates at the end; those of a closed mechanism are assembled."""
    if to is None:
        raise InputError("--to is missing; give the final coordinates", option="--to")
    option = Option("--to", m.q_names, start)
    if not is_constrained(m.model.description):
        return option.read(to)
    named = option.stated(to)
    if isinstance(named, np.ndarray):
        raise InputError(
            f"{m.name}: coordinates depend on each other by constraints; give independent ones by name, "
            f"such as --to {m.q_names[0]}=0.5",
            option="--to",
        )
    q = start.copy()
    for name, value in named.items():
        q[m.q_names.index(name)] = value
    return m.assemble(q, fixed=list(named))


def _document(m: Mechanism, x: kinpair.Optimum) -> dict[str, Any]:
    eq = x.transcription.grids[0].phase.equations
    return {
        "name": m.name,
        "cost": x.cost,
        "duration": x.duration,
        "status": x.status,
        "error": x.error,
        "iterations": x.outcome.iterations,
        "state_names": eq.states,
        "input_names": eq.inputs,
        "time": x.time,
        "states": x.states,
        "inputs": x.inputs,
        "active": [{"name": y.name, "side": y.side, "multiplier": y.multiplier} for y in x.active],
    }
