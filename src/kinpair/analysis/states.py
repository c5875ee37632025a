"""Random states of a mechanism: seeded, so that every run sees the same."""

from __future__ import annotations

import numpy as np

from kinpair.model.model import Model

REACH = 1.5  # rad or m on either side, where a joint has no limit


def random_states(model: Model, count: int, seed: int) -> dict[str, np.ndarray]:
    """q (count, nq) within the limits of the joints, quaternions of length 1; qd, qdd, tau (count, nv) normal."""
    rng = np.random.default_rng(seed)
    low, high = (
        np.where(np.isfinite(x), x, y) for x, y in ((model.joints.lower, -REACH), (model.joints.upper, REACH))
    )
    q = rng.uniform(np.minimum(low, high), np.maximum(low, high), (count, model.nq))
    for i in model.moving:
        if model.body[i].pair.nq > model.body[i].pair.nv:
            turned = slice(model.q_span[i].stop - 4, model.q_span[i].stop)
            quaternion = rng.normal(size=(count, 4))
            q[:, turned] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    rates = {name: rng.normal(size=(count, model.nv)) for name in ("qd", "qdd", "tau")}
    return {"q": q, **rates}
