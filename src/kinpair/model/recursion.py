"""Walks over the bodies. An equation is a step; the walk decides in which order it is taken.

A step sees the constants of its body, the value of its neighbour and what earlier walks found for the
same body; never the body's number. So a walk can be unrolled body by body, as here, or become one loop
of machine code over all bodies of a kind, if the model has a walker that makes one. Values by body are lists
whose entry 0 belongs to the ground, or whatever the walker has for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array, assemble

if TYPE_CHECKING:
    from kinpair.model.model import Model

ByBody: TypeAlias = list[Any]
Step: TypeAlias = Callable[..., Any]


class Roles(list[Any]):
    """A value for each body that decides what a step does there; bodies of one role are one kind to a walker."""


def each(model: Model, step: Step, *values: Sequence[Any]) -> ByBody:
    """x_i = step(body, given_i...), bodies on their own."""
    if model.walker:
        return model.walker.each(model, step, *values)
    return [None, *(step(model.body[i], *(g[i] for g in values)) for i in model.moving)]


def outward(model: Model, step: Step, ground: Any, *values: Sequence[Any]) -> ByBody:
    """x_i = step(body, x_parent, given_i...), from the ground to the tips; x_0 = ground."""
    if model.walker:
        return model.walker.outward(model, step, ground, *values)
    x: ByBody = [ground]
    for i in model.moving:
        x.append(step(model.body[i], x[model.parent[i]], *(g[i] for g in values)))
    return x


def inward(model: Model, step: Step, nothing: tuple[Any, ...], *values: Sequence[Any]) -> ByBody:
    """x_i, y_i = step(body, Σ_k y_k, given_i...), from the tips to the ground; k: children of i.

    x_i is kept; the tuple y_i is handed to the parent. The sum starts with `nothing`; x_0 is what arrives
    at the ground.
    """
    if model.walker:
        return model.walker.inward(model, step, nothing, *values)
    gathered = [nothing] * len(model.parent)
    x: ByBody = [None] * len(model.parent)
    for i in reversed(model.moving):
        x[i], y = step(model.body[i], gathered[i], *(g[i] for g in values))
        j = model.parent[i]
        gathered[j] = tuple(a + b for a, b in zip(gathered[j], y, strict=True))
    x[0] = gathered[0]
    return x


def ancestors(model: Model, begin: Step, step: Step, *values: Sequence[Any]) -> dict[tuple[int, int], Any]:
    """Entries (i, j), j: body i and its ancestors.

    A value sets out from body i, x = begin(body, given_i...), and visits j = i, parent(i), ... in turn:
    entry_ij, x = step(body_j, x, given_j...), where the new x is what the parent of j receives.
    """
    entries: dict[tuple[int, int], Any] = {}
    for i in model.moving:
        x = begin(model.body[i], *(g[i] for g in values))
        for j in model.path_to_ground(i):
            entries[i, j], x = step(model.body[j], x, *(g[j] for g in values))
    return entries


def others(model: Model, values: ByBody, numbers: Sequence[int]) -> ByBody:
    """x_i = the value of body numbers[i], of an `outward` walk; 0 is the ground."""
    if model.walker:
        return model.walker.others(values, numbers)
    return [None, *(values[numbers[i]] for i in model.moving)]


def total(
    model: Model, step: Step, start: Any, *values: Sequence[Any], combine: Step = add, every: bool = False
) -> Any:
    """start ∘ step(body, given_i...) ∘ ... of all bodies that some joint can move, or of `every` body; ∘ is the sum
    unless given.

    `start` is a number, an array or a tuple of them, as the step returns it.
    """
    if model.walker:
        return model.walker.total(model, step, start, *values, combine=combine)
    bodies = model.moving if every else model.carried
    parts = [step(model.body[i], *(g[i] for g in values)) for i in bodies]
    if isinstance(start, tuple):
        return tuple(reduce(combine, column) for column in zip(start, *parts, strict=True))  # type: ignore[arg-type]
    return reduce(combine, parts if combine is not add and parts else [start, *parts])


def coordinates(model: Model, q: Vector) -> ByBody:
    """q by body."""
    if model.walker:
        return model.walker.coordinates(q)
    return [None, *(q[model.q_span[i]] for i in model.moving)]


def rates(model: Model, qd: Vector) -> ByBody:
    """q̇, q̈ or efforts by body."""
    if model.walker:
        return model.walker.rates(qd)
    return [None, *(qd[model.v_span[i]] for i in model.moving)]


def joined(model: Model, values: ByBody) -> Vector:
    """Vectors by body as one vector in the order of the rates."""
    return model.walker.joined(values) if model.walker else _in_order(model, values, model.v_span, model.nv)


def joined_coordinates(model: Model, values: ByBody) -> Vector:
    """Vectors by body as one vector in the order of the coordinates."""
    if model.walker:
        return model.walker.joined_coordinates(values)
    return _in_order(model, values, model.q_span, model.nq)


def rows_of(model: Model, values: ByBody, places: Sequence[int], width: int) -> Matrix:
    """Vectors by body, of `width` entries each, as rows of one matrix: that of body i is row places[i]."""
    if model.walker:
        return model.walker.rows_of(values, places, width)
    rows: list[Any] = [None] * len(model.moving)
    for i in model.moving:
        rows[places[i]] = list(values[i])
    return array(rows) if rows else np.zeros((0, width))


def _in_order(model: Model, values: ByBody, spans: Sequence[slice], size: int) -> Vector:
    entries: list[Any] = [0.0] * size
    for i in model.moving:
        entries[spans[i]] = list(values[i])
    return array(entries) if entries else np.zeros(0)


def joint_space(model: Model, entries: dict[tuple[int, int], tuple[Matrix, Matrix]]) -> Matrix:
    """The matrix with blocks (X_ij, X_ji) of `ancestors` in place, zero between branches."""
    span = model.v_span
    blocks = [(span[i], span[j], below) for (i, j), (below, _) in entries.items()]
    blocks += [(span[j], span[i], above) for (i, j), (_, above) in entries.items()]
    return assemble((model.nv, model.nv), blocks)


def rate_tree(model: Model) -> tuple[list[int], list[int]]:
    """The tree of the single rates: parent of each (−1 on the ground), and an order from the tips inward."""
    parent = [-1] * model.nv
    last = [-1] * len(model.parent)  # the rate nearest to the body, of its own pair or an ancestor's
    order: list[int] = []
    for i in model.moving:
        last[i] = last[model.parent[i]]
        for k in range(model.v_span[i].start, model.v_span[i].stop):
            parent[k], last[i] = last[i], k
            order.append(k)
    return parent, order[::-1]
