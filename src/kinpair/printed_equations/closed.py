"""H, C and g in closed form, each entry in one piece.

C from H, exactly, in the normal form.

    c_ijk = ½ (∂H_ij/∂q_k + ∂H_ik/∂q_j − ∂H_jk/∂q_i)        C_ij = Σ_k c_ijk q̇_k

What occurs in several places gets a name, h1, h2, ...: then C is as short as on paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from kinpair.compiler.patience import Report
from kinpair.compiler.program import Leaf
from kinpair.errors import ClosedFormError
from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.folding import Phases
from kinpair.printed_equations.closed_form.matrices import rounded
from kinpair.printed_equations.closed_form.polynomial import Expansion, Polynomial, Watch, number
from kinpair.printed_equations.closed_form.reading import Written, write_closed
from kinpair.printed_equations.paper import WHOLE, Paper
from kinpair.printed_equations.printed import Equations
from kinpair.printed_equations.recording import ENERGIES, energies, groups, recorded

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
    """Name what occurs more than once but for its sign; and c_ijk in these names."""
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


AFTER_STOP = 0.3  # seconds for short forms once the user has stopped the work
SHORT = 200  # terms of an entry that is made short then


class ClosedForm:
    """Normal forms as they are found, so that those found can be had when the work is stopped."""

    def __init__(self, paper: Paper, limit: int | None, report: Report) -> None:
        self._paper = paper
        self._report = report
        self._expansion = Expansion(groups(paper.model, tuple(paper.q)), limit, report)
        self._entries: dict[str, list[Polynomial | None]] = {}
        self._named: list[tuple[str, Polynomial]] = []

    def equations(self) -> Equations:
        """Equations: all of them, or those that are finished when the user stops the work."""
        try:
            self._work()
        except KeyboardInterrupt:
            return self._stopped(f"stopped at {self._report.so_far}")
        self._report.begin("looking for short forms")
        written = self._written(stops=(KeyboardInterrupt,))
        if not written.at_length:
            return self._paper.equations("closed", written, WHOLE)
        status = f"{WHOLE}, some at length: stopped at {self._report.so_far}"
        return self._paper.equations("closed", written, status, stopped=True)

    def energy(self, what: str) -> Written:
        """T or V in one piece."""
        (energy,) = recorded(self._paper.model, self._paper.constants, ENERGIES[what]).outputs
        found = self._expansion.of(energy.entries[0])
        self._entries[what] = [rounded(found.cleaned(found.size))]
        self._join_waves()
        return self._written()

    def _stopped(self, status: str) -> Equations:
        """Report what was found, in short as far as that is quick."""
        with self._report.within(AFTER_STOP):
            written = self._written(stops=(KeyboardInterrupt, ClosedFormError), longest=SHORT)
        return self._paper.equations("closed", written, status, complete=False, stopped=True)

    def _written(self, **options: Any) -> Written:
        return write_closed(self._entries, self._named, self._paper.alphabet, self._report, **options)

    def _work(self) -> None:
        n, q = self._paper.model.nv, self._paper.q
        self._report.begin("recording")
        mass, potential = recorded(self._paper.model, self._paper.constants, energies).outputs
        self._report.begin("g")
        V = self._expansion.of(potential.entries[0])
        V = rounded(V.cleaned(V.size))
        self._entries["g"] = [V.derivative(name) for name in q]
        H = self._masses(mass)
        self._report.begin("C")
        c = christoffel([H[n * i : n * (i + 1)] for i in range(n)], q, self._report)
        self._named, c = named_repeated(c)
        self._entries["C"] = [x for row in coriolis(c, self._paper.qd) for x in row]
        self._join_waves()

    def _join_waves(self) -> None:
        """A cosine and a sine with the direction of a place between them as one wave."""
        if not self._expansion.phases and not self._paper.directions:
            return
        phases = Phases(self._expansion.phases | self._paper.directions)
        for what, entries in self._entries.items():
            self._entries[what] = [x if x is None else phases.of(x) for x in entries]
        named = [(name, phases.of(x)) for name, x in self._named]
        self._named = [*((name, number(value)) for name, value in phases.values.items()), *named]

    def _masses(self, H: Leaf) -> list[Polynomial]:
        """H from the tip of the tree to its root: easy entries first."""
        n = self._paper.model.nv
        cells = self._entries["H"] = [None] * (n * n)
        for i in reversed(range(n)):
            for j in reversed(range(i, n)):
                self._report.begin(f"H{i + 1},{j + 1} of {n},{n}")
                cells[n * i + j] = cells[n * j + i] = self._expansion.of(H.entries[n * i + j])
        every = [x for x in cells if x is not None]
        size = max((x.size for x in every), default=0.0)
        cleaned = [rounded(x.cleaned(size)) for x in every]
        self._entries["H"] = list(cleaned)
        return cleaned
