"""Wrenches in joints and loops of a mechanism under constraints, and which of them redundant rows leave open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.constraints.assembly.batch import at_time, state_of
from kinpair.constraints.assembly.drives import Drives
from kinpair.constraints.assembly.rank import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.assembly.sharing import SharedLoads
from kinpair.constraints.reactions import Reactions, by_name
from kinpair.evaluation.quantities.request import Request, request_of


class ConstrainedReactions:
    """Reactions of a closure whose model has a body for every link."""

    def __init__(self, rows: ConstraintRows, requests: Requests, drives: Drives) -> None:
        self.rows, self.model, self.requests, self.drives = rows, rows.model, requests, drives
        self.shares = drives.shares
        self.names = self.shares.names
        self._known: dict[Any, tuple[Request, Any]] = {}

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
        """Compute wrenches under the efforts tau, by name; options: method, force, passive, as of a formulation."""
        shares = self.shares if not compliance else SharedLoads(self.rows, compliance)
        arguments = (state, tau, time, options, external, threads)
        w, q = self.wrenches(*arguments, axes), np.asarray(state[0], dtype=float)
        if compliance:
            in_joints = self.wrenches(*arguments, "") if axes else w
            w = w + self._added(shares, in_joints, q, time, axes)
        batch = w.shape[:-2]

        def marks() -> np.ndarray:
            every = np.broadcast_to(q, (*batch, self.model.nq))
            moments = np.broadcast_to(at_time(time), (*batch, 1))
            found = [shares.undetermined(every[k], float(moments[k][0]), axes) for k in np.ndindex(batch)]
            return np.array(found, dtype=bool).reshape(w.shape)

        return by_name(self.names, w).marked_by(marks)

    def _added(self, shares: SharedLoads, w: np.ndarray, q: np.ndarray, time: Any, axes: str) -> np.ndarray:
        """Wrenches that the compliances add to wrenches w in joint axes (…, names, 6), in the axes named."""
        moments, found = at_time(time), np.zeros(w.shape)
        for k in np.ndindex(w.shape[:-2]):
            at, moment = (state_of(q, *k), state_of(moments, *k)) if k else (q, moments)
            when = float(moment[0])
            own = shares.by_multiplier(at, when, axes) @ shares.added(at, when, w[k])
            found[k] = own.reshape(-1, 6)
        return found

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
        if not self.drives.rubbing.acts():
            arguments = (*state, tau, at_time(time), *external.values())
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
        """Request, and the solver that answers; rows are chosen once, since code is compiled for them."""
        key = (options.get("method"), bool(options.get("passive", True)), bool(options.get("force")), axes)
        key = (*key, *external)
        if key not in self._known:
            request = request_of("reactions", owner=self.model.name, external=external, **options)
            rows = self.requests.choose("accelerations", q, time, "", {}).kept
            request = replace(request, quantity="constrained_wrenches", kept=rows, axes=axes)
            self._known[key] = request, self.rows.calls.direct(request, self.rows.calls.caller_of(request))
        return self._known[key]
