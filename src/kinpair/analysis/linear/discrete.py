"""From one sample to the next while the inputs are held:

[Φ Γ; 0 1] = exp([A B; 0 0] T),   x_{k+1} = Φ x_k + Γ u_k                                    (LI11)
"""

from __future__ import annotations

import numpy as np


def held(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Φ (..., n, n) and Γ (..., n, m) of A (..., n, n), B (..., n, m) and the sample time [s].    (LI11)"""
    from scipy.linalg import expm

    n, m = B.shape[-2:]
    whole = np.zeros((*A.shape[:-2], n + m, n + m))
    whole[..., :n, :n], whole[..., :n, n:] = A, B
    found = expm(whole * dt)
    return found[..., :n, :n], found[..., :n, n:]
