"""Numbers that look random, from arithmetic that is exact in floating point: the same in Python and in machine code.

P. L'Ecuyer, Efficient and portable combined random number generators, Communications of the ACM 31 (1988) 742–749:

    s₁ ← 40014 s₁ mod 2147483563,   s₂ ← 40692 s₂ mod 2147483399,   u = (s₁ − s₂) mod 2147483562 / 2147483563     (RN1)
    n₁ = √(−2 ln u₁) cos 2πu₂,   n₂ = √(−2 ln u₁) sin 2πu₂                  Box and Muller (1958)                 (RN2)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, where

M1, M2, A1, A2 = 2147483563.0, 2147483399.0, 40014.0, 40692.0
STATE = 2  # numbers


def seeded(seed: Any) -> np.ndarray:
    """A state (2,), or (n, 2) of n seeds: whole numbers from 1 below the moduli, spread by NumPy's seed sequence."""
    if np.ndim(seed):
        return np.array([seeded(x) for x in np.ravel(seed)])
    words = np.random.SeedSequence(int(seed)).generate_state(2, np.uint64)
    return np.array([1.0 + float(words[0] % np.uint64(M1 - 1)), 1.0 + float(words[1] % np.uint64(M2 - 1))])


def _modulo(x: Scalar, m: float) -> Scalar:
    """x mod m of whole numbers below 2⁵³."""
    return x - m * np.floor(x / m)


def uniform(state: Vector) -> tuple[Scalar, Vector]:
    """A number between 0 and 1, and the next state.    (RN1)"""
    s1, s2 = _modulo(A1 * state[0], M1), _modulo(A2 * state[1], M2)
    z = s1 - s2
    return where(less(z, 1.0), z + (M1 - 1.0), z) / M1, array([s1, s2])


def normal(state: Vector, count: int) -> tuple[Vector, Vector]:
    """So many independent numbers of the standard normal distribution (count,), and the next state.    (RN2)"""
    found: list[Scalar] = []
    for _ in range((count + 1) // 2):
        u1, state = uniform(state)
        u2, state = uniform(state)
        r, angle = np.sqrt(-2.0 * np.log(u1)), 2.0 * np.pi * u2
        found += [r * np.cos(angle), r * np.sin(angle)]
    return array(found[:count]) if count else np.zeros(0), state
