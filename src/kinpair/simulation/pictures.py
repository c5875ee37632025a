"""A run as curves over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.simulation.storage.blocks import blocks
from kinpair.simulation.units import units
from kinpair.simulation.watch.balance import Energies, start_of
from kinpair.viewer.curves import Panel

if TYPE_CHECKING:
    from kinpair.simulation.result import Result

POINTS = 20_000  # more are not seen
TITLES = {"q": ("coordinates", "q"), "qd": ("rates", "q̇"), "tau": ("efforts", "τ")}
ENERGY = "energy since the start"


def curves(run: Result, row: int = 0) -> tuple[np.ndarray, list[Panel]]:
    """Times, and a panel each for coordinates, rates, efforts where there are any, and energies."""
    lead = (row,) if run.q.ndim == 3 else ()
    unit, m = units(run.mechanism.model), run.mechanism
    panels: list[Panel] = []
    for name, names in (("q", m.q_names), ("qd", m.v_names), ("tau", m.v_names)):
        x = drawn(getattr(run, name)[lead])
        if name != "tau" or x.any():
            title, letter = TITLES[name]
            there = ", ".join(f"[{u}]" for u in dict.fromkeys(unit[name]) if u)
            panels.append(
                Panel(title, f"{letter} {there}", dict(zip(names, x.T, strict=True)), distinct=True)
            )
    time = drawn(run.time[:, None])[:, 0]
    return time, [*panels, Panel(ENERGY, "[J]", _energies(run, row), distinct=True)]


def _energies(run: Result, row: int) -> dict[str, np.ndarray]:
    """What changed since the start: kinetic and potential energy and their sum; work and loss, if there are such."""
    every = Energies(*run.energy, run.work, run.loss)
    own = Energies(*(np.atleast_2d(x)[row] for x in every))
    T, V = start_of(own, None if run.start is None else run.start[row])[0] if len(run.time) else (0.0, 0.0)
    found = {"kinetic": drawn(own.kinetic[:, None], T), "potential": drawn(own.potential[:, None], V)}
    found["sum"] = drawn(own.kinetic[:, None], T + V, own.potential[:, None])
    found |= {name: x for name in ("work", "loss") if (x := drawn(getattr(own, name)[:, None])).any()}
    return {name: x[:, 0] for name, x in found.items()}


def drawn(x: np.ndarray, zero: float = 0.0, more: np.ndarray | None = None) -> np.ndarray:
    """Samples (n, k) [and more beside] above a zero, as they are drawn: of many, the least and largest of each of
    `POINTS` / 2 stretches, in the order they come, so that no peak is lost; read part by part.
    """
    both = (x,) if more is None else (x, more)
    samples = len(x)
    every = 2 * -(-samples // POINTS) if samples > POINTS else 1
    found: list[np.ndarray] = []
    left = np.zeros((0, x.shape[1]))
    for parts in blocks(*both, axis=-2):
        left = np.concatenate([left, sum(parts[1:], start=parts[0]) - zero])
        whole = len(left) // every * every
        found.append(_ends(left[:whole], every))
        left = left[whole:].copy()
    return np.concatenate([np.zeros((0, x.shape[1])), *found, _ends(left, max(1, len(left)))])


def _ends(x: np.ndarray, every: int) -> np.ndarray:
    """The least and the largest of every so many samples, in their order; a single one is itself."""
    if every == 1 or not len(x):
        return x
    stretches = x.reshape(-1, every, x.shape[1])
    least, most = stretches.min(axis=1), stretches.max(axis=1)
    first = stretches.argmin(axis=1) <= stretches.argmax(axis=1)
    pairs = np.stack([np.where(first, least, most), np.where(first, most, least)], axis=1)
    return pairs.reshape(-1, x.shape[1])
