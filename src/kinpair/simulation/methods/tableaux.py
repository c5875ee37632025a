"""Explicit Runge–Kutta methods; a row here is all that a method needs.

RK4       Kutta 1901.
DOPRI5    Dormand & Prince 1980, dense output of Shampine 1986; step control of Hairer, Nørsett & Wanner 1993, II.4.
DOP853    Hairer, Nørsett & Wanner 1993, II.5 and II.6: order 8, errors of orders 5 and 3, dense output of order 7.
"""

from __future__ import annotations

from collections.abc import Iterator

from kinpair.compiler.time_loop_tableau import Tableau
from kinpair.simulation.methods import dop853_coefficients as eight

Tree = tuple["Tree", ...]  # a rooted tree: what hangs on its root

RK4 = Tableau(
    "rk4",
    order=4,
    c=(0, 1 / 2, 1 / 2, 1),
    a=((), (1 / 2,), (0, 1 / 2), (0, 0, 1)),
    b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
)
DOPRI5 = Tableau(
    "dopri5",
    order=5,
    c=(0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1),
    a=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    b=(35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    errors=((71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),),
    dense=(
        (
            -12715105075 / 11282082432,
            0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ),
    ),
    exponents=(1 / 5 - 0.03, 0.04),
)
DOP853 = Tableau(
    "dop853",
    order=8,
    c=eight.C,
    a=eight.A,
    b=eight.B,
    errors=(eight.E5, eight.E3),
    dense=eight.D,
    more_c=eight.MORE_C,
    more_a=eight.MORE_A,
    exponents=(1 / 8 - 0.015, 0.02),
)
TABLEAUX = {tableau.name: tableau for tableau in (RK4, DOPRI5, DOP853)}


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
    found = _nodes(tree)
    for branch in tree:
        found *= density(branch)
    return found


def defect(tableau: Tableau, order: int) -> float:
    """The largest |Σ b_i φ_i(tree) − 1/γ(tree)| of the trees of an order (Butcher 1963): 0 if the method has it."""
    return max(
        abs(sum(b * w for b, w in zip(tableau.b, _weights(tableau, tree), strict=True)) - 1 / density(tree))
        for tree in trees(order)
    )


def _weights(tableau: Tableau, tree: Tree) -> list[float]:
    """φ_i of a tree, a number a stage."""
    found = [1.0] * tableau.stages
    for branch in tree:
        inner = _weights(tableau, branch)
        for i, row in enumerate(tableau.a):
            found[i] *= sum(a * w for a, w in zip(row, inner, strict=False))
    return found
