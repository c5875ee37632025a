"""Letters of one model, and the sheet its equations are written on."""

from __future__ import annotations

from collections.abc import Mapping

from kinpair.closed_form.formula import Formula, Number, Symbol
from kinpair.closed_form.letters import Alphabet, Letter
from kinpair.closed_form.reading import Written
from kinpair.closed_form.sheet import Sheet
from kinpair.equations_of_motion.constant import SHARING, Parameters, letters, symbols_of
from kinpair.equations_of_motion.own_symbols import renamed
from kinpair.equations_of_motion.parameters import constants, passive_constants
from kinpair.equations_of_motion.passive import passive_efforts
from kinpair.equations_of_motion.places import directions
from kinpair.equations_of_motion.printed import Equations, PrintedEnergy
from kinpair.equations_of_motion.recording import has_christoffel
from kinpair.model.model import Model

STATEMENT = ("H \\ddot{q} + C \\dot{q} + G = \\tau", "H q'' + C q' + G = tau")
PASSIVE = ("H \\ddot{q} + C \\dot{q} + G + d = \\tau", "H q'' + C q' + G + d = tau")
STATEMENTS = {"T": ("T = T_1", "T = T1: kinetic energy"), "V": ("V = V_1", "V = V1: potential energy")}
PRINTED_AS = {"g": "G"}  # g is the acceleration of gravity
OTHER_C = "C is that of the complement (DeNOC), not of Christoffel's symbols; H' - 2C is skew-symmetric too."
WHOLE = "every entry in one piece"


class Paper:
    """Which constants, coordinates and rates there are, and what they are called."""

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
        """The letters, given which constants are used."""
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
