"""A small picture of every pair, constraint, force and actuator, for the pages that describe them.

`python docs/pictures/parts.py` writes them to docs/pictures/parts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kinpair as kp

FOLDER = Path(__file__).parent / "parts"
WIDTH, HEIGHT, COLOURS = 300, 225, 64
BAR = {"mass": 1.0, "com": [0.3, 0, 0], "inertia": [0.002, 0.03, 0.03]}
LOOK = [{"box": [0.48, 0.08, 0.08], "xyz": [0.38, 0, 0]}, {"box": [0.16, 0.03, 0.03], "xyz": [0.08, 0, 0]}]
BLOCK = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01], "visual": [{"box": [0.2, 0.2, 0.2]}]}
STAND = {"visual": [{"box": [0.3, 0.3, 0.05], "xyz": [0, 0, -0.2]}]}


def pair(kind: str, *states: list[float], axis: str = "z", **keys: Any) -> Callable[[], Any]:
    """A bar on a stand, moved by one pair."""

    def draw() -> Any:
        b = kp.Builder(kind)
        b.link("stand", **STAND)
        b.link("bar", **BAR, visual=LOOK)
        b.joint("held", "fixed", "ground", "stand")
        own = {} if kind in ("spherical", "free", "fixed") else {"axis": axis}
        b.joint(kind, kind, "stand", "bar", **own, **keys)
        m = kp.build(b)
        return m, np.array(states or [m.neutral()])

    return draw


def quaternion(angle: float, axis: tuple[float, float, float]) -> list[float]:
    return [*(np.sin(angle / 2) * np.array(axis)), np.cos(angle / 2)]


def bundled(name: str, *states: Any) -> Callable[[], Any]:
    """An example at its start, or elsewhere."""

    def draw() -> Any:
        m = kp.example(name)
        return m, np.array(states or [m.start()])

    return draw


def assembled(name: str, joint: str, *values: float) -> Callable[[], Any]:
    def draw() -> Any:
        m = kp.example(name)
        return m, np.array([m.assemble({joint: x}, fixed=[joint]) for x in values])

    return draw


def spring(**keys: Any) -> Callable[[], Any]:
    """A block that hangs on a spring or rope."""

    def draw() -> Any:
        b = kp.Builder("spring").link("block", **BLOCK).link("beam", visual=[{"box": [0.5, 0.2, 0.04]}])
        b = b.joint("held", "fixed", "ground", "beam", xyz=[0, 0, 0.82])
        b = b.joint("slide", "prismatic", "ground", "block", axis="z")
        b = b.spring("spring", "ground", "block", xyz=[0, 0, 0.8], child_xyz=[0, 0, 0.1], **keys)
        return kp.build(b), np.array([[0.0]])

    return draw


def driven(kind: str, joint: str, axis: str, **keys: Any) -> Callable[[], Any]:
    """A bar or a block that an actuator moves."""

    def draw() -> Any:
        slides = joint == "prismatic"
        b = kp.Builder(kind).link("moved", **(BLOCK if slides else {**BAR, "visual": LOOK}))
        b = b.joint("joint", joint, "ground", "moved", axis=axis)
        b = b.actuator("drive", "joint", kind, **keys)
        return kp.build(b), np.array([[0.15 if slides else 0.4]])

    return draw


def joint_spring(joint: str) -> Callable[[], Any]:
    def draw() -> Any:
        slides = joint == "prismatic"
        wall = {"visual": [{"box": [0.04, 0.4, 0.4]}]} if slides else STAND
        b = kp.Builder("spring").link("wall", **wall)
        b = b.link("moved", **(BLOCK if slides else {**BAR, "visual": LOOK}))
        b = b.joint("held", "fixed", "ground", "wall", xyz=[-0.5 if slides else 0.0, 0, 0])
        b = b.joint("joint", joint, "ground", "moved", axis="x" if slides else "z", stiffness=20.0)
        return kp.build(b), np.array([[0.0 if slides else 0.4]])

    return draw


MOTOR = {"resistance": 1.0, "torque_constant": 0.1, "rotor_inertia": 1e-4}
OIL = {"area": 1e-3, "volume": 1e-3, "bulk_modulus": 1e9, "flow_gain": 0.1, "pressure_flow": 1e-11}
TURNED, LIFTED = quaternion(0.6, (0, 0, 1)), quaternion(-0.5, (0, 1, 0))
PICTURES: dict[str, Callable[[], Any]] = {
    "revolute": pair("revolute", [0.0], [0.5], [1.0]),
    "prismatic": pair("prismatic", [0.0], [0.2], [0.4], axis="x"),
    "helical": pair("helical", [0.0], [0.8], [1.6], pitch=0.15),
    "cylindrical": pair("cylindrical", [0.0, 0.0], [0.5, 0.15], [1.0, 0.3]),
    "universal": pair("universal", [0.0, 0.0], [0.4, 0.3], [0.8, 0.6]),
    "spherical": pair("spherical", [0, 0, 0, 1], TURNED, LIFTED),
    "planar": pair("planar", [0, 0, 0], [0.3, 0.2, 0.5], [0.6, 0.1, 1.0]),
    "free": pair("free", [0, 0, 0.1, 0, 0, 0, 1], [0.3, 0.2, 0.3, *TURNED], [0.5, -0.2, 0.5, *LIFTED]),
    "fixed": pair("fixed"),
    "loop": assembled("four-bar", "crank", 0.2, 1.2, 2.2),
    "distance": bundled("delta"),
    "rolling": bundled("rolling-disk"),
    "wheels": bundled("diff-drive"),
    "coupling": bundled("gripper"),
    "spring": spring(stiffness=100.0, rest_length=0.5),
    "rope": spring(stiffness=1e4, rest_length=0.7, tension_only=True),
    "joint-spring": joint_spring("revolute"),
    "slide-spring": joint_spring("prismatic"),
    "effort": driven("effort", "revolute", "z", effort=10.0),
    "dc-motor": driven("dc-motor", "revolute", "z", **MOTOR),
    "hydraulic-cylinder": driven("hydraulic-cylinder", "prismatic", "x", stroke=0.5, **OIL),
    "cylinders": bundled("excavator"),
    "servos": bundled("motor-arm"),
}


def write(names: list[str]) -> None:
    """Draw, and store with few colours: small files."""
    from PIL import Image

    FOLDER.mkdir(exist_ok=True)
    for name in names:
        mechanism, states = PICTURES[name]()
        file = FOLDER / f"{name}.png"
        mechanism.picture(file, states, overlay=True, width=WIDTH, height=HEIGHT)
        few = Image.open(file).convert("RGB").quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
        few.save(file, optimize=True)
        print(name, file.stat().st_size)


if __name__ == "__main__":
    write(sys.argv[1:] or list(PICTURES))
