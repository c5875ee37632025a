"""`kinpair identify`: parameters of a mechanism from its log."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

import kinpair
from kinpair import InputError
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Numbers, Root, Snap
from kinpair.cli.output import Out, check_outputs, number_table, print_json
from kinpair.cli.screen import Screen

Words = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NAMES", show_default=False),
]
Text = Annotated[str | None, Parameter(metavar="NAME", show_default=False)]
Hertz = Annotated[float, Parameter(metavar="HZ", show_default=False)]


def identify(
    file: Described,
    /,
    *log: Annotated[Path, Parameter(metavar="LOG")],
    torque: Literal["joint", "motor", "current", "sensor"] = "joint",
    gear: Numbers = None,
    gains: Numbers = None,
    q: Words = None,
    tau: Words = None,
    time: Text = None,
    zero: Numbers = None,
    friction: Words = None,
    estimator: Literal["wls", "ols", "huber", "tls", "iv", "output-error"] = "wls",
    prior: Literal["file", "none"] = "file",
    validate: Words = None,
    payload: Text = None,
    payload_mass: Annotated[float | None, Parameter(metavar="KG", show_default=False)] = None,
    rate: Hertz = 0.0,
    position_cutoff: Hertz = 0.0,
    effort_cutoff: Hertz = 0.0,
    least_speed: Annotated[float, Parameter(metavar="NUMBER")] = 0.02,
    base: Root = "fixed",
    snap: Snap = 0.0,
    report: Out = None,
    plot: Out = None,
    toml: Out = None,
    urdf: Out = None,
    json: Flag = False,
) -> None:
    """Identify masses, inertias, rotor inertias and friction of a mechanism from its logs.

    A log (.csv, .parquet, .npz) has the columns t, q_<joint> or q1 ..., tau_<joint> or tau1 ... The identified
    parameters are physically consistent; friction terms are chosen by cross-validation.

    Parameters
    ----------
    log
        Logs (.csv, .parquet, .npz). With --payload, the last log is recorded with the payload.
    torque
        Measured efforts: joint efforts, motor torques, motor currents, or joint torque sensors.
    gear
        Motor turns per joint turn.
    gains
        Drive gains of the motor currents [N m/A].
    q
        Columns of positions, in the order of the joints.
    tau
        Columns of efforts or currents, in the order of the joints.
    time
        Column of time.
    zero
        Offsets added to the positions [rad] or [m].
    friction
        Friction terms: viscous, coulomb, offset, power, stribeck, load. Default: chosen from the data.
    estimator
        Estimator of the base parameters.
    prior
        Prior for parameters that the data do not determine: file: the values of the file; none: the smallest values.
    validate
        Logs for validation, or the fraction at the end of each log that is reserved for it, such as 0.3.
    payload
        Link that carries the payload in the last log.
    payload_mass
        Mass of the payload, if known [kg].
    rate
        Sample rate after resampling [Hz]. Default: that of the log.
    position_cutoff
        Cut-off frequency of positions [Hz]. Default: from the spectrum.
    effort_cutoff
        Cut-off frequency of efforts and regressor columns [Hz].
    least_speed
        Leave out rows in which the speed of the joint is below this value [rad/s] or [m/s].
    report
        Write a report page (.html).
    plot
        Draw measured and predicted efforts (.png, .svg, .pdf).
    toml
        Write the mechanism with the identified values (.toml).
    urdf
        Write a URDF file with the identified values.
    json
        Print one JSON document.
    """
    if not log:
        raise InputError(
            "no log; give one or more log files after the description, such as log.csv", option="LOG"
        )
    check_outputs(file, plot=plot, report=report)
    m = arguments.mechanism(file, base=base, snap=snap)
    numbers: dict[str, Any] = {"gear": _numbers("--gear", gear), "gains": _numbers("--gains", gains)}
    columns: dict[str, Any] = {
        "q": _words(q),
        "tau": _words(tau),
        "t": time,
        "zero": _numbers("--zero", zero),
    }
    if torque == "current":
        columns["i"] = columns.pop("tau")
    load = None if payload is None else {"link": payload, "mass": payload_mass}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kinpair.IdentificationWarning)  # the summary has them
        result = kinpair.identify(
            m,
            list(log),
            columns={k: x for k, x in columns.items() if x is not None} or None,
            torque=torque,
            friction=_words(friction) or "auto",
            estimator=estimator,
            prior=prior,
            validate=_validation(validate),
            payload=load,
            signals={
                "rate": rate,
                "position_cutoff": position_cutoff,
                "effort_cutoff": effort_cutoff,
                "least_speed": least_speed,
            },
            **numbers,
        )
    files = {"report": (result.report, report), "picture": (result.plot, plot)}
    files |= {"description": (result.toml, toml), "URDF": (result.urdf, urdf)}
    for write, path in files.values():
        if path is not None:
            write(path)
    if json:
        print_json(_document(result))
        return
    _show(result, [f"{what}: {path}" for what, (_, path) in files.items() if path is not None])


def _numbers(option: str, words: list[str] | None) -> list[float] | None:
    if words is None:
        return None
    try:
        return [float(x) for word in words for x in word.replace(",", " ").split()]
    except ValueError:
        raise InputError(
            f"{option} is {' '.join(words)!r}; give numbers, such as 100,100,80", option=option
        ) from None


def _words(words: list[str] | None) -> list[str] | None:
    return None if words is None else [x for word in words for x in word.split(",") if x]


def _validation(words: list[str] | None) -> Any:
    given = _words(words)
    if given is None:
        return None
    try:
        return float(given[0]) if len(given) == 1 else given
    except ValueError:
        return given


def _show(result: kinpair.Identification, files: list[str]) -> None:
    screen = Screen()
    score = result.validated or result.fit
    table = {"RMS": score.rms, "relative": score.relative}
    screen.print(number_table("", result.joints, table, screen.width))
    for line in [*str(result).splitlines(), *(f"  {x}" for x in result.notes), *files]:
        screen.say(line)


def _document(result: kinpair.Identification) -> dict[str, Any]:
    score = result.validated
    return {
        "name": result.mechanism.name,
        "joints": result.joints,
        "error": result.fit.total,
        "validation": None if score is None else score.total,
        "rms": (score or result.fit).rms,
        "rank": result.base.rank,
        "friction": [x.name for x in result.layout.terms],
        "parameters": result.parameters,
        "base_parameters": [x._asdict() for x in result.intervals],
        "not_identifiable": result.not_identifiable,
        "consistent": result.is_consistent,
        "payload": result.payload,
        "gains": result.gains,
        "notes": list(result.notes),
        "warnings": list(result.warnings),
    }
