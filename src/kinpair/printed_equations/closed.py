"""H, C and g in closed form, each entry in one piece, and the sheet with symbols that they are written on.

C from H, exactly, in the normal form.

    c_ijk = ½ (∂H_ij/∂q_k + ∂H_ik/∂q_j − ∂H_jk/∂q_i)        C_ij = Σ_k c_ijk q̇_k

What occurs in several places gets a name, h1, h2, ...: then C is as short as on paper.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kinpair.compiler.patience import Report
from kinpair.compiler.program import Leaf
from kinpair.errors import ClosedFormError, InputError, offered
from kinpair.model.model import Model
from kinpair.printed_equations.closed_form import polynomial
from kinpair.printed_equations.closed_form.folding import Phases
from kinpair.printed_equations.closed_form.formula import Alphabet, Formula, Letter, Number, Symbol
from kinpair.printed_equations.closed_form.matrices import rounded
from kinpair.printed_equations.closed_form.polynomial import Expansion, Polynomial, Watch, number
from kinpair.printed_equations.closed_form.reading import Written, write_closed
from kinpair.printed_equations.closed_form.sheet import Sheet
from kinpair.printed_equations.constant import SHARING, Parameters, directions, letters, symbols_of
from kinpair.printed_equations.parameters import constants, passive_constants
from kinpair.printed_equations.printed import Equations, PrintedEnergy
from kinpair.printed_equations.subject import (
    ENERGIES,
    energies,
    groups,
    has_christoffel,
    passive_efforts,
    recorded,
)

SYMBOL = re.compile(r"([A-Za-z]+)(?:_?([0-9][A-Za-z0-9]*|(?<=_)[A-Za-z0-9]+))?")
WAVE = re.compile(r"[cs][0-9]+")  # c12 is cos(q1 + q2)


def key_of(letter: Letter) -> str:
    """Return the name of a symbol with its index after an underscore: m_1."""
    return f"{letter.base}_{letter.index}" if letter.index else letter.base


def renamed(sheet: Sheet, symbols: Mapping[str, str], *, known_only: bool = False) -> Sheet:
    """Return the sheet with other symbols, by their names on it: {"m_1": "M", "q_1": "phi"}; m1 is m_1.

    The rate of a coordinate follows its coordinate. `known_only` leaves out names that are not on the sheet.
    """
    if not symbols:
        return sheet
    letters = dict(sheet.alphabet.letters)
    keys = {key_of(letter): key for key, letter in letters.items() if not letter.accent}
    plain = {name.replace("_", ""): name for name in keys}
    for name, symbol in symbols.items():
        known = name if name in keys else plain.get(name)
        if known is None and known_only:
            continue
        if known is None:
            raise InputError(
                f"{sheet.name}: symbols has {name!r}, which is not in these equations; "
                f"{offered(str(name), 'symbols', keys)}",
                symbol=name,
            )
        own, old = _parts(sheet.name, name, symbol), letters[keys[known]]
        for key, letter in sheet.alphabet.letters.items():
            if (letter.base, letter.index) == (old.base, old.index):
                letters[key] = replace(letter, base=own[0], index=own[1])
    _check_different(sheet, letters)
    return replace(sheet, alphabet=replace(sheet.alphabet, letters=letters))


def _parts(owner: str, name: str, symbol: Any) -> tuple[str, str]:
    match = SYMBOL.fullmatch(symbol) if isinstance(symbol, str) else None
    if match is None:
        raise InputError(
            f"{owner}: symbols has {symbol!r} for {name!r}; give a symbol and an index after an underscore, 'M' or "
            "'phi_1'",
            symbol=name,
        )
    return match[1], match[2] or ""


def _check_different(sheet: Sheet, letters: Mapping[str, Letter]) -> None:
    taken = {name: "a named term" for name, _ in sheet.definitions}
    for key, letter in letters.items():
        if letter.text in taken or (letter != sheet.alphabet.letters[key] and WAVE.fullmatch(letter.text)):
            other = taken.get(letter.text, "a cosine or sine")
            raise InputError(
                f"{sheet.name}: symbols gives {letter.text!r} to {letter.meaning or 'a rate'}, and {other} has it; "
                "choose another",
                symbol=letter.text,
            )
        taken[letter.text] = letter.meaning or "a rate"


STATEMENT = ("H \\ddot{q} + C \\dot{q} + G = \\tau", "H q'' + C q' + G = tau")
PASSIVE = ("H \\ddot{q} + C \\dot{q} + G + d = \\tau", "H q'' + C q' + G + d = tau")
STATEMENTS = {"T": ("T = T_1", "T = T1: kinetic energy"), "V": ("V = V_1", "V = V1: potential energy")}
PRINTED_AS = {"g": "G"}  # g is the acceleration of gravity
OTHER_C = "C is that of the complement (DeNOC), not of Christoffel's symbols; H' - 2C is skew-symmetric too."
WHOLE = "every entry in one piece"


class Paper:
    """Constants, coordinates and rates with their symbols."""

    def __init__(
        self, model: Model, parameters: Parameters, *, passive: bool, symbols: Mapping[str, str] | None = None
    ) -> None:
        self.symbols = symbols or {}
        self.model, self.symbolic = model, parameters != "numbers"
        share = SHARING[parameters]
        self.constants = share(constants(model)) if self.symbolic else []
        self.passive = share(passive_constants(model)) if passive else []
        self.directions = directions(self.constants)
        self.q = [f"q[{k}]" for k in range(model.nq)]
        self.qd = [f"qd[{k}]" for k in range(model.nv)]

    def alphabet(self, used: set[str]) -> Alphabet:
        """The symbols, given which constants are used."""
        model, passive = self.model, self.passive if self.symbolic else []
        all_letters = letters(self.constants, used) | letters(passive, set(symbols_of(passive)))
        for k, name in enumerate(self.q):
            all_letters[name] = Letter("q", str(k + 1), f"coordinate {model.q_names[k]!r}")
        for k, name in enumerate(self.qd):
            meaning = f"rate {model.v_names[k]!r}" if model.nq > model.nv else ""
            all_letters[name] = Letter("q", str(k + 1), meaning, accent="\\dot")
        masses = [c.key for c in self.constants if c.base == "m" and c.key in all_letters]
        return Alphabet(all_letters, {name: k + 1 for k, name in enumerate(self.q)}, self.qd, masses)

    def equations(
        self, form: str, written: Written, status: str, *, complete: bool = True, stopped: bool = False
    ) -> Equations:
        """The sheet with H, C, g and d on it."""
        n = self.model.nv
        shapes = {"H": (n, n), "C": (n, n), "g": (n,)}
        arrays = {what: written.array(what, shape) for what, shape in shapes.items()}
        if self.passive:
            arrays["d"] = passive_efforts(self.model, self._passive_values(), self.q, self.qd)
        sheet = Sheet(
            self.model.name,
            {"q": self.q, "qd": self.qd},
            written.alphabet,
            written.definitions,
            arrays,
            PASSIVE if self.passive else STATEMENT,
            frozenset({"H"}),
            self._notes(form, status),
            PRINTED_AS,
        )
        return Equations(renamed(sheet, self.symbols), form, status, complete, stopped)

    def energy(self, what: str, form: str, written: Written) -> PrintedEnergy:
        """The sheet with T or V on it; own symbols that are not in it are left out."""
        statement = STATEMENTS[what]
        sheet = Sheet(
            self.model.name,
            {"q": self.q, "qd": self.qd},
            written.alphabet,
            written.definitions,
            {what: written.array(what, (1,))},
            statement,
        )
        return PrintedEnergy(renamed(sheet, self.symbols, known_only=True), form, WHOLE, True, False)

    def _passive_values(self) -> dict[str, Formula]:
        return {c.key: Symbol(c.letter) if self.symbolic else Number(c.value) for c in self.passive}

    def _notes(self, form: str, status: str) -> tuple[str, ...]:
        notes = [] if self.model.nv else ["Nothing moves: there is nothing to write down."]
        if status != WHOLE:
            notes.append(f"{status[0].upper()}{status[1:]}.")
        if form == "terms" and not has_christoffel(self.model):
            notes.append(OTHER_C)
        constraints = [constraint.name for constraint in self.model.description.constraints]
        if constraints:
            notes.append(f"These are the equations of the tree; not in them: {', '.join(constraints)}.")
        return tuple(notes)


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
