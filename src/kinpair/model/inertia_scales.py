"""Scale of the inertia against each rate: as large as it could be if all that is carried were stretched out.

    R_i = R_j + |a_i|,   J_i = Σ_k m_k (R_k + |d_k|)² + tr I_k,   m = Σ_k m_k        k: carried by i
    scale = |ω|² J_i + |v|² m + rotor                                               p = [ω; v] of the rate

A pivot of the mass matrix that is rounding against this scale is no inertia, whatever the entry it came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar
from kinpair.model.model import Model


def inertia_scales(model: Model) -> tuple[Scalar, ...]:
    """A number a rate (nv,), one where nothing is carried; made once."""
    return model.once("inertia_scales", lambda: _scales(model))


def reach(model: Model) -> Scalar:
    """Compute the length of all links one behind the other [m], joints at zero; one where they have none."""
    return model.once("reach", lambda: _reach(model))


def _reach(model: Model) -> Scalar:
    total = sum((_length(model.body[i].a_seat) + _length(model.body[i].d) for i in model.moving), 0.0)
    return 1.0 if isinstance(total, float) and total == 0.0 else total


def _scales(model: Model) -> tuple[Scalar, ...]:
    count = len(model.parent)
    reach: list[Any] = [0.0] * count
    mass: list[Any] = [0.0] * count
    moment: list[Any] = [0.0] * count
    for i in model.moving:
        body = model.body[i]
        reach[i] = reach[model.parent[i]] + _length(body.a_seat)
        far = reach[i] + _length(body.d)
        mass[i], moment[i] = body.m, body.m * far * far + np.trace(body.I)
    for i in reversed(model.moving):
        j = model.parent[i]
        mass[j], moment[j] = mass[j] + mass[i], moment[j] + moment[i]
    scales: list[Any] = [1.0] * model.nv
    for i in model.moving:
        pair, span = model.body[i].pair, model.v_span[i]
        p = np.asarray(pair.p(pair.neutral()), dtype=float)
        turning, moving = (p[:3] ** 2).sum(0), (p[3:] ** 2).sum(0)
        for k, omega, v, rotor in zip(
            range(span.start, span.stop), turning, moving, model.body[i].rotor, strict=True
        ):
            scale = omega * moment[i] + v * mass[i] + rotor
            scales[k] = 1.0 if isinstance(scale, float) and scale == 0.0 else scale
    return tuple(scales)


def _length(a: Any) -> Any:
    return np.sqrt(a @ a)
