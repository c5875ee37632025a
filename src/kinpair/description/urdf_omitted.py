"""Parts of a URDF file that act on the motion in a simulator and are not simulated here: contact, plugins.

Contact is reported between parts of the file that move freely against each other, across a floating or planar joint.
The collision shapes of one arm or leg are not: a URDF file does not say which of its links may touch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinpair.description.omitted import GEOM, Omitted
from kinpair.description.parts import Joint
from kinpair.description.urdf_xml import Node

LOOSE = ("free", "planar")  # kinds of joints across which parts may touch
MEASURING = re.compile(  # plugins that measure, or pass commands on
    "control|sensor|camera|kinect|laser|_ray|imu|bumper|force_torque|p3d|odometry|power_monitor|publisher",
    re.IGNORECASE,
)


def omitted_parts(robot: Node, joints: Sequence[Joint], *, contacts: bool = False) -> Omitted:
    """Collect the parts left out, in the order contact, plugins; `contacts`: collision shapes touch."""
    omitted = Omitted()
    links = robot.each("link")
    shown = [link for link in links if link.each("collision")]
    piece = pieces([link.text("name") for link in links], joints)
    if not contacts and len({piece[link.text("name")] for link in shown}) > 1:
        for link in shown:
            omitted.add(GEOM, f"<collision> of {link.text('name')!r}", link.where)
    extensions = robot.each("gazebo")
    for plugin in (x for node in extensions for x in node.each("plugin")):
        name, file = plugin.text("name"), plugin.text("filename")
        if not MEASURING.search(f"{name} {file}"):
            omitted.add("plugin", repr(name or file), plugin.where)
    return omitted


def pieces(links: Sequence[str], joints: Sequence[Joint]) -> dict[str, str]:
    """Return the piece of each link: links joined by other joints than loose ones have the same one."""
    members = {name: [name] for name in links}  # by link; links of a piece have the same list
    for joint in joints:
        if joint.kind not in LOOSE and joint.parent in members and joint.child in members:
            small, large = sorted((members[joint.parent], members[joint.child]), key=len)
            if small is not large:
                large += small
                members |= dict.fromkeys(small, large)
    return {name: own[0] for name, own in members.items()}
