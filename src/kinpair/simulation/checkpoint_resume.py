"""`kp.resume`: a run goes on from the last checkpoint in its file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism
from kinpair.simulation.result import Result
from kinpair.simulation.schedule import positive
from kinpair.simulation.simulate import CHECKPOINT, prepared
from kinpair.simulation.storage import Stored, mechanism_of, read_file, result_of, wrenches_of
from kinpair.simulation.storage_options import Missing
from kinpair.simulation.storage_stream import continued, saved, stream


def resume(
    path: str | os.PathLike[str],
    *,
    torque: Any = None,
    external: Mapping[str, Any] | None = None,
    mechanism: Mechanism | None = None,
    checkpoint: float = CHECKPOINT,
    progress: bool | Callable[[float], Any] | None = None,
) -> Result:
    """Go on with a run that `kp.simulate(..., save=path)` began, in the same file, to its end.

    With fixed steps the samples are those of a run that was never interrupted, to the last bit; an adaptive run goes
    on from its last step. A run that is done is read and returned.

    Functions are not in the file: `torque`, functions of `external` and a mechanism that holds functions are given
    again. A controller whose memory is in its attribute `state` (numbers) gets it back.
    """
    stored = read_file(path)
    machine = mechanism_of(stored, mechanism)
    if stored.finished:
        return result_of(stored, machine, wrenches_of(stored, external))
    if not stored.stands.state.size:
        raise InputError(
            f"{stored.path}: has no checkpoint to go on from ({stored.status().message}); kp.simulate(..., save=) "
            "keeps them, run.save() does not",
            path=str(stored.path),
        )
    options: dict[str, Any] = {**stored.options, **_again(stored, torque, external)}
    stands = stored.stands
    ready = prepared(machine, **options)
    if stands.state.shape != ready.begin().shape:
        raise InputError(
            f"{stored.path}: its checkpoint has shape {stands.state.shape}, and what is given now makes it "
            f"{ready.begin().shape}; give the torque and wrenches that the run began with",
            path=str(stored.path),
        )
    if stands.controller.size:
        _give_back(stored, options["torque"], stands.controller)
    state = stands.state if stands.step else ready.begin()
    pieces = ready.pieces(state, stands.step, whole=False)
    recorder = continued(ready, stored, positive(machine.name, "checkpoint", checkpoint))
    return saved(stream(recorder, pieces, progress), machine, options)


def _again(stored: Stored, torque: Any, external: Mapping[str, Any] | None) -> dict[str, Any]:
    """Torque and wrenches: those of the file, with the functions that it does not hold."""
    kept = stored.options.get("torque")
    if isinstance(kept, Missing) and torque is None:
        raise InputError(
            f"{stored.path}: torque is a function, {kept.name}, and the file does not hold it; give it again: "
            f"kp.resume({str(stored.path)!r}, torque={kept.name})",
            path=str(stored.path),
        )
    wrenches = {**(stored.options.get("external") or {}), **(external or {})}
    lacking = [name for name, wrench in wrenches.items() if isinstance(wrench, Missing)]
    if lacking:
        raise InputError(
            f"{stored.path}: external wrenches on {listed(lacking)} are functions, and the file does not hold them; "
            f"give them again: external={{{lacking[0]!r}: ...}}",
            path=str(stored.path),
        )
    return {"torque": torque if torque is not None else kept, "external": wrenches or None}


def _give_back(stored: Stored, controller: Any, memory: np.ndarray) -> None:
    try:
        controller.state = memory.copy()
    except AttributeError:
        raise InputError(
            f"{stored.path}: the controller had a memory of {memory.size} numbers in its attribute `state`, and "
            f"{type(controller).__name__} does not take them back; let `state` be set",
            path=str(stored.path),
        ) from None
