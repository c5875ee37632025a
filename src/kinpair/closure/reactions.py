"""Wrenches in joints and loops of a mechanism under constraints; which of them redundant rows leave open, and how given
compliances share them out.

Redundant rows carry loads N z against each other, AᵀN = 0, that no motion shows. With w₀ the wrenches of the least
multipliers and w_j those of column j of N alone, each component squared times its compliance is twice an energy, and
elastic parts take the load where the sum is least:

    w = w₀ + B z,   B = [w_1 …]                                                                  (RE4)
    (BᵀC B) z = −BᵀC w₀                               C: compliances [rad/(N m)], [m/N]          (RE5)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.closure.batch import state_of
from kinpair.closure.drives import Drives
from kinpair.closure.moment import at_time
from kinpair.closure.requests import Requests
from kinpair.closure.rows import ConstraintRows
from kinpair.constrained import reaction_names
from kinpair.constraints import rank_revealing
from kinpair.constraints.loads import IN_LOOP, ON_LINK
from kinpair.errors import InputError, listed, nearest
from kinpair.quantities import Request, request_of
from kinpair.reactions import Reactions, by_name

OPEN = 1e-8  # of the largest wrench of a load without effect: a smaller component is rounding


class ConstrainedReactions:
    """Of a closure whose model has a body for every link."""

    def __init__(self, rows: ConstraintRows, requests: Requests, drives: Drives) -> None:
        self.rows, self.model, self.requests, self.drives = rows, rows.model, requests, drives
        self.names = reaction_names(self.model)
        self._known: dict[Any, tuple[Request, Any]] = {}
        self._no_efforts = np.zeros(self.model.nv)

    def reactions(
        self,
        state: tuple[Any, Any, Any],
        tau: Any,
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
        axes: str,
        compliance: Mapping[str, Any],
    ) -> Reactions:
        """By name; options are those of a formulation: method, force, passive."""
        arguments = (state, tau, time, options, external, threads)
        w, q = self.wrenches(*arguments, axes), state[0]
        if compliance:
            in_joints = self.wrenches(*arguments, "") if axes else w
            w = w + self.shares(in_joints, np.asarray(q, dtype=float), time, compliance, axes)
        batch = w.shape[:-2]

        def marks() -> np.ndarray:
            every = np.broadcast_to(np.asarray(q, dtype=float), (*batch, self.model.nq))
            return self.undetermined(every, time, compliance, axes)

        return by_name(self.names, w).marked_by(marks)

    def wrenches(
        self,
        state: tuple[Any, Any, Any],
        tau: Any,
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int,
        axes: str,
    ) -> np.ndarray:
        """(…, names, 6): compiled, and with the rank found in each state where that is not sound."""
        request, call = self._request(state[0], time, options, external, axes)
        if (tau is not None or not self.drives.followers) and self.drives.rubbing is None:
            own = self._no_efforts if tau is None else tau
            arguments = (*state, own, at_time(time), *external.values())
            found, sound = call(*arguments) if threads == 1 else call(*arguments, threads=threads)
            if sound == 1.0 if type(sound) is float else np.all(sound == 1.0):
                return found
        loads, loops = self.drives.loop_loads(
            state, tau, time, external, threads, passive=request.passive, axes=axes
        )
        of_tree = replace(request, quantity="wrenches", external=tuple(loads), kept=())
        tree = self.rows.calls(of_tree, (*state, *loads.values()), None, threads)
        return np.concatenate([tree, *(w[..., None, :] for w in loops.values())], axis=-2)

    def _request(
        self, q: Any, time: Any, options: Mapping[str, Any], external: Mapping[str, Any], axes: str
    ) -> tuple[Request, Any]:
        """What is asked for, and who answers; rows are chosen once, since code is compiled for them."""
        key = (options.get("method"), bool(options.get("passive", True)), bool(options.get("force")), axes)
        key = (*key, *external)
        if key not in self._known:
            request = request_of("reactions", owner=self.model.name, external=external, **options)
            rows = self.requests.choose("accelerations", q, time, "", {}).kept
            request = replace(request, quantity="constrained_wrenches", kept=rows, axes=axes)
            self._known[key] = request, self.rows.calls.direct(request, self.rows.calls.caller_of(request))
        return self._known[key]

    def open_loads(self, q: np.ndarray, time: float, axes: str) -> np.ndarray:
        """B of (RE4) at one position (names · 6, any): wrenches of what redundant rows carry against each other."""
        N = rank_revealing.self_stresses(self.rows.matrix(q, time))
        found = [self._alone(q, time, lam, axes).reshape(-1) for lam in N.T]
        return np.stack(found, axis=1) if found else np.zeros((6 * len(self.names), 0))

    def _alone(self, q: np.ndarray, time: float, lam: np.ndarray, axes: str) -> np.ndarray:
        """Wrenches (names, 6) of these multipliers and nothing else: what they add to those at rest."""
        every = tuple(range(len(self.rows.row_names)))
        found = self.rows.calls(Request("loop_loads", kept=every, axes=axes), (q, np.array([time]), lam))
        links = {x.removeprefix(ON_LINK): w for x, w in found.items() if x.startswith(ON_LINK)}
        still = np.zeros(self.model.nv)
        request = replace(request_of("reactions", passive=False), quantity="wrenches", axes=axes)
        loaded = self.rows.calls(replace(request, external=tuple(links)), (q, still, still, *links.values()))
        tree = loaded - self.rows.calls(request, (q, still, still))
        loops = [w for x, w in found.items() if x.startswith(IN_LOOP)]
        return np.concatenate([tree, np.array(loops).reshape(-1, 6)])

    def undetermined(self, q: np.ndarray, time: Any, compliance: Mapping[str, Any], axes: str) -> np.ndarray:
        """Which components are not unique (…, names, 6)."""
        if q.ndim == 2:
            moments = np.broadcast_to(at_time(time), (len(q), 1))
            every = [
                self.undetermined(x, float(t[0]), compliance, axes) for x, t in zip(q, moments, strict=True)
            ]
            return np.array(every, dtype=bool).reshape(len(q), len(self.names), 6)
        moment = float(np.ravel(at_time(time))[0])
        B = self.open_loads(q, moment, axes)
        if compliance and B.size:
            stiff = np.sqrt(self.compliances(compliance))[:, None] * self.open_loads(q, moment, "")
            _, sigma, Vt = np.linalg.svd(stiff)
            B = B @ Vt[rank_revealing.rank_of(sigma) :].T
        largest = np.abs(B).max(initial=0.0)
        return (np.abs(B) > OPEN * largest).any(axis=1).reshape(len(self.names), 6)

    def shares(
        self, w: np.ndarray, q: np.ndarray, time: Any, compliance: Mapping[str, Any], axes: str
    ) -> np.ndarray:
        """B z of (RE5) for wrenches w in joint axes (…, names, 6): what the compliances add, in the axes named."""
        root, moments = np.sqrt(self.compliances(compliance)), at_time(time)
        found = np.zeros(w.shape)
        for k in np.ndindex(w.shape[:-2]):
            at, moment = (state_of(q, *k), state_of(moments, *k)) if k else (q, moments)
            B = self.open_loads(at, float(moment[0]), "")
            z = np.linalg.lstsq(root[:, None] * B, -root * w[k].reshape(-1), rcond=1e-10)[0]
            seen = B if axes in ("", "joint") else self.open_loads(at, float(moment[0]), axes)
            found[k] = (seen @ z).reshape(-1, 6)
        return found

    def compliances(self, compliance: Mapping[str, Any]) -> np.ndarray:
        """C by component (names · 6,), zero where none is given; refused by name."""
        found = np.zeros((len(self.names), 6))
        for name, given in compliance.items():
            if name not in self.names:
                raise InputError(
                    f"{self.model.name}: compliance of {name!r}, which is neither a joint nor a loop; "
                    f"{nearest(str(name), self.names)}Joints and loops: {listed(self.names)}",
                    joint=name,
                )
            x = np.asarray(given, dtype=float) if np.ndim(given) in (0, 1) else np.zeros(0)
            if x.shape not in ((), (6,)) or not (np.isfinite(x).all() and (x >= 0.0).all()):
                raise InputError(
                    f"{self.model.name}: compliance of {name!r} is {given!r}; give six numbers, zero or more: three "
                    "[rad/(N m)], then three [m/N]; or one for all",
                    joint=name,
                )
            found[self.names.index(name)] = x
        return found.reshape(-1)
