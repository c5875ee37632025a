"""The constraints of a mechanism as a text for a reader."""

from __future__ import annotations

from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.rows.table import HEADINGS, entries
from kinpair.errors import KinpairError
from kinpair.model.table import aligned


def constraint_tables(closed: Closure) -> list[str]:
    """The constraints and what freedom they leave at the start, or what stands in the way."""
    parts: list[str] = []
    try:
        parts += ["\n".join(aligned([HEADINGS, *(x.cells for x in entries(closed.model))]))]
        parts += [f"at the start: {closed.rank.mobility(closed.assembly.start(), 0.0)}"]
    except KinpairError as reason:
        parts += [str(reason)]
    return parts
