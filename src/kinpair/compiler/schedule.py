"""Order in which the nodes are computed, and where a long program is cut.

A piece becomes one function of the machine code. LLVM's time grows faster than linearly with the length of a
function, so a program is cut into pieces of bounded size; what a later piece needs of an earlier one goes
through a scratch buffer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kinpair.compiler.graph import Expr
from kinpair.compiler.instructions import Places
from kinpair.compiler.program import Program

WHOLE = 20_000  # up to so many operations a program is one function,
MANY_ZEROS = 32  # as many zeros in a result are written by clearing all of it first
PIECE = 2_000  # beyond that it is cut into functions of about so many (measured: fastest to make and to run)
CACHED = 3_000  # operations of a batch, some ten bytes of code each, that fit the instruction cache of 32 KiB
TURN = 1_500  # operations of a piece where they do not


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Nodes computed together, in order, and those of them a later piece needs."""

    nodes: tuple[Expr, ...]
    carried_out: frozenset[int]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The pieces, the arrays that go in and out with their entries, and where in them everything is."""

    arrays: dict[str, int]
    pieces: tuple[Piece, ...]
    places: Places
    cleared: Mapping[str, Collection[int]] = field(default_factory=dict[str, Collection[int]])
    """Results that are mostly zero, which are cleared before anything is stored, and their entries that are zero."""

    @property
    def carried(self) -> int:
        """Places in the scratch buffer."""
        return 1 + max(self.places.slots.values(), default=-1)


def schedule(program: Program, whole: int = WHOLE, piece: int = PIECE) -> Plan:
    """The nodes in an order that uses values soon after they are made, cut into pieces."""
    inputs = {f"in{k}": leaf for k, leaf in enumerate(program.inputs)}
    outputs = {f"out{k}": leaf for k, leaf in enumerate(program.outputs)}
    loads = {x.id: (name, i) for name, leaf in inputs.items() for i, x in enumerate(leaf.entries)}
    stores: dict[int, list[tuple[str, int]]] = {}
    for name, leaf in outputs.items():
        for i, x in enumerate(leaf.entries):
            stores.setdefault(x.id, []).append((name, i))
    cleared = _take_zeros(stores, program)
    order = ordered(program)
    length = piece if len(order) > whole else max(1, len(order))
    cuts = [order[i : i + length] for i in range(0, len(order), length)]
    slots = _slots(cuts)
    pieces = tuple(Piece(tuple(cut), frozenset(x.id for x in cut if x.id in slots)) for cut in cuts)
    sizes = {name: leaf.size for name, leaf in (inputs | outputs).items()}
    return Plan(sizes, pieces, Places(loads, stores, slots), cleared)


def _take_zeros(stores: dict[int, list[tuple[str, int]]], program: Program) -> dict[str, frozenset[int]]:
    """Results with many zeros; their zeros are taken out of the stores, one by one they cost LLVM its time."""
    zero = program.graph.const(0.0).id
    zeros: dict[str, list[int]] = {}
    for name, place in stores.get(zero, ()):
        zeros.setdefault(name, []).append(place)
    cleared = {name: frozenset(places) for name, places in zeros.items() if len(places) >= MANY_ZEROS}
    if zero in stores:
        stores[zero] = [place for place in stores[zero] if place[0] not in cleared]
    return cleared


def ordered(program: Program) -> list[Expr]:
    """Operations, and constants or symbols that are results, each just before it is first needed.

    Sines and cosines come first, then result after result in the order of recording; of two arguments the one
    that needs more registers goes first (Sethi & Ullman 1970).
    """
    need = _registers(program)
    results = sorted((x for leaf in program.outputs for x in leaf.entries), key=lambda x: x.id)
    order: list[Expr] = []
    done: set[int] = set()
    for root in [*(x for x in program.nodes if x.op in ("sin", "cos")), *results]:
        stack = [(root, False)]
        while stack:
            x, ready = stack.pop()
            if x.id in done:
                continue
            if ready or not x.args:
                done.add(x.id)
                order.append(x)
                continue
            stack.append((x, True))
            waiting = [y for y in x.args if y.args and y.id not in done]
            stack += [(y, False) for y in sorted(waiting, key=lambda y: need[y.id])]
    return order


def _registers(program: Program) -> dict[int, int]:
    """Number of values kept at once to compute a node, if nothing were shared."""
    need: dict[int, int] = {}
    for x in program.nodes:
        wants = sorted((need[y.id] for y in x.args if y.args), reverse=True)
        need[x.id] = max([k + i for i, k in enumerate(wants)], default=0) or 1
    return need


def _slots(cuts: list[list[Expr]]) -> dict[int, int]:
    """A place in the scratch buffer for every value used in a later piece; places are used again."""
    home = {x.id: k for k, cut in enumerate(cuts) for x in cut}
    last = {y.id: k for k, cut in enumerate(cuts) for x in cut for y in x.args if y.args and home[y.id] < k}
    expiring: list[list[int]] = [[] for _ in cuts]
    slots: dict[int, int] = {}
    free: list[int] = []
    size = 0
    for k, cut in enumerate(cuts):
        for x in cut:
            if x.id in last:
                if not free:
                    free.append(size)
                    size += 1
                slots[x.id] = free.pop()
                expiring[last[x.id]].append(slots[x.id])
        free += expiring[k]
    return slots
