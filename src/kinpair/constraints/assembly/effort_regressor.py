"""Regressor of the efforts of chosen actuators of a mechanism under constraints.

With Y of the tree, H q̈ + h = Y π, Z the rates that the constraints allow, and S the columns of the actuated rates, the
least efforts of (CI2) are

    τ = Y_S π,   Y_S = S (ZᵀS)⁺ Zᵀ Y                                                              (AJ2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.constraints.assembly.actuated import Actuators
from kinpair.constraints.assembly.batch import named
from kinpair.constraints.assembly.drives import Drives
from kinpair.constraints.assembly.moment import at_time
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.solvers.rank_revealing import null_space, rank_of
from kinpair.errors import SingularError, listed

CALL = "regressor(q, qd, qdd, actuators={})"


class EffortRegressor:
    """Regressor of the actuators of a closure."""

    def __init__(self, rows: ConstraintRows, drives: Drives) -> None:
        self.rows, self.model, self.drives = rows, rows.model, drives

    def regressor(
        self, state: tuple[Any, Any, Any], time: Any, actuators: Actuators, tree: np.ndarray
    ) -> np.ndarray:
        """Compute Y_S (…, nv, parameters) from Y of the tree; rows of rates that are not actuated are zero.

        Units: efforts [N m] or [N] by parameter.
        """
        actuated = list(self.drives.actuated.rates(actuators, state[0], time, call=CALL))
        self.rows.check_numbers(state[0])
        self.rows.check_closed(state[0], time)
        q, qd, qdd = (np.atleast_2d(np.asarray(x, dtype=float)) for x in state)
        batch = tree.shape[:-2]
        moments = np.broadcast_to(at_time(time), (*(batch or (1,)), 1))
        own = np.zeros((len(moments), *tree.shape[-2:]))
        for k, Y in enumerate(tree.reshape(own.shape)):
            which = named(k if batch else None)
            at, rate, acceleration = (x[min(k, len(x) - 1)] for x in (q, qd, qdd))
            A, _, b = self.rows.rows(at, rate, float(moments[k, 0]))
            self.drives.check_accelerations(A, b, acceleration, which)
            own[k, actuated] = self._shared(A, actuated, which) @ Y  # (AJ2)
        return own.reshape(tree.shape)

    def _shared(self, A: np.ndarray, actuated: list[int], which: str) -> np.ndarray:
        """Compute (ZᵀS)⁺ Zᵀ (actuated, nv)."""
        Z = null_space(A)
        U, sigma, Vt = np.linalg.svd(Z[actuated].T, full_matrices=False)
        if (rank := rank_of(sigma)) < Z.shape[1]:
            names = [self.model.v_names[k] for k in actuated]
            raise SingularError(
                f"{self.model.name}: no regressor of the efforts of {listed(map(repr, names), 6)}{which}: they cannot "
                "make every motion that the constraints allow here; add an actuator, or move it a little",
                rates=names,
            )
        return Vt[:rank].T @ (U[:, :rank] / sigma[:rank]).T @ Z.T
