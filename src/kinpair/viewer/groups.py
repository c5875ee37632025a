"""Handles in groups: one for each chain of joints without a branch, such as an arm or a leg."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from kinpair.model.model import Model
from kinpair.viewer.movement import Handle

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
