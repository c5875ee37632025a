"""C from H, exactly, in the normal form.

    c_ijk = ½ (∂H_ij/∂q_k + ∂H_ik/∂q_j − ∂H_jk/∂q_i)        C_ij = Σ_k c_ijk q̇_k

What occurs in several places gets a name, h1, h2, ...: then C is as short as on paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kinpair.closed_form import polynomial
from kinpair.closed_form.polynomial import Polynomial, Watch

Square = list[list[Polynomial]]
Cube = list[Square]


def christoffel(H: Square, q: Sequence[str], watch: Watch) -> Cube:
    """c_ijk, i first."""
    n = len(q)
    slope: dict[tuple[int, int, int], Polynomial] = {}
    for i in range(n):
        watch(f"derivatives of row {i + 1} of {n}")
        for j in range(i, n):
            for k, name in enumerate(q):
                slope[i, j, k] = slope[j, i, k] = H[i][j].derivative(name)
    return [
        [[(slope[i, j, k] + slope[i, k, j] - slope[j, k, i]).scaled(0.5) for k in range(n)] for j in range(n)]
        for i in range(n)
    ]


def named_repeated(c: Cube) -> tuple[list[tuple[str, Polynomial]], Cube]:
    """What occurs more than once but for its sign, by name; and c_ijk in these names."""
    flat = [x for square in c for row in square for x in row if len(x)]
    count = Counter(_unsigned(x) for x in flat)
    repeated = [x for x in dict.fromkeys(map(_unsigned, flat)) if count[x] > 1 and _worth_a_name(x)]
    names = {x: f"h{k + 1}" for k, x in enumerate(repeated)}
    named = [(name, x) for x, name in names.items()]
    return named, [[[_in_names(x, names) for x in row] for row in square] for square in c]


def _unsigned(x: Polynomial) -> Polynomial:
    return x.scaled(x.leading_sign())


def _worth_a_name(x: Polynomial) -> bool:
    return len(x) > 1 or any(len(powers) + len(waves) > 1 for powers, waves in x.terms)


def _in_names(x: Polynomial, names: dict[Polynomial, str]) -> Polynomial:
    name = names.get(_unsigned(x)) if len(x) else None
    return x if name is None else polynomial.letter(name).scaled(x.leading_sign())


def coriolis(c: Cube, qd: Sequence[str]) -> Square:
    """C_ij = Σ_k c_ijk q̇_k."""
    C: Square = []
    for square in c:
        C.append([_along(row, qd) for row in square])
    return C


def _along(row: Sequence[Polynomial], qd: Sequence[str]) -> Polynomial:
    total = polynomial.number(0.0)
    for x, name in zip(row, qd, strict=True):
        total = total + x * polynomial.letter(name)
    return total
