"""Every formulation on one mechanism: agreement, operations, time; the results with their documents."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.compiler.background import waiting
from kinpair.compiler.patience import progress
from kinpair.compiler.target import host
from kinpair.errors import InputError, known_keywords, offered
from kinpair.evaluation.quantities.request import METHODS
from kinpair.mechanism import Mechanism
from kinpair.model.welds import with_welds

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Row:
    """One formulation of one quantity; None stands for what was not measured, `reason` says why nothing was."""

    quantity: str
    method: str
    reason: str = ""
    """Why this formulation does not give this quantity of this mechanism; empty where it does."""
    error: float | None = None
    """Worst relative error against the default formulation run without the compiler."""
    bound: float | None = None
    """What rounding may make of it in that state."""
    agrees: bool | None = None
    """Is the error within its bound in every state?"""
    skewness: float | None = None
    """Of Ḣ − 2C, for a matrix C: max|S + Sᵀ| / max(1, max|C|)."""
    multiplications: int | None = None
    """Divisions among them."""
    additions: int | None = None
    """Subtractions among them."""
    operations: int | None = None
    """All that is left after folding and sharing: also sines, cosines, signs and choices."""
    one: float | None = None
    """Seconds of a call of the method of the mechanism for one state."""
    batch: float | None = None
    """Seconds a state of such a call for a batch of 1024."""
    compile: float | None = None
    """Seconds of the processor from the equations to code for one state and for batches, no cache on disk."""

    @property
    def others(self) -> int | None:
        """Operations that are no multiplications and additions."""
        if self.operations is None or self.multiplications is None or self.additions is None:
            return None
        return self.operations - self.multiplications - self.additions


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every formulation of a mechanism next to the others; print it, or read `rows`."""

    mechanism: str
    nv: int
    states: int
    seed: int
    machine: str
    rows: tuple[Row, ...]
    constraints: int = 0
    """Loops, mimics and other constraints beyond the joints, which are left open: compared is the tree."""
    missing: int = 0
    """Rows that were not reached before it was stopped."""

    @property
    def complete(self) -> bool:
        """True if all rows are there, and the comparison was not stopped before."""
        return not self.missing

    @property
    def status(self) -> str:
        """Complete, or how far it got."""
        if self.complete:
            return "complete"
        return f"stopped after {len(self.rows)} of {len(self.rows) + self.missing} rows"

    @property
    def quantities(self) -> tuple[str, ...]:
        """Names of the compared quantities, in order."""
        return tuple(dict.fromkeys(row.quantity for row in self.rows))

    def of(self, quantity: str) -> tuple[Row, ...]:
        """The rows of a quantity, the default formulation first."""
        return tuple(row for row in self.rows if row.quantity == quantity)

    @property
    def agrees(self) -> bool:
        """True if all compared formulations that apply give the same numbers as far as rounding allows."""
        return all(row.agrees for row in self.rows if not row.reason)

    @property
    def cheapest(self) -> dict[str, str]:
        """Quantity → the formulation with the fewest operations among those that agree."""
        return self._least("operations")

    @property
    def fastest(self) -> dict[str, str]:
        """Quantity → the formulation with the shortest time a state in a batch among those that agree."""
        return self._least("batch")

    def _least(self, field: str) -> dict[str, str]:
        judged = [row for row in self.rows if row.agrees and getattr(row, field) is not None]
        fewest: dict[str, str] = {}
        for row in sorted(judged, key=lambda row: getattr(row, field)):
            fewest.setdefault(row.quantity, row.method)
        return {name: fewest[name] for name in self.quantities if name in fewest}

    @property
    def records(self) -> list[dict[str, Any]]:
        """A dict a row, for pandas.DataFrame and the like."""
        return [{"mechanism": self.mechanism, **asdict(row)} for row in self.rows]

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return one JSON document, all digits, null for what was not measured; written to `path` if given."""
        document = {
            "mechanism": self.mechanism,
            "nv": self.nv,
            "states": self.states,
            "seed": self.seed,
            "machine": self.machine,
            "constraints": self.constraints,
            "complete": self.complete,
            "status": self.status,
            "agrees": self.agrees,
            "cheapest": self.cheapest,
            "fastest": self.fastest,
            "rows": [{key: _plain(value) for key, value in asdict(row).items()} for row in self.rows],
        }
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
        if path is not None:
            _write(Path(path), text)
        return text

    def to_html(self, path: str | os.PathLike[str]) -> Path:
        """Write a page with the tables and a chart a quantity, complete in itself; returns its path."""
        from kinpair.analysis.comparison_views import page

        return _write(Path(path), page(self))

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Bars of every formulation as a figure of matplotlib: operations, and microseconds a state."""
        from kinpair.analysis.comparison_views import picture

        return picture(self, path)

    def _repr_html_(self) -> str:
        from kinpair.analysis.comparison_views import fragment

        return fragment(self)

    def __str__(self) -> str:
        from kinpair.analysis.comparison_views import text

        return text(self)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _write(path: Path, text: str) -> Path:
    try:
        path.write_text(text, "utf-8")
    except OSError as reason:
        raise InputError(f"{path}: cannot be written ({reason.strerror})", path=str(path)) from None
    return path


USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "reactions")
STATES = 32


@known_keywords
@waiting()
def compare(
    mechanism: Mechanism,
    *,
    quantities: Sequence[str] = USUAL,
    states: int = STATES,
    seed: int = 0,
    force: bool = False,
    time: bool = True,
) -> Comparison:
    """Every formulation on a mechanism: do they agree, what do they cost, how fast are they?

    quantities: names from `mechanism.methods`. states, seed: how many random states to compare in, and their
    seed; joints stay within their limits. force=True: also formulations that are refused because they take
    long. time=False: no compiling and no clock, only numbers and operations.

    The yardstick is the default formulation run without the compiler. Springs, dampers and friction, the
    same for all, are left out; so are loops and other constraints beyond the joints: of a closed mechanism the tree is
    compared, its forward dynamics too, not the motion with the loops closed.
    A formulation that does not apply has a row with the reason. Ctrl-C keeps the rows that are finished: `complete` is
    False then, and `status` says how far it got.
    """
    from kinpair.analysis.measuring import Setting, Stopped, measured, random_states, warm_up

    _check(mechanism, quantities, states, seed)
    model, names = mechanism.model, tuple(dict.fromkeys(quantities))
    batch = random_states(model, states, seed)
    steps = sum(len(METHODS[name]) for name in names)
    rows: list[Row] = []
    with progress(f"comparing {model.name}", steps) as begin:
        setting = Setting(model, batch, seed, force, time, begin)
        try:
            if time:
                warm_up()
            for name in names:
                of = with_welds(model) if name == "reactions" else model
                rows += measured(replace(setting, model=of), name)
        except Stopped as early:
            rows += early.rows
        except KeyboardInterrupt:
            if not rows:
                raise
    mimics = list(model.description.joints_with("mimic"))
    constraints = len(model.description.constraints) + len(mimics)
    missing = steps - len(rows)
    return Comparison(model.name, model.nv, states, seed, host().cpu, tuple(rows), constraints, missing)


def _check(mechanism: Any, quantities: Any, states: Any, seed: Any) -> None:
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"compare takes a Mechanism, not {type(mechanism).__name__}; load() reads files, example() names"
        )
    if isinstance(quantities, str):
        raise InputError(f"quantities is {quantities!r}; give a list of names, [{quantities!r}]")
    for name in quantities:
        if name not in METHODS:
            raise InputError(
                f"no quantity {name!r} to compare; {offered(str(name), 'quantities', METHODS)}",
                quantity=name,
            )
    for name, value, least in (("states", states, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"{name} is {value!r}; it is a whole number, {least} or more", **{name: value})
    if not mechanism.nv:
        raise InputError(f"{mechanism.name}: nothing moves, so there is nothing to compare")
