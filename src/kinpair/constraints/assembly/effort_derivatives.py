"""Derivatives and regressor of the efforts of chosen actuators, with every row in force.

With S the columns of the actuated rates, R of (FD1), and y by which the least efforts are τ = Sᵀy, A y = 0:

    R(q, q̇, q̈; S τ, λ) = 0,   τ − Sᵀy = 0,   A y = 0                                             (FD4)
    ∂R/∂τ S ∂τ + ∂R/∂λ ∂λ = −∂R,   ∂τ = Sᵀ∂y,   A ∂y = −∂(A y)                                     (FD5)

So they are derivatives along every motion, whether it obeys the rows or not; what counts are those that obey.
Derivation, no line of code: (FD4).

Regressor: with Y of the tree, H q̈ + h = Y π, and Z the rates that the constraints allow, the least efforts of (CI2) are

    τ = Y_S π,   Y_S = S (ZᵀS)⁺ Zᵀ Y                                                              (AJ2)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.constraints.assembly.actuated import Actuators
from kinpair.constraints.assembly.batch import at_time, named
from kinpair.constraints.assembly.drives import Drives
from kinpair.constraints.assembly.rank import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities.derivatives import Slopes
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.constraints.solvers.rank_revealing import null_space, rank_of
from kinpair.errors import SingularError, listed
from kinpair.evaluation.quantities.request import Request

CALL = "inverse_dynamics_derivatives(q, qd, qdd, actuators={})"
REGRESSOR_CALL = "regressor(q, qd, qdd, actuators={})"
SINGULAR = 1e12  # condition of the matrix


class EffortDerivatives:
    """Derivatives of efforts of a closure."""

    def __init__(self, rows: ConstraintRows, requests: Requests, drives: Drives) -> None:
        self.rows, self.model, self.requests, self.drives = rows, rows.model, requests, drives

    def derivatives(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        actuators: Actuators,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> tuple[np.ndarray, ...]:
        """∂τ/∂q, ∂τ/∂q̇ and ∂τ/∂q̈ (…, nv, nv), with zeros in rows of rates that are not actuated; refused where
        `inverse` is."""
        q, qd, qdd = state
        x = self.rows.calls.checked_arguments(external, q=q, qd=qd, time=at_time(time), qdd=qdd)
        passive = bool(options.get("passive", True))
        actuated = np.array(self.drives.actuated.rates(actuators, q, time, call=CALL), dtype=int)
        tau = self.drives.inverse(state, time, actuators, options, external)
        lam = self.drives.multipliers(state, tau, time, external, passive=passive)
        request = self.requests.choose("balance_slopes", q, time, DEFAULT_SOLVER, options)
        request = replace(request, solver="", rows=(), dependent=())
        every = (*x.state, tau, lam, *x.external.values())
        nv = self.model.nv
        found = np.empty((1 if x.batch is None else x.batch, 3, nv, nv))
        for k in range(len(found)):
            own = [y[k] if y.ndim > 1 else y for y in every]
            found[k] = self._one(request, actuated, own, named(None if x.batch is None else k))
        return tuple(found[0] if x.batch is None else np.moveaxis(found, 1, 0))

    def _one(
        self, request: Request, actuated: np.ndarray, own: Sequence[np.ndarray], which: str
    ) -> np.ndarray:
        q, qd, time, qdd, tau, lam, *wrenches = own
        n, kept = self.model.nv, list(request.kept)
        A = np.asarray(self.rows.matrix(q, time[0]), dtype=float).reshape(-1, n)
        forces = np.linalg.lstsq(A[kept].T, A.T @ lam, rcond=None)[0] if kept else np.zeros(0)
        if self.drives.rubbing.acts(passive=request.passive):
            qd, qdd = (self.drives.rubbing.states.without_rounding(x) for x in (qd, qdd))
        by = Slopes(*self.rows.calls(request, (q, qd, tau, time, qdd, forces, *wrenches)))
        S = np.eye(n)[:, actuated]
        a, l = len(actuated), len(kept)
        y = np.linalg.lstsq(
            np.concatenate([S.T, A[kept]]), np.append(tau[actuated], np.zeros(l)), rcond=None
        )[0]
        K = np.zeros((n + a + l, a + l + n))
        K[:n, :a], K[:n, a : a + l] = by.tau[:n] @ S, by.lam[:n]
        K[n : n + a, :a], K[n : n + a, a + l :] = np.eye(a), -S.T
        K[n + a :, a + l :] = A[kept]
        if not np.linalg.cond(K) < SINGULAR:
            names = [self.model.v_names[v] for v in actuated]
            raise SingularError(
                f"{self.model.name}: no derivatives of the efforts of {listed(map(repr, names), 6)}{which}: they "
                "cannot make every motion that the constraints allow here; add an actuator, or move it a little",
                rates=names,
            )
        right = np.zeros((3, n + a + l, n))
        right[:, :n] = -np.array([by.q[:n], by.qd[:n], by.qdd[:n]])
        right[0, n + a :] = -self._turning(q, y, time)[kept]
        found = np.zeros((3, n, n))
        found[:, actuated] = np.linalg.solve(K, right)[:, :a]  # (FD5)
        return found

    def _turning(self, q: np.ndarray, y: np.ndarray, time: np.ndarray) -> np.ndarray:
        """∂(A y)/∂q (rows, nv)."""
        rows = [self.rows.calls(Request("rate_row_derivatives"), (q, x, time)) for x in (y, 0.0 * y)]
        return np.asarray(rows[0] - rows[1], dtype=float).reshape(-1, self.model.nv)


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
        actuated = list(self.drives.actuated.rates(actuators, state[0], time, call=REGRESSOR_CALL))
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
