"""`kinpair simulate`: a mechanism moves."""

from __future__ import annotations

import warnings
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from kinpair import Mechanism
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Numbers, Obeying, Option, Root, Snap
from kinpair.cli.output import Out, Wanted, check_outputs, show
from kinpair.constraints.rows.build import is_constrained
from kinpair.errors import InputError, LimitWarning, listed
from kinpair.forces.states import has_actuators

Seconds = Annotated[float | None, Parameter(metavar="SECONDS", show_default=False)]
Number = Annotated[float | None, Parameter(metavar="NUMBER", show_default=False)]


def simulate(
    file: Described,
    /,
    *,
    duration: Annotated[float, Parameter(metavar="SECONDS")] = 10.0,
    q: Numbers = None,
    qd: Numbers = None,
    tau: Numbers = None,
    input: Numbers = None,
    integrator: Annotated[str | None, Parameter(metavar="NAME", show_default=False)] = None,
    dt: Seconds = None,
    rtol: Number = None,
    atol: Number = None,
    max_step: Seconds = None,
    output: Seconds = None,
    time: float = 0.0,
    solver: Annotated[str | None, Parameter(metavar="NAME", show_default=False)] = None,
    limits: Annotated[str | None, Parameter(metavar="WAY", show_default=False)] = None,
    hold: Annotated[str, Parameter(metavar="WAY")] = "project",
    alpha: Number = None,
    rho_inf: Number = None,
    theta: Number = None,
    patience: Seconds = None,
    no_passive: Flag = False,
    base: Root = "fixed",
    snap: Snap = 0.0,
    plot: Out = None,
    save: Out = None,
    report: Out = None,
    json: Flag = False,
) -> None:
    """Simulate a mechanism and print a summary.

    Give numbers separated by commas or blanks (0.1,pi/2,-3), by name (elbow=0.3,wrist=1), or in a JSON file
    (@state.json), in SI units and radians. Under constraints, give independent coordinates and rates by name; the
    remaining ones are computed.

    Ctrl-C keeps all results computed so far; with --save, kinpair resume continues the run.

    --save replaces a file that has a finished run, with a note. It never replaces an unfinished run or a file of
    another kind.

    Parameters
    ----------
    duration
        Simulated time [s].
    q
        Initial coordinates. Default: the start of the description, assembled under constraints.
    qd
        Initial rates. Default: zeros.
    tau
        Constant efforts. Default: zeros.
    input
        Constant actuator inputs, such as voltages. Default: zeros.
    integrator
        Integrator, such as dop853, rk4 or variational; see docs/simulate.md. Default: dop853; time-stepping for
        mechanisms with contact.
    dt
        Step size of fixed-step integrators [s].
    rtol
        Relative tolerance of adaptive steps.
    atol
        Absolute tolerance of adaptive steps.
    max_step
        Largest adaptive step [s].
    output
        Time between samples [s].
    time
        Start time [s].
    solver
        Constraint solver, such as multipliers or udwadia-kalaba.
    limits
        Behaviour at joint limits: ignore, stop, bounce, spring or saturate (clip efforts). Default: that of the
        file, else ignore. See docs/events.md.
    hold
        Constraint stabilisation: project, baumgarte or none; see docs/simulate.md.
    alpha
        Constraint stabilisation rate of baumgarte [1/s].
    rho_inf
        Spectral radius at infinite frequency of generalised-alpha, 0 to 1.
    theta
        Implicit weight of the time-stepping integrator, 0.5 to 1. Default: 0.5.
    patience
        Computing time without progress after which adaptive integrators stop [s]; inf: no limit. Default: 10.
    no_passive
        Leave out springs, dampers and friction of the joints.
    plot
        Draw coordinates, rates, efforts and energies (.png, .svg, .pdf).
    save
        Write samples to an HDF5 file (.h5) during the run.
    report
        Write a page (.html) with a summary and curves.
    json
        Print one JSON document, with all samples unless --save is given.
    """
    from kinpair.runs.simulate import outcome_of
    from kinpair.simulation.given import ALPHA, Options
    from kinpair.simulation.schedule import PATIENCE

    mechanism = arguments.mechanism(file, base=base, snap=snap)
    replaced = check_outputs(file, save=save, plot=plot, report=report)
    positions, rates, notes = _start(mechanism, q, qd, time)
    notes += [text] if (text := mechanism.start_warning(positions, time=time)) else []
    efforts, inputs = _driven(mechanism, tau, input)
    options = Options(
        q=positions,
        qd=rates,
        duration=duration,
        torque=efforts,
        input=inputs,
        integrator=integrator,
        dt=dt,
        rtol=rtol,
        atol=atol,
        max_step=max_step,
        output=output,
        time=time,
        solver=solver,
        limits=limits,
        hold=hold,
        alpha=ALPHA if alpha is None else alpha,
        rho_inf=rho_inf,
        theta=theta,
        patience=PATIENCE if patience is None else patience,
        passive=not no_passive,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LimitWarning)  # it is among the notes
        run = outcome_of(mechanism, options, save=save).run
    show(run, Wanted(plot, report, json, save, [*arguments.notes_on(mechanism, file), *notes, *replaced]))


def _start(
    mechanism: Mechanism, q: list[str] | None, qd: list[str] | None, time: float
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """The state, and what the constraints made of the numbers given."""
    positions = Option("--q", mechanism.q_names, mechanism.start())
    rates = Option("--qd", mechanism.v_names, np.zeros(mechanism.nv))
    if not is_constrained(mechanism.model.description):
        return positions.read(q), rates.read(qd), []
    obeying = Obeying(mechanism, time)
    at = obeying.positions(positions.stated(q))
    return at, obeying.rates(at, rates.stated(qd)), obeying.notes


def _driven(
    mechanism: Mechanism, tau: list[str] | None, inputs: list[str] | None
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Constant efforts, or inputs of actuators."""
    if tau and has_actuators(mechanism.model):
        raise InputError(
            f"{mechanism.name}: its actuators determine the joint efforts; give --input instead of --tau: "
            f"{listed(mechanism.u_names, 12)}"
        )
    if tau and inputs:
        raise InputError("--tau and --input are both given; give one of them")
    efforts = Option("--tau", mechanism.v_names, np.zeros(mechanism.nv))
    own = Option("--input", mechanism.u_names, np.zeros(mechanism.nu))
    return efforts.read(tau) if tau else None, own.read(inputs) if inputs else None
