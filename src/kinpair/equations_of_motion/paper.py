"""Letters of one model, and the sheet its equations are written on."""

from __future__ import annotations

from kinpair.closed_form.formula import Formula, Number, Symbol
from kinpair.closed_form.letters import Alphabet, Letter
from kinpair.closed_form.reading import Written
from kinpair.closed_form.sheet import Sheet
from kinpair.equations_of_motion.parameters import constants, letters, passive_constants
from kinpair.equations_of_motion.passive import passive_efforts
from kinpair.equations_of_motion.printed import Equations
from kinpair.model.model import Model

STATEMENT = ("H \\ddot{q} + C \\dot{q} + g = \\tau", "H q'' + C q' + g = tau")
PASSIVE = ("H \\ddot{q} + C \\dot{q} + g + d = \\tau", "H q'' + C q' + g + d = tau")
WHOLE = "every entry in one piece"


class Paper:
    """Which constants, coordinates and rates there are, and what they are called."""

    def __init__(self, model: Model, *, symbolic: bool, passive: bool) -> None:
        self.model = model
        self.constants = constants(model) if symbolic else []
        self.passive = passive_constants(model) if passive else []
        self.symbolic = symbolic
        self.q = [f"q[{k}]" for k in range(model.nq)]
        self.qd = [f"qd[{k}]" for k in range(model.nv)]

    def alphabet(self, used: set[str]) -> Alphabet:
        """The letters, given which constants are used."""
        model, passive = self.model, self.passive if self.symbolic else []
        made = letters(self.constants, used) | letters(passive, {c.key for c in passive})
        for k, name in enumerate(self.q):
            made[name] = Letter("q", str(k + 1), f"coordinate {model.q_names[k]!r}")
        for k, name in enumerate(self.qd):
            meaning = f"rate {model.v_names[k]!r}" if model.nq > model.nv else ""
            made[name] = Letter("q", str(k + 1), meaning, accent="\\dot")
        masses = [c.key for c in self.constants if c.base == "m" and c.key in made]
        return Alphabet(made, {name: k + 1 for k, name in enumerate(self.q)}, self.qd, masses)

    def equations(self, form: str, written: Written, status: str, complete: bool = True) -> Equations:
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
            self._notes(status),
        )
        return Equations(sheet, form, status, complete)

    def _passive_values(self) -> dict[str, Formula]:
        return {c.key: Symbol(c.key) if self.symbolic else Number(c.value) for c in self.passive}

    def _notes(self, status: str) -> tuple[str, ...]:
        notes = ["H is symmetric; entries not shown are zero."]
        if status != WHOLE:
            notes.append(f"{status[0].upper()}{status[1:]}.")
        conditions = [condition.name for condition in self.model.description.conditions]
        if conditions:
            notes.append(f"These are the equations of the tree; not in them: {', '.join(conditions)}.")
        return tuple(notes)
