"""Places of the joints in an engine's vectors, as plain data read from the engine's own model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from kinpair.errors import InputError, listed, nearest

_MUJOCO_SIZES = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # free, ball, slide, hinge: coordinates, rates


class Slot(NamedTuple):
    """Place where a joint starts among the coordinates and among the rates, and how many it has of each."""

    q: int
    nq: int
    v: int
    nv: int

    def before(self, other: Slot) -> bool:
        """True if the other starts where this one ends."""
        return (self.q + self.nq, self.v + self.nv) == (other.q, other.v)

    def joined(self, other: Slot) -> Slot:
        """Join this place and the next one."""
        return Slot(self.q, self.nq + other.nq, self.v, self.nv + other.nv)


@dataclass(frozen=True, slots=True)
class Layout:
    """The slots of an engine's moving joints, by name."""

    slots: Mapping[str, Slot]


def pinocchio_layout(model: Any, names: Mapping[str, str] | None = None) -> Layout:
    """The layout of a `pinocchio.Model`; `names` maps its joints to ours where they differ."""
    slots = map(Slot, model.idx_qs, model.nqs, model.idx_vs, model.nvs)
    return _layout("Pinocchio", zip(model.names, slots, strict=True), names or {})


def mujoco_layout(model: Any, names: Mapping[str, str] | None = None) -> Layout:
    """The layout of a `mujoco.MjModel`; its joint k goes by `joint k` if it has no name.

    Several joints side by side that are one of ours get the same name: names={"j_TX": "j", "j_TY": "j", ...}.
    """
    rows = (
        (model.joint(k).name or f"joint {k}", int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k]), size)
        for k, size in enumerate(_MUJOCO_SIZES[int(kind)] for kind in model.jnt_type)
    )
    return _layout("MuJoCo", ((name, Slot(q, nq, v, nv)) for name, q, v, (nq, nv) in rows), names or {})


def drake_layout(plant: Any, names: Mapping[str, str] | None = None) -> Layout:
    """The layout of a finalized Drake `MultibodyPlant` that holds this one mechanism."""
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    slots = (
        Slot(j.position_start(), j.num_positions(), j.velocity_start(), j.num_velocities()) for j in joints
    )
    return _layout("Drake", zip((j.name() for j in joints), slots, strict=True), names or {})


def _layout(engine: str, rows: Iterable[tuple[str, Slot]], names: Mapping[str, str]) -> Layout:
    """Joints that move, by the names they have here."""
    moving = [(name, Slot(*map(int, slot))) for name, slot in rows if slot.nv]
    known = [name for name, _ in moving]
    for name in names:
        if name not in known:
            raise InputError(
                f"names: {engine} has no moving joint {name!r}; {nearest(name, known)}"
                f"Its joints: {listed(known)}",
                joint=name,
            )
    slots: dict[str, Slot] = {}
    for name, slot in moving:
        ours = names.get(name, name)
        if ours in slots and not (name in names and slots[ours].before(slot)):
            raise InputError(
                f"{engine} has more than one joint for {ours!r}, here {name!r}; give each a name of its own "
                "by names={theirs: ours}. Several make one if they stand side by side and names says so",
                joint=ours,
            )
        slots[ours] = slots[ours].joined(slot) if ours in slots else slot
    return Layout(MappingProxyType(slots))
