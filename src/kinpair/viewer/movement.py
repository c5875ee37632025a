"""Moving a mechanism by hand: a handle for every independent coordinate, in groups, with loops kept closed.

Knows no browser: a page has a slider for each handle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import pi

import numpy as np

from kinpair.model.model import Model
from kinpair.model.units import units
from kinpair.spatial.rotation import from_quaternion, from_rpy, to_quaternion, to_rpy
from kinpair.viewer.scene import Drawn, start_of

TURN, REACH = (
    pi,
    1.0,
)  # what a handle without limits covers: half a turn [rad]; so many sizes of the mechanism [m]
STRIDE = 0.05  # the longest step towards a place that a handle was dragged to, as a part of its range
SHORTEST = 1e-4  # step that ends the attempt, as a part of the range
NUDGE = 1e-6  # of a coordinate, to see whether the loops depend on it
INDEPENDENT = 1e-6  # of the largest singular value: what is smaller is no row of its own
CLOSED = 1e-12  # [m] or [rad]
ITERATIONS, STRAYED = 15, 0.5  # of Newton; a step of this length [m], [rad] leads elsewhere
ANGLES = ("roll", "pitch", "yaw")


@dataclass(frozen=True, slots=True)
class Handle:
    """A number that moves the mechanism: an entry of q, or an angle of a quaternion that starts at this entry."""

    name: str
    entry: int
    low: float
    high: float
    angle: int | None = None  # 0, 1, 2: roll, pitch, yaw
    unit: str = "rad"

    @property
    def range(self) -> float:
        """Range from one end to the other."""
        return self.high - self.low


class Movement:
    """A mechanism at a position q (nq,), and the handles that move it: those that the loops leave independent."""

    def __init__(self, mechanism: Drawn, size: float = 1.0) -> None:
        self.mechanism = mechanism
        self.q = np.array(start_of(mechanism), dtype=float)
        every = tuple(_handles(mechanism, REACH * size))
        self.constrained = bool(len(mechanism.constraint_residual(self.q)))
        free = _independent(self._slopes(self.q, every)) if self.constrained else range(len(every))
        self.handles = tuple(every[k] for k in free)
        self._others = tuple(x for x in every if x not in self.handles)

    def value(self, handle: Handle) -> float:
        """Value of one handle."""
        if handle.angle is None:
            return float(self.q[handle.entry])
        k = self.q[handle.entry : handle.entry + 4]
        return float(to_rpy(from_quaternion(k))[handle.angle])

    def move(self, handle: Handle, value: float) -> bool:
        """Bring a handle to a value, or as far as the loops can be closed; was it reached?

        In small steps from one closed position to the next, so that it does not jump to another assembly.
        """
        if not self.constrained:
            self.q = self._with(handle, value)
            return True
        stride, at = STRIDE * handle.range, self.value(handle)
        while at != value:
            target = value if abs(value - at) <= stride else at + np.sign(value - at) * stride
            closed = self._closed(self._with(handle, target))
            if closed is not None:
                self.q, at = closed, target
            elif (stride := stride / 4.0) < SHORTEST * handle.range:
                return False
        return True

    def _with(self, handle: Handle, value: float) -> np.ndarray:
        """q with the handle at a value, loops open."""
        q = self.q.copy()
        if handle.angle is None:
            q[handle.entry] = value
            return q
        span = slice(handle.entry, handle.entry + 4)
        rpy = list(to_rpy(from_quaternion(q[span])))
        rpy[handle.angle] = value
        q[span] = to_quaternion(from_rpy(*rpy))
        return q

    def _closed(self, q: np.ndarray) -> np.ndarray | None:
        """The position near q with all loops closed and all handles where they are, by Newton; None where it strays."""
        for _ in range(ITERATIONS):
            residual = self.mechanism.constraint_residual(q)
            if np.abs(residual).max() <= CLOSED:
                return q
            J = self._slopes(q, self._others)
            step = np.linalg.lstsq(J, -residual, rcond=INDEPENDENT)[0]
            if np.abs(step).max(initial=0.0) > STRAYED:
                return None
            for handle, amount in zip(self._others, step, strict=True):
                q = _nudged(q, handle, float(amount))
        return None

    def _slopes(self, q: np.ndarray, handles: Sequence[Handle]) -> np.ndarray:
        """Slopes by which the loops open where handles are moved (rows, handles)."""
        residual = self.mechanism.constraint_residual
        columns = [
            (residual(_nudged(q, x, NUDGE)) - residual(_nudged(q, x, -NUDGE))) / (2 * NUDGE) for x in handles
        ]
        return np.array(columns).T


def _nudged(q: np.ndarray, handle: Handle, amount: float) -> np.ndarray:
    """q with an entry larger by the amount, or its quaternion turned by it about an axis of the child."""
    q = q.copy()
    if handle.angle is None:
        q[handle.entry] += amount
        return q
    turn, span = [0.0, 0.0, 0.0], slice(handle.entry, handle.entry + 4)
    turn[handle.angle] = amount
    q[span] = to_quaternion(from_quaternion(q[span]) @ from_rpy(*turn))
    return q


def _handles(mechanism: Drawn, reach: float) -> Iterator[Handle]:
    """Make one handle for each coordinate, within its limits; three for a quaternion."""
    model = mechanism.model
    lower, upper, unit = model.joints.lower, model.joints.upper, units(model)["q"]
    for i in model.in_order:
        span = model.q_span[i]
        names = model.q_names[span]
        parts = [name.rpartition(".")[2] for name in names]
        for k, (name, part) in enumerate(zip(names, parts, strict=True)):
            entry = span.start + k
            if part == "qx":
                joint = name.rpartition(".")[0]
                yield from (Handle(f"{joint}.{a}", entry, -TURN, TURN, j) for j, a in enumerate(ANGLES))
            if part in ("qx", "qy", "qz", "qw"):
                continue
            wide = TURN if unit[entry] == "rad" else reach
            low, high = lower[entry], upper[entry]
            low = low if np.isfinite(low) else (high - 2 * wide if np.isfinite(high) else -wide)
            high = high if np.isfinite(high) else low + 2 * wide
            yield Handle(name, entry, float(low), float(high), unit=unit[entry])


def _independent(J: np.ndarray) -> list[int]:
    """Numbers of the first handles, in the order of the description, that can be set while the loops close by the
    others."""
    rank, chosen = _rank(J), list[int]()
    for k in range(J.shape[1]):
        others = [j for j in range(J.shape[1]) if j not in chosen and j != k]
        if _rank(J[:, others]) == rank:
            chosen.append(k)
    return chosen


def _rank(J: np.ndarray) -> int:
    if not J.size:
        return 0
    values = np.linalg.svd(J, compute_uv=False)
    return int((values > INDEPENDENT * max(values[0], 1.0)).sum())


FEW = 8  # handles that need no groups
ENDS = " _-./:"  # characters that a name of a group does not end with


@dataclass(frozen=True, slots=True)
class Group:
    """Handles that belong together; `labels` are their names, without what all of them begin with where the group has
    a name."""

    name: str
    handles: tuple[Handle, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Name of each handle inside the group."""
        names = [x.name for x in self.handles]
        shared = len(_shared(names)) if self.name else 0
        return tuple(name[shared:].lstrip(ENDS) or name for name in names)


def grouped(model: Model, handles: Sequence[Handle]) -> list[Group]:
    """Group handles by chain, in the order of the description; one group without a name where there are few."""
    if len(handles) <= FEW:
        return [Group("", tuple(handles))]
    chains = _chains(model, handles)
    shared = [_shared([x.name for x in chain]).rstrip(ENDS + "0123456789") for chain in chains]
    return [
        Group(name if len(name) > 1 and shared.count(name) == 1 else _ends(chain), tuple(chain))
        for name, chain in zip(shared, chains, strict=True)
    ]


def _chains(model: Model, handles: Sequence[Handle]) -> list[list[Handle]]:
    """Return the handles of each chain: from the ground or a branch up to the next branch; chains of one handle that
    leave the same body are one."""
    own: dict[int, list[Handle]] = {
        i: [x for x in handles if x.entry in range(*model.q_span[i].indices(model.nq))]
        for i in model.in_order
    }
    heads: dict[int, int] = {0: 0}  # body → first body of its chain
    arms = _arms(model, {i for i, some in own.items() if some})
    for i in model.in_order:
        j = model.parent[i]
        heads[i] = heads[j] if j and len(arms[j]) < 2 else i
    chains: dict[int, list[Handle]] = {}
    for i, some in own.items():
        chains.setdefault(heads[i], []).extend(some)
    merged: dict[tuple[str, int], list[Handle]] = {}
    for head, chain in chains.items():
        key = ("alone", model.parent[head]) if len(chain) == 1 else ("chain", head)
        merged.setdefault(key, []).extend(chain)
    return [chain for chain in merged.values() if chain]


def _arms(model: Model, handled: set[int]) -> dict[int, list[int]]:
    """Return the children of each body below which something has a handle."""
    arms: dict[int, list[int]] = {i: [] for i in range(len(model.parent))}
    for i in reversed(model.in_order):
        if i in handled or arms[i]:
            arms[model.parent[i]].append(i)
    return arms


def _ends(chain: Sequence[Handle]) -> str:
    """Return the first and the last name of a chain."""
    return chain[0].name if len(chain) == 1 else f"{chain[0].name} … {chain[-1].name}"


def _shared(names: Sequence[str]) -> str:
    """Return the common beginning of names, up to a sign that separates words; empty for a single name."""
    if len(names) < 2:
        return ""
    columns = zip(*names, strict=False)
    start = names[0][: sum(1 for _ in takewhile(lambda column: len({*column}) == 1, columns))]
    return start[: 1 + max(start.rfind(x) for x in ENDS)]
