"""Scalar functions that NumPy alone would evaluate by a branch on the value."""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Scalar


def sign(x: Scalar) -> Scalar:
    """−1, 0 or 1; a symbol answers for itself."""
    return x.sign() if hasattr(x, "sign") else np.sign(x)
