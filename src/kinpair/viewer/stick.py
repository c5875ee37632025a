"""A mechanism as a stick figure: rods between its joints, joints by their kind."""

from __future__ import annotations

from dataclasses import replace

from kinpair.viewer.bodies import BONE, MARKER, Around, Sizes, bones
from kinpair.viewer.long_chain import is_long
from kinpair.viewer.markers import joint_marker, loop_markers
from kinpair.viewer.scene import Drawn, Scene, link_colours, scene_of


def stick_scene(mechanism: Drawn) -> Scene:
    """The scene of a mechanism with rods in the place of its bodies."""
    full = scene_of(mechanism)
    description = mechanism.model.description
    if is_long(description):
        return full
    around = Around.of(description)
    sizes = Sizes(full.size, full.centre, 0.7 * BONE * full.size, 0.7 * MARKER * full.size)
    colours = link_colours(description)
    pieces = [
        piece.in_colour(colours[link.name])
        for link in description.links
        for piece in bones(around, link, sizes)
    ]
    for joint in description.joints:
        pieces += joint_marker(joint, sizes)
    for constraint in description.constraints:
        pieces += loop_markers(constraint, sizes)
    return replace(full, pieces=tuple(pieces)) if pieces else full
