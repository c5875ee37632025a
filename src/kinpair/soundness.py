"""Was a solve for accelerations sound, and if not, which joint is to blame?"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.errors import SingularError
from kinpair.formulations import composite
from kinpair.model.inertia_scales import inertia_scales
from kinpair.model.model import Body, Model
from kinpair.quantities import DOUBTFUL

FULL = 1e-10  # an inertia above this part of the largest that a joint carries is never lost
LOST = 1e-13  # an inertia this small against what the joint carries is lost in rounding


def check_soundness(model: Model, q: Any, soundness: np.ndarray) -> None:
    """Look closely at the doubtful states (2,) or (batch, 2), and name the joint where the solve is lost."""
    batch = soundness.ndim == 2
    states = np.broadcast_to(np.asarray(q, dtype=float), (*soundness.shape[:-1], model.nq)).reshape(
        -1, model.nq
    )
    for row in np.flatnonzero(~(soundness.reshape(-1, 2) > DOUBTFUL).all(1)):
        if np.isfinite(states[row]).all() and (i := lost_joint(model, states[row])) is not None:
            joint, link = model.joint_names[i], model.names[i]
            which = f" (state {row} of the batch)" if batch else ""
            raise SingularError(
                f"{model.name}: forward dynamics is singular at joint {joint!r}{which}: link {link!r} and what it "
                "carries have no positive inertia against that motion; give the link mass and inertia, or the "
                "joint a rotor inertia",
                joint=joint,
            )


def has_full_inertia(model: Model) -> bool:
    """Does every body by itself resist its own joint, so that no joint moves nothing with inertia, wherever it stands?

    What a body carries adds to that: pᵀ M p of the body alone is the least that its joint can feel.
    """
    return model.once("full inertia", lambda: _has_full_inertia(model))


def _has_full_inertia(model: Model) -> bool:
    least = FULL * max(inertia_scales(model), default=0.0)
    bodies = [model.body[i] for i in model.moving if model.body[i].pair.nv]
    return all(np.linalg.eigvalsh(_resistance(body))[0] > least for body in bodies)


def _resistance(body: Body) -> np.ndarray:
    """pᵀ M p of a joint of one degree, whose p is constant; of others M about the mass centre, whatever p is."""
    m, I = float(body.m), np.asarray(body.I, dtype=float)
    if body.pair.nv > 1:
        return np.block([[I, np.zeros((3, 3))], [np.zeros((3, 3)), m * np.eye(3)]])
    p = np.asarray(body.pair.p(body.pair.neutral()), dtype=float)[:, 0]
    omega, v = p[:3], p[3:] + np.cross(p[:3], np.asarray(body.d, dtype=float))
    return np.array([[omega @ I @ omega + m * v @ v]])


def lost_joint(model: Model, q: np.ndarray) -> int | None:
    """The outermost body whose block of H, all outer joints free to move, has no inverse; None if there is none."""
    if has_full_inertia(model):
        return None
    with np.errstate(all="ignore"):
        H = composite.mass_matrix(model, q)
    if not np.isfinite(H).all():
        return None  # too large to tell; the result shows it
    S, scales = H.copy(), inertia_scales(model)
    for i in reversed(model.moving):
        span = model.v_span[i]
        D, scale = S[span, span], max(scales[span], default=0.0)
        if len(D) and not np.linalg.eigvalsh(D)[0] > LOST * scale:
            return i
        S = S - S[:, span] @ np.linalg.solve(D, S[span])
    return None
