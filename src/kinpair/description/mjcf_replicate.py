"""<replicate> of MJCF: copies of what is inside, each moved on from the one before and named by its number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kinpair.description.mjcf_orientation import euler, shifted
from kinpair.description.mjcf_settings import Settings
from kinpair.description.mjcf_xml import Tag
from kinpair.spatial.pose import HOME, Pose


def unfolded(tag: Tag, settings: Settings) -> Tag:
    """Return the element with every <replicate> in it written out as frames."""
    inside: list[Tag] = []
    for child in (unfolded(child, settings) for child in tag.inside):
        inside += _copies(child, settings) if child.name == "replicate" else [child]
    return replace(tag, inside=tuple(inside))


def _copies(tag: Tag, settings: Settings) -> Iterator[Tag]:
    """Write one frame for each copy: copy k is turned by k times the Euler angles, and sits at `offset` in the one
    before."""
    count = int(tag.known().number("count", 0.0))
    if count < 1:
        raise tag.error('makes no copies; write <replicate count="..."> with a number above zero')
    if joints := tag.each("joint", "freejoint"):
        raise joints[0].error("stands in a <replicate>, not in a body of its own; put a <body> round it")
    angles = np.array(tag.numbers("euler", 3, default=(0.0, 0.0, 0.0)))
    offset = np.array(tag.numbers("offset", 3, default=(0.0, 0.0, 0.0)))
    at, digits = HOME, len(str(count - 1))
    for k in range(count):
        suffix = f"{tag.text('sep')}{k:0{digits}d}"
        inside = tuple(_renamed(child, suffix) for child in tag.inside)
        yield Tag("frame", _written(at), inside, tag.where, tag.warnings)
        at = Pose(euler((k + 1) * angles, settings), (at @ shifted(offset)).a)


def _written(pose: Pose) -> dict[str, str]:
    """A pose as attributes of an element."""
    return {"pos": _words(pose.a), "xyaxes": _words(pose.R[:, :2].T.ravel())}


def _words(numbers: np.ndarray) -> str:
    return " ".join(map(repr, numbers.tolist()))


def _renamed(tag: Tag, suffix: str) -> Tag:
    """The element and all inside it, with this after their names."""
    named = {"name": tag.text("name") + suffix} if tag.has("name") else {}
    inside = tuple(_renamed(child, suffix) for child in tag.inside)
    return replace(tag, attributes={**tag.attributes, **named}, inside=inside)
