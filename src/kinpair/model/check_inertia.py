"""Are the inertia tensors those of real bodies, as far as the motion can tell?

The principal moments of a real body are positive and the largest is at most the sum of the others. A body that turns
about one axis only, as all do in a plane mechanism, needs no more than the moment about it: [0, 0, Izz] is enough.
"""

from __future__ import annotations

import numpy as np

from kinpair.description.warning_list import WarningList, at
from kinpair.model.model import Model
from kinpair.spatial.inertia import defect, is_moment_about


def warn_of_inertias(model: Model, warnings: WarningList) -> None:
    """A warning about each link whose tensor is that of no real body."""
    for link in model.description.links:
        I = link.tensor()
        if (what := defect(I, link.mass)) and not is_moment_about(turning_axes(model, link.name), I):
            part = f"{at(link.where)}link {link.name!r}"
            warnings.add(f"{part}: inertia {what}; taken as it is", link=link.name)


def turning_axes(model: Model, link: str) -> np.ndarray:
    """The axes (k, 3) about which the joints on the way to the ground turn a link, in its own axes.

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
