"""A sheet of named formulas with their symbols, and every form in which it is printed or computed.

Numbers come from the formulas as a program again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import product
from operator import add, mul
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.compiler.export.c import write_c
from kinpair.compiler.export.casadi import to_casadi
from kinpair.compiler.export.sympy import SymbolicEquations, forms, import_sympy
from kinpair.compiler.graph import Graph
from kinpair.compiler.program import Leaf, Program, interpret
from kinpair.compiler.rules import RULES
from kinpair.compiler.trace import verify
from kinpair.errors import InputError, listed, nearest
from kinpair.printed_equations.closed_form.formula import (
    ZERO,
    Alphabet,
    Atom,
    Call,
    Formula,
    Letter,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Trig,
    atoms,
    symbols,
    written_terms,
)
from kinpair.printed_equations.closed_form.pages import MEASURE, Lines, Page, Row
from kinpair.printed_equations.closed_form.printing import LATEX, TEXT, Style, written

Inputs = Mapping[str, Mapping[str, str]]  # name of an array → its entries, symbol → what it is called
Definitions = Sequence[tuple[str, Formula]]
Results = Mapping[str, np.ndarray]
WHOLE_PARTS = 8  # a number that is a multiple of 1/8 stays exact in SymPy


def calculated(
    x: Formula, known: Mapping[str, Any], number: Callable[[float], Any], calls: Mapping[str, Any]
) -> Any:
    """A formula in any arithmetic: its symbols, its numbers, its functions."""

    def value(y: Formula) -> Any:
        return calculated(y, known, number, calls)

    match x:
        case Number(constant):
            return number(constant)
        case Symbol(name):
            return known[name]
        case Trig(kind, angle):
            return calls[kind](reduce(add, [k * known[name] for name, k in angle]))
        case Power(of, exponent):
            return value(of) ** exponent
        case Product(factors):
            return reduce(mul, map(value, factors))
        case Sum(terms):
            return reduce(add, map(value, terms))
        case Call(op, arguments):
            return calls[op](*map(value, arguments))


def to_program(name: str, inputs: Inputs, definitions: Definitions, results: Results) -> Program:
    """The formulas as a program that returns a dict of arrays."""
    graph = Graph()
    leaves = {
        what: {key: graph.symbol(called) for key, called in entries.items()}
        for what, entries in inputs.items()
    }
    known = {key: symbol for entries in leaves.values() for key, symbol in entries.items()}
    for each, meaning in definitions:
        known[each] = calculated(meaning, known, graph.const, RULES)
    taken = [Leaf(what, (len(entries),), tuple(entries.values())) for what, entries in leaves.items()]
    outputs = [
        Leaf(what, x.shape, tuple(calculated(y, known, graph.const, RULES) for y in x.flat))
        for what, x in results.items()
    ]
    program = Program(name, graph, tuple(taken), tuple(outputs), ["dict", list(results), list(results)])
    verify(program)
    return program


def to_sympy(inputs: Inputs, definitions: Definitions, results: Results) -> SymbolicEquations:
    """The formulas as SymPy expressions; `parts` are the definitions."""
    sp = import_sympy()
    calls = forms(sp)

    def number(value: float) -> Any:
        parts = value * WHOLE_PARTS
        return sp.Rational(int(parts), WHOLE_PARTS) if parts == int(parts) else sp.Float(value, 17)

    def symbol(name: str) -> Any:
        return sp.Symbol(name, real=True)

    named = {what: {key: symbol(called) for key, called in keys.items()} for what, keys in inputs.items()}
    known = {key: x for entries in named.values() for key, x in entries.items()}
    known |= {name: symbol(name) for name, _ in definitions}

    def each(x: np.ndarray) -> np.ndarray:
        symbols = np.empty(x.size, dtype=object)
        symbols[:] = [calculated(y, known, number, calls) for y in x.flat]
        return symbols.reshape(x.shape)

    return SymbolicEquations(
        {what: np.array(list(entries.values()), dtype=object) for what, entries in named.items()},
        [(known[name], calculated(x, known, number, calls)) for name, x in definitions],
        {what: each(x) for what, x in results.items()},
    )


SPELLED = {"qdd": "\\ddot{q}"}  # results in LaTeX
FINISHED = "entries not shown are zero"
UNFINISHED = "entries neither shown nor named here as not finished are zero"


@dataclass(frozen=True, eq=False)
class Sheet:
    """Formulas by name, in arrays of one or two axes.

    `variables`: the arrays of variables by name, with the symbols in them. Every other symbol is a parameter. An entry
    that is not finished is None.
    `definitions`: terms with names of their own, in order of need. `symmetric`: matrices whose lower half is not
    printed. `statement`: what the formulas are for, in LaTeX and as text. `notes`: sentences for the reader.
    `printed_as`: results that have another name on paper, since a symbol has theirs.
    """

    name: str
    variables: Mapping[str, Sequence[str]]
    alphabet: Alphabet
    definitions: Sequence[tuple[str, Formula]]
    results: Mapping[str, np.ndarray]
    statement: tuple[str, str] = ("", "")
    symmetric: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    printed_as: Mapping[str, str] = field(default_factory=dict[str, str])

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
        """Symbols of the parameters that are in the formulas, by their text, with meaning and value."""
        return {self.alphabet.letters[key].text: self.alphabet.letters[key] for key in self._parameter_keys}

    @property
    def terms(self) -> int:
        """Terms written in all formulas, a lower half that is not printed left out."""
        shown = sum(written_terms(x) for _, _, x in self._shown())
        return shown + sum(written_terms(x) for _, x in self.definitions)

    @cached_property
    def _inputs(self) -> Inputs:
        inputs = {
            what: {key: self.alphabet.letter(key).text for key in keys}
            for what, keys in self.variables.items()
        }
        parameters = {key: self.alphabet.letters[key].text for key in self._parameter_keys}
        return {**inputs, "parameters": parameters} if parameters else inputs

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
        self._check_values(values, known)
        for (what, keys), numbers in zip(self.variables.items(), state, strict=True):
            if np.shape(numbers) != (len(keys),):
                raise InputError(
                    f"{self.name}: {what} has shape {np.shape(numbers)}; give ({len(keys)},)", input=what
                )
        chosen = list((known | dict(values or {})).values())
        results = interpret(self.program, *state, *([chosen] if chosen else []))
        return {what: np.asarray(x) for what, x in results.items()}

    def _check_values(self, values: Any, known: Mapping[str, float | None]) -> None:
        if values is not None and not isinstance(values, Mapping):
            raise InputError(f"{self.name}: values is {values!r}; give symbols with numbers, {{'m1': 0.5}}")
        for text, value in dict[str, Any](values or {}).items():
            if text not in known:
                raise InputError(
                    f"{self.name}: no parameter {text!r} in these equations; {nearest(str(text), known)}"
                    f"Parameters: {listed(known)}",
                    parameter=text,
                )
            if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
                raise InputError(
                    f"{self.name}: parameter {text!r} is {value!r}; give a number", parameter=text
                )

    # Printed.

    @property
    def unfinished(self) -> list[str]:
        """Unfinished parts: matrices, or entries of those that are begun."""
        missing: list[str] = []
        for what, x in self.results.items():
            places = [place for place in product(*map(range, x.shape)) if x[place] is None]
            upper = [place for place in places if what not in self.symmetric or place[0] <= place[1]]
            begun = len(places) < x.size
            names = [entry_name(self._name(what), place, x.shape) for place in upper]
            missing += names if begun else [self._name(what)] if places else []
        return missing

    @property
    def cautions(self) -> list[str]:
        """Notes that hold in every language: what is not finished, and the notes of the sheet."""
        missing = [f"Not finished: {', '.join(self.unfinished)}."] if self.unfinished else []
        return [*missing, *self.notes]

    @property
    def _halves(self) -> list[str]:
        """List entries that are not printed, and why."""
        names = [
            self._name(what) for what in self.results if what in self.symmetric and self.results[what].size
        ]
        zeros = any(x == ZERO for a in self.results.values() for x in a.flat)
        rest = UNFINISHED if self.unfinished else FINISHED
        if names:
            subject = " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
            return [f"{subject} {'is' if len(names) == 1 else 'are'} symmetric; {rest}."]
        return [f"{rest.capitalize()}."] if zeros else []

    def _name(self, what: str) -> str:
        return self.printed_as.get(what, what)

    @property
    def _page(self) -> Page:
        return Page(self.name, self.statement, [*self._halves, *self.cautions], self._explained)

    def _shown(self) -> list[tuple[str, tuple[int, ...], Formula]]:
        """Entries that are printed: name, place, formula; not those that have a definition."""
        shown: list[tuple[str, tuple[int, ...], Formula]] = []
        defined = {name for name, _ in self.definitions}
        for what, x in self.results.items():
            for place in product(*map(range, x.shape)):
                half = what in self.symmetric and place[0] > place[1]
                half = half or entry_name(what, place, x.shape) in defined
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
        lines: list[Row] = []
        for x in self._waves:
            short = self.alphabet.short(x)
            assert short is not None
            angle = self.alphabet.angle(x.angle, style.latex)
            right = f"\\{x.kind}({angle})" if style.latex else f"{x.kind}({angle})"
            lines.append((_called(short, style), [right]))
        sides = [(_called(self.alphabet.letter(name), style), x) for name, x in self.definitions]
        sides += [
            (_entry(self._name(what), place, self.results[what].shape, style), x)
            for what, place, x in self._shown()
        ]
        measure = MEASURE[style.latex]
        widest = max((measure(left) for left, _ in (*lines, *sides)), default=0.0)
        for left, x in sides:
            width = widest if style.latex else measure(left)
            lines.append((left, Lines(self.alphabet, style, width).of(x)))
        return lines

    def latex(self, *, document: bool = False) -> str:
        """Write the purpose of the formulas, the notes and an `align*` of all rows (package amsmath); with
        `document` a whole file to compile, the symbols in it too."""
        return self._page.document(self.rows(LATEX)) if document else self._page.latex(self.rows(LATEX))

    def __str__(self) -> str:
        return self._page.text(self.rows(TEXT))

    def notebook(self) -> str:
        """Write the purpose of the formulas and all rows, as one formula for MathJax."""
        return self._page.notebook(self.rows(LATEX))

    def markdown(self) -> str:
        """A page: what the symbols mean, then the formulas."""
        return self._page.markdown(self.rows(LATEX))

    def text(self, x: Formula) -> str:
        """Write one formula as text."""
        return written(x, self.alphabet, TEXT)

    # In other languages.

    def sympy(self) -> SymbolicEquations:
        """SymPy expressions: `inputs` and `results` by name, `parts` the terms with names of their own."""
        return to_sympy(self._inputs, self.definitions, self._finished)

    def c(self, path: str | Path) -> Path:
        """C99 at `path` (.c), with a header that says what the parameters are, and a self-test next to it."""
        target = _c_file(path)
        try:
            written = write_c(self.program, target)
            for file in (written, written.with_suffix(".h")):
                file.write_text(self._comment + file.read_text("utf-8"), "utf-8")
        except OSError as reason:
            raise InputError(f"{path}: cannot be written ({reason.strerror})", path=str(path)) from None
        return written

    @property
    def _comment(self) -> str:
        """Comment at the beginning of a C file."""
        about = [f"parameters[{k}]  {x.text}: {x.meaning}" for k, x in enumerate(self.parameters.values())]
        lines = [f" * {line.replace('*/', '* /')}" for line in (*self.cautions, *about)]
        return "\n".join([f"/* {self.name.replace('*/', '* /')}", *lines, " */", ""])

    def casadi(self) -> Any:
        """A CasADi `Function` of the variables and parameters."""
        return to_casadi(self.program)


def _c_file(path: Any) -> Path:
    if not isinstance(path, str | Path) or not Path(path).name or Path(path).suffix not in ("", ".c"):
        raise InputError(f"{str(path)!r} is not a C file; give a path that ends in .c", path=str(path))
    return Path(path)


def _called(letter: Letter, style: Style) -> str:
    return letter.latex if style.latex else letter.text


def entry_name(what: str, place: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Name of an entry of a matrix in text: H12, R1_12."""
    return _entry(what, place, shape, TEXT)


def _entry(what: str, place: tuple[int, ...], shape: tuple[int, ...], style: Style) -> str:
    between = "," if max(shape, default=0) > 9 else ""
    index = between.join(str(k + 1) for k in place)
    letter, number = re.fullmatch(r"(.*?)(\d*)", what).groups()  # type: ignore[union-attr]
    if style.latex:
        under = ",".join(x for x in (number, index) if x)
        spelled = SPELLED.get(letter, letter)
        return f"{spelled}_{{{under}}}" if under else spelled
    return what + ("_" if number and index else "") + index.replace(",", "_")
