"""Friction from load in a motion under constraints that is given: it depends on the multipliers, and they on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kinpair.closure.rows import ConstraintRows
from kinpair.constrained import friction
from kinpair.constraints import rank_revealing
from kinpair.errors import SingularError
from kinpair.evaluation import Arguments
from kinpair.forces.surfaces.table import surfaces_of
from kinpair.load_friction import LoadedStates
from kinpair.model.state import State
from kinpair.quantities import Request, request_of

OPEN = 1e-8  # of the largest load of a unit multiplier: a smaller one is rounding


class Rubbing:
    """Of a closure whose joints have friction from load."""

    def __init__(self, rows: ConstraintRows) -> None:
        self.rows, self.model = rows, rows.model
        self.states = LoadedStates(rows.model, rows.calls, "loaded_terms")

    def with_friction(
        self,
        x: Arguments,
        terms: Sequence[np.ndarray],
        answer: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> tuple[np.ndarray, ...]:
        """Terms M, F, A, b with friction in F. The state is q, q̇, time, q̈, and efforts τ where they are given.

        `answer`: multipliers of rows A and of the efforts that the motion asks for.
        """
        M, F, A, b = terms
        if x.batch is None:
            return M, F + self._one(x.state, x.external, terms, answer), A, b
        found = np.zeros((x.batch, self.model.nv))
        for k in range(x.batch):
            state = [y[k] if y.ndim > 1 else y for y in x.state]
            wrenches = {name: y[k] if y.ndim > 1 else y for name, y in x.external.items()}
            own = [y[k] if y.ndim > n else y for y, n in zip(terms, (2, 1, 2, 1), strict=True)]
            if all(np.isfinite(y).all() for y in (*state, *own)):
                found[k] = self._one(state, wrenches, own, answer, f" (state {k} of the batch)")
        return M, F + found, A, b

    def _one(
        self,
        state: Sequence[np.ndarray],
        wrenches: Mapping[str, np.ndarray],
        terms: Sequence[np.ndarray],
        answer: Callable[[np.ndarray, np.ndarray], np.ndarray],
        which: str = "",
    ) -> np.ndarray:
        q, qd, time, qdd, *given = state
        M, F, A, _ = terms
        every = tuple(range(len(self.rows.row_names)))
        method = request_of("inverse_dynamics").method
        request = Request("", method, external=tuple(wrenches), kept=every)
        first = M @ qdd - F - (given[0] if given else 0.0)
        still = np.zeros(self.model.nv)
        arguments = (q, qd, still, time, *wrenches.values())
        return self.states.of_motion(request, arguments, qdd, first, lambda r: answer(A, r), which)

    def check_unique(self, q: np.ndarray) -> None:
        """Refuse friction whose load no motion determines."""
        model = self.model
        lost = rank_revealing.self_stresses(self.rows.matrix(q, 0.0))
        if not lost.size:
            return
        every = tuple(range(len(self.rows.row_names)))
        columns = friction.load_columns(model, Request("", kept=every), State(q, np.zeros(model.nv)))
        L = np.asarray(columns, dtype=float)
        stressed = np.abs(L @ lost).max(axis=1) > OPEN * np.abs(L).max()
        start = 0
        for x in surfaces_of(model):
            stop = start + len(x.forms(np.zeros(6), q[model.q_span[x.body]]))
            if stressed[start:stop].any():
                joint = model.joint_names[x.body]
                raise SingularError(
                    f"{model.name}: friction in joint {joint!r} depends on its load, and redundant constraints share "
                    "loads in a way that no motion shows; close the loop by another pair, such as a spherical one, so "
                    "that no row is redundant, or give this joint friction of a constant level",
                    joint=joint,
                )
            start = stop
