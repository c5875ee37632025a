"""The closed form of each constraint solver, as matrices of ratios with named denominators.

Accelerations under constraints in closed form: extended Rosenberg and Udwadia–Kalaba over normal forms.

With A = [A₁ A₂], d the determinant of A₁ (or its part with several terms) and Z as in `constraints.solvers.embedding`,
all times d so that nothing is divided:

    Z = [−d A₁⁻¹A₂; d],   X = Zᵀ M Z,   P = Z X⁻¹ Zᵀ
    q̈ = P F + (1 − P M) [A₁⁻¹; 0] b            the four blocks R₁ ... R₄ of Zhao et al. 2023, eqs 33, 34

X falls into blocks that do not meet; each is inverted by its adjugate and its determinant, which becomes a denominator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kinpair.errors import ClosedFormError, InputError
from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.folding import (
    Denominators,
    Names,
    Phases,
    Ratio,
    Whole,
    added,
    joined,
    letters,
    lifted,
    scaled,
    split,
)
from kinpair.printed_equations.closed_form.matrices import ZERO, Matrices, Square, blocks, tidy, transposed
from kinpair.printed_equations.closed_form.polynomial import Polynomial

Ratios = list[list[Ratio]]
ONE = polynomial.number(1.0)


class Virtual(NamedTuple):
    """Displacements that the constraints allow: Z (n, n − l) and A₁⁻¹ (l, l), both times d, and the name of d."""

    Z: Square
    over_A1: Square
    d: Polynomial
    under: Names


class Solution(NamedTuple):
    """q̈ = on_F F + on_b b: entries (n, n) and (n, l)."""

    on_F: Ratios
    on_b: Ratios


def virtual(
    A: Square, one: Sequence[int], two: Sequence[int], algebra: Matrices, names: Denominators
) -> Virtual:
    """Z and A₁⁻¹ for the dependent rates `one` and the independent ones `two`."""
    A1, A2 = [[row[k] for k in one] for row in A], [[row[k] for k in two] for row in A]
    det = algebra.determinant(A1)
    if not len(det):
        raise ClosedFormError("the rows do not determine the dependent coordinates")
    content, under = names.over(det)
    d = names.product(under)
    over_A1 = [[tidy(x * content) for x in row] for row in algebra.adjugate(A1)]
    K = algebra.product(over_A1, A2) if two else []
    Z: Square = [[ZERO] * len(two) for _ in range(len(one) + len(two))]
    for i, row in zip(one, K, strict=True) if two else ():
        Z[i] = [-x for x in row]
    for k, i in enumerate(two):
        Z[i][k] = d
    return Virtual(Z, over_A1, d, under)


def extended(M: Square, x: Virtual, one: Sequence[int], algebra: Matrices, names: Denominators) -> Solution:
    """R₁ ... R₄, rows in the order of the coordinates."""
    n, l = len(M), len(x.over_A1)
    P = _projector(M, x, algebra, names)
    C = algebra.product([[row[k] for k in one] for row in M], x.over_A1)
    on_b: Ratios = [[{} for _ in range(l)] for _ in range(n)]
    for i in range(n):
        for r in range(l):
            pulled = [scaled(algebra, P[i][k], -C[k][r], x.under) for k in range(n)]
            own = [{x.under: x.over_A1[one.index(i)][r]}] if i in one else []
            on_b[i][r] = added([*own, *pulled])
    return Solution(P, on_b)


def _projector(M: Square, x: Virtual, algebra: Matrices, names: Denominators) -> Ratios:
    """P = Z X⁻¹ Zᵀ, symmetric."""
    n, free = len(M), range(len(x.Z[0]))
    X, under = _divided(algebra.product(transposed(x.Z), algebra.product(M, x.Z)), x, algebra)
    inverse = inverted(X, algebra, names, x)
    result: Ratios = [[{} for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            both = [(k, l) for k in free for l in free if len(x.Z[i][k]) and len(x.Z[j][l])]
            parts = [
                scaled(algebra, inverse[k][l], algebra.times(x.Z[i][k], x.Z[j][l]), under) for k, l in both
            ]
            result[i][j] = result[j][i] = _reduced(added(parts), names)
    return result


def _reduced(x: Ratio, names: Denominators) -> Ratio:
    """Each part without the denominators that divide it."""
    return added([{under: part} for part, under in (names.reduced(p, u) for u, p in x.items())])


def _divided(X: Square, x: Virtual, algebra: Matrices) -> tuple[Square, Names]:
    """X without the powers of d that all its entries have; these by name."""
    under: Names = ()
    while x.under:
        quotients = [[algebra.quotient(y, x.d) for y in row] for row in X]
        if any(y is None for row in quotients for y in row):
            break
        X, under = [[tidy(y) for y in row if y is not None] for row in quotients], (*under, *x.under)
    return X, under


def inverted(X: Square, algebra: Matrices, names: Denominators, x: Virtual | None = None) -> Ratios:
    """The inverse of a symmetric matrix, block by block; powers of d in a determinant are distinguished."""
    n = len(X)
    result: Ratios = [[{} for _ in range(n)] for _ in range(n)]
    for block in blocks(X):
        inner = [[X[i][j] for j in block] for i in block]
        det = algebra.determinant(inner)
        if not len(det):
            raise ClosedFormError("the mass matrix of the allowed motions is singular")
        ((det,),), under = _divided([[det]], x, algebra) if x is not None else ([[det]], ())
        content, names_of_it = names.over(det)
        adjugate = algebra.adjugate(inner)
        for i, row in zip(block, adjugate, strict=True):
            for j, y in zip(block, row, strict=True):
                result[i][j] = scaled(algebra, {(): y}, content, (*under, *names_of_it))
    return result


def free_inverse(M: Square, A: Square, algebra: Matrices, names: Denominators) -> tuple[Ratios, Ratios]:
    """M⁻¹ and A M⁻¹ Aᵀ of Udwadia and Kalaba."""
    if any(not len(algebra.determinant([[M[i][j] for j in block] for i in block])) for block in blocks(M)):
        raise InputError(
            "the mass matrix is singular, so that G = M⁻¹ does not exist; 'rosenberg-extended' will do"
        )
    G, n = inverted(M, algebra, names), len(M)
    AG = [[added([scaled(algebra, G[k][j], row[k]) for k in range(n)]) for j in range(n)] for row in A]
    S = [[added([scaled(algebra, x[k], row[k]) for k in range(n)]) for row in A] for x in AG]
    return G, S


Group: TypeAlias = Mapping[str, Sequence[Ratio]]  # matrices with one denominator, entries row by row
FEW = 4  # terms of a sum that stays itself where a letter comes out of it
LONG_ENOUGH = 3  # terms of a sum that gets a name where it stands in several entries


class WrittenRatios:
    """Entries of matrices over named denominators; sums that stand in several entries are named too."""

    def __init__(self, names: Denominators, phases: Phases) -> None:
        self._names, self._phases = names, phases
        self.forms: dict[str, list[Polynomial]] = {}

    def add(self, group: Group, common: str) -> bool:
        """Write matrices down; their least common denominator is taken out and called `common`, if one entry has it
        whole. True if so."""
        wholes = {what: [self._names.whole(x) for x in entries] for what, entries in group.items()}
        every = [x for entries in wholes.values() for x in entries]
        least = joined(x.under for x in every)
        outside = bool(common and least) and any(x.under == least for x in every)
        for what, entries in wholes.items():
            self.forms[what] = [_over(x.under, self._shorter(x), least if outside else None) for x in entries]
        if outside:
            self.forms[common] = [letters(least)]
        return outside

    def put(self, what: str, matrix: Square) -> None:
        """Write a matrix of normal forms down."""
        self.forms[what] = [self._phases.of(x) for row in matrix for x in row]

    def _shorter(self, x: Whole) -> Polynomial:
        content, inner = split(x.numerator) if len(x.numerator) else (x.numerator, x.numerator)
        product = len(inner) <= FEW and any(powers for powers, _ in content.terms)
        shorter = 2 * len(x.short) <= len(x.numerator) and _divides(x.short) <= _divides(x.numerator)
        return self._phases.of(x.short if shorter and not product else x.numerator)

    def named(self) -> list[tuple[str, Polynomial]]:
        """The denominators and repeated sums, the entries rewritten in them."""
        known = set(self._names.meaning)
        parts = [_parts(x, known) for entries in self.forms.values() for x in entries if len(x)]
        count = Counter(inner for _, inner in parts if len(inner) >= LONG_ENOUGH)
        repeated = {inner: self._names.name(inner) for inner, times in count.items() if times > 1}
        for what, entries in self.forms.items():
            self.forms[what] = [_in_names(x, known, repeated) for x in entries]
        return [(name, self._phases.of(x)) for name, x in self._names.meaning.items()]


def _divides(x: Polynomial) -> bool:
    """True if symbols stand under a fraction bar."""
    return any(n < 0 for powers, _ in x.terms for _, n in powers)


def _over(under: Names, x: Polynomial, common: Names | None) -> Polynomial:
    if common is not None:
        return lifted(x, under, common)
    inverse = letters(under).inverse()
    assert inverse is not None  # letters
    return x * inverse


def _parts(x: Polynomial, known: set[str]) -> tuple[Polynomial, Polynomial]:
    """Separate one term from the others, as `split`; a sum that has names in it already is left alone."""
    content, inner = split(x)
    named = any(name in known for powers, _ in inner.terms for name, _ in powers)
    return (polynomial.number(1.0), polynomial.number(1.0)) if named else (content, inner)


def _in_names(x: Polynomial, known: set[str], repeated: Mapping[Polynomial, str]) -> Polynomial:
    content, inner = _parts(x, known) if len(x) else (x, x)
    return content * polynomial.letter(repeated[inner]) if inner in repeated else x


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
    """Work on a closed form: its source, and where it is written."""

    M: Square
    A: Square
    chosen: Partition
    algebra: Matrices
    names: Denominators
    ratios: WrittenRatios


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
