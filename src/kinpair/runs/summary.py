"""A run in words, and whether its energy adds up."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.rolling import Rolls
from kinpair.description.fields import counted
from kinpair.errors import KinpairError, listed
from kinpair.model.units import units
from kinpair.runs.accelerations import accelerations, constraint_forces
from kinpair.runs.record import Record
from kinpair.simulation.contact.numbers import DEPTH, FRICTION, IMPACT, REDUCTION, SEPARATION, UNMET
from kinpair.simulation.events.limits import limits_from
from kinpair.simulation.held import Residual, Singular
from kinpair.simulation.sample_memory import blocks

PASSED, OVERLAP = 1e-9, 1e-4  # [rad], [m], of limits that are ignored, and of those that hold
ROUNDED = 1e-9  # of an effort limit
PULL = 1e-9  # [N]
LOOKS = 1000  # samples: each takes some 50 µs


def summary(run: Record) -> str:
    """Write one paragraph about a run."""
    parts = [_what(run), _how(run), _events(run), _energy(run), _momentum(run), _constraints(run.residual)]
    parts += [
        _friction(run),
        _contact(run),
        _passage(run.singular),
        _beyond(run),
        _efforts(run),
        _pulls(run),
        *run.notes,
    ]
    return " ".join(part for part in parts if part)


def _what(run: Record) -> str:
    count = f"{len(run.q)} trajectories, each " if run.q.ndim == 3 else ""
    start, end = (run.time[0], run.time[-1]) if len(run.time) else (np.nan, np.nan)
    return (
        f"{run.mechanism.name}: {count}{counted(len(run.time), 'sample')} from t = {start:g} s to {end:g} s."
    )


def _how(run: Record) -> str:
    rejected = f" and {run.rejected} rejected" if run.rejected else ""
    last = min(run.dt, run.options.get("duration", run.dt))
    steps = (
        f"{counted(run.steps, 'step')} of {run.integrator}{rejected}, the last of {last:.3g} s, "
        f"took {run.took:.3g} s."
    )
    return f"{run.status.message}. {steps}"


def _events(run: Record) -> str:
    """Describe what happened, by name, and how much energy it took."""
    if not run.events:
        return ""
    counts = Counter(x.name for x in run.events)
    named = listed((f"{name!r}" + (f" {n} times" if n > 1 else "") for name, n in counts.items()), 6)
    lost = sum(x.lost for x in run.events)
    took = f", which took {lost:.6g} J" if lost else ""
    return f"{counted(len(run.events), 'event')}: {named}{took}."


def _beyond(run: Record) -> str:
    """Limits that were passed."""
    joints, names = run.mechanism.model.joints, run.mechanism.q_names
    if not np.isfinite([joints.lower, joints.upper]).any():
        return ""
    depth = np.zeros((2, len(names)))  # beyond lower, upper
    for (q,) in blocks(run.q, axis=-2):
        with np.errstate(invalid="ignore"):
            beyond = np.array([joints.lower - q, q - joints.upper]).reshape(2, -1, len(names))
        depth = np.fmax(depth, np.fmax.reduce(beyond, axis=1))
    unit = units(run.mechanism.model)["q"]
    holds = limits_from(run.mechanism, run.options.get("limits", "ignore")).unilateral
    least = OVERLAP if holds else PASSED
    passed = [
        f"{names[k]} went {depth[end, k]:.3g} {unit[k]} beyond its {('lower', 'upper')[end]} limit"
        for k, end in np.argwhere(least < depth.T)
    ]
    if run.springs:
        return f"Into the springs at the limits: {listed(passed, 6)}." if passed else ""
    if holds:
        return f"Limits were passed: {listed(passed, 6)}; a shorter dt reduces this." if passed else ""
    return f"Limits were passed: {listed(passed, 6)}; limits='stop' would hold them." if passed else ""


def _efforts(run: Record) -> str:
    """Report efforts beyond the limits of the description, when first and at worst; or clipped there."""
    largest, names = run.mechanism.model.joints.effort, run.mechanism.v_names
    limited = np.flatnonzero(np.isfinite(largest))
    if not len(limited) or not len(run.time):
        return ""
    unit, clips = units(run.mechanism.model)["tau"], _clips(run)
    bounds = largest[limited] * (1.0 - ROUNDED if clips else 1.0 + ROUNDED)
    parts = (np.abs(tau[..., limited]) for (tau,) in blocks(run.tau, axis=-2))
    sizes = np.concatenate([np.fmax.reduce(x.reshape(-1, *x.shape[-2:]), axis=0) for x in parts])
    sentences: list[str] = []
    for k, size, bound in zip(limited.tolist(), sizes.T, bounds, strict=True):
        if (beyond := size > bound).any():
            first, most = run.time[beyond.argmax()], int(np.nanargmax(size))
            at_worst = "" if clips else f", at most {size[most]:.4g} {unit[k]} at t = {run.time[most]:.4g} s"
            sentences.append(f"{names[k]} ({largest[k]:.4g} {unit[k]}) first at t = {first:.4g} s{at_worst}")
    if not sentences:
        return ""
    if clips:
        return f"Efforts were clipped at their limits: {listed(sentences, 6)}."
    return f"Efforts exceeded their limits: {listed(sentences, 6)}; limits='saturate' clips them."


def _clips(run: Record) -> bool:
    """True if the run clipped efforts."""
    return limits_from(run.mechanism, run.options.get("limits", "ignore")).saturates


def _pulls(run: Record) -> str:
    """Rolling contacts that hold their body down, which no plane does; looked for at `LOOKS` samples at most."""
    contacts = [x for x in constraints_of(run.mechanism.model) if isinstance(x, Rolls) and x.normal]
    if not contacts or run.parameters or not run.status.ok:
        return ""
    there = np.unique(np.linspace(0, len(run.time) - 1, min(len(run.time), LOOKS)).astype(int))
    try:
        some = _samples(run, there)
        forces = constraint_forces(some, accelerations(some))
    except KinpairError:  # at a sample where forces are not determined
        return ""
    sentences: list[str] = []
    for x in contacts:
        push = forces[x.row_names[0]]
        least = np.nanmin(push.reshape(-1, len(there)), axis=0)
        if (least < -PULL).any():
            first = some.time[int(np.argmax(least < -PULL))]
            sentences.append(
                f"The rolling contact {x.name!r} pulls, first at t = {first:.3g} s, by up to {-least.min():.3g} N: a "
                "real body would leave the plane."
            )
    return " ".join(sentences)


def _samples(run: Record, there: np.ndarray) -> Record:
    """The run with these samples alone."""
    vectors = {
        name: getattr(run, name)[..., there, :]
        for name in ("q", "qd", "tau", "x", "u", "account", "slid", "phase", "touching")
    }
    history = run.history and replace(run.history, number=run.history.number[..., there])
    return replace(run, time=run.time[there], history=history, **vectors)


def _contact(run: Record) -> str:
    """Return losses of contact, the deepest penetration, and whether every step was solved."""
    if run.mechanism.model.contacts is None or not run.touching.size:
        return ""
    numbers = run.touching.reshape(-1, run.touching.shape[-1])
    impact, slid, lost, reduced = (
        float(np.nansum(run.touching[..., -1, k])) for k in (IMPACT, FRICTION, SEPARATION, REDUCTION)
    )
    moved = f" Overlaps were reduced by {reduced:.2g} m in all, which took {lost:.2g} J." if reduced else ""
    depth, unmet = float(np.nanmax(numbers[:, DEPTH])), int(np.nansum(numbers[:, UNMET]))
    open_steps = (
        f" At {counted(unmet, 'sample')} the contact problem was not solved to 1e-10." if unmet else ""
    )
    return (
        f"Contact: {impact:.4g} J lost in impacts, {slid:.4g} J in friction; deepest penetration at samples "
        f"{depth:.2g} m.{moved}{open_steps}"
    )


def _friction(run: Record) -> str:
    """Heat of dry friction, and which rates stick at the end since when."""
    if run.q.ndim == 3 or not len(run.time) or not run.friction:
        return ""
    heat = {name: float(x.heat[-1]) for name, x in run.friction.items()}
    hot = listed((f"{name} {x:.4g} J" for name, x in heat.items() if x > 0.0), 6)
    stuck = listed((f"{name} since {x.since:.6g} s" for name, x in run.friction.items() if x.sticks[-1]), 6)
    sentences = [f"Friction took {hot}." if hot else "", f"At the end stick: {stuck}." if stuck else ""]
    return " ".join(filter(None, sentences))


def _constraints(residual: Residual | None) -> str:
    if residual is None:
        return ""
    position, rate = residual.worst
    return f"Constraints hold to {position:.2g}, their rates to {rate:.2g}."


def _passage(singular: Singular | None) -> str:
    if singular is None:
        return ""
    return (
        f"Near t = {singular.time:.6g} s the mechanism came close to a singular position, where motions branch: a "
        f"pivot of the constraints was {singular.pivot:.1g} of what it was at the start."
    )


def _momentum(run: Record) -> str:
    drift = run.momentum
    if drift is None:
        return ""
    part = float(np.fmax.reduce(drift.relative, axis=None, initial=0.0))
    words = drift.words[:1].upper() + drift.words[1:]
    return f"{words}: constant to {part:.1g} of the largest possible."


def _energy(run: Record) -> str:
    if not len(run.time):
        return ""
    own = run.balance
    if np.isnan(own.error):
        return "Energy: the potential of a system given by its forces is not known; no balance."
    if not np.isfinite(own.error):
        return "Energy: no balance."
    return (
        f"Energy: {own.work:.6g} J put in, {own.loss:.6g} J dissipated, {own.stored:.6g} J stored; "
        f"the balance is off by at most {own.error:.2g} J, {own.relative:.1g} of the energy that moved."
    )
