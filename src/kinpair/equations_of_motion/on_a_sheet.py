"""What equations that stand on a sheet have in common: every way to print them."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kinpair.closed_form.formula import Formula
from kinpair.closed_form.letters import Letter
from kinpair.closed_form.pages import Row
from kinpair.closed_form.printing import mathml
from kinpair.closed_form.sheet import Sheet
from kinpair.compiler.export.sympy import SymbolicEquations
from kinpair.description.fields import counted

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
        """A page with the letters and the equations."""
        return self.sheet.markdown()

    def sympy(self) -> SymbolicEquations:
        """SymPy expressions: `.inputs` and `.results` by name, `.parts` the named terms."""
        return self.sheet.sympy()

    def c(self, path: str | Path) -> Path:
        """C99 at `path`, with a header and a self-test beside it."""
        return self.sheet.c(path)

    def casadi(self) -> Any:
        """A CasADi `Function` of the variables and the parameters."""
        return self.sheet.casadi()
