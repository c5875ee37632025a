"""Symbols of one model, those that the reader chooses, and the sheet its equations are written on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kinpair.errors import InputError, offered
from kinpair.model.model import Model
from kinpair.printed_equations.closed_form.formula import Alphabet, Formula, Letter, Number, Symbol
from kinpair.printed_equations.closed_form.reading import Written
from kinpair.printed_equations.closed_form.sheet import Sheet
from kinpair.printed_equations.constant import SHARING, Parameters, directions, letters, symbols_of
from kinpair.printed_equations.parameters import constants, passive_constants
from kinpair.printed_equations.printed import Equations, PrintedEnergy
from kinpair.printed_equations.recording import has_christoffel, passive_efforts

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
