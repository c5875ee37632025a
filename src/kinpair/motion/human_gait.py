"""Human gait: angles of hip and knee over a stride, and from them how a foot swings.

Table: mean of 39 children, in degrees, at (k + ½)/20 of a stride that begins with heel strike. Source: R. A. Olshen,
E. N. Biden, M. P. Wyatt, D. H. Sutherland, "Gait analysis and the bootstrap", Annals of Statistics 17 (1989), data of
the Motion Analysis Laboratory, Children's Hospital, San Diego, as the R package fda has them; means of ours.

    a(s) = (l₁ sin h + l₂ sin(h − k), −l₁ cos h − l₂ cos(h − k))     ankle from the hip, thigh l₁, shank l₂      (GB1)
    u(σ) = σ³(10 − 15σ + 6σ²) + σ³(1 − σ)³ Σ_j b_j (2σ − 1)^j         path of the swinging foot, σ from 0 to 1     (GB2)
    w(σ) = σ³(1 − σ)³ Σ_j c_j (2σ − 1)^j                              its height as a part of the largest         (GB3)

b fits the path of the ankle over the ground in swing, c how much shorter the leg is then. Both
functions begin and end with rates and accelerations of zero, so that the foot leaves the ground and comes back without
an impact.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

# fmt: off
HIP = (
    42.7, 39.8, 35.8, 30.4, 25.2, 19.9, 15.2, 11.0, 6.6, 2.6, 1.1, 4.3, 12.4, 23.2, 34.0, 42.5, 47.9, 49.0, 46.8, 43.3,
)
KNEE = (
    13.0, 18.5, 22.2, 21.2, 17.9, 14.3, 12.1, 10.9, 10.4, 12.8, 19.9, 35.1, 53.4, 68.0, 73.9, 70.5, 58.4, 37.7, 18.2,
    11.0,
)
# fmt: on
SWING = 0.5  # of a stride: here the heel rises and the ankle leaves its place, until the stride ends
HARMONICS = 6
TERMS = 3  # of b and c
SAMPLES = 81


def fourier_series(table: Any, harmonics: int = HARMONICS) -> tuple[float, np.ndarray, np.ndarray]:
    """Mean, cosines and sines (harmonics,) of a table at the middles of equal parts of a period."""
    y = np.asarray(table, dtype=float)
    angles = 2 * np.pi * np.outer(np.arange(1, harmonics + 1), (np.arange(len(y)) + 0.5) / len(y))
    return float(y.mean()), 2 / len(y) * np.cos(angles) @ y, 2 / len(y) * np.sin(angles) @ y


def angles(s: Any) -> tuple[np.ndarray, np.ndarray]:
    """Hip and knee [rad] at parts of a stride; the hip such that the leg is upright in the mean."""
    at = [_series(fourier_series(np.deg2rad(table)), np.asarray(s, dtype=float)) for table in (HIP, KNEE)]
    tilt = np.deg2rad(np.mean(HIP) - np.mean(KNEE) / 2)
    return at[0] - tilt, at[1]


def _series(series: tuple[float, np.ndarray, np.ndarray], s: np.ndarray) -> np.ndarray:
    mean, a, b = series
    turns = 2 * np.pi * s[..., None] * np.arange(1, len(a) + 1)
    return mean + np.cos(turns) @ a + np.sin(turns) @ b


def ankle(s: Any, thigh: float = 1.0, shank: float = 1.0) -> np.ndarray:
    """Forward and upward (..., 2) from the hip.    (GB1)"""
    h, k = angles(s)
    along = np.stack([np.sin(h), -np.cos(h)], axis=-1), np.stack([np.sin(h - k), -np.cos(h - k)], axis=-1)
    return thigh * along[0] + shank * along[1]  # (GB1)


@cache
def swing_coefficients() -> tuple[np.ndarray, np.ndarray]:
    """b and c (terms,) of (GB2) and (GB3), fitted to the leg in swing."""
    stance = np.linspace(0.1, 0.5, SAMPLES)
    stride = -np.polyfit(stance, ankle(stance)[:, 0], 1)[0]  # in stance the foot stands, and the hip goes on
    sigma = np.linspace(0.0, 1.0, SAMPLES)
    s = SWING + (1.0 - SWING) * sigma
    at = ankle(s)
    x, r = at[:, 0] + stride * s, np.sqrt((at**2).sum(1))
    way = (x - x[0]) / (x[-1] - x[0])
    shorter = r[0] + (r[-1] - r[0]) * sigma - r
    basis = bump(sigma)[:, None] * (2 * sigma - 1)[:, None] ** np.arange(TERMS)
    b = np.linalg.lstsq(basis, way - quintic(sigma), rcond=None)[0]
    c = np.linalg.lstsq(basis, shorter, rcond=None)[0]
    return b, c / (basis @ c).max()


def quintic(s: Any) -> Any:
    """Quintic from 0 to 1, at rest at both ends."""
    return s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)


def bump(s: Any) -> Any:
    """Bump from 0 to 0."""
    r = s * (1.0 - s)
    return r * r * r


def progress(s: Any, b: Any) -> Any:
    """Progress of the swinging foot.    (GB2)"""
    return quintic(s) + bump(s) * _polynomial(s, b)


def height(s: Any, c: Any) -> Any:
    """Height of the swinging foot.    (GB3)"""
    return bump(s) * _polynomial(s, c)


def _polynomial(s: Any, coefficients: Any) -> Any:
    x, value = 2.0 * s - 1.0, 0.0
    for c in reversed(list(coefficients)):
        value = value * x + c
    return value
