"""Collocation schemes as data.

    X_j = x_k + h Σ_l a_jl f(X_l),   X at the places c_j of an interval of length h                     (OP5)

Lobatto IIIA has both ends of the interval among its places (trapezoidal rule with two, Hermite–Simpson with three),
Radau IIA its right end. Multiple shooting has the nodes alone. Orders at the nodes: 2, 4 and 3, 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from kinpair.errors import InputError, listed, nearest


@final
@dataclass(frozen=True, eq=False)
class Scheme:
    """Places c (s,) and weights a (s, s); the last row of a integrates over the interval.    (OP5)"""

    name: str
    c: np.ndarray
    order: int
    shoots: bool = False  # intervals are integrated, see shooting.py

    @property
    def shares(self) -> bool:
        """True if the left end of an interval is a place: neighbours share it."""
        return self.c[0] == 0.0

    @property
    def powers(self) -> np.ndarray:
        """Coefficients (s, s) of Lagrange's polynomials: column l is that of place l, the lowest power first."""
        return np.linalg.inv(np.vander(self.c, increasing=True))

    @property
    def a(self) -> np.ndarray:
        """Integrals of Lagrange's polynomials from 0 to c_j (s, s)."""
        s = len(self.c)
        return (self.c[:, None] ** np.arange(1, s + 1) / np.arange(1, s + 1)) @ self.powers


_ROOT = 6.0**0.5
SCHEMES = {
    x.name: x
    for x in (
        Scheme("trapezoidal", np.array([0.0, 1.0]), 2),
        Scheme("hermite-simpson", np.array([0.0, 0.5, 1.0]), 4),
        Scheme("radau-3", np.array([1 / 3, 1.0]), 3),
        Scheme("shooting", np.array([0.0, 1.0]), 4, shoots=True),
        Scheme("radau-5", np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0]), 5),
    )
}


def scheme(name: str) -> Scheme:
    """The scheme of a name."""
    if name not in SCHEMES:
        raise InputError(
            f"optimise: method {name!r} is not known; {nearest(name, [*SCHEMES])}Methods: {listed(SCHEMES)}",
            method=name,
        )
    return SCHEMES[name]
