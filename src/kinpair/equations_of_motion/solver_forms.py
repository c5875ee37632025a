"""The closed form of each solver: what is written down beside M, F, A and b, and what it is for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinpair.closed_form.matrices import ZERO, Matrices, Square, transposed
from kinpair.closed_form.ratios import Denominators
from kinpair.equations_of_motion.embedded import extended, free_inverse, virtual
from kinpair.equations_of_motion.ratios_written import Ratios

Statement = tuple[str, str]  # in LaTeX and as text
BLOCKS = {1: "d", 2: "i"}  # dependent and independent: q1 is the first coordinate
BASIS: Statement = (
    "M \\ddot{q} = F + A^T \\lambda, \\quad A \\ddot{q} = b",
    "M q'' = F + A^T lambda, A q'' = b",
)


@dataclass(frozen=True, slots=True)
class Partition:
    """Rows that are kept, dependent and independent rates, by number."""

    kept: tuple[int, ...]
    one: tuple[int, ...]
    two: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What a closed form is made from, and where it is written."""

    M: Square
    A: Square
    chosen: Partition
    algebra: Matrices
    names: Denominators
    ratios: Ratios


def _multipliers(x: Work) -> Statement:
    """The equations as they are: their solution is no shorter than the others."""
    return "", ""


def _rosenberg(x: Work) -> Statement:
    """n − l equations, Zᵀ(M q̈ − F) = 0: Zhao et al. 2023, eq 16."""
    Z = virtual(x.A, x.chosen.one, x.chosen.two, x.algebra, x.names).Z
    x.ratios.put("Z", Z)
    x.ratios.put("E", x.algebra.product(transposed(Z), x.M) if x.chosen.two else [])
    return "; \\quad E \\ddot{q} = Z^T F", "; E q'' = Z^T F"


def _extended(x: Work) -> Statement:
    """q̈_d = R₁F + R₂b, q̈_i = R₃F + R₄b, dependent and independent: eqs 34 and 33."""
    one, two = x.chosen.one, x.chosen.two
    allowed = virtual(x.A, one, two, x.algebra, x.names)
    form = extended(x.M, allowed, one, x.algebra, x.names)
    parts: list[Statement] = []
    for k, those in ((1, one), (2, two)):
        group = {
            f"R{2 * k - 1}": [y for i in those for y in form.on_F[i]],
            f"R{2 * k}": [y for i in those for y in form.on_b[i]],
        }
        outside = x.ratios.add(group, f"D{k}")
        parts += [_sum(k, outside)] if those else []
    return "".join(a for a, _ in parts), "".join(b for _, b in parts)


def _sum(k: int, outside: bool) -> Statement:
    first, second = 2 * k - 1, 2 * k
    latex, text = f"R_{first} F + R_{second} b", f"R{first} F + R{second} b"
    if outside:
        latex, text = f"\\frac{{{latex}}}{{D_{k}}}", f"({text})/D{k}"
    return f"; \\quad \\ddot{{q}}_{BLOCKS[k]} = {latex}", f"; q_{BLOCKS[k]}'' = {text}"


def _udwadia_kalaba(x: Work) -> Statement:
    """q̈ = G F + G Aᵀ S⁻¹ (b − A G F), G = M⁻¹, S = A M⁻¹ Aᵀ."""
    G, S = free_inverse(x.M, x.A, x.algebra, x.names)
    x.ratios.add({"G": [y for row in G for y in row]}, "")
    x.ratios.add({"S": [y for row in S for y in row]}, "")
    return (
        "; \\quad \\ddot{q} = G F + G A^T S^{-1} (b - A G F)",
        "; q'' = G F + G A^T S^-1 (b - A G F)",
    )


def _maggi(x: Work) -> Statement:
    """X u̇ = Zᵀ (F − M W b), q̈ = Z u̇ + W b with u = q̇_i, X = Zᵀ M Z, W = [A₁⁻¹; 0]: (CS12)."""
    one, two = x.chosen.one, x.chosen.two
    Z, over_A1, _, under = virtual(x.A, one, two, x.algebra, x.names)
    X = x.algebra.product(transposed(Z), x.algebra.product(x.M, Z)) if two else []
    W = [over_A1[one.index(i)] if i in one else [ZERO] * len(one) for i in range(len(Z))]
    x.ratios.add({"Z": [{under: y} for row in Z for y in row]}, "")
    x.ratios.add({"X": [{(*under, *under): y} for row in X for y in row]}, "")
    x.ratios.add({"W": [{under: y} for row in W for y in row]}, "")
    return (
        "; \\quad X \\dot{u} = Z^T (F - M W b), \\quad \\ddot{q} = Z \\dot{u} + W b, \\quad u = \\dot{q}_i",
        "; X u' = Z^T (F - M W b), q'' = Z u' + W b, u = q_i'",
    )


PRINTED: dict[str, Callable[[Work], Statement]] = {
    "rosenberg-extended": _extended,
    "rosenberg": _rosenberg,
    "maggi": _maggi,
    "multipliers": _multipliers,
    "udwadia-kalaba": _udwadia_kalaba,
}
AS_MAGGI = ("partition", "voronets", "chaplygin")  # for u = q̇_i they are the same equations
EMBEDDING = (
    "rosenberg-extended",
    "rosenberg",
    "maggi",
)  # their form depends on which coordinates are dependent
_SOLVED: Statement = ("", "; q'' = qdd")
STEPS: dict[str, Statement] = {  # what the list of named terms ends with
    **dict.fromkeys(PRINTED, _SOLVED),
    "rosenberg": ("; \\quad E \\ddot{q} = f", "; E q'' = f"),
}
