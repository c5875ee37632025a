"""The native format: a mechanism as a TOML file, see docs/toml.md."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinpair.description import fields as f
from kinpair.description.condition_schema import CONDITIONS
from kinpair.description.conditions import Condition
from kinpair.description.dh import dh_parts
from kinpair.description.doubts import Doubts
from kinpair.description.parts import GRAVITY, Description
from kinpair.description.place import Key, Place, Tables, checked, numbered, table, tables
from kinpair.description.schema import distinct, frame_from, joint_from, keyframe_from, link_from
from kinpair.description.text import read_text
from kinpair.errors import DescriptionError


def read_toml(path: str | os.PathLike[str], *, doubts: Doubts) -> Description:
    """The mechanism in a TOML file."""
    return parse_toml(read_text(path), source=str(path), doubts=doubts)


def parse_toml(text: str, *, source: str, doubts: Doubts) -> Description:
    """The mechanism in a TOML text; `source` is its name in messages."""
    place = Place(doubts, source)
    top = checked(toml_table(text, source), TOP, place)
    lines = _header_lines(text)
    links, joints = dh_parts(top["dh"], lines.get("dh.row", []), place) if "dh" in top else ([], [])
    made = {word: _parts(word, top.get(word, []), lines.get(word, []), place) for word in PARTS}
    return Description(
        top.get("name", Path(source).stem),
        distinct("link", [*links, *made["link"]]),
        distinct("joint", [*joints, *made["joint"]]),
        distinct("frame", made["frame"]),
        top.get("gravity", GRAVITY),
        distinct("condition", _conditions(top, lines, place)),
        distinct("keyframe", made["keyframe"]),
        source=source,
        doubts=tuple(doubts.sentences),
    )


def _parts(word: str, given: Tables, lines: list[int], place: Place) -> list[Any]:
    places = numbered(word, given, lines, place)
    for keys, there in zip(given, places, strict=True):
        if "gravity" in keys:
            raise there.error(
                "gravity belongs to the mechanism; write it above the first [[link]] or [[joint]]"
            )
    return [MADE[word](keys, there) for keys, there in zip(given, places, strict=True)]


def _conditions(top: Mapping[str, Any], lines: Mapping[str, list[int]], place: Place) -> list[Condition]:
    """In the order of their headers; without headers, kind by kind."""
    found: list[tuple[int, Condition]] = []
    for word in CONDITIONS:
        given = top.get(word, [])
        headers = lines.get(word, [])
        parts = _parts(word, given, headers, place)
        found += zip(headers if len(headers) == len(given) else [0] * len(given), parts, strict=True)
    return [part for _, part in sorted(found, key=lambda numbered_part: numbered_part[0])]


TOP: dict[str, Key] = {
    "name": Key(f.text),
    "gravity": Key(f.vector, "m/s²"),
    "link": Key(tables),
    "joint": Key(tables),
    "frame": Key(tables),
    "keyframe": Key(tables),
    "dh": Key(table),
    **dict.fromkeys(CONDITIONS, Key(tables)),
}
PARTS: dict[str, Any] = {
    "link": link_from,
    "joint": joint_from,
    "frame": frame_from,
    "keyframe": keyframe_from,
}
MADE: dict[str, Any] = {**PARTS, **{word: kind.made for word, kind in CONDITIONS.items()}}

_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def toml_table(text: str, source: str) -> dict[str, object]:
    """The keys of a TOML text; `source` is its name in messages."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as reason:
        found = _AT.search(str(reason))
        line = found[1] or str(text.count("\n") + 1) if found else ""
        trouble = _AT.sub("", str(reason))
        raise DescriptionError(
            f"{source}{':' if line else ''}{line}: is not TOML: {trouble}", path=source, line=line
        ) from None


_QUIET = re.compile(
    r'"""(?:\\.|[^\\])*?"""' r"|'''.*?'''" r'|"(?:\\.|[^"\\\n])*"' r"|'[^'\n]*'" r"|#[^\n]*", re.DOTALL
)
_HEADER = re.compile(r"^[ \t]*\[\[[ \t]*(\w+(?:[ \t]*\.[ \t]*\w+)*)[ \t]*\]\]", re.MULTILINE)


def _header_lines(text: str) -> dict[str, list[int]]:
    """The lines of the headers [[word]], by word; texts and comments are not looked at."""
    plain = _QUIET.sub(lambda quiet: "\n" * quiet[0].count("\n"), text)
    lines: dict[str, list[int]] = {}
    for header in _HEADER.finditer(plain):
        word = "".join(header[1].split())
        lines.setdefault(word, []).append(plain.count("\n", 0, header.start()) + 1)
    return lines
