"""Parts of an MJCF file that act on the motion in MuJoCo and are not simulated here: flexes, plugins."""

from __future__ import annotations

from kinpair.description.mjcf_bodies import Body
from kinpair.description.mjcf_xml import Tag
from kinpair.description.omitted import Omitted

SECTIONS = {  # section: elements in it that act on the motion, and what they are called
    "deformable": {"flex": "flex element"},
}


def omitted_parts(root: Tag, bodies: list[Body]) -> Omitted:
    """Collect everything but constraints, actuators and geoms, which are collected where they are read."""
    omitted = Omitted()
    for section, kinds in SECTIONS.items():
        for tag in _inside(root, section, *kinds):
            omitted.add(kinds[tag.name], _label(tag), tag.where)
    for body in bodies:
        for tag in body.plugins:
            omitted.add(
                "plugin", f"{tag.text('plugin') or tag.text('instance')!r} on {body.name!r}", tag.where
            )
    return omitted


def _label(tag: Tag) -> str:
    """Return the name of an element."""
    return repr(tag.text("name")) if tag.text("name") else "unnamed"


def _inside(root: Tag, section: str, *names: str) -> list[Tag]:
    return [tag for x in root.each(section) for tag in x.each(*names)]
