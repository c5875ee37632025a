"""Was a solve for accelerations sound, and if not, which joint is to blame?"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.errors import SingularError
from kinpair.formulations import composite
from kinpair.model.model import Model

DOUBTFUL = 1e-12  # a solve less sound than this is looked at closely
LOST = 1e-13  # an inertia this small against the entries of H of its joint is lost in rounding


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


def lost_joint(model: Model, q: np.ndarray) -> int | None:
    """The outermost body whose block of H, all outer joints free to move, has no inverse; None if there is none."""
    with np.errstate(all="ignore"):
        H = composite.mass_matrix(model, q)
    if not np.isfinite(H).all():
        return None  # too large to tell; the result shows it
    S = H.copy()
    for i in reversed(model.moving):
        span = model.v_span[i]
        D, scale = S[span, span], np.abs(np.diag(H)[span]).max(initial=0.0)
        if len(D) and not np.linalg.eigvalsh(D)[0] > LOST * scale:
            return i
        S = S - S[:, span] @ np.linalg.solve(D, S[span])
    return None
