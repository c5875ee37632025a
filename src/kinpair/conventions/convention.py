"""The map between our vectors and an engine's, for one mechanism.

    v = T q̇,   a = T q̈ + Ṫ q̇,   τ_engine = T τ,   J_engine = J Tᵀ,   H_engine = T H Tᵀ

with T(q) orthogonal, one block a joint; see `forms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kinpair.conventions.forms import Engine, Form, Layout, Slot
from kinpair.errors import InputError, listed
from kinpair.evaluation.arguments import Expected, checked_arguments, evaluate
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.spatial.rotation import IDENTITY

_LINEAR_FIRST = [3, 4, 5, 0, 1, 2]


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


class EngineState(NamedTuple):
    """A state as an engine has it; None where nothing was given."""

    q: np.ndarray
    v: np.ndarray | None = None
    a: np.ndarray | None = None
    tau: np.ndarray | None = None


class State(NamedTuple):
    """A state as kinpair has it; None where nothing was given."""

    q: np.ndarray
    qd: np.ndarray | None = None
    qdd: np.ndarray | None = None
    tau: np.ndarray | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Convention:
    """Converts between kinpair and an engine; `q` is kinpair's wherever a method does not say otherwise.

    Vectors are (n,) or (batch, n), matrices (rows, n) or (batch, rows, n).
    """

    engine: Engine
    mechanism: Mechanism
    joints: tuple[Match, ...]

    def state(self, q: Any, qd: Any = None, qdd: Any = None, tau: Any = None) -> EngineState:
        """All of a state that is given, as the engine has it."""
        return EngineState(
            self.q(q),
            None if qd is None else self.rates(q, qd),
            None if qdd is None else self.accelerations(q, self._needed("qd", qd, "qdd"), qdd),
            None if tau is None else self.efforts(q, tau),
        )

    def from_state(self, q: Any, v: Any = None, a: Any = None, tau: Any = None) -> State:
        """All of an engine's state that is given, as kinpair has it; here q is the engine's."""
        own = self.from_q(q)
        return State(
            own,
            None if v is None else self.from_rates(own, v),
            None if a is None else self.from_accelerations(own, self._needed("v", v, "a"), a),
            None if tau is None else self.from_efforts(own, tau),
        )

    # Coordinates.

    def q(self, q: Any) -> np.ndarray:
        """The engine's coordinates; quaternions come out with length one."""
        q = self._checked("q", self.mechanism.q_names, q)
        self._check_units(q, [(j.name, j.own_unit) for j in self.joints])
        parts = self._each(lambda q: tuple(j.form.q(q[j.own_q]) for j in self.joints), ("q", q))
        result = _placed(q.shape[:-1], zip((j.q for j in self.joints), parts, strict=True))
        return self._normalised(result)

    def from_q(self, q: Any) -> np.ndarray:
        """Our coordinates from the engine's; an angle given by cosine and sine comes out within ±π."""
        q = self._normalised(self._checked("q", self._entries("q"), q))
        parts = self._each(lambda q: tuple(j.form.from_q(q[j.q]) for j in self.joints), ("q", q))
        return _placed(q.shape[:-1], zip((j.own_q for j in self.joints), parts, strict=True))

    # Rates, accelerations, efforts.

    def rates(self, q: Any, qd: Any) -> np.ndarray:
        """v = T q̇."""
        return self._forth(q, self._checked("qd", self.mechanism.v_names, qd)[..., None, :])[..., 0, :]

    def from_rates(self, q: Any, v: Any) -> np.ndarray:
        """q̇ = Tᵀ v."""
        return self._back(q, self._checked("v", self._entries("v"), v)[..., None, :])[..., 0, :]

    def accelerations(self, q: Any, qd: Any, qdd: Any) -> np.ndarray:
        """a = T q̈ + Ṫ q̇."""
        return self.rates(q, self._checked("qdd", self.mechanism.v_names, qdd)) + self._drift(q, qd)

    def from_accelerations(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """q̈ = Tᵀ (a − Ṫ q̇)."""
        drift = self._drift(q, self.from_rates(q, v))
        return self.from_rates(q, self._checked("a", self._entries("v"), a) - drift)

    def efforts(self, q: Any, tau: Any) -> np.ndarray:
        """τ_engine = T τ: the same power."""
        return self._forth(q, self._checked("tau", self.mechanism.v_names, tau)[..., None, :])[..., 0, :]

    def from_efforts(self, q: Any, tau: Any) -> np.ndarray:
        """τ = Tᵀ τ_engine."""
        return self._back(q, self._checked("tau", self._entries("v"), tau)[..., None, :])[..., 0, :]

    # Matrices.

    def jacobian(self, q: Any, J: Any) -> np.ndarray:
        """J Tᵀ for a Jacobian (6, nv) in world axes, its rows in the engine's order of angular and linear."""
        return self._rows(self._forth(q, self._matrix("J", J, 6)))

    def from_jacobian(self, q: Any, J: Any) -> np.ndarray:
        """Our Jacobian, angular rows first, from the engine's in world axes."""
        return self._back(q, self._rows(self._matrix("J", J, 6)))

    def mass_matrix(self, q: Any, H: Any) -> np.ndarray:
        """T H Tᵀ."""
        return self._forth(q, _transposed(self._forth(q, self._matrix("H", H, self.mechanism.nv))))

    def from_mass_matrix(self, q: Any, H: Any) -> np.ndarray:
        """Tᵀ H_engine T."""
        return self._back(q, _transposed(self._back(q, self._matrix("H", H, self.mechanism.nv))))

    # Inside.

    def _forth(self, q: Any, X: np.ndarray) -> np.ndarray:
        """X Tᵀ: rows (rates, efforts, rows of a Jacobian) as the engine has them."""
        parts = [(j.v, X[..., j.own_v] @ _transposed(T)) for j, T in self._blocks(q, X)]
        return _placed(X.shape[:-1], parts)

    def _back(self, q: Any, X: np.ndarray) -> np.ndarray:
        """Multiply X by T."""
        return _placed(X.shape[:-1], [(j.own_v, X[..., j.v] @ T) for j, T in self._blocks(q, X)])

    def _blocks(self, q: Any, X: np.ndarray) -> list[tuple[Match, np.ndarray]]:
        """The joints with their T (k, k) or (batch, k, k)."""
        q = self._checked("q", self.mechanism.q_names, q)
        if q.ndim == 2 and X.ndim == 3 and len(q) != len(X):
            raise InputError(
                f"{self.mechanism.name}: batches differ in length: q has {len(q)}, what is converted "
                f"has {len(X)} rows",
                q=len(q),
                converted=len(X),
            )
        self._check_units(q, [(j.name, j.own_unit) for j in self.joints])
        blocks = self._each(lambda q: tuple(j.form.T(q[j.own_q]) for j in self.joints), ("q", q))
        return list(zip(self.joints, blocks, strict=True))

    def _drift(self, q: Any, qd: Any) -> np.ndarray:
        """Compute the drift Ṫ q̇."""
        q, qd = (
            self._checked("q", self.mechanism.q_names, q),
            self._checked("qd", self.mechanism.v_names, qd),
        )
        parts = self._each(
            lambda q, qd: tuple(j.form.Td_qd(q[j.own_q], qd[j.own_v]) for j in self.joints),
            ("q", q),
            ("qd", qd),
        )
        return _placed(
            max(q.shape, qd.shape, key=len)[:-1], zip((j.v for j in self.joints), parts, strict=True)
        )

    def _each(self, f: Any, *state: tuple[str, np.ndarray]) -> Sequence[np.ndarray]:
        """f of one state, or of every state of a batch."""
        expected = [(Expected(name, tuple(map(str, range(x.shape[-1])))), x) for name, x in state]
        return evaluate(f, checked_arguments(self.mechanism.name, expected), loaded=False)

    def _entries(self, what: str) -> tuple[str, ...]:
        """Owners of the engine's numbers."""
        spans: list[tuple[str, slice]] = [(j.name, getattr(j, what)) for j in self.joints]
        spans.sort(key=lambda row: row[1].start)
        return tuple(name for name, span in spans for _ in range(span.start, span.stop))

    def _checked(self, name: str, entries: Sequence[str], value: Any) -> np.ndarray:
        return Expected(name, entries).checked(self.mechanism.name, value)

    def _matrix(self, name: str, value: Any, height: int) -> np.ndarray:
        X, n = np.asarray(value, dtype=float), self.mechanism.nv
        if X.ndim not in (2, 3) or X.shape[-2:] != (height, n):
            raise InputError(
                f"{self.mechanism.name}: {name} has shape {X.shape}; expected ({height}, {n}) or "
                f"(batch, {height}, {n})",
                argument=name,
                shape=X.shape,
            )
        return X

    def _rows(self, J: np.ndarray) -> np.ndarray:
        """Angular and linear rows exchanged, if the engine has the linear ones first."""
        return J if self.engine.angular_first else J[..., _LINEAR_FIRST, :]

    def _needed(self, name: str, value: Any, by: str) -> Any:
        if value is None:
            raise InputError(
                f"{self.mechanism.name}: {by} is given without {name}; accelerations convert at known rates",
                argument=name,
            )
        return value

    def _normalised(self, q: np.ndarray) -> np.ndarray:
        """The engine's q with its quaternions and points on a circle of length one."""
        self._check_units(q, [(j.name, j.unit) for j in self.joints])
        q = q.copy()
        for j in self.joints:
            if j.unit.stop > j.unit.start:
                q[..., j.unit] /= np.linalg.norm(q[..., j.unit], axis=-1, keepdims=True)
        return q

    def _check_units(self, q: np.ndarray, spans: Iterable[tuple[str, slice]]) -> None:
        for name, span in spans:
            if span.stop > span.start and not np.abs(q[..., span]).max(-1).all():
                raise InputError(
                    f"{self.mechanism.name}: joint {name!r} has only zeros in q where a rotation is; "
                    f"no rotation is a one among {span.stop - span.start - 1} zeros",
                    joint=name,
                )


def _transposed(X: np.ndarray) -> np.ndarray:
    return np.swapaxes(X, -1, -2)


def _placed(lead: tuple[int, ...], parts: Iterable[tuple[slice, np.ndarray]]) -> np.ndarray:
    """Make one array from parts of its last axis, each in its place."""
    ordered = [part for _, part in sorted(parts, key=lambda row: row[0].start)]
    return np.concatenate(ordered, axis=-1) if ordered else np.zeros((*lead, 0))
