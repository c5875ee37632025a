"""Check that inertia tensors are those of real bodies, as far as the motion depends on them.

The principal moments of a real body are positive and the largest is at most the sum of the others. A body that turns
about one axis only, as all do in a plane mechanism, needs no more than the moment about it: [0, 0, Izz] is enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinpair.description.parts import Link
from kinpair.description.warning_list import WarningList, at
from kinpair.model.model import Body, Model
from kinpair.model.shared import Shared
from kinpair.spatial.inertia import TOLERANCE, defect, is_moment_about

SAME = 1e-9  # sine of the angle between two axes that rounding along a chain makes of one
APART = 2.5 * TOLERANCE**0.5  # sine above which no third axis is parallel to two axes, see `is_moment_about`


def warn_of_inertias(model: Model, warnings: WarningList) -> None:
    """A warning about each link whose tensor is that of no real body."""
    defects: Shared[str | None] = Shared()
    enough: Shared[np.ndarray] = Shared()
    directions: Sequence[np.ndarray] = ()
    for link in model.description.links:
        what = defects.of((link.inertia, link.mass), _defect, link)
        if not what:
            continue
        directions = directions or turning_directions(model)
        place = model.places[link.name]
        axes = directions[place.body] @ place.pose.R  # in axes of the link
        if not enough.of((link.inertia, axes.tobytes()), is_moment_about, axes, link.tensor()):
            part = f"{at(link.where)}link {link.name!r}"
            warnings.add(f"{part}: inertia {what}; taken as it is", link=link.name)


def _defect(link: Link) -> str | None:
    return defect(link.tensor(), link.mass)


def turning_directions(model: Model) -> list[np.ndarray]:
    """Different directions (k, 3) among the `turning_axes` of every body, in its axes; of two that no tolerance makes
    one, no third is kept."""
    known: Shared[np.ndarray] = Shared()
    every = [np.zeros((0, 3))]
    for i in model.moving:
        body, inner = model.body[i], every[model.parent[i]]
        every.append(known.of((id(body), inner.tobytes()), _directions, body, inner))
    return every


def _directions(body: Body, inner: np.ndarray) -> np.ndarray:
    q = body.pair.neutral()
    own = np.asarray(body.pair.p(q), dtype=float)[:3].T
    kept = inner @ (body.R_seat @ body.pair.rotation(q))
    for axis in own[np.any(own, axis=1)]:
        e = axis / np.sqrt(axis @ axis)
        sines = np.linalg.norm(np.cross(kept, e), axis=1)
        if (sines > APART).any():
            return np.array([kept[np.argmax(sines)], e])
        if not (sines < SAME).any():
            kept = np.array([*kept, e])
    return kept


def turning_axes(model: Model, link: str) -> np.ndarray:
    """The axes (k, 3) about which the joints on the path to the ground turn a link, in its own axes.

    They are those of the neutral position. If all are parallel there, no motion of the joints changes them.
    """
    place = model.places[link]
    R, i, axes = place.pose.R.T, place.body, [np.zeros((0, 3))]  # R: axes of body i in those of the link
    while i:
        body = model.body[i]
        q = body.pair.neutral()
        axes.append((R @ np.asarray(body.pair.p(q), dtype=float)[:3]).T)
        R, i = R @ (body.R_seat @ body.pair.rotation(q)).T, model.parent[i]
    return np.concatenate(axes)
