"""Derivatives of the accelerations, and Rosenberg's reduced equations: by the same rows as the accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.closure.accelerations import Answer, ClosedAccelerations, Part
from kinpair.closure.batch import named, state_of, states_of
from kinpair.closure.moment import at_time
from kinpair.closure.requests import Requests
from kinpair.closure.rows import ConstraintRows
from kinpair.constraints.solvers import DEFAULT_SOLVER, refusal
from kinpair.errors import InputError, LengthError, SingularError, listed
from kinpair.quantities import Request

EMBEDDING = "rosenberg-extended"


class Derivatives:
    """What is made of the equations of motion of a closure besides accelerations."""

    def __init__(self, rows: ConstraintRows, requests: Requests, accelerations: ClosedAccelerations) -> None:
        self.rows, self.model, self.requests, self.accelerations = rows, rows.model, requests, accelerations
        self._usual: dict[tuple[Any, ...], Request | None] = {}

    def reduced(
        self, state: tuple[Any, Any, Any], time: Any, options: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rosenberg's equations; refused where forward dynamics is, and in singular positions."""
        arguments = (*state, at_time(time))
        answer = self.accelerations.solved(state, time, EMBEDDING, options, {}, 1)
        count, size = len(answer.parts[0].where), self.model.nv - len(answer.request.kept)
        E, f = np.full((count, size, self.model.nv), np.nan), np.full((count, size), np.nan)
        for part in self._regular("reduced equations", answer, arguments):
            request = replace(part.request, quantity="reduced_equations")
            E[part.where], f[part.where] = self.rows.calls(
                request, states_of(arguments, part.where, answer.qdd)
            )
        batch = np.shape(answer.qdd)[:-1]
        return E.reshape(*batch, size, self.model.nv), f.reshape(*batch, size)

    def _regular(self, what: str, answer: Answer, arguments: tuple[Any, ...]) -> list[Part]:
        """The parts of an answer by rows that are independent in each state; refuses singular positions."""
        parts = [part for part in answer.parts if part.sound and part.where.any()]
        lost = next((part.where for part in answer.parts if not part.sound), np.zeros(0))
        for k in np.flatnonzero(lost).tolist():
            own = tuple(state_of(x, k) for x in arguments)
            if not all(np.isfinite(x).all() for x in own):
                continue
            q, time = own[0], float(own[3][0])
            request = self.requests.here(answer.request, q, time)
            if request is None:
                which = named(k if np.ndim(answer.qdd) == 2 else None)
                redundant = [x for n, x in enumerate(self.rows.row_names) if n not in answer.request.kept]
                raise SingularError(
                    f"{self.model.name}: no {what} in a singular position{which}: the rank of the rows of "
                    f"{listed([repr(x.name) for x in self.rows.constraints], 6)} is lower than close by; "
                    "move it a little",
                    q=q,
                    redundant=redundant,
                )
            parts.append(Part(request, np.arange(len(lost)) == k, False))
        return parts

    def derivatives(
        self,
        state: tuple[Any, Any, Any],
        time: float,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[np.ndarray, ...]:
        """∂q̈/∂q, ∂q̈/∂q̇, ∂q̈/∂τ: the derivative of the balance, solved for that of the accelerations.

        [M −Aᵀ; A 0] [∂q̈; ∂λ] = −∂[M q̈ − F − Aᵀλ; A q̈ − b]                                   (CD1)

        Compiled by an embedding, see `constrained/derivatives.py`; states where that is not sound by the rows of q̈
        itself. Refused where q̈ is, and in singular positions, where it has no derivative.
        """
        if self.model.surfaces and options.get("passive", True):
            raise InputError(
                f"{self.model.name}: forward_dynamics_derivatives under constraints are not given with friction from "
                f"load (joint {self.model.joint_names[self.model.surfaces[0].body]!r}); take differences of "
                "forward_dynamics, or leave friction out with passive=False"
            )
        arguments = (*state, at_time(time), *external.values())
        found, unsound = self._embedded(arguments, time, options, external, threads)
        if found and not unsound.any():
            return found
        self.rows.check_closed(state[0], time)
        answer = self.accelerations.solved(state, time, DEFAULT_SOLVER, options, external, threads)
        count, n = len(answer.parts[0].where), self.model.nv
        again = unsound if found else np.ones(count, dtype=bool)
        results = [x.reshape(count, n, n) for x in found] or [np.empty((count, n, n)) for _ in range(3)]
        for whole in results:
            whole[again] = np.nan
        make = self._by_saddle if self.rows.calls.compiled else self._by_jets
        for part in self._regular("derivatives", answer, arguments):
            where = part.where & again
            if where.any():
                own = states_of(arguments, where, answer.qdd)
                for whole, block in zip(results, make(part, own, threads), strict=True):
                    whole[where] = block
        return tuple(x.reshape(*np.shape(answer.qdd), n) for x in results)

    def known(self, options: Mapping[str, Any], external: Mapping[str, Any]) -> Request | None:
        """What compiled code answers, if it was asked before."""
        return self._usual.get(_key(options, external))

    def _embedded(
        self,
        arguments: tuple[Any, ...],
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """By compiled code, and in which states it is not sound; nothing where there is no such code."""
        key = _key(options, external)
        request = self._usual[key] if key in self._usual else self._chosen(arguments[0], time, options)
        found, unsound = (), np.zeros(0, dtype=bool)
        if request is not None:
            found, sound = self.rows.calls(request, arguments, None, threads)
            unsound = np.atleast_1d(np.asarray(sound) != 1.0)
        if not unsound.any():
            self._usual[key] = request
        return tuple(found), unsound

    def _chosen(self, q: Any, time: Any, options: Mapping[str, Any]) -> Request | None:
        """What to compile, rows and order chosen at the first state; None where no machine code can serve."""
        if not self.rows.calls.compiled or refusal(self.model, EMBEDDING):
            return None
        request = self.requests.checked(q, time, EMBEDDING, options)
        request = replace(request, quantity="constrained_derivatives")
        kernel = self.rows.calls.kernel(request)
        try:
            return None if kernel is None or not kernel.signature else request
        except LengthError:
            return None

    def _by_jets(self, part: Part, arguments: tuple[Any, ...], threads: int) -> Any:
        """The reference: every operation differentiated; by embedding where the mass matrix has no inverse."""
        request = replace(part.request, quantity="acceleration_derivatives")
        if not part.sound:
            q, time = np.atleast_2d(arguments[0])[0], float(np.ravel(arguments[3])[0])
            request = self.requests.ordered(replace(request, solver="maggi"), q, time)
        return self.rows.calls(request, arguments, None, threads)

    def _by_saddle(self, part: Part, arguments: tuple[Any, ...], threads: int) -> list[np.ndarray]:
        """The compiled derivatives of the balance of all rows, solved for the accelerations by the rows kept."""
        n, kept, every = self.model.nv, list(part.request.kept), len(self.rows.row_names)
        whole = replace(part.request, solver="", kept=(), rows=(), dependent=())
        M, F, A, b = self.rows.calls(replace(whole, quantity="terms"), arguments)
        A, b = A[..., kept, :], b[..., kept]
        K = np.zeros((*M.shape[:-2], n + len(kept), n + len(kept)))
        K[..., :n, :n], K[..., :n, n:], K[..., n:, :n] = M, -np.swapaxes(A, -1, -2), A
        solution = np.linalg.solve(K, np.concatenate([F, b], axis=-1)[..., None])[..., 0]
        lam = np.zeros((*M.shape[:-2], every))
        lam[..., kept] = solution[..., n:]
        kernel = self.rows.calls.kernels.get(
            replace(whole, quantity="balance_derivatives", kept=tuple(range(every)))
        )
        state, external = arguments[:4], arguments[4:]
        motion = (np.ascontiguousarray(solution[..., :n]), lam)
        balance = kernel.general(*state, *motion, *external, out=None, threads=threads)
        own = [*range(n), *(n + k for k in kept)]
        by_tau = np.broadcast_to(-np.eye(n + len(kept), n), (*M.shape[:-2], n + len(kept), n))
        return [
            -np.linalg.solve(K, x)[..., :n, :] for x in (*(y[..., own, :] for y in balance), by_tau)
        ]  # (CD1)


def _key(options: Mapping[str, Any], external: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the caller gave, to know it again."""
    return (*(options.get(word) for word in ("method", "force", "passive")), *external)
