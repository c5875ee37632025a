"""The equations of a mechanism or system under constraints as a user holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kinpair.equations_of_motion.on_a_sheet import OnASheet
from kinpair.errors import InputError, listed, nearest


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedEquations(OnASheet):
    """The equations M q̈ = F + Aᵀλ, A q̈ = b as formulas, and what a solver makes of them.

    `equations["M"]` is an array of formulas, so are "F", "A" and "b"; `solver` says what else there is, see
    docs/printed_equations.md. `names` are the rates, `row_names` the rows of A, `dependent` and `independent` the
    rates of the blocks q_d and q_i. `form` is "closed" (each entry in one piece, over named denominators) or "terms"
    (short named terms).
    """

    solver: str
    names: tuple[str, ...]
    row_names: tuple[str, ...]
    dependent: tuple[str, ...]
    independent: tuple[str, ...]

    def __getitem__(self, what: str) -> np.ndarray:
        """A result by its name."""
        if what not in self.sheet.results:
            raise InputError(
                f"{self.sheet.name}: no {what!r} in these equations; {nearest(what, self.sheet.results)}"
                f"There are: {listed(self.sheet.results)}"
            )
        return self.sheet.results[what]

    def evaluate(
        self,
        q: Any,
        qd: Any,
        tau: Any = None,
        *,
        time: float = 0.0,
        values: Mapping[str, float] | None = None,
    ) -> dict[str, np.ndarray]:
        """All of them in numbers, and the accelerations "qdd" where the solver gives any and is finished.

        Units: SI of each entry, for instance [N m] of an effort.
        """
        known = self.sheet.variables
        effort = np.zeros(len(known["tau"])) if tau is None else tau
        state = {"q": q, "qd": qd, "tau": effort, "time": [time]}
        results = self.sheet.evaluate(*(state[what] for what in known), values=values)
        if "qdd" not in results and self.complete and self.solver in ACCELERATIONS:
            results["qdd"] = ACCELERATIONS[self.solver](results, self._order)
        return results

    @property
    def _order(self) -> np.ndarray:
        """Where each coordinate stands in (q_d, q_i)."""
        order = (*self.dependent, *self.independent)
        return np.array([order.index(name) for name in self.names], dtype=int)


def _by_embedding(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """q̈_d and q̈_i from R₁ ... R₄."""
    one = (x["R1"] @ x["F"] + x["R2"] @ x["b"]) / x.get("D1", 1.0)
    two = (x["R3"] @ x["F"] + x["R4"] @ x["b"]) / x.get("D2", 1.0)
    return np.concatenate([one, two])[order]


def _by_multipliers(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """M q̈ − Aᵀλ = F, A q̈ = b, solved in numbers."""
    n, l = x["A"].T.shape
    whole = np.block([[x["M"], -x["A"].T], [x["A"], np.zeros((l, l))]])
    return np.linalg.solve(whole, np.concatenate([x["F"], x["b"]]))[:n]


def _by_pull(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """q̈ = G F + G Aᵀ S⁻¹ (b − A G F)."""
    free = x["G"] @ x["F"]
    return free + x["G"] @ x["A"].T @ np.linalg.solve(x["S"], x["b"] - x["A"] @ free)


def _by_characteristics(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """X u̇ = Zᵀ (F − M W b), q̈ = Z u̇ + W b."""
    prescribed = x["W"] @ x["b"]
    return x["Z"] @ np.linalg.solve(x["X"], x["Z"].T @ (x["F"] - x["M"] @ prescribed)) + prescribed


ACCELERATIONS: dict[str, Callable[[Mapping[str, np.ndarray], np.ndarray], np.ndarray]] = {
    "rosenberg-extended": _by_embedding,
    "maggi": _by_characteristics,
    "multipliers": _by_multipliers,
    "udwadia-kalaba": _by_pull,
}
