"""Panels of curves as pure data: small multiples of panels with many curves, and curves that are equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinpair.viewer.looks import Look

MANY, FEW = 10, 6  # curves that one panel can have at most, and those of a small multiple
SAME = 1e-9  # difference of equal curves, as a part of the largest value
ROOM = 0.05  # above and below the curves of small multiples, as a part of their range


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """One pair of axes: its title, its quantity with unit, and its curves (n,) by name.

    `looks`: colour and dashes of each curve; without them the curves are one thing computed by several methods.
    `labels`: names for the legend, where they differ. `own_legend`: in this panel, not below the figure.
    `time`: of these curves, where it is not that of the figure. `bars`: by name of a curve, intervals of time that are
    marked by a bar in its colour at the foot of the panel. `behind`: by name of a curve, a reference (n,) that is drawn
    broad and pale behind it. `limits`: lowest and highest value of the ordinate; by default those of the curves.
    """

    title: str
    quantity: str
    curves: Mapping[str, np.ndarray]
    looks: Mapping[str, Look] | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    own_legend: bool = False
    time: np.ndarray | None = None
    bars: Mapping[str, Sequence[tuple[float, float]]] = field(
        default_factory=dict[str, Sequence[tuple[float, float]]]
    )
    behind: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    limits: tuple[float, float] | None = None


def multiples(panel: Panel) -> list[Panel]:
    """Return the panel itself, or small multiples of it with the same ordinate where it has more than ten curves."""
    names = list(panel.curves)
    if len(names) <= MANY or panel.looks is None:
        return [panel]
    count = -(-len(names) // FEW)
    parts = [names[len(names) * k // count : len(names) * (k + 1) // count] for k in range(count)]
    return [
        replace(
            panel,
            title=f"{panel.title}: {part[0]} … {part[-1]}",
            curves={name: panel.curves[name] for name in part},
            bars={name: x for name, x in panel.bars.items() if name in part},
            behind={name: x for name, x in panel.behind.items() if name in part},
            limits=_range(panel),
        )
        for part in parts
    ]


def _range(panel: Panel) -> tuple[float, float] | None:
    """Return the lowest and highest value of all curves, with some room; None where there is no number."""
    every = np.concatenate([np.ravel(x) for x in (*panel.curves.values(), *panel.behind.values())])
    finite = every[np.isfinite(every)]
    if not len(finite):
        return None
    low, high = float(finite.min()), float(finite.max())
    room = ROOM * (high - low) or ROOM * abs(high) or 1.0
    return low - room, high + room


def equal_curves(panel: Panel) -> list[list[str]]:
    """Find curves that coincide, group by group; none where curves are one quantity computed by several methods."""
    if panel.looks is None:
        return []
    groups: list[list[str]] = []
    for name, values in panel.curves.items():
        group = next((x for x in groups if _equal(panel.curves[x[0]], values)), None)
        if group is None:
            groups.append([name])
        else:
            group.append(name)
    return [group for group in groups if len(group) > 1]


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    known = np.isfinite(a)
    if np.shape(a) != np.shape(b) or (known != np.isfinite(b)).any() or not known.any():
        return False
    size = max(float(np.abs(a[known]).max()), float(np.abs(b[known]).max()))
    return bool(np.abs(a[known] - b[known]).max() <= SAME * size)


def equal_to(panel: Panel) -> dict[str, str]:
    """Name of a curve → the first curve that it is equal to."""
    return {name: group[0] for group in equal_curves(panel) for name in group[1:]}
