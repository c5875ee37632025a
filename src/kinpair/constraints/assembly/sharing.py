"""Loads that redundant rows leave open, and how compliances share them out: in floats, with the rank found there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.constraints.assembly.batch import at_time
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.quantities.multipliers import compliances_of, reaction_names
from kinpair.constraints.rounding import LEAST_COMPLIANCE, OPEN_LOAD
from kinpair.constraints.solvers import rank_revealing
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.quantities.request import request_of


class SharedLoads:
    """Shares that compliances give to the multipliers of a closure; `given` ones stand for those of the description."""

    def __init__(self, rows: ConstraintRows, given: Mapping[str, Any] | None = None) -> None:
        self.rows, self.model = rows, rows.model
        self.names = reaction_names(self.model)
        by_name = np.zeros((len(self.names), 6))
        for name, x in compliances_of(self.model).items():
            by_name[self.names.index(name)] = x
        for name, x in (given or {}).items():
            by_name[self._number(name)] = _six(self.model.name, name, x)
        self.root = np.sqrt(by_name.reshape(-1))  # √C by component, zero where none is given

    def _number(self, name: str) -> int:
        if name not in self.names:
            raise InputError(
                f"{self.model.name}: compliance of {name!r}, which is neither a joint nor a loop; "
                f"{nearest(str(name), self.names)}Joints and loops: {listed(self.names)}",
                joint=name,
            )
        return self.names.index(name)

    @property
    def acts(self) -> bool:
        """True if any compliance is given."""
        return bool(self.root.any())

    def by_multiplier(self, q: np.ndarray, time: float, axes: str = "") -> np.ndarray:
        """Wrenches in joints and loops of unit multipliers of all rows (names · 6, rows)."""
        request = replace(request_of("reactions", passive=False), quantity="row_wrenches", axes=axes)
        return np.asarray(self.rows.calls(request, (q, at_time(time))), dtype=float)

    def left_open(self, q: np.ndarray, time: float) -> np.ndarray:
        """Multipliers (rows, any) that balance each other, AᵀN = 0, and that no compliance sees."""
        N = rank_revealing.self_stresses(self.rows.matrix(q, time))
        if not (N.size and self.acts):
            return N
        _, sigma, Vt = np.linalg.svd(self.root[:, None] * (self.by_multiplier(q, time) @ N))
        return N @ Vt[int((sigma > LEAST_COMPLIANCE * sigma.max(initial=0.0)).sum()) :].T

    def undetermined(self, q: np.ndarray, time: float, axes: str) -> np.ndarray:
        """Components that are not unique (names, 6)."""
        B = self.by_multiplier(q, time, axes) @ self.left_open(q, time)
        largest = np.abs(B).max(initial=0.0)
        return (np.abs(B) > OPEN_LOAD * largest).any(axis=1).reshape(len(self.names), 6)

    def not_unique(self, q: np.ndarray, time: float) -> tuple[str, ...]:
        """Names of joints and loops that have such a component."""
        marks = self.undetermined(q, time, "")
        return tuple(name for name, row in zip(self.names, marks, strict=True) if row.any())

    def added(self, q: np.ndarray, time: float, w: np.ndarray) -> np.ndarray:
        """Multipliers (rows,) that the compliances add where joints and loops carry w (names, 6), in joint axes: N z of
        (RE5)."""
        N = rank_revealing.self_stresses(self.rows.matrix(q, time))
        if not (N.size and self.acts):
            return np.zeros(len(N))
        B = self.by_multiplier(q, time) @ N
        return (
            N @ np.linalg.lstsq(self.root[:, None] * B, -self.root * w.reshape(-1), rcond=LEAST_COMPLIANCE)[0]
        )

    def of_motion(
        self,
        motion: tuple[np.ndarray, np.ndarray, np.ndarray],
        external: Mapping[str, np.ndarray],
        passive: bool = True,
    ) -> np.ndarray:
        """Wrenches (names, 6) in joint axes of q, q̇, q̈ without multipliers."""
        request = replace(
            request_of("reactions", external=external, passive=passive), quantity="wrenches", axes=""
        )
        tree = np.asarray(self.rows.calls(request, (*motion, *external.values())), dtype=float)
        return np.concatenate([tree, np.zeros((len(self.names) - len(tree), 6))])

    def shared(
        self,
        lam: np.ndarray,
        motion: tuple[np.ndarray, np.ndarray, np.ndarray],
        time: float,
        external: Mapping[str, np.ndarray],
        passive: bool = True,
    ) -> np.ndarray:
        """Multipliers of all rows that balance, as the compliances share them."""
        if not self.acts:
            return lam
        w = self.of_motion(motion, external, passive).reshape(-1)
        return lam + self.added(motion[0], time, w + self.by_multiplier(motion[0], time) @ lam)


def _six(owner: str, name: str, given: Any) -> np.ndarray:
    x = np.asarray(given, dtype=float) if np.ndim(given) in (0, 1) else np.zeros(0)
    if x.shape not in ((), (6,)) or not (np.isfinite(x).all() and (x >= 0.0).all()):
        raise InputError(
            f"{owner}: compliance of {name!r} is {given!r}; give six numbers, zero or more: three "
            "[rad/(N m)], then three [m/N]; or one for all",
            joint=name,
        )
    return x
