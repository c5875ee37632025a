"""The native format: a mechanism as a TOML file, see docs/toml.md."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinpair.description import fields as f
from kinpair.description.actuator_schema import actuator_from
from kinpair.description.compound import COMPOUNDS, Compound, Touching, has_joint
from kinpair.description.compound import loop_from as loop_with_joint
from kinpair.description.constraint_parts import ConstraintPart
from kinpair.description.constraint_schema import CONSTRAINTS
from kinpair.description.contact_shapes import contact_from, exclusion_from, max_contacts_from, pair_from
from kinpair.description.files import read_text, toml_table
from kinpair.description.friction_laws import brake_from, with_brakes
from kinpair.description.parts import GRAVITY, Contacts, Description
from kinpair.description.place import Key, Place, Tables, checked, numbered, table, tables
from kinpair.description.repeated import chain_from, warn_of_closed
from kinpair.description.schema import (
    LIMITS,
    distinct,
    frame_from,
    gait_from,
    joint_from,
    keyframe_from,
    link_from,
    spring_in_file,
)
from kinpair.description.warning_list import WarningList


def read_toml(path: str | os.PathLike[str], *, warnings: WarningList) -> Description:
    """The mechanism in a TOML file."""
    return parse_toml(read_text(path), source=str(path), warnings=warnings)


def parse_toml(text: str, *, source: str, warnings: WarningList) -> Description:
    """The mechanism in a TOML text; `source` is its name in messages."""
    place = Place(warnings, source)
    keys, lines = toml_table(text, source), _header_lines(text)
    top = checked(keys, TOP, place)
    links, joints = _of_dh(top["dh"], lines.get("dh.row", []), place) if "dh" in top else ([], [])
    parts = {word: _parts(word, top.get(word, []), lines.get(word, []), place) for word in PARTS}
    chains, stated = parts["chain"], _constraints(top, lines, place)
    compounds = [x for x in stated if isinstance(x, Compound)]
    touching = [x for x in stated if isinstance(x, Touching)]
    plain = [x for x in stated if not isinstance(x, Touching)]
    constraints = [x.constraint if isinstance(x, Compound) else x for x in plain]
    warn_of_closed(chains, constraints)
    in_chains = [x for chain in chains for x in chain.links], [x for chain in chains for x in chain.joints]
    every_joint = [*joints, *parts["joint"], *in_chains[1], *(x.joint for x in compounds)]
    description = Description(
        top.get("name", Path(source).stem),
        distinct("link", [*links, *parts["link"], *in_chains[0], *(x.link for x in compounds)]),
        with_brakes(distinct("joint", every_joint), distinct("brake", parts["brake"])),
        distinct("frame", [*parts["frame"], *(chain.end for chain in chains)]),
        top.get("gravity", GRAVITY),
        distinct("constraint", constraints),
        distinct("keyframe", parts["keyframe"]),
        distinct("spring", parts["spring"]),
        distinct("actuator", parts["actuator"]),
        contacts=Contacts(
            distinct("contact", [*parts["contact"], *(geom for x in touching for geom in x.geoms)]),
            (*parts["contact_pair"], *(pair for x in touching for pair in x.pairs)),
            tuple(parts["contact_exclude"]),
            top.get("max_contacts"),
        ),
        limits=top.get("limits", ""),
        gait=top.get("gait", ()),
        source=source,
        warnings=tuple(warnings.sentences),
    )
    copies = top.get("copy", [])
    for keys, there in zip(copies, numbered("copy", copies, lines.get("copy", []), place), strict=True):
        from kinpair.description.repeated import with_copies

        description = with_copies(description, keys, there)
    return description


def _of_dh(table: Any, lines: list[int], place: Place) -> tuple[list[Any], list[Any]]:
    """Return links and joints of a table of Denavit–Hartenberg parameters."""
    from kinpair.description.dh import dh_parts

    return dh_parts(table, lines, place)


def _parts(word: str, tables: Tables, lines: list[int], place: Place) -> list[Any]:
    places = numbered(word, tables, lines, place)
    for keys, there in zip(tables, places, strict=True):
        if "gravity" in keys:
            raise there.error(
                "gravity belongs to the mechanism; write it above the first [[link]] or [[joint]]"
            )
    return [MAKERS[word](keys, there) for keys, there in zip(tables, places, strict=True)]


def _constraints(
    top: Mapping[str, Any], lines: Mapping[str, list[int]], place: Place
) -> list[ConstraintPart | Compound | Touching]:
    """Return constraints and compounds in the order of their headers; without headers, kind by kind."""
    numbered: list[tuple[int, ConstraintPart | Compound | Touching]] = []
    for word in (*CONSTRAINTS, *COMPOUNDS):
        tables = top.get(word, [])
        headers = lines.get(word, [])
        parts = _parts(word, tables, headers, place)
        numbered += zip(headers if len(headers) == len(tables) else [0] * len(tables), parts, strict=True)
    return [part for _, part in sorted(numbered, key=lambda numbered_part: numbered_part[0])]


TOP: dict[str, Key] = {
    "name": Key(f.text),
    "gravity": Key(f.gravity, "m/s²"),
    "limits": Key(LIMITS, "what runs do at the limits of joints"),
    "max_contacts": Key(max_contacts_from, "largest number of contact points"),
    "link": Key(tables),
    "joint": Key(tables),
    "chain": Key(tables),
    "copy": Key(tables),
    "frame": Key(tables),
    "keyframe": Key(tables),
    "spring": Key(tables),
    "actuator": Key(tables),
    "brake": Key(tables),
    "contact": Key(tables),
    "contact_pair": Key(tables),
    "contact_exclude": Key(tables),
    "dh": Key(table),
    "gait": Key(gait_from),
    **dict.fromkeys((*CONSTRAINTS, *COMPOUNDS), Key(tables)),
}
PARTS: dict[str, Any] = {
    "link": link_from,
    "joint": joint_from,
    "chain": chain_from,
    "frame": frame_from,
    "keyframe": keyframe_from,
    "spring": spring_in_file,
    "actuator": actuator_from,
    "brake": brake_from,
    "contact": contact_from,
    "contact_pair": pair_from,
    "contact_exclude": exclusion_from,
}
MAKERS: dict[str, Any] = {
    **PARTS,
    **{word: kind.make for word, kind in CONSTRAINTS.items()},
    **COMPOUNDS,
    "loop": lambda keys, place: (loop_with_joint if has_joint(keys) else CONSTRAINTS["loop"].make)(
        keys, place
    ),
}

_QUIET = re.compile(
    r'"""(?:\\.|[^\\])*?"""' r"|'''.*?'''" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'" r"|#[^\n]*", re.DOTALL
)
_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*(\w+(?:[ \t]*\.[ \t]*\w+)*)[ \t]*\]\]", re.MULTILINE)


def _header_lines(text: str) -> dict[str, list[int]]:
    """The lines of the headers [[word]], by word; texts and comments are not looked at."""
    plain = _QUIET.sub(lambda quiet: "\n" * quiet[0].count("\n"), text)
    lines: dict[str, list[int]] = {}
    line, start = 1, 0
    for header in _HEADER.finditer(plain):
        line, start = line + plain.count("\n", start, header.start()), header.start()
        lines.setdefault("".join(header[1].split()), []).append(line)
    return lines
