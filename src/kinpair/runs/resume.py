"""`kp.resume`: a run goes on from the last checkpoint in its file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from kinpair.compiler.background import waiting
from kinpair.description.files import file_path
from kinpair.errors import InputError, known_keywords, listed
from kinpair.mechanism import Mechanism
from kinpair.runs.files.stored import Stored, read_file
from kinpair.runs.judgement import Outcome, driver_of
from kinpair.runs.load import mechanism_of, result_of, wrenches_of
from kinpair.runs.record import Known
from kinpair.runs.recorder import continued, saved, stream
from kinpair.runs.result import Result
from kinpair.runs.targets import claimed
from kinpair.simulation.events.events import Event
from kinpair.simulation.given import CHECKPOINT, Missing, Options
from kinpair.simulation.modes.modes import Entry
from kinpair.simulation.prepare import prepared
from kinpair.simulation.run import warn_of_calls
from kinpair.simulation.schedule import positive

NO_CONTROLS: Mapping[str, Any] = MappingProxyType({"torque": None, "input": None})


@known_keywords
def resume(
    path: str | os.PathLike[str],
    *,
    torque: Any = None,
    input: Any = None,
    external: Mapping[str, Any] | None = None,
    events: Sequence[Event] | None = None,
    mechanism: Mechanism | None = None,
    checkpoint: float = CHECKPOINT,
    progress: bool | Callable[[float], Any] | None = None,
) -> Result:
    """Go on with a run that `kp.simulate(..., save=path)` began, in the same file, to its end.

    With fixed steps the samples are those of a run that was never interrupted, to the last bit; an adaptive run goes
    on from its last step. A run that is done is read and returned.

    Functions are not in the file: `torque`, `input`, functions of `external`, `events` and a mechanism that holds
    functions are given again. A controller whose memory is in its attribute `state` (numbers) gets it back.

    Units: duration [s].
    """
    controls = {"torque": torque, "input": input}
    return resumed(path, controls, external, events, mechanism, checkpoint, progress).judged


@waiting()
def resumed(
    path: str | os.PathLike[str],
    controls: Mapping[str, Any] = NO_CONTROLS,
    external: Mapping[str, Any] | None = None,
    events: Sequence[Event] | None = None,
    mechanism: Mechanism | None = None,
    checkpoint: float = CHECKPOINT,
    progress: bool | Callable[[float], Any] | None = None,
) -> Outcome:
    """Go on as `resume` does, and return how the run ended without a warning or an error."""
    with claimed(file_path(path, "resume")):
        stored = read_file(path)
        stored.check()
        machine = mechanism_of(stored, mechanism)
        if stored.finished:
            return Outcome(result_of(stored, machine, wrenches_of(stored, external)), read=True)
        if not stored.stands.state.size:
            raise InputError(
                f"{stored.path}: has no checkpoint to go on from ({stored.status(ours=True).message}); "
                "kp.simulate(..., save=) keeps them, run.save() does not",
                path=str(stored.path),
            )
        again = {**_again(stored, controls, external), "events": _events(stored, events)}
        options, stands = Options.of({**stored.options, **again}), stored.stands
        run = prepared(machine, options)
        warn_of_calls(run)
        _check_groups(stored, run.groups)
        driver = driver_of(run, whole=False)
        size = driver.memory().size
        if stands.state.size != size:
            raise InputError(
                f"{stored.path}: the run stands at {stands.state.size} numbers, and with what is given now it would be "
                f"{size}; give a torque and wrenches of the kind that the run began with: constants for "
                "constants, functions for functions",
                path=str(stored.path),
            )
        if stands.controller.size:
            _give_back(stored, options.input if options.torque is None else options.torque, stands.controller)
        if stands.step:
            known = Known.of(str(stored.path), driver.modes.limits, driver.modes.events)
            read = [Entry(known.mode(x.text), x.q, x.time) for x in stored.modes]
            driver.restore(
                stands.state, stands.step, stored.events[: stands.event], read or driver.modes.entered[:]
            )
        recorder = continued(driver, stored, positive(machine.name, "checkpoint", checkpoint))
        pieces = driver.pieces(begun=bool(stands.step))
        run = saved(stream(recorder, pieces, progress), machine, options.named)
        return Outcome(run, driver.run.raised)


def _check_groups(stored: Stored, groups: tuple[str, ...]) -> None:
    """Refuse a checkpoint whose phases and directions belong to other row groups, or to the same in another order."""
    before = stored.groups
    if before is None or before == groups:
        return
    lost, new = sorted({*before} - {*groups}), sorted({*groups} - {*before})
    moved = [name for name, now in zip(before, groups, strict=False) if name != now]
    what = f"no {listed(map(repr, lost), 4)} now" if lost else f"{listed(map(repr, new), 4)} now as well"
    if not (lost or new):
        what = f"another order now, from {moved[0]!r} on"
    raise InputError(
        f"{stored.path}: the checkpoint has phases of {listed(map(repr, before), 4)}, and there is {what}; resume "
        "with the mechanism and the limits that the run began with, or begin the run again",
        path=str(stored.path),
    )


def _again(stored: Stored, controls: Mapping[str, Any], external: Mapping[str, Any] | None) -> dict[str, Any]:
    """Torque, input and wrenches: those of the file, with the functions that it does not hold."""
    kept = {word: stored.options.get(word) for word in controls}
    for word, control in kept.items():
        if isinstance(control, Missing):
            _check_control(stored, word, control, controls[word])
    wrenches = {**(stored.options.get("external") or {}), **(external or {})}
    lacking = [name for name, wrench in wrenches.items() if isinstance(wrench, Missing)]
    if lacking:
        raise InputError(
            f"{stored.path}: external wrenches on {listed(lacking)} are functions, and the file does not hold them; "
            f"give them again: external={{{lacking[0]!r}: ...}}",
            path=str(stored.path),
        )
    again = {word: control if control is not None else kept[word] for word, control in controls.items()}
    return {**again, "external": wrenches or None}


def _check_control(stored: Stored, word: str, kept: Missing, control: Any) -> None:
    """Check that the control is given again, and sampled as it was."""
    what = "an object" if kept.called else "a function"
    if control is None:
        raise InputError(
            f"{stored.path}: {word} is {what}, {kept.name}, and the file does not hold it; give it again: "
            f"kp.resume({str(stored.path)!r}, {word}={kept.call})",
            path=str(stored.path),
        )
    if not callable(control):
        raise InputError(
            f"{stored.path}: {word} was {what}, {kept.name}, when the run began, and is {control!r} now; give a "
            f"{kept.name}",
            path=str(stored.path),
        )
    before, now = (
        f"{x:g} s" if x else "none" for x in (kept.sample_time, getattr(control, "sample_time", None))
    )
    if before != now:
        raise InputError(
            f"{stored.path}: the sample_time of {word} was {before} when the run began, and is {now} in what is given "
            f"now; give a {kept.name} with the same",
            path=str(stored.path),
        )


def _events(stored: Stored, events: Sequence[Event] | Event | None) -> Sequence[Event] | Event | None:
    """Events given again, if they have the names of those the run began with."""
    began = list(stored.options.get("events") or {})
    every: Any = (events,) if isinstance(events, Event) else events or ()
    names = [event.name for event in every if isinstance(event, Event)]
    if began and events is None:
        raise InputError(
            f"{stored.path}: the run has events ({listed(began)}), whose functions the file does not hold; give them "
            f"again: kp.resume({str(stored.path)!r}, events=[...])",
            path=str(stored.path),
        )
    if sorted(began) != sorted(names):
        raise InputError(
            f"{stored.path}: the run began with events {listed(began) or 'none'}, and given are "
            f"{listed(names) or 'none'}; give events of the same names",
            path=str(stored.path),
        )
    return events


def _give_back(stored: Stored, controller: Any, memory: np.ndarray) -> None:
    try:
        controller.state = memory.copy()
    except AttributeError:
        raise InputError(
            f"{stored.path}: the controller had a memory of {memory.size} numbers in its attribute `state`, and "
            f"{type(controller).__name__} does not take them back; let its attribute `state` be written",
            path=str(stored.path),
        ) from None
