"""A body welded to a link or frame of a description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinpair.description.parts import HERE, Description, Joint
from kinpair.description.place import Place
from kinpair.description.schema import link_from
from kinpair.description.warning_list import WarningList
from kinpair.errors import InputError


def with_payload(description: Description, frame: str, name: str, keys: Mapping[str, object]) -> Description:
    """The description with a link of these keys welded where the frame is, by a fixed joint of the same name."""
    parts = (*description.links, *description.joints, *description.frames)
    if any(part.name == name for part in parts):
        raise InputError(
            f"{description.name}: there is a link, joint or frame {name!r} already; give the payload another name=",
            name=name,
        )
    warnings = WarningList()
    link = link_from({"name": name, **keys}, Place(warnings, part=f"link {name!r}"))
    frames = {x.name: x for x in description.frames}
    on, origin = (frames[frame].link, frames[frame].origin) if frame in frames else (frame, HERE)
    return replace(
        description,
        links=(*description.links, link),
        joints=(*description.joints, Joint(name, "fixed", on, name, origin)),
        warnings=(*description.warnings, *warnings.sentences),
    )
