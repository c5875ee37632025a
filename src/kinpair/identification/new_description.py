"""Identified values as a description, in TOML, and in the URDF file that the mechanism was read from."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.description.files import read_text
from kinpair.description.parts import Description, Joint, Link
from kinpair.description.toml_writer import to_toml
from kinpair.errors import InputError
from kinpair.identification.columns import Layout, body_numbers, laws_of

if TYPE_CHECKING:
    from kinpair.identification.fitted import Fitted


def _links(layout: Layout, theta: np.ndarray) -> dict[str, Link]:
    """Links with new values: that of each body has all of it, those welded to it nothing."""
    model = layout.m.model
    links = {x.name: x for x in model.description.links}
    for at, i in zip(layout.bodies_of_ten, model.moving, strict=False):
        own = model.names[i]
        numbers = body_numbers(theta[at])
        I = numbers["inertia"]
        tensor = tuple(float(I[k]) for k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        for name, place in model.places.items():
            if place.body == i and name in links and name != own:
                links[name] = replace(links[name], mass=0.0, inertia=(0.0,) * 6)
        links[own] = replace(
            links[own], mass=numbers["mass"], com=tuple(map(float, numbers["centre"])), inertia=tensor
        )
    return links


def _joint_values(layout: Layout, theta: np.ndarray, row: int) -> tuple[float | None, dict[Any, float]]:
    """Rotor inertia at the joint, and friction by term, of one row."""
    rotor, terms = None, dict[Any, float]()
    for x, value in zip(layout.parameters, theta, strict=True):
        if x.owner == row and x.group == "rotor":
            rotor = float(value)
        if x.owner == row and x.group == "friction" and x.term is not None:
            terms[x.term] = float(value)
    return rotor, terms


def _joint(layout: Layout, theta: np.ndarray, joint: Joint, row: int, has_actuator: bool) -> Joint:
    rotor, terms = _joint_values(layout, theta, row)
    laws = laws_of(terms, offset_is_friction=not layout.offsets_measured)
    joint = replace(joint, damping=(), friction=laws)
    if rotor is not None and not has_actuator:
        joint = replace(joint, rotor_inertia=rotor / joint.gear_ratio**2)
    return joint


def described(layout: Layout, theta: np.ndarray) -> Description:
    """The description with masses, inertias, rotor inertias and friction of θ."""
    m = layout.m
    description = m.model.description
    row_of = {m.v_names[v]: k for k, v in enumerate(layout.rows)}
    actuated = {x.joint for x in description.actuators}
    links = _links(layout, theta)
    joints = tuple(
        _joint(layout, theta, x, row_of[x.name], x.name in actuated) if x.name in row_of else x
        for x in description.joints
    )
    return replace(
        description, links=tuple(links[x.name] for x in description.links), joints=joints, warnings=()
    )


def write_toml_file(result: Fitted, path: str | os.PathLike[str]) -> Path:
    """Write the new description; what it cannot contain is a comment at its start."""
    head = [
        f"# identified from {', '.join(x.name for x in result.logs)}; relative error of the fit {result.fit.total:.3%}"
    ]
    head += [f"# not contained: {x} = {v:.6g}" for x, v in _left_out(result)]
    file = Path(path)
    file.write_text(
        "\n".join([*head, to_toml(described(result.layout, result.theta))]), encoding="utf-8", newline="\n"
    )
    return file


def _left_out(result: Fitted) -> list[tuple[str, float]]:
    """Parameters that a description has no place for: those of coupled motors, offsets of sensors."""
    return [
        (x.name, float(v))
        for x, v in zip(result.layout.parameters, result.theta, strict=True)
        if x.group == "motor"
        or (x.term is not None and x.term.kind == "offset" and result.layout.offsets_measured)
    ]


def write_urdf_file(result: Fitted, path: str | os.PathLike[str]) -> Path:
    """Write the URDF file of the mechanism: values of <inertial> and <dynamics> replaced, all else as it is.

    URDF has viscous and Coulomb friction alone: those nearest to the identified friction on the log are written.
    """
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    source = result.mechanism.model.description.source
    if not source.endswith((".urdf", ".xml")):
        raise InputError(
            f"{source or result.mechanism.name} is no URDF file; write TOML with result.toml(path)"
        )
    root = etree.fromstring(read_text(source).encode(), etree.XMLParser(remove_blank_text=False))
    if root.tag != "robot":
        raise InputError(f"{source} is no URDF file; write TOML with result.toml(path)")
    links, plain = _links(result.layout, result.theta), _plain_friction(result)
    changed = {result.mechanism.model.names[i] for i in result.mechanism.model.moving}
    welded = {n for n, p in result.mechanism.model.places.items() if p.body and n not in changed}
    for node in root.findall("link"):
        name = node.get("name")
        if name in changed:
            _write_inertial(node, links[name])
        elif name in welded and node.find("inertial") is not None:
            _remove(node, node.find("inertial"))
    for node in root.findall("joint"):
        if node.get("name") in plain:
            damping, friction = plain[node.get("name")]
            _child(node, "dynamics").attrib.update(
                {"damping": f"{damping:.9g}", "friction": f"{friction:.9g}"}
            )
    file = Path(path)
    file.write_bytes(etree.tostring(root.getroottree(), xml_declaration=True, encoding="utf-8"))
    return file


def _remove(parent: Any, node: Any) -> None:
    """Remove a node, keeping the text behind it."""
    before, tail = node.getprevious(), node.tail or ""
    if before is not None:
        before.tail = (before.tail or "") + tail
    else:
        parent.text = (parent.text or "") + tail
    parent.remove(node)


def _child(node: Any, tag: str) -> Any:
    from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

    found = node.find(tag)
    return etree.SubElement(node, tag) if found is None else found


def _write_inertial(node: Any, link: Link) -> None:
    inertial = _child(node, "inertial")
    origin, mass, inertia = (_child(inertial, tag) for tag in ("origin", "mass", "inertia"))
    origin.attrib.update({"xyz": " ".join(f"{x:.9g}" for x in link.com), "rpy": "0 0 0"})
    mass.attrib["value"] = f"{link.mass:.9g}"
    names = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    inertia.attrib.update({k: f"{x:.9g}" for k, x in zip(names, link.inertia, strict=True)})


def _plain_friction(result: Fitted) -> dict[str, tuple[float, float]]:
    """Viscous and Coulomb friction of each joint that are nearest to its identified friction on the log."""
    found: dict[str, tuple[float, float]] = {}
    for j in result.layout.driven:
        own = [k for k, x in enumerate(result.layout.parameters) if x.group == "friction" and x.owner == j]
        terms = {result.layout.parameters[k].term.kind: k for k in own if result.layout.parameters[k].term}  # type: ignore[union-attr]
        if "viscous" not in terms or "coulomb" not in terms:
            continue
        acts = [k for k in own if result.layout.parameters[k].term.kind != "offset"]  # type: ignore[union-attr]
        A = result.rows.A[result.rows.joint == j]
        if len(A) < 2:
            continue
        pair = [terms["viscous"], terms["coulomb"]]
        x = np.linalg.lstsq(A[:, pair], A[:, acts] @ result.theta[acts], rcond=None)[0]
        found[result.joints[j]] = float(max(x[0], 0.0)), float(max(x[1], 0.0))
    return found
