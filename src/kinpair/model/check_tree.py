"""Check that the joints make one tree of the links."""

from __future__ import annotations

from collections.abc import Mapping

from kinpair.description.parts import GROUND, Description, Joint
from kinpair.description.warning_list import at
from kinpair.errors import DescriptionError, listed, nearest

SHOWN = 5  # links at the beginning and at the end of a long cycle
REMEDY = "a loop is closed by a loop constraint, not by a joint"


def tree(description: Description) -> tuple[str, list[Joint]]:
    """The root link, and the joints in an order where each hangs on a link already reached."""
    links = _link_names(description)
    _check_ends(description, dict.fromkeys(links))
    moved_by = _check_one_parent(description)
    root = _only_root(description, links, moved_by)
    return root, _reached(description, root, links)


def _link_names(description: Description) -> list[str]:
    """All links; the ground is there whenever something hangs on it."""
    names = [link.name for link in description.links]
    if GROUND not in set(names) and any(GROUND in (j.parent, j.child) for j in description.joints):
        names.insert(0, GROUND)
    return names


def _check_ends(description: Description, links: Mapping[str, None]) -> None:
    described = {link.name for link in description.links}
    for joint in description.joints:
        for name, verb in ((joint.parent, "hangs on"), (joint.child, "moves")):
            if name not in links:
                raise DescriptionError(
                    f"{at(joint.where)}joint {joint.name!r} {verb} link {name!r}, which does not exist; "
                    f"{nearest(name, links)}Links: {listed(links)}",
                    joint=joint.name,
                    link=name,
                )
    for joint in description.joints:
        if joint.child == GROUND and GROUND not in described:
            raise DescriptionError(
                f"{at(joint.where)}joint {joint.name!r} moves the ground, which stands still; swap parent and child",
                joint=joint.name,
            )
    for frame in description.frames:
        if frame.link not in links and frame.link != GROUND:
            raise DescriptionError(
                f"{at(frame.where)}frame {frame.name!r} sits on link {frame.link!r}, which does not exist; "
                f"{nearest(frame.link, links)}Links: {listed(links)}",
                frame=frame.name,
                link=frame.link,
            )


def _check_one_parent(description: Description) -> dict[str, Joint]:
    moved_by: dict[str, Joint] = {}
    for joint in description.joints:
        if joint.child in moved_by:
            first = moved_by[joint.child]
            raise DescriptionError(
                f"{at(joint.where)}link {joint.child!r} has two parents: joint {first.name!r} hangs it on "
                f"{first.parent!r}, joint {joint.name!r} on {joint.parent!r}; in a tree a link has one; {REMEDY}",
                link=joint.child,
                joints=(first.name, joint.name),
            )
        moved_by[joint.child] = joint
    return moved_by


def _only_root(description: Description, links: list[str], moved_by: dict[str, Joint]) -> str:
    where = at(description.source)
    if not links:
        raise DescriptionError(f"{where}there is no link; a mechanism has at least one")
    roots = [name for name in links if name not in moved_by]
    if not roots:
        raise DescriptionError(
            f"{where}there is no root: every link is moved by a joint ({_cycle(links[0], moved_by)}); "
            f"one link must be moved by no joint; {REMEDY}",
        )
    if len(roots) > 1:
        raise DescriptionError(
            f"{where}there are {len(roots)} roots: no joint moves {listed(map(repr, roots))}; "
            "connect them by joints, fixed ones if they do not move",
            roots=tuple(roots),
        )
    return roots[0]


def _reached(description: Description, root: str, links: list[str]) -> list[Joint]:
    hanging: dict[str, list[Joint]] = {}
    for joint in description.joints:
        hanging.setdefault(joint.parent, []).append(joint)
    order: list[Joint] = []
    waiting = list(reversed(hanging.get(root, [])))
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(hanging.get(joint.child, [])))
    reached = {root, *(joint.child for joint in order)}
    if lost := [name for name in links if name not in reached]:
        moved_by = {joint.child: joint for joint in description.joints}
        raise DescriptionError(
            f"{at(description.source)}the joints form a cycle: {_cycle(lost[0], moved_by)}; in a tree every "
            f"link is reached from the root {root!r}; {REMEDY}",
            links=tuple(lost),
        )
    return order


def _cycle(name: str, moved_by: dict[str, Joint]) -> str:
    """Follow parents from `name` until one comes again, and write the round trip; a long one without its middle."""
    place = {name: 0}
    while (parent := moved_by[name].parent) not in place:
        place[parent] = len(place)
        name = parent
    path = list(place)[place[parent] :]
    trip = [path[0], *reversed(path)]
    if (omitted := len(trip) - 2 * SHOWN) > SHOWN:
        trip[SHOWN:-SHOWN] = [f"... ({omitted} links) ..."]
    return " → ".join(trip)
