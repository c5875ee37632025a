"""What the constraints do under given efforts: of batches by compiled code, of single states with the rank found
there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.constraints.assembly.any_rank import AnyRank, ConstraintForces
from kinpair.constraints.assembly.batch import Often, state_of
from kinpair.constraints.assembly.moment import at_time
from kinpair.constraints.assembly.requests import Requests
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.rolling import Rolls
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.constraints.solvers.rank_revealing import SHARED
from kinpair.quantities import Request


class Forces:
    """Multipliers and wrenches of a closure."""

    def __init__(self, rows: ConstraintRows, requests: Requests, any_rank: AnyRank) -> None:
        self.rows, self.model, self.requests, self.any_rank = rows, rows.model, requests, any_rank
        self._usual: dict[tuple[Any, ...], Request] = {}
        self._often = Often()

    def forces(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> ConstraintForces:
        """Of one state, or of a batch."""
        named = dict(zip(("q", "qd", "tau"), state, strict=True))
        x = self.rows.calls.checked_arguments(external, **named, time=at_time(time))
        key = (options.get("passive", True), *external)
        *arrays, moments = x.state
        if x.batch is None and not (self._compiled(key) and self._often(key)):
            own = (arrays[0], arrays[1], arrays[2])
            return self.any_rank.forces(own, float(moments[0]), options, external)
        every, count = (*arrays, moments, *x.external.values()), 1 if x.batch is None else x.batch
        arguments = [y[None] for y in every] if x.batch is None else list(every)
        arguments[0] = np.broadcast_to(arguments[0], (count, self.model.nq))
        found = self._found(key, arguments, options, count)
        return found if x.batch is not None else _only(found)

    def _compiled(self, key: tuple[Any, ...]) -> bool:
        """Friction from load is solved for elsewhere."""
        rubs = self.model.surfaces and key[0]
        return self.rows.calls.compiled and bool(self.rows.row_names) and not rubs

    def _found(
        self, key: tuple[Any, ...], arguments: list[np.ndarray], options: Mapping[str, Any], count: int
    ) -> ConstraintForces:
        parts, again = self._parts(key, arguments, options, count)
        shared = np.asarray((parts[2] > SHARED).any(axis=0))
        undetermined = {name for name, free in zip(self.rows.row_names, shared, strict=True) if free}
        for k in np.flatnonzero(again).tolist():
            own = [state_of(x, k) for x in arguments]
            if all(np.isfinite(x).all() for x in own):
                loads = dict(zip(key[1:], own[4:], strict=True))
                state, wanted = (own[0], own[1], own[2]), {**options, "external": loads or None}
                one = self.any_rank.forces(state, float(own[3][0]), wanted, loads, k)
                undetermined |= set(one.undetermined)
                by = (one.wrenches, one.points, one.contacts)
                parts[0][k], parts[1][k] = one.qdd, list(one.multipliers.values())
                for whole, mine in zip(parts[3:], by, strict=True):
                    whole[k] = np.array(list(mine.values())).reshape(whole.shape[1:])
        qdd, lam, _, wrenches, points, contacts = parts
        return ConstraintForces(
            qdd,
            _by_name(self.rows.row_names, lam),
            _by_name(self._joined, wrenches),
            _by_name(self._joined, points),
            _by_name(self._rolling, contacts),
            tuple(name for name in self.rows.row_names if name in undetermined),
        )

    def _parts(
        self, key: tuple[Any, ...], arguments: list[np.ndarray], options: Mapping[str, Any], count: int
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """q̈, λ, shares, wrenches, points and contacts, NaN where they are not sound; and where that is."""
        if self._compiled(key) and count:
            if key not in self._usual:
                request = self.requests.checked(arguments[0], arguments[3][..., 0], DEFAULT_SOLVER, options)
                self._usual[key] = replace(request, quantity="constraint_forces")
            *parts, sound = self.rows.calls(self._usual[key], tuple(arguments))
            again = sound != 1.0
        else:
            n, rows, joined = self.model.nv, len(self.rows.row_names), len(self._joined)
            shapes = ((n,), (rows,), (rows,), (joined, 6), (joined, 3), (len(self._rolling), 3))
            parts, again = [np.empty((count, *shape)) for shape in shapes], np.ones(count, dtype=bool)
        for part in parts:
            part[again] = np.nan
        return parts, again

    @cached_property
    def _joined(self) -> tuple[str, ...]:
        return tuple(x.name for x in self.rows.constraints if isinstance(x, Joined))

    @cached_property
    def _rolling(self) -> tuple[str, ...]:
        return tuple(x.name for x in self.rows.constraints if isinstance(x, Rolls))


def _by_name(names: Iterable[str], values: np.ndarray) -> dict[str, Any]:
    """Columns (batch, ...) of the values by name."""
    return {name: values[:, k] for k, name in enumerate(names)}


def _only(x: ConstraintForces) -> ConstraintForces:
    """The one state of a batch."""
    by_row = {name: float(value[0]) for name, value in x.multipliers.items()}
    wrenches, points, contacts = (
        {name: value[0] for name, value in some.items()} for some in (x.wrenches, x.points, x.contacts)
    )
    return ConstraintForces(x.qdd[0], by_row, wrenches, points, contacts, x.undetermined)
