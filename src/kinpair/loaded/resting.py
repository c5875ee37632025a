"""Surfaces of which some are at rest, as one system for their friction forces; in floats, one state.

f are the friction forces of all surfaces, one number a direction of sliding. Accelerations of sliding and forms of the
wrenches are affine in them:

    a = a₀ + A f,     c_k = c_k0 + C_k f,     N_k = load_k(c_k, f_k)                                     (FH1)
    f_k = P(f_k − ρ_k a_k, μ_s N_k)           at rest; P: to the nearest point of the interval or disc   (FH2)
    f_k = −μ_k N_k u_k                        sliding along u_k                                          (FH3)

(FH2) says both: inside the disc a_k = 0, on its edge f_k is against a_k. Here f may have columns, one for each of
several candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinpair.forces.surfaces.surface import Carried, Surface

FINE = 1e-12  # |Φ| against the largest force
RANK = 1e-11  # a response below this part of the largest counts as zero


@dataclass(frozen=True, slots=True, eq=False)
class Resting:
    """(FH1): what acts, where each surface has its numbers in f, and which are at rest; `u` and `mu` of the others."""

    surfaces: Sequence[Surface]
    joints: Sequence[Carried]
    where: Sequence[slice]
    a: np.ndarray
    A: np.ndarray
    c: Sequence[np.ndarray]
    C: Sequence[np.ndarray]
    at_rest: Sequence[bool]
    u: Sequence[np.ndarray]
    mu: np.ndarray
    mu_static: np.ndarray

    def forms(self, k: int, f: np.ndarray) -> list[np.ndarray]:
        """c_k at forces f (numbers,) or (numbers, candidates)."""
        answer = self.C[k] @ f
        return list(self.c[k].reshape(-1, *[1] * (f.ndim - 1)) + answer)

    def loads(self, f: np.ndarray) -> np.ndarray:
        """N (surfaces, …)."""
        N = np.empty((len(self.surfaces), *f.shape[1:]))
        for k, x in enumerate(self.surfaces):
            N[k] = x.load(self.forms(k, f), f[self.where[k]], self.joints[k])
        return N

    def load_slopes(self, f: np.ndarray) -> np.ndarray:
        """∂N/∂f (surfaces, numbers, …)."""
        rows = np.zeros((len(self.surfaces), *f.shape))
        for k, x in enumerate(self.surfaces):
            by_form, by_force = _slopes(x, self.forms(k, f), f[self.where[k]], self.joints[k])
            for slope, C in zip(by_form, self.C[k], strict=True):
                rows[k] += np.multiply.outer(C, slope)
            for n, slope in enumerate(by_force):
                rows[k, self.where[k].start + n] += slope
        return rows

    def accelerations(self, f: np.ndarray) -> np.ndarray:
        """a (numbers, …)."""
        return self.a.reshape(-1, *[1] * (f.ndim - 1)) + self.A @ f

    @property
    def still(self) -> list[int]:
        """Numbers of the surfaces at rest."""
        return [k for k, rest in enumerate(self.at_rest) if rest]


class Found(NamedTuple):
    """f, N, a, the largest |Φ| against the largest force, and whether that is rounding."""

    f: np.ndarray
    N: np.ndarray
    a: np.ndarray
    residual: float
    met: bool


def responses(x: Resting) -> np.ndarray:
    """1/A_kk, the mean over the directions of a surface; of one that constraints hold, that of the others."""
    own = np.array([float(np.trace(x.A[k, k])) / (k.stop - k.start) for k in x.where])
    largest = float(own.max(initial=0.0)) or 1.0
    return 1.0 / np.where(own > RANK * largest, own, largest)


def residual(x: Resting, f: np.ndarray, rho: np.ndarray) -> np.ndarray:
    """Φ (numbers, …)."""
    N, a, Phi = x.loads(f), x.accelerations(f), np.empty_like(f)
    for k, own in enumerate(x.where):
        if not x.at_rest[k]:
            u = x.u[k].reshape(-1, *[1] * (f.ndim - 1))
            Phi[own] = f[own] + x.mu[k] * N[k] * u  # (FH3)
            continue
        y, level = f[own] - rho[k] * a[own], x.mu_static[k] * N[k]
        far = np.linalg.norm(y, axis=0)
        edge = f[own] - level * (y / np.where(far > 0.0, far, 1.0))
        Phi[own] = np.where(far <= level, rho[k] * a[own], edge)  # (FH2)
    return Phi


def measured(x: Resting, f: np.ndarray) -> Found:
    """What one candidate f (numbers,) is."""
    Phi = residual(x, f, responses(x))
    worst = float(np.abs(Phi).max(initial=0.0)) / max(1.0, float(np.abs(f).max(initial=0.0)))
    worst = worst if np.isfinite(worst) else np.inf
    return Found(f, x.loads(f), x.accelerations(f), worst, worst <= FINE)


def _slopes(
    x: Surface, c: Sequence[np.ndarray], force: np.ndarray, at: Carried
) -> tuple[Sequence[np.ndarray], Sequence[np.ndarray]]:
    """∂N/∂c and ∂N/∂f; one candidate after the other where both enter the load, which jets do not do in columns."""
    if not x.feels_force or force.ndim == 1:
        return x.slopes(c, force, at), x.force_slopes(c, force, at)
    alone = [(list(one), own) for one, own in zip(np.transpose(c), force.T, strict=True)]
    by_form = np.transpose([x.slopes(*each, at) for each in alone])
    return list(by_form), list(np.transpose([x.force_slopes(*each, at) for each in alone]))
