"""Signs and limits that are smooth, or have kinks only."""

from __future__ import annotations

import numpy as np

from kinpair.algebra.arrays import Scalar
from kinpair.algebra.choice import maximum, minimum


def clipped(x: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """x between low and high."""
    return maximum(low, minimum(x, high))


def soft_sign(x: Scalar, width: Scalar) -> Scalar:
    """tanh(x / width): a sign whose step is as wide as that."""
    return np.tanh(x / width)


def soft_root(x: Scalar, width: Scalar) -> Scalar:
    """sign(x) √|x|, straight within ± `width` of zero: x / (x² + width²)^¼."""
    return x / np.sqrt(np.sqrt(x * x + width * width))
