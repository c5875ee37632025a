"""Derivatives of loops over items as products, forward and reverse, as loops over the same items.

J x: every array has a second one with its rates of change; a step computes both. Jᵀ y: the loops run first, and what
they store stays in the records; then every loop runs backwards, and a step adds its share to the adjoints of what it
has read. Both take a small multiple of the time of the loops themselves, whatever the number of items.

Reverse needs what a step has read. Only sums are written twice, and their slope does not depend on what was there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from kinpair.compiler.derivative import adjoints, tangents
from kinpair.compiler.graph import Expr, Graph
from kinpair.compiler.program import Leaf, Program, Shape
from kinpair.compiler.rolled import WORK, Loop, Place, Rolled, Step
from kinpair.compiler.tape_layout import ITEM
from kinpair.compiler.trace import verify
from kinpair.errors import TraceError


def forward_product(rolled: Rolled, wrt: Sequence[str]) -> Rolled:
    """The program of J x: inputs are those of the loops, then `d<name>` for each input of `wrt`; outputs have the names
    and shapes of those of the loops."""

    def rate(place: Place) -> Place | None:
        if place.array == WORK:
            return place._replace(offset=place.offset + rolled.work)
        kind, _, name = place.array.partition(":")
        if kind == "out":
            return place
        return place._replace(array=f"in:d{name}") if name in wrt else None

    def step(x: Step) -> Step:
        graph, symbols = x.program.graph, x.program.inputs[0].entries
        pairs = [(symbol, place, rate(place)) for symbol, place in zip(symbols, x.loads, strict=True)]
        rates = {symbol.id: graph.symbol(f"rate {k}") for k, (symbol, _, other) in enumerate(pairs) if other}
        roots = list(x.program.outputs[0].entries)
        slopes = tangents(roots, {number: {0: symbol} for number, symbol in rates.items()})
        stores: dict[Place, Expr] = {}
        for place, root, slope in zip(x.stores, roots, slopes, strict=True):
            if place.array == WORK:
                stores[place] = root
            stores[rate(place) or place] = slope.get(0, graph.const(0.0))
        loads = {symbol.id: place for symbol, place, _ in pairs}
        loads |= {rates[symbol.id].id: other for symbol, _, other in pairs if other}
        return _step(graph, loads, stores)

    inputs = {**rolled.input_shapes, **{f"d{name}": rolled.input_shapes[name] for name in wrt}}
    loops = tuple(replace(loop, steps=tuple(map(step, loop.steps))) for loop in rolled.loops)
    name = f"{rolled.name}_along"
    return replace(rolled, name=name, input_shapes=inputs, loops=loops, work=2 * rolled.work)


def reverse_product(rolled: Rolled, wrt: Sequence[str]) -> Rolled:
    """The program of yᵀJ: inputs are those of the loops, then `y<name>` for each output; outputs have the names and
    shapes of the inputs of `wrt`, as a tuple where there are several."""

    def adjoint(place: Place) -> Place | None:
        if place.array == WORK:
            return place._replace(offset=place.offset + rolled.work)
        kind, _, name = place.array.partition(":")
        if kind == "out":
            return place._replace(array=f"in:y{name}")
        return place._replace(array=f"out:{name}") if kind == "in" and name in wrt else None

    before = tuple(replace(loop, steps=tuple(map(_without_results, loop.steps))) for loop in rolled.loops)
    cleared = _cleared(rolled, adjoint)
    back = tuple(
        Loop(-loop.direction, tuple(_backwards(x, adjoint) for x in loop.steps))
        for loop in reversed(rolled.loops)
    )
    inputs: dict[str, Shape] = dict(rolled.input_shapes)
    inputs |= {f"y{name}": shape for name, shape in rolled.output_shapes.items()}
    return replace(
        rolled,
        name=f"{rolled.name}_across",
        input_shapes=inputs,
        output_shapes={name: rolled.input_shapes[name] for name in wrt},
        structure=wrt[0] if len(wrt) == 1 else ["tuple", list(range(len(wrt))), list(wrt)],
        loops=tuple(x for x in (*before, *cleared, *back) if any(step.stores for step in x.steps)),
        work=2 * rolled.work,
        indices={**rolled.indices, ITEM: np.arange(1, len(rolled.kinds) + 1)},
        cleared=tuple(wrt),
    )


def _step(graph: Graph, places: dict[int, Place], stores: dict[Place, Expr]) -> Step:
    """A step that computes the stores from what its symbols, by number, are read from."""
    outputs = Leaf("stores", (len(stores),), tuple(stores.values()))
    symbols = [x for x in Program("step", graph, (), (outputs,)).nodes if x.op == "symbol"]
    program = Program("step", graph, (Leaf("loads", (len(symbols),), tuple(symbols)),), (outputs,))
    verify(program)
    return Step(program, tuple(places[x.id] for x in symbols), tuple(stores))


def _loads(x: Step) -> dict[int, Place]:
    return {s.id: place for s, place in zip(x.program.inputs[0].entries, x.loads, strict=True)}


def _without_results(x: Step) -> Step:
    """The step with what it writes to records alone."""
    pairs = zip(x.stores, x.program.outputs[0].entries, strict=True)
    return _step(x.program.graph, _loads(x), {place: root for place, root in pairs if place.array == WORK})


def _backwards(x: Step, adjoint: Callable[[Place], Place | None]) -> Step:
    """The step that hands the adjoints of what a step has stored to those of what it has read."""
    graph, loads = x.program.graph, _loads(x)
    roots, stored = list(x.program.outputs[0].entries), set(x.stores)
    bars: list[Expr] = []
    places = dict(loads)
    for k, place in enumerate(x.stores):
        other = adjoint(place)
        assert other is not None
        symbol = graph.symbol(f"adjoint of store {k}")
        places[symbol.id] = other
        bars.append(symbol)
    symbols = [s for s in x.program.inputs[0].entries if adjoint(loads[s.id]) is not None]
    shares = adjoints(roots, bars, symbols)
    stores: dict[Place, Expr] = {}
    for k, (symbol, share) in enumerate(zip(symbols, shares, strict=True)):
        own = loads[symbol.id]
        other = adjoint(own)
        assert other is not None
        if own in stored:
            _check_sum(x, own, symbol, share)
            bar = bars[x.stores.index(own)]
            if share is not bar:
                stores[other] = share
        elif share.value != 0.0:
            known = graph.symbol(f"adjoint of load {k}")
            places[known.id] = other
            stores[other] = known + share
    return _step(graph, places, stores)


def _check_sum(x: Step, place: Place, symbol: Expr, share: Expr) -> None:
    """Refuse what is written twice and is no sum: its slope would need what was there before."""
    program = Program("share", x.program.graph, (), (Leaf("share", (1,), (share,)),))
    if any(y.id == symbol.id for y in program.nodes):
        raise TraceError(
            f"{place}: what all items are combined to is differentiated where it is a sum, and nowhere else"
        )


def _cleared(rolled: Rolled, adjoint: Callable[[Place], Place | None]) -> list[Loop]:
    """Zeros in the adjoints of records and of inputs."""
    kinds = max((len(loop.steps) for loop in rolled.loops), default=1)
    width = max(
        (p.stride for loop in rolled.loops for s in loop.steps for p in s.stores if p.array == WORK),
        default=0,
    )
    ground: dict[Place, None] = {}
    own: list[dict[Place, None]] = [{} for _ in range(kinds)]
    for loop in rolled.loops:
        for kind, x in enumerate(loop.steps):
            for place in x.loads:
                other = adjoint(place)
                if other is None:
                    continue
                if place.array == WORK:
                    ground[Place(WORK, "", 0, other.offset)] = None
                    if place.by:
                        for each in own:
                            each[Place(WORK, ITEM, width, other.offset)] = None
                elif loop.direction:
                    own[kind][other] = None
                else:
                    ground[other] = None
    zeros = Graph()
    zero = zeros.const(0.0)
    loops = [Loop(0, (_step(zeros, {}, dict.fromkeys(ground, zero)),))]
    if any(own):
        loops.append(Loop(1, tuple(_step(zeros, {}, dict.fromkeys(x, zero)) for x in own)))
    return loops
