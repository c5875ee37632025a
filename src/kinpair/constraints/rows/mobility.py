"""How many freedoms the constraints leave, by counting and by rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.algebra.lu import pivot_order
from kinpair.constraints.solvers.rank_revealing import RANK, lengths
from kinpair.description.fields import counted
from kinpair.errors import listed


@dataclass(frozen=True, slots=True)
class Mobility:
    """Freedoms of a mechanism at one configuration.

    `counted` is Grübler's number: rates of the tree less rows, whatever they say twice. `freedom` is the true one,
    rates less rank. `redundant` names rows that say nothing new; which of several equivalent rows are named so is a
    choice. `singular`: the rank is lower here than close by, so the mechanism can change its branch. `contradicting`
    names rows that no rates obey together, such as two drives of one joint at different speeds. `open` says which
    closures are open, and by how much; then all the rest is said of coordinates that the mechanism cannot have.
    `not_unique` names joints and loops whose reactions no motion determines, `compliant` those that have a compliance.
    """

    rates: int
    rows: int
    rank: int
    redundant: tuple[str, ...]
    singular: bool
    contradicting: tuple[str, ...] = ()
    open: str = ""
    not_unique: tuple[str, ...] = ()
    compliant: tuple[str, ...] = ()

    @property
    def counted(self) -> int:
        """Grübler's count."""
        return self.rates - self.rows

    @property
    def freedom(self) -> int:
        """Rates left free."""
        return self.rates - self.rank

    def __repr__(self) -> str:
        notes = {
            "singular": self.singular,
            counted(len(self.redundant), "redundant row"): self.redundant,
            "contradicting rows": self.contradicting,
            "open": self.open,
        }
        return f"<Mobility: {', '.join([f'freedom {self.freedom}', *(x for x in notes if notes[x])])}>"

    def __str__(self) -> str:
        lines = [
            f"freedom {self.freedom}: {self.rates} rates, {self.rows} constraint rows of rank {self.rank}",
            f"counted (Grübler) {self.counted}",
        ]
        if self.redundant:
            lines.append(f"redundant rows: {', '.join(self.redundant)}")
        lines += self._reactions()
        if self.singular:
            lines.append("singular: close by the rank is higher")
        if self.contradicting:
            lines.append(f"no rates obey these rows together: {', '.join(self.contradicting)}")
        if self.open:
            lines.append(f"not closed: {self.open}; assemble(q) gives coordinates that are")
        return "\n".join(lines)

    def _reactions(self) -> list[str]:
        """Are loads shared, and by what?"""
        of = f"the compliance of {listed(self.compliant, 6)}"
        if self.not_unique:
            why = f"; {of} does not say who carries what" if self.compliant else ""
            return [f"reactions not unique: {listed(self.not_unique, 6)}{why}"]
        if not self.compliant:
            return []
        return [f"reactions unique by {of}" if self.redundant else f"no load is shared: {of} has no effect"]


def independent_rows(A: np.ndarray) -> tuple[int, ...]:
    """A largest set of rows none of which the others imply, the best-conditioned first choice; in order."""
    return tuple(sorted(pivot_order(A / lengths(A)[:, None], RANK)[0]))
