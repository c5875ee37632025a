"""Efforts that make a constrained motion, and the wrenches that its loops carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constrained import HOLDS
from kinpair.constraints import rank_revealing
from kinpair.constraints.actuation import Efforts, efforts, multipliers_of
from kinpair.constraints.constraint import Motion
from kinpair.constraints.coordinates import OfPositions
from kinpair.constraints.joined import Joined
from kinpair.constraints.loop import LoopClosure
from kinpair.errors import InputError, SingularError, listed
from kinpair.spatial.twist import rotate, shift_wrench

if TYPE_CHECKING:
    from kinpair.closure.closure import Closure


class Drives:
    """Inverse dynamics of a closure."""

    def __init__(self, closed: Closure) -> None:
        self.closed, self.model = closed, closed.model

    @cached_property
    def _followers(self) -> set[int]:
        """Rates that a coupling determines: nobody drives them."""
        couplings = [
            x for x in self.closed.constraints if isinstance(x, OfPositions) and x.kind == "coupling"
        ]
        return {x.rates[0] for x in couplings if x.rates}

    def inverse(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        actuators: Sequence[str] | None,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> np.ndarray:
        """Efforts of the actuators for motions that obey the rows."""
        q, qd, qdd = state
        self.closed.check_closed(q, time)
        M, F, A, b = self.closed.terms((q, qd, np.zeros(self.model.nv)), time, options, external)
        wanted = self.closed.calls.checked("qdd", qdd)
        if M.ndim == 2 and wanted.ndim == 1:
            return self.efforts(M, F, A, b, wanted, actuators).tau
        count = {len(x) for x in (F, wanted) if x.ndim == 2}
        if len(count) > 1:
            raise InputError(
                f"{self.model.name}: batches differ in length: {len(F)} states and {len(wanted)} of qdd"
            )
        M, F, A, b, wanted = (
            _batched(x, n, min(count)) for x, n in ((M, 2), (F, 1), (A, 2), (b, 1), (wanted, 1))
        )
        every = enumerate(zip(M, F, A, b, wanted, strict=True))
        return np.stack([self.efforts(*one, actuators, k).tau for k, one in every])

    def efforts(
        self,
        M: np.ndarray,
        F: np.ndarray,
        A: np.ndarray,
        b: np.ndarray,
        qdd: np.ndarray,
        actuators: Sequence[str] | None,
        row: int | None = None,
    ) -> Efforts:
        """Efforts of one state, `row` of a batch; M, F, A, b as `terms` gives them without efforts."""
        which = "" if row is None else f" (state {row} of the batch)"
        missed = np.abs(A @ qdd - b) / rank_revealing.lengths(A)
        if (worst := missed.max(initial=0.0)) > HOLDS * (1.0 + np.abs(qdd).max(initial=0.0)):
            wrong = [self.closed.row_names[k] for k in np.flatnonzero(missed > 0.1 * worst)]
            raise InputError(
                f"{self.model.name}: these accelerations{which} break {listed(wrong, 6)} (by {worst:.3g}); "
                "accelerations(q, qd, inputs) gives ones that obey",
                rows=wrong,
            )
        chosen = (
            self.closed.rates_of(actuators)
            if actuators is not None
            else set(range(self.model.nv)) - self._followers
        )
        actuated = np.array(sorted(chosen), dtype=int)
        found = efforts(M @ qdd - F, A, actuated)
        if not found.possible:
            stuck = [self.model.v_names[k] for k in np.flatnonzero(np.abs(found.unbalanced) > 1e-6)]
            acting = self.model.v_names if actuators is None else actuators
            raise SingularError(
                f"{self.model.name}: no efforts of {listed(acting, 6) or 'nothing'} make this motion{which}: "
                f"{np.abs(found.unbalanced).max():.3g} stays unbalanced, seen at {listed(stuck, 6)}; "
                "add an actuator, or change the motion",
                rates=stuck,
            )
        return found

    def loop_loads(
        self,
        state: tuple[np.ndarray, np.ndarray, np.ndarray],
        tau: np.ndarray | None,
        time: float,
        external: Mapping[str, Any],
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """What the loops do to the tree, as wrenches by link; and the wrench in each loop, in axes of its seat."""
        q, qd, qdd = state
        given = dict(external)
        M, F, A, b = self.closed.terms((q, qd, np.zeros(self.model.nv)), time, {"external": given}, given)
        if tau is None:
            lam = self.efforts(M, F, A, b, qdd, None).lam
        else:
            lam = multipliers_of(A, M @ qdd - F - tau)
        at = Motion(self.model, q, time, np.zeros(self.model.nv))
        loads = {name: np.array(w, dtype=float) for name, w in given.items()}
        in_seat: dict[str, np.ndarray] = {}
        for name, x, own in self.closed.by_constraint(lam):
            if isinstance(x, Joined):
                inner, outer = (at.pose(place) for place in x.places(self.model))
                on = x.wrenches(inner, outer, time)
                for mark, rows in ((x.S, on.S), (x.M, on.M)):
                    place = self.model.place(mark.name)
                    r = at.pose(mark.on(self.model)).a - at.pose(place).a
                    w = shift_wrench(np.asarray(rows.T @ own, dtype=float), r)
                    loads[mark.name] = loads.get(mark.name, np.zeros(6)) + w
                seat = at.pose(x.S.on(self.model)).R
                if isinstance(x, LoopClosure):
                    seat = seat @ x.turn.T
                in_seat[name] = rotate(seat.T, np.asarray(on.M.T @ own, dtype=float))
        return loads, in_seat

    def wrenches(self, q: Any, lam: np.ndarray, time: float) -> dict[str, np.ndarray]:
        """Wrench of each constraint between two frames on its child, at its mark, world axes."""
        at = Motion(self.model, np.asarray(q, dtype=float), time, np.zeros(self.model.nv))
        found: dict[str, np.ndarray] = {}
        for name, x, own in self.closed.by_constraint(lam):
            if isinstance(x, Joined):
                S, M = x.places(self.model)
                found[name] = np.asarray(x.wrenches(at.pose(S), at.pose(M), time).M.T @ own, dtype=float)
        return found


def _batched(x: np.ndarray, axes: int, rows: int) -> np.ndarray:
    """With the batch in front, if it was not there."""
    return x if x.ndim > axes else np.broadcast_to(x, (rows, *x.shape))
