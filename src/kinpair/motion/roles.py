"""Joints of the legs of a machine: given, or guessed from names and geometry.

A role is `left_hip_yaw`, ..., `right_ankle_roll`. Words of names come first (hip, knee, ankle with yaw, roll, pitch,
and a side); joints without such words are found by geometry: the chain of hinges from the pelvis down to each foot, and
in it the axes (z: yaw, x: roll, y: pitch) from the top down. The machine is then renamed as the bundled biped is, so
that one class of gaits serves both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kinpair.description.parts import Description, Frame, Joint, Origin
from kinpair.description.schema import PARTS, ROLES, SIDES
from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.viewer.links import Meshes, looks_of

NAMES = {"hip_pitch": "hip", "ankle_pitch": "ankle"}  # of the bundled biped, where they differ from the role
REQUIRED = ("hip_pitch", "knee", "ankle_pitch")
AXES = {"yaw": 2, "roll": 0, "pitch": 1}
ALIGNED = 0.9  # of a unit vector: an axis along x, y or z
LETTERS = {"y": "yaw", "r": "roll", "p": "pitch", "yaw": "yaw", "roll": "roll", "pitch": "pitch"}
HINGES = ("revolute", "continuous")
THICK, ASSUMED = (
    0.006,
    0.08,
)  # [m]: points of a sole are within this of the lowest; ankle above a sole of unknown shape


@final
@dataclass(frozen=True, eq=False)
class Roles:
    """Joints by role, and notes about those that were guessed or are missing."""

    joints: Mapping[str, str]
    notes: tuple[str, ...]

    def missing(self) -> tuple[str, ...]:
        """Roles without a joint."""
        return tuple(x for x in ROLES if x not in self.joints)


def roles_of(m: Mechanism, given: Mapping[str, str] | None = None) -> Roles:
    """Roles of the joints: those given, those of the table `[gait]` of the file, the others guessed.

    InputError where a role or joint is not known, a guess is ambiguous (with the candidates), or a leg has no hip, knee
    or ankle that bends forward.
    """
    chosen = {**dict(m.model.description.gait), **(given or {})}
    hinges = [j.name for j in m.model.description.joints if j.kind in HINGES]
    for role, joint in chosen.items():
        if role not in ROLES:
            raise InputError(
                f"gait: role {role!r} is not known; {nearest(role, ROLES)}Roles: {listed(ROLES, 12)}",
                role=role,
            )
        if joint not in hinges:
            raise InputError(
                f"gait: {m.name} has no hinge {joint!r} for role {role!r}; {nearest(joint, hinges)}"
                f"Hinges: {listed(hinges)}",
                joint=joint,
            )
    notes: list[str] = []
    for role in ROLES:
        if role not in chosen and (found := _by_name(role, hinges, chosen)):
            chosen[role] = found
            notes.append(f"{role}: {found}, by its name")
    for side in SIDES:
        for role, joint in _by_geometry(m, side, chosen).items():
            chosen[role] = joint
            notes.append(f"{role}: {joint}, by its place and axis")
    roles = Roles({role: chosen[role] for role in ROLES if role in chosen}, tuple(notes))
    lacking = [x for x in roles.missing() if x.partition("_")[2] in REQUIRED]
    if lacking:
        raise InputError(
            f"gait: no joint of {m.name} was found for {listed(lacking)}; give "
            f"roles={{{lacking[0]!r}: 'name of the joint'}}. Hinges: {listed(hinges)}",
            roles=lacking,
        )
    lost = tuple(f"{x}: no joint; the leg does without" for x in roles.missing())
    return Roles(roles.joints, roles.notes + lost)


def _words(name: str) -> set[str]:
    """Words of a name in lower case; capital letters and signs separate them."""
    return set(re.findall(r"[a-z]+|\d+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()))


def _is_on(side: str, words: set[str]) -> bool:
    first = side[0]
    return bool({side, first, f"{first}leg", f"{side}leg", f"leg{first}"} & words)


def _by_name(role: str, hinges: list[str], chosen: Mapping[str, str]) -> str | None:
    """The only joint whose words say the role."""
    side, _, part = role.partition("_")
    joint, _, turn = part.partition("_")
    other = SIDES[1 - SIDES.index(side)]
    found: list[str] = []
    for name in hinges:
        words = _words(name)
        sided = any(_is_on(x, words - {"r"}) for x in SIDES)  # else "r" is the side, not roll
        turns = {LETTERS[x] for x in words if x in LETTERS and (x != "r" or sided)}
        if not turn:
            turns = set()
        elif not turns and turn == "pitch":
            turns = {"pitch"} if joint in words else set()
        if (
            joint in words
            and _is_on(side, words)
            and not _is_on(other, words - {"r", "l"})
            and (not turn or turn in turns)
        ):
            found.append(name)
    free = [x for x in found if x not in chosen.values()]
    if len(free) > 1:
        raise InputError(
            f"gait: {role} may be {listed(free)}; give roles={{{role!r}: ...}}", role=role, candidates=free
        )
    return free[0] if free else None


def _by_geometry(m: Mechanism, side: str, chosen: Mapping[str, str]) -> dict[str, str]:
    """Roles of one leg that are missing, by the chain of hinges to the foot and their axes."""
    missing = [x for x in PARTS if f"{side}_{x}" not in chosen]
    if not missing:
        return {}
    chain = _chain(m, side, chosen)
    free = [x for x in chain if x not in chosen.values()]
    q = m.neutral()
    turns = {name: _turn(m.jacobian(q, _link(m, name))[:3, m.v_names.index(name)]) for name in free}
    found: dict[str, str] = {}
    pitches = [
        x
        for x in chain
        if (turns.get(x) or "pitch") == "pitch" and (x in turns or _known_pitch(x, side, chosen))
    ]
    order = ("hip_pitch", "knee", "ankle_pitch")
    if len(pitches) > len(order):
        raise InputError(
            f"gait: {side} hip, knee and ankle may be {listed(pitches)}; give roles", candidates=pitches
        )
    found |= {
        f"{side}_{part}": name
        for part, name in zip(order, pitches, strict=False)
        if part in missing and name in free
    }
    knee = chain.index(pitches[1]) if len(pitches) > 1 else len(chain)
    for turn, upper, lower in (("yaw", "hip_yaw", None), ("roll", "hip_roll", "ankle_roll")):
        above = [x for x in free if turns[x] == turn and chain.index(x) < knee]
        below = [x for x in free if turns[x] == turn and chain.index(x) > knee]
        for part, names in ((upper, above), (lower, below)):
            if part in missing and names:
                if len(names) > 1:
                    raise InputError(
                        f"gait: {side}_{part} may be {listed(names)}; give roles", candidates=names
                    )
                found[f"{side}_{part}"] = names[0]
    return found


def _known_pitch(name: str, side: str, chosen: Mapping[str, str]) -> bool:
    return any(chosen.get(f"{side}_{part}") == name for part in ("hip_pitch", "knee", "ankle_pitch"))


def _turn(axis: np.ndarray) -> str:
    """yaw, roll or pitch by the axis in the world; "" where it is oblique."""
    return next((turn for turn, k in AXES.items() if abs(axis[k]) > ALIGNED * np.linalg.norm(axis)), "")


def _link(m: Mechanism, joint: str) -> str:
    return next(j.child for j in m.model.description.joints if j.name == joint)


def _chain(m: Mechanism, side: str, chosen: Mapping[str, str]) -> list[str]:
    """Hinges from the base to the lowest link on a side, or to a joint of the leg that is known."""
    into = {j.child: j for j in m.model.description.joints}
    q, sign = m.neutral(), 1.0 if side == "left" else -1.0
    known = [name for role, name in chosen.items() if role.startswith(side)]
    below = [link.name for link in m.model.description.links if link.name in into]
    places = {x: m.pose(q, x).position for x in below}
    own = [x for x in below if sign * places[x][1] > 1e-3]
    if known:
        deepest = {_link(m, x) for x in known}
        own = [x for x in own if deepest & set(_above(into, x))] or own
    if not own:
        raise InputError(
            f"gait: {m.name} has no link on its {side} side (y {'>' if sign > 0 else '<'} 0); give roles"
        )
    foot = min(own, key=lambda x: (places[x][2], x))
    return [j.name for j in reversed([into[x] for x in _above(into, foot)]) if j.kind in HINGES]


def _above(into: Mapping[str, Joint], link: str) -> list[str]:
    found: list[str] = []
    while link in into:
        found.append(link)
        link = into[link].parent
    return found


def renamed(
    m: Mechanism, roles: Roles, soles: Mapping[str, float], posture: Mapping[str, float]
) -> Mechanism:
    """The machine with joints, feet and soles named as those of the bundled biped.

    Joints without a role are welded where their posture is zero. soles: height of the ankle's link above its sole [m].
    """
    description = m.model.description
    bases = [j for j in description.joints if j.kind == "free"]
    if len(bases) != 1:
        raise InputError(f"gait: {m.name} has {len(bases)} free bases; load it with base='free'")
    names = {joint: _name(role) for role, joint in roles.joints.items()} | {bases[0].name: "base"}
    feet = {_link(m, _lowest(roles, side)): f"{side}-foot" for side in SIDES}
    joints = [_joint(j, names, feet, posture) for j in description.joints]
    links = [replace(x, name=feet.get(x.name, x.name)) for x in description.links]
    soled = [f"{side}-sole" for side in SIDES]
    frames = [replace(x, link=feet.get(x.link, x.link)) for x in description.frames if x.name not in soled]
    frames += [Frame(f"{side}-sole", f"{side}-foot", Origin(xyz=(0.0, 0.0, -soles[side]))) for side in SIDES]
    parts: dict[str, Any] = {"joints": tuple(joints), "links": tuple(links), "frames": tuple(frames)}
    own: Description = replace(description, **parts, keyframes=(), actuators=(), warnings=(), gait=())
    return Mechanism(build(own), compiled=m.compiled)


def _lowest(roles: Roles, side: str) -> str:
    """The joint of a leg that carries the foot."""
    return roles.joints.get(f"{side}_ankle_roll") or roles.joints[f"{side}_ankle_pitch"]


def foot_links(m: Mechanism, roles: Roles) -> dict[str, str]:
    """Link of the foot by side."""
    return {side: _link(m, _lowest(roles, side)) for side in SIDES}


def _name(role: str) -> str:
    side, _, part = role.partition("_")
    return f"{side}-{NAMES.get(part, part).replace('_', '-')}"


def _joint(
    j: Joint, names: Mapping[str, str], feet: Mapping[str, str], posture: Mapping[str, float]
) -> Joint:
    own: dict[str, Any] = {"name": names.get(j.name, j.name)}
    own |= {"parent": feet.get(j.parent, j.parent), "child": feet.get(j.child, j.child)}
    if j.kind in HINGES and j.name not in names and not posture.get(j.name):
        empty = dict.fromkeys(
            ("lower", "upper", "velocity", "acceleration", "jerk", "effort", "damping", "friction"), ()
        )
        return replace(j, **own, **empty, kind="fixed", mimic=None, rotor_inertia=0.0)
    return replace(j, **own)


def sole_of(m: Mechanism, foot: str) -> tuple[float, tuple[tuple[float, float], tuple[float, float]], str]:
    """Height of a foot's link above its sole, outline of the sole about it [m], and a note where they were assumed."""
    points = _points(m, foot)
    if len(points):
        low = float(points[:, 2].min())
        flat = points[points[:, 2] < low + THICK]
        (x0, y0), (x1, y1) = flat[:, :2].min(axis=0).tolist(), flat[:, :2].max(axis=0).tolist()
        half = min(abs(y0), abs(y1))
        return -low, ((x0, x1), (-half, half)), ""
    height = float(m.pose(m.neutral(), foot).position[2]) - min(
        float(m.pose(m.neutral(), x).position[2]) for x in m.frames
    )
    own = height if height > THICK else ASSUMED
    note = f"the file has no shape of {foot!r}: a sole {own:.3g} m below it, 0.20 m by 0.10 m, is assumed; give soles="
    return own, ((-0.08, 0.12), (-0.05, 0.05)), note


def _points(m: Mechanism, foot: str) -> np.ndarray:
    """Points of the shapes of a foot in its axes (n, 3)."""
    link = next(x for x in m.model.description.links if x.name == foot)
    pieces = looks_of([link], m.model.description, Meshes()).get(foot, []) if link.shapes else []
    return np.concatenate([x.surface.points for x in pieces]) if pieces else np.zeros((0, 3))
