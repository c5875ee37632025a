"""Choice of dependent coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np

from kinpair.algebra.lu import pivot_order
from kinpair.constraints.assembly import Closure
from kinpair.constraints.rounding import RANK
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solvers.rank_revealing import lengths
from kinpair.errors import ClosedFormError, InputError, listed, nearest
from kinpair.printed_equations.closed_form.matrices import Matrices, Square
from kinpair.printed_equations.solver_forms import Partition
from kinpair.printed_equations.subject import Subject

FEW = 120  # ways to choose the dependent coordinates that are all tried
PROBES = 3
STEADY = 1e-9  # beside the determinant: what of it is rounding


class Dependent:
    """The rows that are kept, and the coordinates they determine: those wanted, or chosen."""

    def __init__(
        self, subject: Subject, closure: Closure, wanted: Sequence[str] | None, algebra: Matrices
    ) -> None:
        self.subject, self._closure, self._wanted, self._algebra = subject, closure, wanted, algebra
        A = closure.matrix(subject.start, 0.0)
        self.kept = independent_rows(A) if len(A) else ()
        self.rows = A[list(self.kept)]

    @property
    def scaled(self) -> np.ndarray:
        """The rows with length one."""
        return self.rows / lengths(self.rows)[:, None]

    def parted(self, A: Square | None) -> Partition:
        """Dependent and independent rates; A in normal forms, where these are known, for rows never singular."""
        n, l = self.subject.model.nv, len(self.kept)
        one = self._stated() if self._wanted is not None else self._chosen(A)
        if len(one) != l:
            raise InputError(
                f"{self.subject.model.name}: {l} rows make {l} coordinates dependent; dependent={self._wanted!r} "
                f"are {len(one)}"
            )
        return Partition(self.kept, one, tuple(k for k in range(n) if k not in one))

    def _stated(self) -> tuple[int, ...]:
        names, numbers = self.subject.model.v_names, list[int]()
        for name in self._wanted or ():
            if name not in names:
                raise InputError(
                    f"{self.subject.model.name}: no coordinate {name!r} to be dependent; {nearest(name, names)}"
                    f"Coordinates: {listed(names)}"
                )
            numbers.append(names.index(name))
        if len(numbers) == len(self.kept) and len(pivot_order(self.scaled[:, numbers], RANK)[0]) < len(
            numbers
        ):
            raise InputError(
                f"{self.subject.model.name}: the rows do not determine {listed(self._wanted or ())}; choose others"
            )
        return tuple(sorted(numbers))

    def _chosen(self, A: Square | None) -> tuple[int, ...]:
        """Choose coordinates whose rows never get singular, having one constant term as determinant; else by
        pivoting."""
        n, l = self.subject.model.nv, len(self.kept)
        if A is not None and comb(n, l) <= FEW:
            for one in filter(self._steady, combinations(range(n), l)):
                if self._never_singular([[row[k] for k in one] for row in A]):
                    return one
        return tuple(sorted(pivot_order(self.scaled if l else self.rows, RANK)[1]))

    def _steady(self, one: tuple[int, ...]) -> bool:
        """True if the determinant of these columns is constant over a few positions. Quick, and rules most choices
        out."""
        determinants = [np.linalg.det(A[:, one]) for A in self._probes]
        return bool(
            min(map(abs, determinants)) > 0.0 and np.ptp(determinants) <= STEADY * max(map(abs, determinants))
        )

    @cached_property
    def _probes(self) -> list[np.ndarray]:
        """The rows in a few positions."""
        start = self.subject.start
        some = [start + 0.3 * np.cos((k + 1) * np.arange(1, len(start) + 1)) for k in range(PROBES)]
        with np.errstate(all="ignore"):
            return [self._closure.matrix(q, 0.0)[list(self.kept)] for q in some]

    def _never_singular(self, A1: Square) -> bool:
        try:
            det = self._algebra.determinant(A1)
        except ClosedFormError:
            return False
        variables = {name for names in self.subject.variables.values() for name in names}
        return len(det) == 1 and all(
            not waves and not variables & {name for name, _ in powers} for powers, waves in det.terms
        )
