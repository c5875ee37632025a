"""The equations of a mechanism as a user holds them, without and with constraints, printed in every form."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, final

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.compiler.export.sympy import SymbolicEquations
from kinpair.compiler.program import Program
from kinpair.compiler.trace import trace
from kinpair.description.fields import counted
from kinpair.errors import InputError, listed, nearest
from kinpair.printed_equations.closed_form.formula import ZERO, Formula, Letter, Number, Product, Sum, Symbol
from kinpair.printed_equations.closed_form.pages import Row
from kinpair.printed_equations.closed_form.printing import mathml
from kinpair.printed_equations.closed_form.sheet import Sheet, entry_name
from kinpair.printed_equations.significance import Significance, states_of

IN_A_NOTEBOOK = 600  # terms that a browser sets in about a second


@dataclass(frozen=True, eq=False, repr=False)
class OnASheet(ABC):
    """Formulas on a sheet; `form` and `status` say how they are written and why. `complete`: all entries are there.
    `stopped`: the user ended the work, on entries or on their short forms."""

    sheet: Sheet
    form: str
    status: str
    complete: bool
    stopped: bool

    @property
    def parameters(self) -> dict[str, Letter]:
        """The symbols in the equations, with their meaning and value."""
        return self.sheet.parameters

    @property
    def terms(self) -> int:
        """Terms written, in all entries and definitions."""
        return self.sheet.terms

    def text(self, x: Formula) -> str:
        """Write one entry as text: `equations.text(equations.H[0, 0])`."""
        return self.sheet.text(x)

    def __str__(self) -> str:
        return str(self.sheet)

    def latex(self, *, document: bool = False) -> str:
        """LaTeX for the package amsmath; a whole file to compile with `document`."""
        return self.sheet.latex(document=document)

    def mathml(self) -> str:
        """Return MathML, which browsers draw without a script and without a network."""
        return mathml(self.sheet.notebook())

    def _repr_html_(self) -> str | None:
        """Return MathML for notebooks and their exports; None where a browser would take long."""
        return self.mathml() if self.terms <= IN_A_NOTEBOOK else None

    def _repr_latex_(self) -> str | None:
        """Return LaTeX for documents that are made of a notebook; None where a browser would take long."""
        return self.sheet.notebook() if self.terms <= IN_A_NOTEBOOK else None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.sheet.name!r}: {counted(self.terms, 'term')}>"

    def rows(self) -> list[Row]:
        """Left side and lines of the right side of each equation, in LaTeX."""
        return self.sheet.rows()

    def markdown(self) -> str:
        """A page with the symbols and the equations."""
        return self.sheet.markdown()

    def sympy(self) -> SymbolicEquations:
        """SymPy expressions: `.inputs` and `.results` by name, `.parts` the named terms."""
        return self.sheet.sympy()

    def c(self, path: str | Path) -> Path:
        """C99 at `path`, with a header and a self-test next to it."""
        return self.sheet.c(path)

    def casadi(self) -> Any:
        """A CasADi `Function` of the variables and the parameters."""
        return self.sheet.casadi()


Shapes = Mapping[str, tuple[int, ...]]
Known = tuple[float, str]  # a factor, and the name of a letter or entry; "" for a number alone


class Entries:
    """Matrices of formulas. An entry that is zero, a number or a symbol is itself; others go by their name."""

    def __init__(self, results: Mapping[str, Sequence[Formula]], shapes: Shapes) -> None:
        self._shapes = shapes
        self._known: dict[str, list[Known]] = {}
        self.definitions: list[tuple[str, Formula]] = []
        named: dict[Formula, str] = {}
        for what, shape in shapes.items():
            places = list(product(*map(range, shape)))
            self._known[what] = [
                self._entry(x, entry_name(what, place, shape), named)
                for x, place in zip(results[what], places, strict=True)
            ]
            self.definitions += [
                (entry_name(what, place, shape), x)
                for x, place in zip(results[what], places, strict=True)
                if x != ZERO and (what != "M" or place[0] <= place[1])
            ]

    @staticmethod
    def _entry(x: Formula, name: str, named: dict[Formula, str]) -> Known:
        match x:
            case Number(value):
                return value, ""
            case Symbol(letter):
                return 1.0, letter
            case Product((Number(-1.0), Symbol(letter))):
                return -1.0, letter
            case _:
                return 1.0, named.setdefault(x, name)

    def recorded(self, name: str, steps: Callable[..., dict[str, Any]]) -> Program:
        """Steps that take the matrices in order, as a program of the entries and symbols."""
        inputs = list(dict.fromkeys(x for entries in self._known.values() for _, x in entries if x))

        def f(*values: Any) -> dict[str, Any]:
            values_by_name = dict(zip(inputs, values, strict=True))
            arrays = [self._array(what, values_by_name) for what in self._shapes]
            return steps(*arrays)

        with np.errstate(all="ignore"):
            return trace(f, dict.fromkeys(inputs, ()), name=name)

    def _array(self, what: str, values_by_name: Mapping[str, Any]) -> np.ndarray:
        entries = [factor * values_by_name[x] if x else factor for factor, x in self._known[what]]
        return array(entries).reshape(self._shapes[what]) if entries else np.zeros(self._shapes[what])


@final
@dataclass(frozen=True, eq=False, repr=False)
class PrintedEnergy(OnASheet):
    """A kinetic or potential energy as a formula."""

    @property
    def formula(self) -> Formula:
        """The energy as a formula; `text(formula)` writes it.

        Units: [J].
        """
        (array,) = self.sheet.results.values()
        return array[0]

    def evaluate(self, q: Any, qd: Any, values: Mapping[str, float] | None = None) -> float:
        """Compute the energy of a state; `values` of parameters, by symbol, that differ from the description's.

        Units: [J].
        """
        (energy,) = self.sheet.evaluate(q, qd, values=values).values()
        return float(energy[0])


@final
@dataclass(frozen=True, eq=False, repr=False)
class Equations(OnASheet):
    """The equations of motion of a mechanism, H q̈ + C q̇ + g + d = τ, as formulas.

    `H` and `C` (nv, nv), `g` and `d` (nv,) are arrays of formulas: gravity is g, springs, dampers and dry friction are
    d, `h` is C q̇ + g + d. `form` is "closed" (each entry in one piece) or "terms" (a list of short named terms in
    order of need). `status` says why, and how far the work got if it was stopped; entries not finished are None.
    On paper g is called G, since the symbol g is the acceleration of gravity.
    """

    energy: Callable[[str], PrintedEnergy] | None = None

    @cached_property
    def kinetic_energy(self) -> PrintedEnergy:
        """The kinetic energy T as a formula: print it, or `.latex()`, `.sympy()`, `.evaluate(q, qd)`.

        Units: [J].
        """
        return self._energy("T")

    @cached_property
    def potential_energy(self) -> PrintedEnergy:
        """The potential energy V of gravity, zero at the origin of the world, as a formula; springs are not in it.

        Units: [J].
        """
        return self._energy("V")

    def _energy(self, what: str) -> PrintedEnergy:
        assert self.energy is not None
        return self.energy(what)

    @property
    def H(self) -> np.ndarray:
        """Mass matrix (nv, nv).

        Units: entries [kg m²], [kg m] or [kg].
        """
        return self.sheet.results["H"]

    @property
    def C(self) -> np.ndarray:
        """Coriolis matrix (nv, nv), Ḣ − 2C skew.

        Units: entries [N m s/rad] or [N s/m].
        """
        return self.sheet.results["C"]

    @property
    def g(self) -> np.ndarray:
        """Gravity forces (nv,) [N m] or [N].

        Units: [N m] or [N].
        """
        return self.sheet.results["g"]

    @property
    def d(self) -> np.ndarray:
        """Springs, dampers and dry friction (nv,).

        Units: [N m] or [N].
        """
        return self.sheet.results.get("d", np.full(self.g.shape, ZERO, dtype=object))

    @property
    def h(self) -> np.ndarray:
        """C q̇ + g + d (nv,); None where a part of it is not finished.

        Units: [N m] or [N].
        """
        sums = np.full(self.g.shape, None, dtype=object)
        for i, (row, g, d) in enumerate(zip(self.C, self.g, self.d, strict=True)):
            if any(x is None for x in (*row, g, d)):
                continue
            rates = zip(row, self.sheet.variables["qd"], strict=True)
            terms = [*(Product((x, Symbol(qd))) for x, qd in rates if x != ZERO), g, d]
            sums[i] = Sum(tuple(x for x in terms if x != ZERO) or (ZERO,))
        return sums

    def significance(self, q: Any, qd: Any, qdd: Any = None) -> Significance:
        """Measure each summand of H, C q̇ and g: the largest |summand| / |entry| over the states.

        q (states, nq), qd (states, nv); qdd (states, nv), zero if not given, is used for torque errors alone. Only for
        closed forms. `print` the result, or call its `.simplified(tolerance)`.

        Units: q [rad] or [m], rates [rad/s] or [m/s].
        """
        if self.form != "closed" or not self.complete:
            raise InputError(
                f"{self.sheet.name}: significance needs the closed form of every entry; here is {self.status}. "
                "kinpair.equations(m, form='closed') gives it where it exists"
            )
        return Significance(self, states_of(self, q, qd, qdd))

    def evaluate(self, q: Any, qd: Any, values: Mapping[str, float] | None = None) -> dict[str, np.ndarray]:
        """Evaluate H, C (nv, nv) and g, d (nv,) in numbers; `values` of parameters, by symbol, that shall differ
        from the description's.

        Units: [kg m²] or [kg] of H, [N m] or [N] of forces.
        """
        return self.sheet.evaluate(q, qd, values=values)


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConstrainedEquations(OnASheet):
    """The equations M q̈ = F + Aᵀλ, A q̈ = b as formulas, and what a solver makes of them.

    `equations["M"]` is an array of formulas, so are "F", "A" and "b"; `solver` says what else there is, see
    docs/printed_equations.md. `names` are the rates, `row_names` the rows of A, `dependent` and `independent` the
    rates of the blocks q_d and q_i. `form` is "closed" (each entry in one piece, over named denominators) or "terms"
    (short named terms).
    """

    solver: str
    names: tuple[str, ...]
    row_names: tuple[str, ...]
    dependent: tuple[str, ...]
    independent: tuple[str, ...]

    def __getitem__(self, what: str) -> np.ndarray:
        """A result by its name."""
        if what not in self.sheet.results:
            raise InputError(
                f"{self.sheet.name}: no {what!r} in these equations; {nearest(what, self.sheet.results)}"
                f"There are: {listed(self.sheet.results)}"
            )
        return self.sheet.results[what]

    def evaluate(
        self,
        q: Any,
        qd: Any,
        tau: Any = None,
        *,
        time: float = 0.0,
        values: Mapping[str, float] | None = None,
    ) -> dict[str, np.ndarray]:
        """Evaluate all matrices (nv, nv) and vectors (nv,) in numbers, and the accelerations "qdd" where the solver
        gives any and is finished.

        Units: SI of each entry, for instance [N m] of an effort.
        """
        known = self.sheet.variables
        effort = np.zeros(len(known["tau"])) if tau is None else tau
        state = {"q": q, "qd": qd, "tau": effort, "time": [time]}
        results = self.sheet.evaluate(*(state[what] for what in known), values=values)
        if "qdd" not in results and self.complete and self.solver in ACCELERATIONS:
            results["qdd"] = ACCELERATIONS[self.solver](results, self._order)
        return results

    @property
    def _order(self) -> np.ndarray:
        """Place of each coordinate in (q_d, q_i)."""
        order = (*self.dependent, *self.independent)
        return np.array([order.index(name) for name in self.names], dtype=int)


def _by_embedding(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """q̈_d and q̈_i from R₁ ... R₄."""
    one = (x["R1"] @ x["F"] + x["R2"] @ x["b"]) / x.get("D1", 1.0)
    two = (x["R3"] @ x["F"] + x["R4"] @ x["b"]) / x.get("D2", 1.0)
    return np.concatenate([one, two])[order]


def _by_multipliers(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """M q̈ − Aᵀλ = F, A q̈ = b, solved in numbers."""
    n, l = x["A"].T.shape
    whole = np.block([[x["M"], -x["A"].T], [x["A"], np.zeros((l, l))]])
    return np.linalg.solve(whole, np.concatenate([x["F"], x["b"]]))[:n]


def _by_pull(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """q̈ = G F + G Aᵀ S⁻¹ (b − A G F)."""
    free = x["G"] @ x["F"]
    return free + x["G"] @ x["A"].T @ np.linalg.solve(x["S"], x["b"] - x["A"] @ free)


def _by_characteristics(x: Mapping[str, np.ndarray], order: np.ndarray) -> np.ndarray:
    """X u̇ = Zᵀ (F − M W b), q̈ = Z u̇ + W b."""
    prescribed = x["W"] @ x["b"]
    return x["Z"] @ np.linalg.solve(x["X"], x["Z"].T @ (x["F"] - x["M"] @ prescribed)) + prescribed


ACCELERATIONS: dict[str, Callable[[Mapping[str, np.ndarray], np.ndarray], np.ndarray]] = {
    "rosenberg-extended": _by_embedding,
    "maggi": _by_characteristics,
    "multipliers": _by_multipliers,
    "udwadia-kalaba": _by_pull,
}
