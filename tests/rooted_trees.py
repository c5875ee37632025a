"""Conditions of order of Runge–Kutta methods, by rooted trees (Butcher 1963)."""

from __future__ import annotations

from collections.abc import Iterator

from kinpair.compiler.time_loop.tableau import Tableau

Tree = tuple["Tree", ...]  # what hangs on its root


def trees(order: int) -> Iterator[Tree]:
    """Every rooted tree of so many nodes, once."""
    yield from _forests(order - 1, order - 1)


def _forests(nodes: int, largest: int) -> Iterator[Tree]:
    """Multisets of trees with so many nodes in all, none larger than `largest`, the larger ones first."""
    if nodes == 0:
        yield ()
        return
    for size in range(min(nodes, largest), 0, -1):
        same = list(trees(size))
        for k, tree in enumerate(same):
            for rest in _forests(nodes - size, size):
                if not rest or _nodes(rest[0]) < size or rest[0] in same[k:]:
                    yield (tree, *rest)


def _nodes(tree: Tree) -> int:
    return 1 + sum(_nodes(branch) for branch in tree)


def density(tree: Tree) -> int:
    """γ of a tree: its nodes times those of all trees that hang on it."""
    product = _nodes(tree)
    for branch in tree:
        product *= density(branch)
    return product


def defect(tableau: Tableau, order: int) -> float:
    """The largest |Σ b_i φ_i(tree) − 1/γ(tree)| of the trees of an order (Butcher 1963): 0 if the method has it."""
    return max(
        abs(sum(b * w for b, w in zip(tableau.b, _weights(tableau, tree), strict=True)) - 1 / density(tree))
        for tree in trees(order)
    )


def _weights(tableau: Tableau, tree: Tree) -> list[float]:
    """φ_i of a tree, a number a stage."""
    weights = [1.0] * tableau.stages
    for branch in tree:
        inner = _weights(tableau, branch)
        for i, row in enumerate(tableau.a):
            weights[i] *= sum(a * w for a, w in zip(row, inner, strict=False))
    return weights
