"""By which rows, and in which order, a solver is asked to work: chosen for a state, kept by whoever asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.constraints.assembly.batch import at_time, named, state_of
from kinpair.constraints.assembly.positions import Assembly
from kinpair.constraints.assembly.rank import Rank
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities import EMBEDDED
from kinpair.constraints.solvers import EVERY_SOLVER, rank_revealing, refusal
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.quantities import Request, request_of

INDEPENDENT = 1e-4  # of singular values of rows of length one: rounding grows by their inverse
CHOICES = 8  # of rows and order for one solver: code is compiled for each
KERNELS = ("forward_dynamics", "terms", "constraint_positions", "constraint_matrix", "constraint_rows")


class Requests:
    """Makes requests for quantities under constraints."""

    def __init__(self, rows: ConstraintRows, assembly: Assembly, rank: Rank) -> None:
        self.rows, self.model, self.assembly, self.rank = rows, rows.model, assembly, rank
        self._choices: dict[str, set[Request]] = {}

    def choose(self, quantity: str, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Request:
        """With rows, and their order where the solver needs one, chosen at the first state of numbers."""
        sample, moment = self._sample(q, time)
        request = request_of("forward_dynamics", owner=self.model.name, **options)
        kept = self.rank.kept(sample, moment)
        return self.ordered(replace(request, quantity=quantity, solver=solver, kept=kept), sample, moment)

    def checked(self, q: Any, time: Any, solver: str, options: Mapping[str, Any]) -> Request:
        """For accelerations, refused where the loops are open or no rates obey."""
        self._check_solver(solver)
        sample, moment = self._sample(q, time)
        self.rows.defined(sample, moment)
        self.rows.check_closed(q, time)
        self.rows.check_rates_exist(sample, np.zeros(self.model.nv), moment)
        return self.choose("accelerations", q, time, solver, options)

    def of_kernel(self, quantity: str, q: Any, solver: str, options: Mapping[str, Any]) -> Request:
        """For a kernel of one of `KERNELS`; the rows kept are chosen at q."""
        if quantity == "forward_dynamics":
            return self.checked(q, 0.0, solver, options)
        if quantity == "terms":
            return replace(request_of("forward_dynamics", owner=self.model.name, **options), quantity="terms")
        return Request(quantity)

    def _sample(self, q: Any, time: Any) -> tuple[np.ndarray, float]:
        """A state to choose rows at: the first of numbers, or the start where there is no state at all."""
        states = np.atleast_2d(self.rows.calls.checked("q", q))
        if not len(states):
            return self.assembly.start(), 0.0
        first, moments = int(np.isfinite(states).all(1).argmax()), np.ravel(at_time(time))
        return states[first], float(moments[min(first, len(moments) - 1)])

    def ordered(self, request: Request, q: np.ndarray, time: float) -> Request:
        """With the order of elimination, where the solver needs one."""
        if request.solver not in EMBEDDED:
            return request
        rows, dependent = self.rank.order(request.solver, request.kept, q, time)
        return replace(request, rows=rows, dependent=dependent)

    def here(self, request: Request, q: np.ndarray, time: float) -> Request | None:
        """With as many rows that are independent at q itself; None where there are not, in a singular position."""
        kept = self.rank.kept_here(q, time, len(request.kept))
        return None if kept is None else self.ordered(replace(request, kept=kept), q, time)

    def fitting(self, request: Request, q: np.ndarray, time: float) -> Request | None:
        """The same while its rows are independent at q, or with others that are; None in a singular position."""
        A = np.asarray(self.rows.matrix(q, time), dtype=float)[list(request.kept)]
        if not np.isfinite(A).all():
            return request  # the answer is not finite either
        sizes = np.linalg.svd(A / rank_revealing.lengths(A)[:, None], compute_uv=False)
        fits = not len(sizes) or sizes[-1] > INDEPENDENT * sizes[0]
        return request if fits else self.here(request, q, time)

    def by_rows(
        self, request: Request, arguments: tuple[np.ndarray, ...], where: np.ndarray
    ) -> list[tuple[Request | None, np.ndarray]]:
        """States of `where` (…,) by the rows that fit there; with None those in singular positions."""
        parts: dict[Request | None, np.ndarray] = {}
        for k in np.argwhere(where):
            place = tuple(k.tolist())
            q, time = (x[place] if x.ndim > 1 else x for x in (arguments[0], arguments[3]))
            fits = self.fitting(request, q, float(time[0])) if np.isfinite(q).all() else request
            parts.setdefault(fits, np.zeros(where.shape, dtype=bool))[place] = True
        return list(parts.items())

    def singular(self, what: str, request: Request, q: np.ndarray, row: int | None) -> SingularError:
        """That there is no such thing where the rank of the rows is lower than close by."""
        redundant = [x for n, x in enumerate(self.rows.row_names) if n not in request.kept]
        return SingularError(
            f"{self.model.name}: no {what} in a singular position{named(row)}: the rank of the rows of "
            f"{listed([repr(x.name) for x in self.rows.constraints], 6)} is lower than close by; "
            "move it a little",
            q=q,
            redundant=redundant,
        )

    def anew(self, tried: list[Request], arguments: tuple[Any, ...], dependent: np.ndarray) -> Request | None:
        """Other rows, or another order, for a state where those tried depend on each other, or nearly; None where there
        are no better ones, or too many were made before."""
        for k in np.flatnonzero(dependent).tolist():
            q, *_, time = (state_of(x, k) for x in arguments[:4])
            fresh = self.here(tried[0], q, float(time[0])) if np.isfinite(q).all() else None
            if fresh is None:
                continue
            known = self._choices.setdefault(fresh.solver, set())
            if fresh not in tried and (fresh in known or len(known) < CHOICES):
                known.add(fresh)
                return fresh
        return None

    def _check_solver(self, solver: str) -> None:
        """Refuse what is unknown, and what cannot work here."""
        check_solver(solver)
        if reason := refusal(self.model, solver):
            raise InputError(f"{self.model.name}: {reason}", solver=solver)


def check_solver(name: str) -> None:
    """Refuse an unknown solver, and one that gives no accelerations."""
    if name == "rosenberg":
        raise InputError(
            "solver 'rosenberg' gives n − l equations and no accelerations by itself; reduced_equations() gives "
            "them, 'rosenberg-extended' adds the constraints differentiated twice"
        )
    if name not in EVERY_SOLVER:
        raise InputError(
            f"no solver {name!r}; {nearest(str(name), EVERY_SOLVER)}Solvers: {listed((*EVERY_SOLVER, 'rosenberg'))}",
            solver=name,
        )
