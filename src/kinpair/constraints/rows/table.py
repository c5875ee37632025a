"""The constraints of a model for a reader: name, kind, what each holds together, its rows."""

from __future__ import annotations

from typing import NamedTuple

from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Constraint
from kinpair.constraints.rows.coordinates import OfPositions
from kinpair.constraints.rows.joined import Joined
from kinpair.model.model import Model

HEADINGS = ("constraint", "kind", "between", "rows")


class Entry(NamedTuple):
    """One constraint: links or coordinates that it holds together (empty: all that moves), and names of its rows."""

    name: str
    kind: str
    between: tuple[str, ...]
    rows: tuple[str, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """The same as text, in the order of the headings."""
        return self.name, self.kind, ", ".join(self.between) or "all that moves", str(len(self.rows))


def entries(model: Model) -> list[Entry]:
    """Every constraint, in the order of the rows; mimic joints are among them."""
    return [Entry(x.name, x.kind, _between(model, x), x.row_names) for x in constraints_of(model)]


def _between(model: Model, x: Constraint) -> tuple[str, ...]:
    if isinstance(x, Joined):
        return x.S.name, x.M.name
    rates = x.rates if isinstance(x, OfPositions) else None
    return tuple(model.v_names[k] for k in rates or ())
