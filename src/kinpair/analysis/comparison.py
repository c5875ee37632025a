"""Results of a comparison of formulations."""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinpair.errors import InputError

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
