"""Results read from a file."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinpair.description.files import file_path
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, DescriptionWarning, InputError, StorageError
from kinpair.loading import build
from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest
from kinpair.results import Energy
from kinpair.runs.files.checksums import edited, sound
from kinpair.runs.files.file_layout import MODE, RESIDUALS
from kinpair.runs.files.stored import Stored, read_file
from kinpair.runs.record import History, Known, driving
from kinpair.runs.result import Result
from kinpair.simulation.events.limits import limits_from, limits_of
from kinpair.simulation.given import Missing
from kinpair.simulation.held import Residual


def load_run(
    path: str | os.PathLike[str], *, mechanism: Mechanism | None = None, check: bool = True
) -> Result:
    """Read the result in a file that `run.save(path)` or `kp.simulate(..., save=path)` wrote.

    Its arrays are read from the file where they are looked at, so it may be larger than the memory. The mechanism is
    built from the description in the file; give it where that holds Python functions. All samples are compared with
    their checksums first, which reads the file once; `check=False` leaves that out. StorageError names a part that is
    missing, edited or damaged.
    """
    stored = read_file(file_path(path, "load_run"))
    if check:
        stored.check()
    return result_of(stored, mechanism_of(stored, mechanism), wrenches_of(stored))


def wrenches_of(stored: Stored, external: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Applied wrenches; functions are left out unless given again."""
    kept = stored.options.get("external") or {}
    again = {**kept, **(external or {})}
    return {name: w for name, w in again.items() if not isinstance(w, Missing)}


def result_of(stored: Stored, mechanism: Mechanism, external: Mapping[str, Any]) -> Result:
    """Return the file as a result."""
    with sound(stored.path):
        return _result_of(stored, mechanism, external)


def _result_of(stored: Stored, mechanism: Mechanism, external: Mapping[str, Any]) -> Result:
    stands, options = stored.stands, stored.options
    for name, entries in (("q", mechanism.nq), ("qd", mechanism.nv), ("tau", mechanism.nv)):
        if stored.places[name].shape[-1] != entries:
            raise edited(stored.path, name)
    return Result(
        mechanism=mechanism,
        time=stored.column("time"),
        q=stored.column("q"),
        qd=stored.column("qd"),
        tau=stored.column("tau"),
        x=_own(stored, "x"),
        u=stored.column("u") if "u" in stored.places else driving(mechanism.model, stored.column("tau")),
        account=_own(stored, "account"),
        slid=_own(stored, "slid"),
        phase=_own(stored, "phase"),
        touching=_own(stored, "touching"),
        work=stored.column("work"),
        loss=stored.column("loss"),
        energy=Energy(stored.column("kinetic"), stored.column("potential")),
        status=stored.status(),
        integrator=str(options.get("integrator", "")),
        steps=max(stands.step, stands.steps),
        rejected=max(stands.rejected, stands.all_rejected),
        dt=stands.dt,
        took=stands.took,
        external=external,
        passive=bool(options.get("passive", True)),
        parameters=tuple(options.get("parameters") or ()),
        failures=stored.failures(),
        options=options,
        events=stored.events,
        springs=stored.springs,
        singular=stored.singular,
        start=None if stored.from_start else stored.start,
        history=_history(stored, mechanism),
        residual=Residual(*map(stored.column, RESIDUALS)) if stored.constrained else None,
    )


def _own(stored: Stored, name: str) -> np.ndarray:
    """A column that only mechanisms with actuators or friction have."""
    if name in stored.places:
        return stored.column(name)
    return np.zeros((*stored.column("work").shape, 0))


def _history(stored: Stored, mechanism: Mechanism) -> History | None:
    if MODE not in stored.places:
        return None
    limits = limits_from(mechanism, stored.options.get("limits", "ignore"))
    known = Known(str(stored.path), limits_of(mechanism, limits) if limits.unilateral else (), ())
    return History(stored.column(MODE), stored.modes, known)


def mechanism_of(stored: Stored, mechanism: Mechanism | None = None) -> Mechanism:
    """The mechanism of a file: built from its description, or the one given, if it is the same."""
    about = stored.about
    if mechanism is not None:
        if digest(mechanism.model) != about["digest"]:
            raise InputError(
                f"{stored.path}: the run was of another {about['name']!r} than the mechanism given, "
                f"{mechanism.name!r}: their equations differ"
            )
        return mechanism
    if not stored.description:
        raise InputError(
            f"{stored.path}: the mechanism {about['name']!r} holds Python functions, which a file cannot; give it "
            "again: mechanism=..."
        )
    with sound(stored.path), warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)  # told when the run was made
        source = f"{stored.path}: mechanism"
        try:
            description = parse_toml(stored.description, source=source, warnings=WarningList())
            return build(description, snap=float(about["snap"]), merge_fixed=bool(about["merge_fixed"]))
        except DescriptionError as problem:
            raise StorageError(str(problem), path=str(stored.path), part="mechanism") from None
