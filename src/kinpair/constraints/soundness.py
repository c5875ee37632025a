"""Check a solve for accelerations: find the joint that makes it singular, or estimate its error.

Rounding changes the solution of H q̈ = F by about

    |Δq̈| ≈ ε κ(D⁻¹ H D⁻¹) |q̈|,   D = diag(H)^½            ε: 2⁻⁵²                                 (SO1)

The condition number κ of the scaled H does not depend on units (van der Sluis 1969). Lengths of 1e6 m between bodies of
one metre make it 1e12 and more. Angles of any size do not change it: both compiled code and the reference reduce them
exactly.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from kinpair.constraints.rounding import FULL_INERTIA, INACCURATE, LOST_IN_ROUNDING
from kinpair.errors import AccuracyWarning, SingularError, caller_level
from kinpair.evaluation.quantities.table import DOUBTFUL
from kinpair.formulations import composite, kinematics
from kinpair.model.inertia_scales import inertia_scales
from kinpair.model.model import Body, Model

MANY = 1_000  # rates, of which H takes a second in Python
FAR = 1e3  # [m]: a longer distance of a link from its parent is reported as the cause


def check_soundness(model: Model, q: Any, soundness: np.ndarray) -> None:
    """Check the doubtful states by their soundness (2,) or (batch, 2).

    A singular solve raises SingularError, which names the joint. An inaccurate one gives a warning with its error.
    """
    batch = soundness.ndim == 2
    worst, cause = 0.0, ""
    states = np.broadcast_to(np.asarray(q, dtype=float), (*soundness.shape[:-1], model.nq)).reshape(
        -1, model.nq
    )
    for row in np.flatnonzero(~(soundness.reshape(-1, 2) > DOUBTFUL).all(1)):
        if not np.isfinite(states[row]).all():
            continue
        which = f" (state {row} of the batch)" if batch else ""
        if (i := lost_joint(model, states[row])) is not None:
            joint, link = model.joint_names[i], model.names[i]
            raise SingularError(
                f"{model.name}: forward dynamics is singular at joint {joint!r}{which}: link {link!r} and what it "
                "carries have no positive inertia against that motion; give the link mass and inertia, or the "
                "joint a rotor inertia",
                joint=joint,
            )
        error = rounding_error(model, states[row])
        if error > max(worst, INACCURATE):
            worst, cause = error, f"{which}: {_cause(model, states[row])}"
    if worst:
        warnings.warn(
            f"{model.name}: accelerations may be off by {min(worst, 1.0):.0e} of the largest one{cause}",
            AccuracyWarning,
            stacklevel=caller_level(),
        )


def rounding_error(model: Model, q: np.ndarray) -> float:
    """Estimate the error of forward dynamics at q as a part of the largest acceleration; 0 of more than MANY rates,
    which are solved without H.    (SO1)"""
    if model.nv > MANY:
        return 0.0
    with np.errstate(all="ignore"):
        H = np.asarray(composite.mass_matrix(model, q), dtype=float)
        root = np.sqrt(np.diag(H))
        scaled = H / np.outer(root, root)
    if not np.isfinite(scaled).all():
        return 0.0  # too large for an estimate; the result shows it
    sizes = np.linalg.eigvalsh(scaled)
    return float(np.finfo(float).eps * sizes[-1] / sizes[0]) if sizes[0] > 0.0 else 1.0


def _cause(model: Model, q: np.ndarray) -> str:
    """Name the link that is farthest from its parent where that is far, else the inertias."""
    places = kinematics.placements(model, q)
    length, i = max((float(np.linalg.norm(np.asarray(places[i].a, dtype=float))), i) for i in model.moving)
    if length > FAR:
        name, parent = model.names[i], model.names[model.parent[i]]
        return f"link {name!r} is {length:.3g} m away from {parent!r}; use coordinates of the size of the mechanism"
    return "the inertias of its links differ by too many orders of magnitude; check masses and inertias"


def has_full_inertia(model: Model) -> bool:
    """True if every body by itself resists its own joint, so that every joint moves inertia in all positions.

    What a body carries adds to that: pᵀ M p of the body alone is the least that its joint can feel.
    """
    return model.once("full inertia", lambda: _has_full_inertia(model))


def _has_full_inertia(model: Model) -> bool:
    least = FULL_INERTIA * max(inertia_scales(model), default=0.0)
    bodies = [model.body[i] for i in model.different[1] if i and model.body[i].pair.nv]
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
    """The outermost body whose block of H, all outer joints free to move, has no inverse; None if there is none, and of
    more than MANY rates, for which H takes too long."""
    if model.nv > MANY or has_full_inertia(model):
        return None
    with np.errstate(all="ignore"):
        H = composite.mass_matrix(model, q)
    if not np.isfinite(H).all():
        return None  # too large for an estimate; the result shows it
    S, scales = H.copy(), inertia_scales(model)
    for i in reversed(model.moving):
        span = model.v_span[i]
        D, scale = S[span, span], max(scales[span], default=0.0)
        if len(D) and not np.linalg.eigvalsh(D)[0] > LOST_IN_ROUNDING * scale:
            return i
        S = S - S[:, span] @ np.linalg.solve(D, S[span])
    return None
