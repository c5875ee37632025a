"""A sheet of named formulas with their letters, and every way to print it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.closed_form.formula import ZERO, Atom, Formula, Trig, atoms, written_terms
from kinpair.closed_form.languages import Inputs, to_program, to_sympy
from kinpair.closed_form.letters import Alphabet, Letter, symbols
from kinpair.closed_form.printing import LATEX, TEXT, Style, lines, written
from kinpair.compiler.export.c import write_c
from kinpair.compiler.export.casadi import to_casadi
from kinpair.compiler.export.sympy import SymbolicEquations
from kinpair.compiler.interpret import interpret
from kinpair.compiler.program import Program
from kinpair.errors import InputError, listed, nearest

Row = tuple[str, list[str]]  # left side, lines of the right side


@dataclass(frozen=True, eq=False)
class Sheet:
    """Formulas by name, in arrays of one or two axes.

    `variables`: the arrays of variables by name, with the symbols in them. Every other symbol is a parameter. An entry
    that is not finished is None.
    `definitions`: terms with names of their own, in order of need. `symmetric`: matrices whose lower half is not
    printed. `statement`: what the formulas are for, in LaTeX and as text. `notes`: sentences for the reader.
    """

    name: str
    variables: Mapping[str, Sequence[str]]
    alphabet: Alphabet
    definitions: Sequence[tuple[str, Formula]]
    results: Mapping[str, np.ndarray]
    statement: tuple[str, str] = ("", "")
    symmetric: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @cached_property
    def _atoms(self) -> set[Atom]:
        entries = [x for a in self.results.values() for x in a.flat if x is not None]
        return set().union(*map(atoms, [*(x for _, x in self.definitions), *entries]))

    @cached_property
    def _parameter_keys(self) -> list[str]:
        used = symbols(self._atoms) - {key for keys in self.variables.values() for key in keys}
        return [key for key in self.alphabet.letters if key in used]

    @property
    def parameters(self) -> dict[str, Letter]:
        """Letters of the parameters that are in the formulas, by their text, with meaning and value."""
        return {self.alphabet.letters[key].text: self.alphabet.letters[key] for key in self._parameter_keys}

    @property
    def terms(self) -> int:
        """Terms written in all formulas, a lower half that is not printed left out."""
        shown = sum(written_terms(x) for _, _, x in self._shown())
        return shown + sum(written_terms(x) for _, x in self.definitions)

    @cached_property
    def _inputs(self) -> Inputs:
        given = {
            what: {key: self.alphabet.letter(key).text for key in keys}
            for what, keys in self.variables.items()
        }
        parameters = {key: self.alphabet.letters[key].text for key in self._parameter_keys}
        return {**given, "parameters": parameters} if parameters else given

    @property
    def _finished(self) -> dict[str, np.ndarray]:
        return {what: x for what, x in self.results.items() if all(y is not None for y in x.flat)}

    @cached_property
    def program(self) -> Program:
        """The finished formulas as a program of the variables and the parameters."""
        return to_program(self.name, self._inputs, self.definitions, self._finished)

    def evaluate(self, *state: Any, values: Mapping[str, float] | None = None) -> dict[str, np.ndarray]:
        """The formulas in numbers: the arrays of variables in order; `values` of parameters that shall differ."""
        known = {text: letter.value for text, letter in self.parameters.items()}
        for text in values or {}:
            if text not in known:
                raise InputError(
                    f"{self.name}: no parameter {text!r} in these equations; {nearest(text, known)}"
                    f"Parameters: {listed(known)}",
                    parameter=text,
                )
        for (what, keys), given in zip(self.variables.items(), state, strict=True):
            if np.shape(given) != (len(keys),):
                raise InputError(
                    f"{self.name}: {what} has shape {np.shape(given)}; give ({len(keys)},)", input=what
                )
        chosen = list((known | dict(values or {})).values())
        found = interpret(self.program, *state, *([chosen] if chosen else []))
        return {what: np.asarray(x) for what, x in found.items()}

    # Printed.

    def _shown(self) -> list[tuple[str, tuple[int, ...], Formula]]:
        """Entries that are printed: name, place, formula."""
        shown: list[tuple[str, tuple[int, ...], Formula]] = []
        for what, x in self.results.items():
            for place in product(*map(range, x.shape)):
                half = what in self.symmetric and place[0] > place[1]
                if not half and x[place] is not None and x[place] != ZERO:
                    shown.append((what, place, x[place]))
        return shown

    @property
    def _explained(self) -> list[Letter]:
        """Variables that have a meaning, then the parameters."""
        variables = [self.alphabet.letter(key) for keys in self.variables.values() for key in keys]
        return [*(x for x in variables if x.meaning), *self.parameters.values()]

    @property
    def _waves(self) -> list[Trig]:
        named = [x for x in self._atoms if isinstance(x, Trig) and self.alphabet.short(x) is not None]
        return sorted(
            named, key=lambda x: (len(x.angle), [self.alphabet.numbers[n] for n, _ in x.angle], x.kind)
        )

    def rows(self, style: Style = LATEX) -> list[Row]:
        """Left and right sides: sines and cosines with short names, named terms, then the results."""
        made: list[Row] = []
        for x in self._waves:
            short = self.alphabet.short(x)
            assert short is not None
            angle = self.alphabet.angle(x.angle, style.latex)
            right = f"\\{x.kind}({angle})" if style.latex else f"{x.kind}({angle})"
            made.append((_called(short, style), [right]))
        for name, x in self.definitions:
            made.append((_called(self.alphabet.letter(name), style), lines(x, self.alphabet, style)))
        for what, place, x in self._shown():
            made.append(
                (_entry(what, place, self.results[what].shape, style), lines(x, self.alphabet, style))
            )
        return made

    def latex(self, *, document: bool = False) -> str:
        """An `align*` of all rows (package amsmath); a whole file to compile with `document`."""
        made = [f"{left} &= " + " \\\\\n  &\\quad ".join(right) for left, right in self.rows(LATEX)]
        body = "\\begin{align*}\n" + " \\\\\n".join(made) + "\n\\end{align*}"
        if self.statement[0]:
            body = f"\\[ {self.statement[0]} \\]\n{body}"
        return DOCUMENT.format(body) if document else body

    def __str__(self) -> str:
        made = [f"{left} = " + "\n    ".join(right) for left, right in self.rows(TEXT)]
        table = [f"{x.text:<8} {_value(x):<12} {x.meaning}" for x in self._explained]
        head = [f"{self.name}: {self.statement[1]}"] if self.statement[1] else [self.name]
        blocks = ["\n".join(x) for x in (head, self.notes, table, made) if x]
        return "\n\n".join(blocks)

    def markdown(self) -> str:
        """A page: what the letters mean, then the formulas."""
        head = [f"# {self.name}", *([f"$$ {self.statement[0]} $$"] if self.statement[0] else []), *self.notes]
        table = [f"| ${x.latex}$ | {_value(x)} | {x.meaning} |" for x in self._explained]
        parts = ["\n".join(["| letter | value | meaning |", "|---|---|---|", *table])] if table else []
        made = [f"$$ {left} = " + " ".join(right) + " $$" for left, right in self.rows(LATEX)]
        return "\n\n".join([*head, *parts, *made]) + "\n"

    def text(self, x: Formula) -> str:
        """One formula as text."""
        return written(x, self.alphabet, TEXT)

    # In other languages.

    def sympy(self) -> SymbolicEquations:
        """SymPy expressions: `inputs` and `results` by name, `parts` the terms with names of their own."""
        return to_sympy(self._inputs, self.definitions, self._finished)

    def c(self, path: str | Path) -> Path:
        """C99 at `path`, with a header that says what the parameters are, and a self-test beside it."""
        made = write_c(self.program, Path(path))
        header = made.with_suffix(".h")
        about = [f" * parameters[{k}]  {x.text}: {x.meaning}" for k, x in enumerate(self.parameters.values())]
        comment = "\n".join([f"/* {self.name}", *(line.replace("*/", "* /") for line in about), " */", ""])
        header.write_text(comment + header.read_text("utf-8"), "utf-8")
        return made

    def casadi(self) -> Any:
        """A CasADi `Function` of the variables and parameters."""
        return to_casadi(self.program)


DOCUMENT = """\\documentclass{{article}}
\\usepackage{{amsmath}}
\\allowdisplaybreaks
\\begin{{document}}
{}
\\end{{document}}
"""


def _value(letter: Letter) -> str:
    return "" if letter.value is None else f"{letter.value:.6g}"


def _called(letter: Letter, style: Style) -> str:
    return letter.latex if style.latex else letter.text


def _entry(what: str, place: tuple[int, ...], shape: tuple[int, ...], style: Style) -> str:
    between = "," if max(shape, default=0) > 9 else ""
    index = between.join(str(k + 1) for k in place)
    letter, number = re.fullmatch(r"(.*?)(\d*)", what).groups()  # type: ignore[union-attr]
    if style.latex:
        under = ",".join(x for x in (number, index) if x)
        return f"{letter}_{{{under}}}" if under else letter
    return what + ("_" if number and index else "") + index.replace(",", "_")
