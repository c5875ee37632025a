"""`kinpair track`: a mechanism follows a motion in a closed loop."""

from __future__ import annotations

import warnings
from typing import Annotated, Any, Literal

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair import InputError, Mechanism
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Numbers, Option, Root, Snap, motion_of, start_of
from kinpair.cli.dynamics import Names, chosen_actuators
from kinpair.cli.output import Out, check_outputs, ended, number_table, print_json
from kinpair.cli.screen import Screen
from kinpair.constraints.assembly.actuated import Actuators

Kind = Literal["lqr", "pd", "computed-torque", "force-feedback", "none"]
Seconds = Annotated[float | None, Parameter(metavar="SECONDS", show_default=False)]
Number = Annotated[float | None, Parameter(metavar="NUMBER", show_default=False)]


def track(
    file: Described,
    /,
    *,
    to: Numbers = None,
    by: Numbers = None,
    frame: Annotated[str | None, Parameter(metavar="NAME", show_default=False)] = None,
    q: Numbers = None,
    duration: Annotated[float, Parameter(metavar="SECONDS")] = 2.0,
    law: Annotated[str, Parameter(metavar="NAME")] = "septic",
    regulator: Kind = "lqr",
    actuators: Names = None,
    degree: Annotated[float, Parameter(metavar="NUMBER")] = 0.0,
    weights: Numbers = None,
    effort_weights: Numbers = None,
    frequency: Annotated[float, Parameter(metavar="NUMBER")] = 10.0,
    damping: Annotated[float, Parameter(metavar="NUMBER")] = 1.0,
    integral: Annotated[float, Parameter(metavar="NUMBER")] = 0.0,
    off: Numbers = None,
    off_rates: Numbers = None,
    hold: Annotated[float, Parameter(metavar="SECONDS")] = 1.0,
    sample_time: Seconds = None,
    saturate: Flag = False,
    delay: Annotated[float, Parameter(metavar="SECONDS")] = 0.0,
    encoder: Number = None,
    noise: Number = None,
    seed: Annotated[int, Parameter(metavar="NUMBER")] = 0,
    runs: Annotated[int, Parameter(metavar="NUMBER")] = 1,
    spread: Annotated[float, Parameter(metavar="NUMBER")] = 0.0,
    dt: Annotated[float, Parameter(metavar="SECONDS")] = 1e-3,
    output: Seconds = None,
    base: Root = "fixed",
    snap: Snap = 0.0,
    plot: Out = None,
    json: Flag = False,
) -> None:
    """Simulate feedback control along a motion from a perturbed start; print errors, efforts and settling time.

    Give the motion as for kinpair nominal: --to coordinates, or --frame and a displacement --by. The integrator
    is rk4 with step --dt.

    Parameters
    ----------
    to
        Final coordinates; coordinates without a value are constant.
    by
        Displacement of the frame x,y,z [m], in world axes.
    frame
        Link or frame to move.
    q
        Initial coordinates. Default: the start of the description.
    duration
        Duration of the motion [s].
    law
        Motion law: cycloid, linear, cubic, quintic, septic or nonic.
    regulator
        Regulator: lqr along the motion, pd with feed-forward, computed-torque, force-feedback, or none (nominal
        efforts only).
    actuators
        Actuated joints of a closed mechanism, or all. Default: joints with an actuator or actuated = true in the
        file.
    degree
        Degree of stability of lqr [1/s]: errors decay at least as fast as exp(-degree t).
    weights
        Weights of the coordinates in lqr. Default: 1.
    effort_weights
        Weights of the efforts in lqr. Default: 1.
    frequency
        Natural frequency of the other regulators [rad/s].
    damping
        Damping ratio of the other regulators; 1: no overshoot.
    integral
        Integral gain of pd [1/s³], multiplied by the inertia of each joint.
    off
        Displacement of the initial coordinates.
    off_rates
        Change of the initial rates.
    hold
        Simulated time after the motion [s].
    sample_time
        Sample time of the regulator [s]. Default: continuous where possible, else 1 ms.
    saturate
        Clip efforts to the limits of the file.
    delay
        Delay from measurement to effort [s], a multiple of the sample time.
    encoder
        Resolution of measured coordinates [rad] or [m].
    noise
        Standard deviation of measured coordinates and rates.
    seed
        Seed of noise and random starts.
    runs
        Number of runs, each with different noise and start.
    spread
        Standard deviation of the random displacements of the start.
    dt
        Step size [s].
    output
        Time between samples [s].
    plot
        Draw coordinates, errors and efforts (.png, .svg, .pdf).
    json
        Print one JSON document with all samples.
    """
    check_outputs(file, plot=plot)
    m = arguments.mechanism(file, base=base, snap=snap)
    start = start_of(m, q)
    wanted = motion_of("track", m, start, to, by, frame, duration, law)
    path = kinpair.motion.follow(m, wanted, start=start) if isinstance(wanted, dict) else wanted
    law_options: dict[str, Any] = {"sample_time": sample_time}
    if regulator == "lqr":
        law_options |= {"degree": degree, "Q": _weights(m, weights), "R": _effort_weights(m, effort_weights)}
    elif regulator == "none":
        law_options |= {"kp": 0.0, "kd": 0.0}
    else:
        law_options |= {"frequency": frequency, "damping": damping}
    if regulator == "pd":
        law_options["ki"] = integral
    if regulator == "force-feedback" and sample_time is None:
        del law_options["sample_time"]
    if runs < 1:
        raise InputError(f"--runs is {runs}; give 1 or more", option="--runs")
    own = _made(regulator, m, path, law_options, chosen_actuators(m, actuators))
    around: dict[str, Any] = {"sample_time": sample_time, "delay": delay, "encoder": encoder, "noise": noise}
    if saturate or delay or encoder or noise:
        if regulator == "none":
            raise InputError(
                "--regulator none has no feedback; choose a regulator for --saturate, --delay, --encoder, "
                "--noise"
            )
        seeds = seed if runs == 1 else [seed + k for k in range(runs)]
        own = kinpair.regulator.in_loop(own, saturation=True if saturate else None, seed=seeds, **around)
    moved, faster = (Option(name, m.v_names, np.zeros(m.nv)) for name in ("--off", "--off-rates"))
    change, rates = moved.stated(off), faster.stated(off_rates)
    if runs > 1:
        change = moved.read(off) + np.random.default_rng(seed).normal(0.0, spread, (runs, m.nv))
    options: dict[str, Any] = {"integrator": "rk4", "dt": dt, "output": output}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kinpair.RunWarning)  # `ended` reports how the run ended
        x = kinpair.track(m, path, own, off=change, off_rates=rates, hold=hold, **options)
    if plot is not None:
        x.plot(plot)
    if json:
        print_json(_document(x))
    else:
        _show(x, None if plot is None else str(plot))
    ended(x.run)


def _made(kind: Kind, m: Mechanism, path: Any, options: dict[str, Any], actuators: Actuators) -> Any:
    make, word = {
        "lqr": (kinpair.regulator.lqr, "inputs"),
        "pd": (kinpair.regulator.pd, "actuators"),
        "computed-torque": (kinpair.regulator.computed_torque, "actuators"),
        "force-feedback": (kinpair.regulator.force_feedback, None),
        "none": (kinpair.regulator.pd, "actuators"),
    }[kind]
    if word is None and actuators is not None:
        raise InputError(
            f"--regulator {kind} needs an effort in every joint; leave out --actuators, or choose lqr",
            option="--actuators",
        )
    chosen: dict[str, Any] = {} if word is None else {word: actuators}
    return make(m, path, **options, **chosen)


def _weights(m: Mechanism, words: list[str] | None) -> Any:
    found = Option("--weights", m.v_names, np.ones(m.nv)).stated(words)
    named = found if isinstance(found, dict) else dict(zip(m.v_names, found.tolist(), strict=True))
    return {f"q.{name}": x for name, x in named.items()}


def _effort_weights(m: Mechanism, words: list[str] | None) -> Any:
    return Option("--effort-weights", m.v_names, np.ones(m.nv)).stated(words)


def _document(x: kinpair.Tracking) -> dict[str, Any]:
    m = x.mechanism
    numbers = ("time", "error", "rate_error", "largest", "final", "rms", "settled", "effort", "saturated")
    return {
        "name": m.name,
        "duration": x.motion.duration,
        "q_names": m.q_names,
        "v_names": m.v_names,
        **{name: getattr(x, name) for name in numbers},
        "q": x.run.q,
        "qd": x.run.qd,
        "tau": x.run.tau,
        "status": str(x.run.status),
    }


def _show(x: kinpair.Tracking, picture: str | None) -> None:
    m, screen = x.mechanism, Screen()
    names = ("largest", "rms", "final", "settled", "effort")
    worst = {name: getattr(x, name).reshape(-1, m.nv).max(0) for name in names}
    heads = {
        "largest": "largest error",
        "final": "at the end",
        "settled": "settled [s]",
        "effort": "largest effort",
    }
    table = {heads.get(name, name): value for name, value in worst.items()}
    screen.print(number_table("", m.v_names, table, screen.width, missing="never"))
    for line in str(x).splitlines():
        screen.say(line)
    if picture is not None:
        screen.say(f"picture: {picture}")
