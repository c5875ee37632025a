"""The directed graph of a tree of bodies and its matrices (Roberson & Wittenburg 1966, Wittenburg 1977).

Body 0 is the ground, 1…n move; arc a joins two bodies and points from i⁺(a) to i⁻(a), as one likes. `arcs` is the
list of the pairs (i⁺, i⁻). Arcs are counted from 1 in the text and from 0 in the arrays.

    S_ia = +1 if i = i⁺(a),  −1 if i = i⁻(a),  else 0;   S_0 the row of the ground                (GR1)
    T_ai = +1 / −1 if arc a lies on the path 0–i and points towards / away from 0, else 0        (GR2)
    T S = S T = 1,   S_0 T = −(1 … 1)                                                            (GR3)

Renaud's quantities (Vukobratović, chapter 1.2), by bodies, whatever the directions; a(i) is the body that carries i:

    e_ij = 1 if body j sits on body i;   ε_ij = 1 if i lies on the chain from body 0 to j;   ε = (1 − e)⁻¹   (GR4)
    σ_i = 0 if body i turns about an axis on a(i),  1 if it slides along one                     (GR5)

With regular numbering (a parent before its child, arc i leads outward to body i) S and T are triangular, T = −ε and so
ε = |T|.

>>> S_0, S = incidence([(0, 1), (2, 1)])
>>> path([(0, 1), (2, 1)]).tolist()
[[-1, -1], [0, 1]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinpair.errors import InputError
from kinpair.model.model import Model

Arc: TypeAlias = tuple[int, int]


class Arrival(NamedTuple):
    """Path of a body from the ground: from which body, by which arc, and T of that arc."""

    parent: int
    arc: int
    T: int  # −1 where the arc points away from the ground


class Renaud(NamedTuple):
    """The matrices e and ε (n, n), and a (n,): the number of the body that carries each body."""

    e: np.ndarray
    epsilon: np.ndarray
    a: np.ndarray


def incidence(arcs: Sequence[Arc]) -> tuple[np.ndarray, np.ndarray]:
    """S_0 (n,) of the ground and S (n, n) of the bodies; rows are bodies, columns arcs.    (GR1)"""
    arrivals(arcs)
    whole = np.zeros((len(arcs) + 1, len(arcs)), dtype=int)
    for a, (tail, head) in enumerate(arcs):
        whole[tail, a], whole[head, a] = 1, -1  # (GR1)
    return whole[0], whole[1:]


def path(arcs: Sequence[Arc]) -> np.ndarray:
    """T (n, n); rows are arcs, columns bodies. T S = S T = 1 and S_0 T = −(1 … 1).    (GR2), (GR3)"""
    reached = arrivals(arcs)
    T = np.zeros((len(arcs), len(arcs)), dtype=int)
    for i in reached:
        j = i
        while j:
            T[reached[j].arc, i - 1] = reached[j].T  # (GR2)
            j = reached[j].parent
    return T


def renaud(arcs: Sequence[Arc]) -> Renaud:
    """e and ε (n, n), rows and columns are bodies, and a(i) (n,).    (GR4)"""
    reached = arrivals(arcs)
    e = np.zeros((len(arcs), len(arcs)), dtype=int)
    for i, arrival in reached.items():
        if arrival.parent:
            e[arrival.parent - 1, i - 1] = 1
    order = [reached[i].arc for i in range(1, len(arcs) + 1)]
    epsilon = np.abs(path(arcs))[order]  # (GR4)
    return Renaud(e, epsilon, np.array([reached[i].parent for i in range(1, len(arcs) + 1)], dtype=int))


def sliding(model: Model) -> np.ndarray:
    """Compute σ (nv,): 0 for a rate that turns its body, 1 for one that slides it.    (GR5)

    Renaud's pairs have one rate each. A pair of several has one σ for each of them; a helical pair turns.
    """
    sigma = np.zeros(model.nv, dtype=int)
    for i in model.moving:
        pair = model.body[i].pair
        turns = np.any(np.asarray(pair.p(pair.neutral()), dtype=float)[:3] != 0.0, axis=0)
        sigma[model.v_span[i]] = ~turns
    return sigma


def is_regular(arcs: Sequence[Arc]) -> bool:
    """True if arc i leads outward to body i, from a body of a smaller number."""
    return all(head == a + 1 and tail <= a for a, (tail, head) in enumerate(arcs))


def _check(a: int, arc: Any, n: int) -> None:
    """Two numbers of different bodies among 0…n."""
    ends = tuple(arc) if isinstance(arc, (tuple, list, np.ndarray)) else ()
    if len(ends) != 2 or not all(isinstance(body, (int, np.integer)) for body in ends):
        raise InputError(f"arc {a} is {arc!r}; give the numbers of the two bodies it joins, as (0, 1)", arc=a)
    if not all(0 <= body <= n for body in ends):
        raise InputError(
            f"arc {a} joins bodies {ends[0]} and {ends[1]}; {n} arcs join bodies 0 to {n}", arc=a
        )
    if ends[0] == ends[1]:
        raise InputError(f"arc {a} joins body {ends[0]} to itself", arc=a)


def arrivals(arcs: Sequence[Arc]) -> dict[int, Arrival]:
    """Paths of the bodies 1…n from the ground, bodies nearer to it first; refuses what is no tree."""
    n = len(arcs)
    for a, arc in enumerate(arcs, start=1):
        _check(a, arc, n)
    reached: dict[int, Arrival] = {}
    todo = [0]
    while todo:
        i = todo.pop(0)
        for a, (tail, head) in enumerate(arcs):
            j = head if tail == i else tail if head == i else None
            if j is not None and j and j not in reached:
                reached[j] = Arrival(i, a, -1 if tail == i else 1)
                todo.append(j)
    if missing := sorted(set(range(1, n + 1)) - set(reached)):
        raise InputError(
            f"the arcs are not a tree: no path leads from the ground to body {missing[0]}; "
            "a tree of n bodies has n arcs and reaches every body",
            body=missing[0],
        )
    return reached
