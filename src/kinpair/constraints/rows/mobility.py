"""Properties of constraints without a motion: the freedoms that they leave, by counting and by rank; whether
they hold what has no inertia; and for a reader name, kind, what each holds together, its rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kinpair.algebra.lu import pivot_order
from kinpair.constraints.rounding import PART, RANK
from kinpair.constraints.rows import stacked as rows
from kinpair.constraints.rows.build import constraints_of, is_constrained
from kinpair.constraints.rows.constraint import Constraint
from kinpair.constraints.rows.coordinates import OfPositions
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.solvers.rank_revealing import lengths, null_space
from kinpair.description.fields import counted
from kinpair.description.warning_list import WarningList
from kinpair.errors import KinpairError, listed
from kinpair.formulations import kinematics
from kinpair.model.check_weight import warn_of_weightless, weightless
from kinpair.model.model import Model
from kinpair.model.starts import start


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
        """Mobility by Grübler's count."""
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
        """Describe whether loads are shared, and by what."""
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


TRIED = 3  # positions: at one of them a joint is held, or it is free
ABOUT = 0.3  # [rad] or [m]: how far they are from the start


def checked(model: Model, *, strict: bool = False) -> Model:
    """The model, its constraints checked; with a warning for each joint that moves nothing with inertia and that the
    constraints leave free."""
    bodies, warnings = weightless(model), WarningList(strict, list(model.warnings))
    if is_constrained(model.description):
        constraints_of(model)  # refuses constraints that say nothing or contradict the parts
        bodies = unheld(model, bodies)
    warn_of_weightless(model, bodies, warnings)
    return replace(model, warnings=tuple(warnings.sentences)) if bodies else model


def unheld(model: Model, bodies: list[int]) -> list[int]:
    """Rates of the bodies that move by themselves in every position tried, while what has inertia stands still."""
    rng = np.random.default_rng(model.nv)
    for k in range(TRIED if bodies else 0):
        step = ABOUT * rng.uniform(-1.0, 1.0, model.nv) if k else np.zeros(model.nv)
        bodies = _free_at(model, bodies, kinematics.moved(model, start(model), step))
    return bodies


def _free_at(model: Model, bodies: list[int], q: np.ndarray) -> list[int]:
    """Free rates at q; none where the rows have no value."""
    spans = [model.v_span[i] for i in bodies]
    own = [k for i, span in zip(bodies, spans, strict=True) for k in _without_rotor(model, i, span)]
    try:
        with np.errstate(all="ignore"):
            A = np.asarray(rows.matrix(model, constraints_of(model), q, 0.0)[:, own], dtype=float)
    except KinpairError:
        return []
    if not np.isfinite(A).all():
        return []
    free = {own[k] for k, motion in enumerate(null_space(A)) if np.abs(motion).max(initial=0.0) > PART}
    return [
        i for i, span in zip(bodies, spans, strict=True) if not free.isdisjoint(range(span.start, span.stop))
    ]


def _without_rotor(model: Model, i: int, span: slice) -> list[int]:
    """Rates of a joint that no rotor resists."""
    return [
        k for k, rotor in zip(range(span.start, span.stop), model.body[i].rotor, strict=True) if not rotor
    ]


HEADINGS = ("constraint", "kind", "between", "rows")


class Entry(NamedTuple):
    """A constraint: links or coordinates that it holds together (empty: all that moves), and names of its rows."""

    name: str
    kind: str
    between: tuple[str, ...]
    rows: tuple[str, ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """Entry as text, in the order of the headings."""
        return self.name, self.kind, ", ".join(self.between) or "all that moves", str(len(self.rows))


def entries(model: Model) -> list[Entry]:
    """Every constraint, in the order of the rows; mimic joints are among them."""
    return [Entry(x.name, x.kind, _between(model, x), x.row_names) for x in constraints_of(model)]


def _between(model: Model, x: Constraint) -> tuple[str, ...]:
    if isinstance(x, Joined):
        return x.S.name, x.M.name
    rates = x.rates if isinstance(x, OfPositions) else None
    return tuple(model.v_names[k] for k in rates or ())
