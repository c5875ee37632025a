"""Long mechanisms with loops: each loop is eliminated where it closes, in time proportional to the bodies.

Used from LONG bodies on where every constraint is a loop or rod and nothing acts but gravity, efforts, and springs and
dampers of joints. All rows are kept: rows that depend on each other are refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities.along_tree import Closing, plan_of
from kinpair.constraints.rounding import CLOSED, DEPENDENT_PIVOT
from kinpair.constraints.rounding import OPEN_ROW as OPEN
from kinpair.errors import InputError, SingularError
from kinpair.evaluation.quantities.request import Request, request_of

LONG = 120  # bodies
STEPS = 200  # towards a closed position
LONGEST, SHORTEST = 1.0, 1e-6  # [rad] or [m] of a step, and how much of it at least


class LongLoops:
    """Positions, rates and accelerations of a long mechanism with loops."""

    def __init__(self, rows: ConstraintRows) -> None:
        self.rows = rows

    @cached_property
    def used(self) -> bool:
        """True where loops are eliminated along the tree."""
        long = len(self.rows.model.moving) > LONG and self.rows.calls.compiled
        return long and self.rows.calls.kernels.is_rolled(self._request("loop_accelerations"))

    def _request(self, quantity: str, options: Mapping[str, Any] | None = None) -> Request:
        own = request_of("forward_dynamics", owner=self.rows.model.name, **(options or {}))
        return replace(own, quantity=quantity)

    def accelerations(
        self, state: tuple[Any, ...], options: Mapping[str, Any], threads: int = 1
    ) -> np.ndarray:
        """q̈ with every loop closed."""
        request = self._request("loop_accelerations", options)
        qdd, measures = self.rows.calls(request, state, None, threads)
        self._check_open(np.max(measures[..., 3]))
        self._check_rows(np.min(measures[..., 2]))
        return qdd

    def _check_open(self, gap: float) -> None:
        if gap > OPEN:
            raise SingularError(
                f"{self.rows.model.name}: its loops are open by up to {gap:.3g}; assemble(q) closes them",
                residual=gap,
            )

    def _check_rows(self, least: float) -> None:
        if not least > DEPENDENT_PIVOT:
            raise SingularError(
                f"{self.rows.model.name}: rows of its loops depend on each other (smallest pivot {least:.3g}); long "
                "mechanisms need loops without redundant rows, as 'pin' in a plane linkage, and no singular position"
            )

    def assembled(self, q: np.ndarray) -> np.ndarray:
        """Coordinates that close the loops, near q: Newton's method with shorter steps where φ would grow."""
        request, still = self._request("loop_step"), np.zeros(self.rows.model.nv)
        step, gap = self.rows.calls(request, (q,))
        for _ in range(STEPS):
            if not gap > CLOSED * self.rows.reach:
                return q
            size = min(1.0, LONGEST / np.abs(step).max(initial=0.0))
            while (
                near := self.residuals(there := self._moved(q, size * step), still)[0]
            ) > gap and size > SHORTEST:
                size *= 0.5
            if not near < gap:
                break
            q = there
            step, gap = self.rows.calls(request, (q,))
        raise SingularError(
            f"{self.rows.model.name}: cannot be assembled: its loops are open by up to {gap:.3g}; "
            "give a guess nearer to a closed position, or check the lengths",
            q=q,
            residual=gap,
        )

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Coordinates after a step along the rates, quaternions of length one."""
        there = q + self.rows.calls(Request("dq_dt"), (q, step))
        for k in self.rows.calls.quaternions:
            there[k] /= np.linalg.norm(there[k])
        return there

    def rates(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Rates that keep the loops closed, near qd."""
        _, rates, least = self.rows.calls(self._request("loop_projection"), (q, qd))
        self._check_rows(least)
        return rates

    def residuals(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """The largest |φ| and |ψ|."""
        return self.rows.calls(self._request("loop_residuals"), (q, qd))

    def check_obeys(self, q: np.ndarray, qd: np.ndarray, which: str = "") -> None:
        """Refuse a state whose loops are open, or whose rates open them."""
        gap, slip = self.residuals(q, qd)
        name = self.rows.model.name
        if not gap <= OPEN:
            raise InputError(
                f"{name}: q leaves loops open{which} by up to {gap:.3g}; assemble(q) closes them"
            )
        if not slip <= OPEN * (1.0 + np.abs(qd).max(initial=0.0)):
            raise InputError(
                f"{name}: qd opens loops{which}, by up to {slip:.3g}; velocities(q, guess=qd) gives rates that do not"
            )

    @property
    def fill(self) -> tuple[int, int]:
        """Number of loops, and the most rows of loops that are open at one body: the width of the elimination."""
        plan = plan_of(self.rows.model)
        return sum(isinstance(x, Closing) for x in plan.roles), plan.columns
