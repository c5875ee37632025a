"""Parts of a file that act on the motion and are not simulated: collected by kind and reported in one sentence; and
drives of a file that have no counterpart here.

Contact is reported between parts of a file that move freely against each other, across a floating or planar joint.
Collision shapes of one arm or leg are not: a file does not say which of its links may touch.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from kinpair.description.fields import counted
from kinpair.description.parts import Joint
from kinpair.description.warning_list import WarningList

SHOWN = 3  # names of each kind in the sentence, and reasons in the warning about drives
GEOM = "geom"
LOOSE = ("free", "planar")  # kinds of joints across which parts may touch
_MEASURING = re.compile(  # plugins that measure, or pass commands on
    "control|sensor|camera|kinect|laser|_ray|imu|bumper|force_torque|p3d|odometry|power_monitor|publisher",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Omitted:
    """Labels of the parts left out, by kind, each kind in the order of the file; `where` is that of the first part."""

    where: str = ""
    labels: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, kind: str, label: str, where: str) -> None:
        """Collect a part; its label is its name and what distinguishes it."""
        self.where = self.where or where
        self.labels.setdefault(kind, []).append(label)

    def contact(
        self, geoms: Sequence[tuple[str, str, str]], links: Sequence[str], joints: Sequence[Joint]
    ) -> None:
        """Collect geoms (link, label, where) if they are on parts that move freely against each other."""
        piece = pieces(links, joints)
        if len({piece[link] for link, _, _ in geoms}) > 1:
            for _, label, where in geoms:
                self.add(GEOM, label, where)

    def plugin(self, name: str, file: str, where: str) -> None:
        """Collect a plugin that does not only measure."""
        if not _MEASURING.search(f"{name} {file}"):
            self.add("plugin", repr(name or file), where)

    def report(self, warnings: WarningList) -> None:
        """Add one sentence, the first of the list; with strict=True it is an error."""
        if self.labels:
            kinds = ", ".join(_listed(kind, labels) for kind, labels in self.labels.items())
            warnings.lead(
                f"{self.where}: not simulated, although the motion depends on it: {kinds}",
                omitted={kind: tuple(labels) for kind, labels in self.labels.items()},
            )


def _listed(kind: str, labels: list[str]) -> str:
    some = ", ".join((*labels[:SHOWN], *("...",) * (len(labels) > SHOWN)))
    return f"{'contact of ' * (kind == GEOM)}{counted(len(labels), kind)} ({some})"


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


class LeftOutError(Exception):
    """Reason why a drive has no counterpart here; caught where it is read."""


def left_out_message(reasons: Sequence[tuple[str, str]], count: int, instead: str = "") -> str:
    """The end of a sentence about those left out of `count`, by name and reason; names may be there twice."""
    some = ", ".join(f"{name!r} ({why})" for name, why in reasons[:SHOWN])
    more = ", ..." * (len(reasons) > SHOWN)
    instead = instead or "efforts on the joints stand in their place"
    return f"has {len(reasons)} of {count} that are not taken: {some}{more}; {instead}"
