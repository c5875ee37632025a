"""The rows of one model at a state, and what must be right with coordinates and rates for them to have a meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constraints.assembly.batch import at_time
from kinpair.constraints.rounding import LINEAR, OPEN_ROW, WIDE_OPEN
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.closing import ROUNDED
from kinpair.constraints.rows.stacked import holonomic_rows, reach, row_names
from kinpair.constraints.rows.stacked import scales as all_scales
from kinpair.constraints.solvers import rank_revealing
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.evaluation.quantities.request import Request, request_of

if TYPE_CHECKING:
    from kinpair.constraints.rows.constraint import Constraint
    from kinpair.evaluation.calls import Calls
    from kinpair.model.model import Model


class ConstraintRows:
    """φ, A, ψ and b of every row, the terms of the equations of motion, and the checks of a state."""

    def __init__(self, model: Model, calls: Calls) -> None:
        self.model, self.calls = model, calls

    @cached_property
    def constraints(self) -> tuple[Constraint, ...]:
        """All constraints, in the order of their rows."""
        return constraints_of(self.model)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Name of every row."""
        return row_names(self.constraints)

    @cached_property
    def scales(self) -> np.ndarray:
        """Scale of each φ."""
        return all_scales(self.model, self.constraints)

    @cached_property
    def reach(self) -> float:
        """A length of the mechanism."""
        return reach(self.model, self.constraints)

    def positions(self, q: Any, time: Any = 0.0) -> np.ndarray:
        """φ of every holonomic row."""
        return self.calls(Request("constraint_positions"), (q, at_time(time)))

    def matrix(self, q: Any, time: Any = 0.0) -> np.ndarray:
        """A of every row."""
        return self.calls(Request("constraint_matrix"), (q, at_time(time)))

    def rows(self, q: Any, qd: Any, time: Any = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, ψ and b of every row."""
        return self.calls(Request("constraint_rows"), (q, qd, at_time(time)))

    def terms(
        self, state: tuple[Any, Any, Any], time: Any, options: Mapping[str, Any], external: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M, F, A and b with every row."""
        request = replace(request_of("forward_dynamics", owner=self.model.name, **options), quantity="terms")
        return self.calls(request, (*state, at_time(time), *external.values()))

    def check_numbers(self, q: Any) -> None:
        """Check that one state is made of numbers; in a batch what is not stays in its row."""
        if np.ndim(q) == 1 and not np.isfinite(self.calls.checked("q", q)).all():
            raise InputError(f"{self.model.name}: q holds NaN or infinity", argument="q")

    def defined(self, q: np.ndarray, time: float) -> np.ndarray:
        """A, or an error that names the rows that have no value at q."""
        if not np.isfinite(q).all():
            raise InputError(f"{self.model.name}: q holds NaN or infinity", argument="q")
        A, phi = self.matrix(q, time), self.positions(q, time)
        lost = np.logical_not(np.isfinite(A).all(1), dtype=bool)
        lost[holonomic_rows(self.constraints)] |= ~np.isfinite(phi)
        self._refuse_lost(lost, "q")
        return A

    def defined_rows(
        self, q: np.ndarray, qd: np.ndarray, time: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A, ψ and b, or an error that names the rows that have no value in this motion."""
        self.defined(q, time)
        if not np.isfinite(qd).all():
            raise InputError(f"{self.model.name}: qd holds NaN or infinity", argument="qd")
        A, psi, b = self.rows(q, qd, time)
        self._refuse_lost(~(np.isfinite(psi) & np.isfinite(b) & np.isfinite(A).all(1)), "motion")
        return A, psi, b

    def _refuse_lost(self, lost: np.ndarray, what: str) -> None:
        """Rows that have no value."""
        if lost.any():
            names = [self.row_names[k] for k in np.flatnonzero(lost)]
            raise SingularError(
                f"{self.model.name}: the rows {listed(names, 6)} are not defined at this {what} (a disk that lies "
                "flat, an axis turned round, a function without a value); move it a little",
                rows=names,
            )

    def without_rates(self, q: np.ndarray, qd: np.ndarray, time: float) -> np.ndarray:
        """Numbers of the rows that no rates obey together with the others: their A agree, and their a do not.

        Of rows that are linear in the rates and have a value; others are not judged.
        """
        A, psi, _ = self.rows(q, qd, time)
        faster = self.rows(q, qd + np.cos(np.arange(self.model.nv)), time)[0]
        if not np.isfinite(psi).all() or not np.allclose(A, faster, rtol=LINEAR, atol=LINEAR):
            return np.zeros(0, dtype=int)
        return np.flatnonzero(rank_revealing.beyond_range(A, psi))

    def check_rates_exist(self, q: np.ndarray, qd: np.ndarray, time: float, which: str = "") -> None:
        """Refuse rows of which some let no rates obey the others."""
        if len(wrong := self.without_rates(q, qd, time)):
            names = [self.row_names[k] for k in wrong]
            raise SingularError(
                f"{self.model.name}: the constraints contradict each other{which}: no rates obey {listed(names, 6)} "
                "together with the others; leave one of them out, or make them agree",
                rows=names,
            )

    def drift(self, q: Any, qd: Any, time: float) -> rank_revealing.Drift:
        """Distance of a state from satisfying the rows."""
        A, psi, _ = self.rows(q, qd, time)
        gap = np.abs(self.positions(q, time)).max(initial=0.0)
        slip = np.abs(psi / rank_revealing.lengths(A)).max(initial=0.0)
        return rank_revealing.Drift(float(gap), float(slip), float(np.abs(qd).max(initial=0.0)))

    def gaps(self, phi: np.ndarray) -> dict[str, float]:
        """The closures that fail, each with its largest |φ|."""
        gaps: dict[str, float] = {}
        start = 0
        for x in self.constraints:
            gaps[x.name] = float(np.abs(phi[start : start + x.holonomic]).max(initial=0.0))
            start += x.holonomic
        return {name: gap for name, gap in gaps.items() if not gap <= ROUNDED * self.reach}

    def worst(self, phi: np.ndarray) -> str:
        """The closures that fail, the worst first."""
        open_by = self.gaps(phi)
        if lost := [name for name, gap in open_by.items() if not np.isfinite(gap)]:
            return f"the rows of {listed(map(repr, lost))} are not defined there"
        worst = sorted(open_by.items(), key=lambda x: -x[1])
        return ", ".join(f"{name!r} stays open by {gap:.3g}" for name, gap in worst[:4]) or "nothing is open"

    def opened(self, q: np.ndarray, time: float, by: float = OPEN_ROW) -> bool:
        """True if a loop is open by more than this."""
        return bool(np.abs(self.positions(q, time) / self.scales).max(initial=0.0) > by)

    def check_gaps(self, q: Any, time: Any, gaps: np.ndarray) -> None:
        """Refuse coordinates that leave a loop wide open."""
        wide = np.flatnonzero(np.atleast_1d(gaps) > WIDE_OPEN)
        if len(wide):
            batch = np.ndim(gaps) == 1
            k = int(wide[0])
            states, moments = np.atleast_2d(q), np.ravel(time)
            own, moment = states[min(k, len(states) - 1)], float(moments[min(k, len(moments) - 1)])
            which = f" (state {k} of the batch)" if batch else ""
            raise InputError(
                f"{self.model.name}: q does not obey the constraints{which}: "
                f"{self.worst(self.positions(own, moment))}; assemble(q) gives coordinates that do",
                q=own,
            )

    def check_closed(self, q: Any, time: Any) -> None:
        """Check that loops are closed for any coordinates."""
        if self.scales.size:
            self.check_gaps(q, time, np.abs(self.positions(q, time) / self.scales).max(-1))

    def check_obeys(
        self, q: np.ndarray, qd: np.ndarray, time: float, which: str = "", otherwise: str = ""
    ) -> None:
        """Refuse a state that breaks a constraint; `which` names it, `otherwise` is another remedy."""
        gap = np.abs(self.positions(q, time)).max(initial=0.0)
        slips = np.abs(self.rows(q, qd, time)[1])
        slip = slips.max(initial=0.0)
        if gap > OPEN_ROW:
            raise InputError(
                f"{self.model.name}: q does not obey the constraints{which}: {self.worst(self.positions(q, time))}; "
                f"assemble(q) gives one that does{otherwise and f', {otherwise} lets it be'}"
            )
        if slip > OPEN_ROW * (1.0 + np.abs(qd).max(initial=0.0)):
            self.check_rates_exist(q, qd, time, which)
            wrong = [self.row_names[k] for k in np.flatnonzero(slips > 0.1 * slip)]
            raise InputError(
                f"{self.model.name}: qd does not obey the constraints{which}: {listed(wrong, 6)} miss by {slip:.3g}; "
                f"velocities(q, guess=qd) gives rates that do{otherwise and f', {otherwise} lets them be'}"
            )

    def rates_of(self, names: Sequence[str]) -> set[int]:
        """Numbers of the rates of named joints or coordinates."""
        rates: set[int] = set()
        spans = {self.model.joint_names[i]: self.model.v_span[i] for i in self.model.moving}
        for name in names:
            if name in self.model.v_names:
                rates.add(self.model.v_names.index(name))
            elif name in spans:
                rates.update(range(spans[name].start, spans[name].stop))
            else:
                known = tuple(dict.fromkeys((*spans, *self.model.v_names)))
                raise InputError(
                    f"{self.model.name}: no joint or coordinate {name!r}; {nearest(str(name), known)}"
                    f"Joints: {listed(known)}",
                    joint=name,
                )
        return rates
