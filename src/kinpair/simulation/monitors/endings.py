"""Description of how a run ended: when, where and why."""

from __future__ import annotations

import numpy as np

from kinpair.constraints.soundness import lost_joint
from kinpair.errors import listed
from kinpair.model.model import Model
from kinpair.simulation.held import Singular
from kinpair.simulation.monitors.runaways import chatter_of
from kinpair.simulation.monitors.singular_ends import ended_near
from kinpair.simulation.run import Piece, Run
from kinpair.simulation.status import Status

LOST = ("not finite", "collapsed", "not converged")  # ends of motions whose equations give no number
LOST_CALL = "an exception left the call of a Python function; it is on standard error"
REASONS = {
    "not finite": "the state is no longer finite",
    "not converged": "the equations of the step were not solved in 60 iterations; take a shorter dt",
    "exhausted": "2 000 000 evaluations did not reach the next sample; the tolerances are too small for this motion",
    "runaway": "the motion has run away: rates have become so high, and steps so short, that the end is out of reach; "
    "look at the torque, its gains and its sample time",
    "endless": "steps have become so short that the end is out of reach; where currents, pressures or springs are "
    "fast, take integrator='cvode', which is made for stiff motions; else the tolerances are too small",
    "full": "more contact points than max_contacts; give the description a larger max_contacts",
    "collapsed": "no step is short enough for the tolerances; the motion jumps or is singular there",
}


def nearest_singular(run: Run, seen: Singular | None, pieces: list[Piece], Y: np.ndarray) -> Singular | None:
    """Find where the constraints were nearest to dependence: as steps have seen, where the run ended, where it
    crossed."""
    last = pieces[-1]
    if seen is None and isinstance(last.why, str):
        seen = ended_near(run, last, Y.reshape(-1, Y.shape[-1])[-1:], _reached(run, pieces))
    return seen or min((passage.at for passage in run.passages), default=None)


def status_of(run: Run, pieces: list[Piece], Y: np.ndarray) -> tuple[Status, dict[int, Status]]:
    """Return the status of the whole run, and of the rows of a batch that did not arrive."""
    last, interrupted = pieces[-1], run.interrupted
    if run.ended is not None:
        state = Y.reshape(-1, Y.shape[-1])[-1:]
        ended = run.ended
        return _lost(run, last, ended.name, _reached(run, pieces), ended.time, state) or ended, {}
    if isinstance(last.why, str):
        since = _reached(run, pieces)
        good = last.good or interrupted
        time = _ended(run, since, interrupted) if good else float(np.asarray(last.trouble))
        state = Y.reshape(-1, Y.shape[-1])[-1:]
        near = ended_near(run, last, state, since)
        lost = _lost(run, last, last.why, since, time, state) if not interrupted else None
        return lost or _status(run, last.why, time, interrupted, state, near), {}
    failures: dict[int, Status] = {}
    for piece in pieces:
        if piece.why.count("more") == len(piece.why):
            continue
        times = np.asarray(piece.trouble)
        for row, why in enumerate(piece.why):
            if why != "more" and row not in failures:
                state, time = _last_finite(Y[row]), float(times[row])
                ended = run.rows_ended.get(row) or _lost(run.alone(row), piece, why, time, time, state)
                failures[row] = ended or _status(run, why, time, False, state)
    whole = _status(run, "more", _ended(run, _reached(run, pieces), interrupted), interrupted, Y[0, -1:])
    return whole, failures


def _lost(run: Run, piece: Piece, why: str, since: float, time: float, state: np.ndarray) -> Status | None:
    """Return the status where an input was no number, or friction has no solution; state (0 or 1, n) at `since`."""
    if why not in LOST or not len(state):
        return None
    from kinpair.simulation.monitors.lost_numbers import jam_of, lost_number

    cause = lost_number(run, state[0], since, time, piece.dt) if why == "not finite" else ""
    if cause:
        return Status("refused", time, f"Stopped at t = {time:.9g} s: {cause}")
    jam = jam_of(run, state[0], since, time, piece.dt)
    return Status("jammed", jam.time, f"Stopped at t = {jam.time:.9g} s: {jam.reason}") if jam else None


def _reached(run: Run, pieces: list[Piece]) -> float:
    times = [piece.times[-1] for piece in pieces if len(piece.times)]
    return float(times[-1]) if times else run.time


def _ended(run: Run, sampled: float, interrupted: bool) -> float:
    """The end of the run, which need not be a sample; the last sample of one that was interrupted."""
    return sampled if interrupted else run.stop


def _last_finite(Y: np.ndarray) -> np.ndarray:
    fine = np.isfinite(Y).all(axis=-1)
    return Y[fine][-1:]


def _status(
    run: Run, why: str, time: float, interrupted: bool, state: np.ndarray, near: Singular | None = None
) -> Status:
    if interrupted:
        cause = f": {run.hindrance}" if run.hindrance else ""
        return Status("interrupted", time, f"Interrupted at t = {time:.9g} s{cause}")
    if why in ("more", "done"):
        return Status("done", time, f"Reached t = {time:.9g} s{_crossed(run)}")
    if why == "refused" and run.caller is not None:
        time = run.caller.when
        return Status("refused", time, f"Stopped at t = {time:.9g} s: {run.caller.fault or LOST_CALL}")
    reason = _endless(run) if why == "endless" else REASONS[why]
    if near is not None:
        reason += _near_singular(run, near)
    elif why == "not finite":
        reason += _cause(run.d.model, state)
    return Status(why, time, f"Stopped at t = {time:.9g} s: {reason}")


def _endless(run: Run) -> str:
    """Say how slow a run was that makes no progress, and what makes it so."""
    stall = run.stall
    chatter = chatter_of(run, stall.time, stall.y) if stall is not None else ""
    if stall is None or not stall.took:
        return chatter or REASONS["endless"]
    pace = f"no progress, {stall.advance:.2g} s of motion in {stall.took:.2g} s of computing"
    return f"{pace}: {chatter or REASONS['endless']}; patience=math.inf (--patience inf) waits"


def _crossed(run: Run) -> str:
    """Singular positions that were crossed with larger tolerances."""
    if not run.passages:
        return ""
    times = [f"{passage.at.time:.6g}" for passage in run.passages]
    total = sum(passage.length for passage in run.passages)
    where = f"over singular positions at t = {listed(times, 6)} s"
    return f", {where}, each in one step ({total:.2g} s together)"


def _near_singular(run: Run, near: Singular) -> str:
    """The constraints are about to lose rank; what may help is not what is in force."""
    enforcement = run.d.enforcement
    projected = enforcement.way == "project" and not run.integrator.external
    steps = "steps of another length" if run.fixed else "other tolerances"
    remedies = f"{steps} or hold='baumgarte'" if projected else steps
    return (
        f"; at t = {near.time:.6g} s the mechanism is in a singular position, or nearly so (smallest singular value of "
        f"the rows {near.pivot**0.5:.2g}): {remedies} may pass, a motion that keeps away is better"
    )


def _cause(model: Model, state: np.ndarray) -> str:
    """Cause of the end, as far as the last state shows."""
    i = lost_joint(model, state[0, : model.nq]) if len(state) else None
    if i is None:
        return "; the steps are too long for this motion, or it grows without bound"
    return f": joint {model.joint_names[i]!r} moves nothing that has inertia"
