"""Are the constraints of a model right, and do they hold what has no inertia?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinpair.constraints.rows import stacked as rows
from kinpair.constraints.rows.build import constraints_of, is_constrained
from kinpair.constraints.solvers.rank_revealing import null_space
from kinpair.description.warning_list import WarningList
from kinpair.errors import KinpairError
from kinpair.formulations import kinematics
from kinpair.model.check_weight import warn_of_weightless, weightless
from kinpair.model.model import Model
from kinpair.model.starts import start

TRIED = 3  # positions: at one of them a joint is held, or it is free
ABOUT = 0.3  # [rad] or [m]: how far they are from the start
PART = 1e-8  # of a motion: less is rounding


def checked(model: Model, *, strict: bool = False) -> Model:
    """The model, its constraints checked; with a warning for each joint that moves nothing with inertia and that the
    constraints leave free."""
    bodies, warnings = weightless(model), WarningList(strict, list(model.warnings))
    if is_constrained(model.description):
        constraints_of(model)  # refuses constraints that say nothing or contradict the parts
        bodies = unheld(model, bodies)
    warn_of_weightless(model, bodies, warnings)
    return replace(model, warnings=tuple(warnings.sentences)) if bodies else model


def unheld(model: Model, bodies: list[int]) -> list[int]:
    """Those of the bodies that move by themselves in every position tried, while what has inertia stands still."""
    rng = np.random.default_rng(model.nv)
    for k in range(TRIED if bodies else 0):
        step = ABOUT * rng.uniform(-1.0, 1.0, model.nv) if k else np.zeros(model.nv)
        bodies = _free_at(model, bodies, kinematics.moved(model, start(model), step))
    return bodies


def _free_at(model: Model, bodies: list[int], q: np.ndarray) -> list[int]:
    """The same at q; none where the rows have no value."""
    spans = [model.v_span[i] for i in bodies]
    own = [k for i, span in zip(bodies, spans, strict=True) for k in _without_rotor(model, i, span)]
    try:
        with np.errstate(all="ignore"):
            A = np.asarray(rows.matrix(model, constraints_of(model), q, 0.0)[:, own], dtype=float)
    except KinpairError:
        return []
    if not np.isfinite(A).all():
        return []
    free = {own[k] for k, motion in enumerate(null_space(A)) if np.abs(motion).max(initial=0.0) > PART}
    return [
        i for i, span in zip(bodies, spans, strict=True) if not free.isdisjoint(range(span.start, span.stop))
    ]


def _without_rotor(model: Model, i: int, span: slice) -> list[int]:
    """Rates of a joint that no rotor resists."""
    return [
        k for k, rotor in zip(range(span.start, span.stop), model.body[i].rotor, strict=True) if not rotor
    ]
