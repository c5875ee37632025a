"""How a run ended, in words: when, where and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.constraints.rank_revealing import lengths
from kinpair.simulation.residual import WORST, Residual
from kinpair.simulation.result import Status
from kinpair.soundness import lost_joint

if TYPE_CHECKING:
    from kinpair.model.model import Model
    from kinpair.simulation.runs import Piece
    from kinpair.simulation.simulate import Run

SINGULAR = 1e-2  # smallest singular value of the scaled rows that is worth a word
REASONS = {
    "not finite": "the state is no longer finite",
    "not converged": "the equations of the step were not solved in 60 iterations; take a shorter dt",
    "exhausted": "2 000 000 evaluations did not reach the next sample; the tolerances are too small for this motion",
    "collapsed": "no step is short enough for the tolerances; the motion jumps or is singular there",
}


def status_of(
    run: Run, pieces: list[Piece], Y: np.ndarray, interrupted: bool
) -> tuple[Status, dict[int, Status]]:
    """Of the whole, and of the rows of a batch that did not arrive."""
    last = pieces[-1]
    if run.ended is not None:
        return run.ended, {}
    if isinstance(last.why, str):
        time = float(np.asarray(last.trouble)) if last.why not in ("more", "done") else _reached(run, pieces)
        return _status(run, last.why, time, interrupted, Y.reshape(-1, Y.shape[-1])[-1:]), {}
    failures: dict[int, Status] = {}
    for piece in pieces:
        times = np.asarray(piece.trouble)
        for row, why in enumerate(piece.why):
            if why != "more" and row not in failures:
                failures[row] = _status(run, why, float(times[row]), False, _last_finite(Y[row]))
    whole = _status(run, "more", _reached(run, pieces), interrupted, Y[0, -1:])
    return whole, failures


def drifted(run: Run, status: Status, times: np.ndarray, residual: Residual | None) -> Status:
    """The same, unless the end was reached with loops that have come apart on the way."""
    if residual is None or not status.ok or not len(times):
        return status
    gap = residual.position.reshape(-1, len(times))
    apart = (gap - gap[:, :1] > WORST).any(axis=0)
    if not apart.any():
        return status
    first = float(times[int(np.argmax(apart))])
    return Status(
        "drifted",
        first,
        f"{status.message}, but the constraints have drifted apart since t = {first:.9g} s, by up to "
        f"{residual.worst[0]:.2g}; hold='project' keeps them",
    )


def _reached(run: Run, pieces: list[Piece]) -> float:
    times = [piece.times[-1] for piece in pieces if len(piece.times)]
    return float(times[-1]) if times else run.time


def _last_finite(Y: np.ndarray) -> np.ndarray:
    fine = np.isfinite(Y).all(axis=-1)
    return Y[fine][-1:]


def _status(run: Run, why: str, time: float, interrupted: bool, state: np.ndarray) -> Status:
    if interrupted:
        cause = f": {run.hindrance}" if run.hindrance else ""
        return Status("interrupted", time, f"Interrupted at t = {time:.9g} s{cause}")
    if why in ("more", "done"):
        return Status("done", time, f"Reached t = {time:.9g} s")
    if why == "refused" and run.caller is not None:
        time = run.caller.when
        return Status("refused", time, f"Stopped at t = {time:.9g} s: {run.caller.fault}")
    reason = REASONS[why]
    if why == "not finite":
        reason += _cause(run.d.model, state)
    if why in ("collapsed", "exhausted"):
        reason += _near_singular(run, state, time)
    return Status(why, time, f"Stopped at t = {time:.9g} s: {reason}")


def _near_singular(run: Run, state: np.ndarray, time: float) -> str:
    """Are the constraints about to lose rank?"""
    closure, held = run.wish.mechanism.closure, run.d.held
    if closure is None or held is None or not len(state):
        return ""
    A = closure.matrix(state[0, : run.d.model.nq], time)[list(held.ask.kept)]
    least = float(np.linalg.svd(A / lengths(A)[:, None], compute_uv=False).min(initial=1.0))
    if not least < SINGULAR:
        return ""
    return (
        f"; the constraints are nearly singular there (smallest singular value of the rows {least:.2g}): "
        "fixed steps or hold='baumgarte' may pass, a motion that keeps away is better"
    )


def _cause(model: Model, state: np.ndarray) -> str:
    """What made it so, as far as the last state tells."""
    i = lost_joint(model, state[0, : model.nq]) if len(state) else None
    if i is None:
        return "; the motion is unstable with this step, or it has no bound"
    return f": joint {model.joint_names[i]!r} moves nothing that has inertia"
