"""Check that joints move something that has inertia."""

from __future__ import annotations

from collections.abc import Sequence

from kinpair.description.warning_list import WarningList, at
from kinpair.model.model import Model


def weightless(model: Model) -> list[int]:
    """Numbers of the bodies that a joint moves and that have no inertia, nor anything they carry, nor a rotor."""
    heavy = [bool(b.m or b.I.any()) for b in model.body]
    for i in reversed(model.moving):
        heavy[model.parent[i]] |= heavy[i]
    return [
        i for i in model.moving if not heavy[i] and model.body[i].pair.nv and not model.body[i].rotor.all()
    ]


def warn_of_weightless(model: Model, bodies: Sequence[int], warnings: WarningList) -> None:
    """A joint that moves such a body has no forward dynamics."""
    for i in reversed(bodies):
        joint, link = model.joint_names[i], model.names[i]
        warnings.add(
            f"{at(model.description.source)}joint {joint!r} moves link {link!r}, and neither this link nor "
            "the links that it carries have mass or inertia: forward dynamics is singular, inverse "
            "dynamics works",
            joint=joint,
        )
