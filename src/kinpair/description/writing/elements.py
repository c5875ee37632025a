"""XML elements with numbers that read back exactly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree as ET

from kinpair.description.parts import Origin
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import to_quaternion, to_rpy

Element = ET.Element


def child(parent: Element, tag: str, text: str = "", /, **attributes: Any) -> Element:
    """Add an element; numbers and lists of numbers become texts, None and "" are left out."""
    words = {key.rstrip("_"): _text(value) for key, value in attributes.items() if value not in (None, "")}
    element = ET.SubElement(parent, tag, words)
    if text:
        element.text = text
    return element


def _text(value: Any) -> str:
    return value if isinstance(value, str) else numbers(value if isinstance(value, Iterable) else (value,))


def numbers(values: Iterable[float]) -> str:
    """Return numbers with as many digits as they need to read back exactly."""
    return " ".join(_number(float(x)) for x in values)


def _number(x: float) -> str:
    return str(int(x)) if x.is_integer() and abs(x) < 1e15 else repr(x)


def rpy(origin: Origin) -> str:
    """Return the turn of a frame about fixed axes, as it was written if it was written so."""
    return numbers(origin.turn if len(origin.turn) == 3 else to_rpy(origin.pose().R))


def wxyz(pose: Pose) -> str:
    """Return the quaternion of a pose, scalar first."""
    x, y, z, w = to_quaternion(pose.R).tolist()
    return numbers((w, x, y, z))


def xyzw(pose: Pose) -> str:
    """Return the quaternion of a pose, scalar last."""
    return numbers(to_quaternion(pose.R).tolist())


def text_of(root: Element) -> str:
    """Return the document, indented."""
    ET.indent(root)
    return f'<?xml version="1.0"?>\n{ET.tostring(root, encoding="unicode")}\n'
