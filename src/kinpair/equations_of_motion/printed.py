"""The equations of a mechanism as a user holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from kinpair.closed_form.formula import ZERO, Formula, Product, Sum, Symbol
from kinpair.closed_form.letters import Letter
from kinpair.closed_form.sheet import Row, Sheet
from kinpair.compiler.export.sympy import SymbolicEquations


@final
@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of motion of a mechanism, H q̈ + C q̇ + g + d = τ, as formulas.

    `H` and `C` (nv, nv), `g` and `d` (nv,) are arrays of formulas: gravity is g, springs, dampers and dry friction are
    d, `h` is C q̇ + g + d. `form` is "closed" (each entry in one piece) or "terms" (a list of short named terms in
    order of need). `status` says why, and how far the work got if it was stopped; entries not finished are None.
    """

    sheet: Sheet
    form: str
    status: str
    complete: bool

    @property
    def H(self) -> np.ndarray:
        """Mass matrix (nv, nv)."""
        return self.sheet.results["H"]

    @property
    def C(self) -> np.ndarray:
        """Coriolis matrix (nv, nv), Ḣ − 2C skew."""
        return self.sheet.results["C"]

    @property
    def g(self) -> np.ndarray:
        """Gravity (nv,)."""
        return self.sheet.results["g"]

    @property
    def d(self) -> np.ndarray:
        """Springs, dampers and dry friction (nv,)."""
        return self.sheet.results.get("d", np.full(self.g.shape, ZERO, dtype=object))

    @property
    def h(self) -> np.ndarray:
        """C q̇ + g + d (nv,)."""
        made = np.empty(self.g.shape, dtype=object)
        for i, (row, g, d) in enumerate(zip(self.C, self.g, self.d, strict=True)):
            rates = zip(row, self.sheet.variables["qd"], strict=True)
            terms = [*(Product((x, Symbol(qd))) for x, qd in rates if x != ZERO), g, d]
            made[i] = Sum(tuple(x for x in terms if x != ZERO) or (ZERO,))
        return made

    @property
    def parameters(self) -> dict[str, Letter]:
        """The letters in the equations, with their meaning and value."""
        return self.sheet.parameters

    @property
    def terms(self) -> int:
        """Terms written, in all entries and definitions."""
        return self.sheet.terms

    def text(self, x: Formula) -> str:
        """One entry as text: `equations.text(equations.H[0, 0])`."""
        return self.sheet.text(x)

    def __str__(self) -> str:
        return str(self.sheet)

    def latex(self, *, document: bool = False) -> str:
        """LaTeX for the package amsmath; a whole file to compile with `document`."""
        return self.sheet.latex(document=document)

    def rows(self) -> list[Row]:
        """Left side and lines of the right side of each equation, in LaTeX."""
        return self.sheet.rows()

    def markdown(self) -> str:
        """A page with the letters and the equations."""
        return self.sheet.markdown()

    def sympy(self) -> SymbolicEquations:
        """SymPy expressions: `.inputs` and `.results` by name, `.parts` the named terms."""
        return self.sheet.sympy()

    def c(self, path: str | Path) -> Path:
        """C99 at `path`, with a header and a self-test beside it."""
        return self.sheet.c(path)

    def casadi(self) -> Any:
        """A CasADi `Function` of q, q̇ and the parameters."""
        return self.sheet.casadi()

    def evaluate(self, q: Any, qd: Any, values: Mapping[str, float] | None = None) -> dict[str, np.ndarray]:
        """H, C, g (and d) in numbers; `values` of parameters, by letter, that shall differ from the description's."""
        return self.sheet.evaluate(q, qd, values=values)
