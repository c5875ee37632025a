"""A run as curves over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.simulation.units import units
from kinpair.viewer.curves import Panel

if TYPE_CHECKING:
    from kinpair.simulation.result import Result

POINTS = 20_000  # more are not seen
TITLES = {"q": ("coordinates", "q"), "qd": ("rates", "q̇"), "tau": ("efforts", "τ")}
ENERGY = "energy since the start"


def curves(run: Result, row: int = 0) -> tuple[np.ndarray, list[Panel]]:
    """Times, and a panel each for coordinates, rates, efforts where there are any, and energies."""
    every = max(1, -(-len(run.time) // POINTS))
    lead = (row,) if run.q.ndim == 3 else ()
    shown = (*lead, slice(None, None, every))
    unit, m = units(run.mechanism.model), run.mechanism
    panels: list[Panel] = []
    for name, names in (("q", m.q_names), ("qd", m.v_names), ("tau", m.v_names)):
        x = np.asarray(getattr(run, name)[shown])
        if name != "tau" or x.any():
            title, letter = TITLES[name]
            there = ", ".join(f"[{u}]" for u in dict.fromkeys(unit[name]) if u)
            panels.append(
                Panel(title, f"{letter} {there}", dict(zip(names, x.T, strict=True)), distinct=True)
            )
    return run.time[::every], [*panels, Panel(ENERGY, "[J]", _energies(run, shown), distinct=True)]


def _energies(run: Result, shown: tuple[int | slice, ...]) -> dict[str, np.ndarray]:
    """What changed: kinetic and potential energy and their sum; work and loss, where there are such."""
    kinetic, potential = (np.asarray(x[shown]) for x in run.energy)
    found = {"kinetic": kinetic, "potential": potential, "sum": kinetic + potential}
    found |= {name: x for name in ("work", "loss") if (x := np.asarray(getattr(run, name)[shown])).any()}
    return {name: x - x[:1] for name, x in found.items()}
