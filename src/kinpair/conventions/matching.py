"""Assignment of an engine's joints to ours, and their forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinpair.conventions.forms import Engine, Form
from kinpair.conventions.layout import Layout, Slot
from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.spatial.rotation import IDENTITY


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """A joint on both sides: its entries here and there."""

    name: str
    form: Form
    own_q: slice
    own_v: slice
    own_unit: slice  # entries of our q that make a unit vector
    q: slice
    v: slice

    @property
    def unit(self) -> slice:
        """Entries of the engine's q that make a unit vector."""
        return slice(self.q.start + self.form.unit.start, self.q.start + self.form.unit.stop)


def matched(engine: Engine, mechanism: Mechanism, layout: Layout | None) -> tuple[Match, ...]:
    """Every moving joint of the mechanism with its place in the engine's vectors, in our order."""
    model = mechanism.model
    moving = {model.joint_names[i]: i for i in model.moving if model.body[i].pair.nv}
    kinds = {name: model.body[moving[name]].pair.kind for name in mechanism.joint_names if name in moving}
    slots = _in_order(engine, kinds) if layout is None else _by_name(engine, mechanism, kinds, layout)
    return tuple(_match(engine, mechanism, name, kinds[name], moving[name], slots[name]) for name in kinds)


def _in_order(engine: Engine, kinds: Mapping[str, str]) -> dict[str, Slot]:
    """Slots one after another in the order of the description, each joint in the engine's default form."""
    slots: dict[str, Slot] = {}
    q = v = 0
    for name, kind in kinds.items():
        form = engine.forms[kind][0]
        slots[name] = Slot(q, form.nq, v, form.nv)
        q, v = q + form.nq, v + form.nv
    return slots


def _by_name(
    engine: Engine, mechanism: Mechanism, kinds: Mapping[str, str], layout: Layout
) -> Mapping[str, Slot]:
    """Slots by name; one free joint left over here and one joint of six degrees there are the same."""
    here = [name for name in kinds if name not in layout.slots]
    there = [name for name in layout.slots if name not in kinds]
    free = [name for name in here if kinds[name] == "free"]
    six = [name for name in there if layout.slots[name].nv == 6]
    slots = dict(layout.slots)
    if len(free) == len(six) == 1:
        slots[free[0]] = slots.pop(six[0])
        here.remove(free[0])
        there.remove(six[0])
    if here or there:
        raise InputError(
            f"{mechanism.name}: joints do not match: only here {listed(here) or 'none'}; "
            f"only in {engine.name} {listed(there) or 'none'}; "
            "give the layout names={theirs: ours}, or load the same mechanism (base='free' or 'fixed')",
            only_here=tuple(here),
            only_there=tuple(there),
        )
    return slots


def _match(engine: Engine, mechanism: Mechanism, name: str, kind: str, i: int, slot: Slot) -> Match:
    model, pair = mechanism.model, mechanism.model.body[i].pair
    form = next((f for f in engine.forms[kind] if (f.nq, f.nv) == (slot.nq, slot.nv)), None)
    if form is None:
        known = listed(f"{f.nq} and {f.nv}" for f in engine.forms[kind])
        raise InputError(
            f"{mechanism.name}: joint {name!r} is {kind}, and in {engine.name} it has {slot.nq} coordinates "
            f"and {slot.nv} rates; known for this kind: {known}",
            joint=name,
        )
    _check_frames(engine, mechanism, name, kind, i)
    own_q = model.q_span[i]
    turns = 4 if pair.nq > pair.nv else 0
    return Match(
        name,
        form,
        own_q,
        model.v_span[i],
        slice(own_q.stop - turns, own_q.stop),
        slice(slot.q, slot.q + slot.nq),
        slice(slot.v, slot.v + slot.nv),
    )


def _check_frames(engine: Engine, mechanism: Mechanism, name: str, kind: str, i: int) -> None:
    """Coordinates that are components must be along the same axes on both sides."""
    model = mechanism.model
    if kind == "planar" and (model.R_joint[i] != IDENTITY).any():
        raise InputError(
            f"{mechanism.name}: joint {name!r} is planar with a normal other than z, and engines differ in "
            "the x and y of such a plane; turn the joint frame so that its normal is z",
            joint=name,
        )
    if kind == "free" and engine.free_in_world and not _is_pose_in_world(model, i):
        raise InputError(
            f"{mechanism.name}: joint {name!r} is free and does not hang on the ground with both of its "
            f"frames in place, so its q is not the pose of {model.names[i]!r} in the world, as in "
            f"{engine.name}; leave out its origin and child_origin",
            joint=name,
        )


def _is_pose_in_world(model: Model, i: int) -> bool:
    """True if the q of free joint i is the pose of its link in the world."""
    body, link = model.body[i], model.places[model.names[i]].pose
    turned = (body.R_seat != IDENTITY).any() or (link.R != IDENTITY).any()
    return model.parent[i] == 0 and not turned and not body.a_seat.any() and not link.a.any()
