"""Formulas in lines that fit on paper, and pages of them: what they are for, what the symbols mean, then the rows.

Lines are broken before + and −, inside brackets too, and between factors. Of the places in the last part of a line the
one in the fewest brackets is taken. A fraction, root or call is broken only where it does not fit into a line.

How wide a formula is on paper: LaTeX at 10 pt, estimated from the widths of Computer Modern, and never too small.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from kinpair.printed_equations.closed_form.formula import (
    Alphabet,
    Call,
    Formula,
    Letter,
    Number,
    Power,
    Product,
    Sum,
    written_terms,
)
from kinpair.printed_equations.closed_form.printing import Style, bracketed, fraction_parts, signed, written

TEXT_WIDTH = 345.0  # of the class article [pt]
SCRIPT = 0.75  # of a full letter: an index or exponent, with the space behind it
BAR = 2.4  # beside a fraction [pt]
SIGN = 12.3  # + or − between two terms, with its spaces [pt]
DIGIT, COMMA, BRACKET, OTHER = 5.0, 4.5, 4.7, 6.0  # [pt]
LETTERS = {  # as many points
    3.6: "l",
    4.5: "ijtI",
    5.3: "abcdeoqrsz",
    6.2: "fghknpuvxy",
    8.0: "JFPSTVYLBAERU",
    9.4: "CDGHKNOQXZmw",
    11.0: "MW",
}
BY_LETTER = {letter: width for width, those in LETTERS.items() for letter in those}
COMMANDS = {
    ",": 1.7,
    "quad": 10.0,
    "cdot": 7.3,
    "left": 0.0,
    "right": 0.0,
    "dot": 0.0,
    "ddot": 0.0,
    "mathrm": 0.0,
    "operatorname": 0.0,
    "sqrt": 9.5,
    "sin": 14.0,
    "cos": 15.5,
}
SYMBOL = 6.7  # any other command: a Greek letter, ln, min
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([_^])|([{}])|\s*([+-])\s*|([^\s])")
FACTOR = 100.0  # brackets that are better to break in than between two factors
FULL = 0.4  # of a line: how much of it is kept where another place is better
WIDTH = {False: 110.0, True: TEXT_WIDTH}  # of a line, by style.latex: characters, points
MANY = 50  # terms that fit in no line, whatever the style
EQUALS = {False: 3.0, True: 14.0}  # between the sides
INDENT = {False: 4.0, True: 10.0}  # of a line that goes on
_SIZED = re.compile(r"\\left\(|\\right\)")
Row = tuple[str, list[str]]  # left side, lines of the right side
PARTS = "; \\quad "  # between the parts of a statement
DOCUMENT = """\\documentclass{{article}}
\\usepackage{{amsmath}}
\\usepackage{{longtable}}
\\allowdisplaybreaks
\\begin{{document}}
{}
\\end{{document}}
"""
TABLE = """\\begin{{longtable}}{{@{{}}llp{{8.5cm}}@{{}}}}
symbol & value & meaning \\\\
\\hline
{} \\\\
\\end{{longtable}}"""
IN_TEX = {  # what stands for itself in no LaTeX file
    **{x: f"\\{x}" for x in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "q̇": "$\\dot{q}$",
    "q̈": "$\\ddot{q}$",
    "²": "$^2$",
    "−": "$-$",
    "·": "$\\cdot$",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
}
_TEX = re.compile("|".join(map(re.escape, sorted(IN_TEX, key=len, reverse=True))))


@lru_cache(maxsize=4096)  # the same factors come again and again
def latex_width(text: str) -> float:
    """Points of a piece of LaTeX in a displayed line."""
    return _Measure(text).group()


class _Measure:
    """Reads LaTeX once from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = [match.groups() for match in TOKEN.finditer(text)]
        self._at = 0

    def group(self) -> float:
        """Measure what stands before the brace that closes, or before the end."""
        total = 0.0
        while self._at < len(self._tokens) and self._tokens[self._at][2] != "}":
            total += self._next()
        self._at += 1
        return total

    def _next(self) -> float:
        command, script, brace, sign, letter = self._tokens[self._at]
        self._at += 1
        if script:
            return SCRIPT * self._next()
        if brace:
            return self.group()
        if command == "frac":
            return BAR + max(self._next(), self._next())
        if command:
            return COMMANDS.get(command, SYMBOL)
        return SIGN if sign else _of_letter(letter or "")


def _of_letter(letter: str) -> float:
    if letter.isdigit():
        return DIGIT
    return {",": COMMA, ".": COMMA, "(": BRACKET, ")": BRACKET}.get(letter, BY_LETTER.get(letter, OTHER))


MEASURE: dict[bool, Callable[[str], float]] = {False: len, True: latex_width}


@dataclass(frozen=True, slots=True)
class Piece:
    """Text with what stands before it in a line, what instead of that at the beginning of one, and how many brackets
    it is in."""

    text: str
    before: str
    first: str
    depth: float


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of one style behind a left side of some width; `room` is left for the right side."""

    letters: Alphabet
    style: Style
    left: float

    @property
    def room(self) -> float:
        """Width of the right side in its first line."""
        latex = self.style.latex
        return WIDTH[latex] - EQUALS[latex] - self.left

    def of(self, x: Formula) -> list[str]:
        """The right side."""
        if written_terms(x) <= MANY:
            text = written(x, self.letters, self.style)
            if MEASURE[self.style.latex](text) <= self.room:
                return [text]
        return [_matched(line) for line in self._filled(self._pieces(x, 0.0))]

    def _filled(self, pieces: Sequence[Piece]) -> list[str]:
        measure, latex = MEASURE[self.style.latex], self.style.latex
        widths = [measure(x.before + x.text) for x in pieces]
        lines: list[str] = []
        start, room = 0, self.room
        while start < len(pieces):
            end, used = start + 1, [0.0, measure(pieces[start].first + pieces[start].text)]
            while end < len(pieces) and used[-1] + widths[end] <= room:
                used.append(used[-1] + widths[end])
                end += 1
            if end < len(pieces):
                good = [k for k in range(start + 1, end + 1) if used[k - start] >= FULL * room or k == end]
                end = min(good, key=lambda k: (pieces[k].depth, -k))
            lines.append(_joined(pieces[start:end], bool(lines)))
            start = end
            room = WIDTH[latex] - INDENT[latex] - (EQUALS[latex] + self.left if latex else 0.0)
        return lines

    # Where a formula may be broken.

    def _pieces(self, x: Formula, depth: float) -> list[Piece]:
        match x:
            case Sum(terms):
                return self._sum(terms, depth)
            case Product(factors):
                return self._product(factors, depth)
            case Power(Sum() as of, exponent) if exponent > 0:
                power = self.style.power.format("", exponent)
                return self._bracketed(of, depth, power)
            case Call("sqrt", (Sum() as of,)) if self._is_wide(x):
                return self._bracketed(of, depth, "^{1/2}" if self.style.latex else "^(1/2)")
            case _:
                return [Piece(written(x, self.letters, self.style), "", "", depth)]

    def _is_wide(self, x: Formula) -> bool:
        measure = MEASURE[self.style.latex]
        return measure(written(x, self.letters, self.style)) > self.room - INDENT[self.style.latex]

    def _sum(self, terms: Sequence[Formula], depth: float) -> list[Piece]:
        pieces: list[Piece] = []
        for k, term in enumerate(terms):
            first, *rest = self._pieces(term, depth)
            if k:
                first = Piece(signed(first.text), " ", "", depth)
            pieces += [first, *rest]
        return pieces

    def _product(self, factors: tuple[Formula, ...], depth: float) -> list[Piece]:
        sign, over, under = fraction_parts(factors)
        if under and not self._is_wide(Product(factors)):
            return [Piece(written(Product(factors), self.letters, self.style), "", "", depth)]
        parts = [self._factor(y, depth) for y in over]
        if under and self.style.latex:
            below = written(Product(tuple(under)), self.letters, self.style)
            behind_number = int(bool(over) and isinstance(over[0], Number))
            parts.insert(behind_number, [Piece(f"\\frac{{1}}{{{below}}}", "", "", depth)])
        pieces: list[Piece] = []
        between, first = self.style.between, "{} \\cdot " if self.style.latex else "* "
        for k, part in enumerate(parts):
            lead = replace(part[0], before=between, first=first, depth=depth + FACTOR) if k else part[0]
            pieces += [lead, *part[1:]]
        pieces[0] = replace(pieces[0], text=sign + pieces[0].text)
        if under and not self.style.latex:
            below = written(Product(tuple(under)), self.letters, self.style)
            closed = f"({below})" if len(under) > 1 or isinstance(under[0], Sum) else below
            pieces[-1] = replace(pieces[-1], text=f"{pieces[-1].text}/{closed}")
        return pieces

    def _factor(self, x: Formula, depth: float) -> list[Piece]:
        return self._bracketed(x, depth, "") if isinstance(x, Sum) else self._pieces(x, depth)

    def _bracketed(self, x: Sum, depth: float, behind: str) -> list[Piece]:
        begin, end = bracketed("\n", self.style).split("\n")
        pieces = self._sum(x.terms, depth + 1.0)
        pieces[0] = replace(pieces[0], text=begin + pieces[0].text)
        pieces[-1] = replace(pieces[-1], text=pieces[-1].text + end + behind)
        return pieces


def _joined(pieces: Sequence[Piece], goes_on: bool) -> str:
    first = pieces[0]
    lead = (first.first if goes_on else "") + first.text
    return lead + "".join(x.before + x.text for x in pieces[1:])


def _matched(line: str) -> str:
    """Brackets that close in another line without \\left and \\right: these must meet in one."""
    alone: set[int] = set()
    opened: list[int] = []
    for match in _SIZED.finditer(line):
        if match.group() == "\\left(":
            opened.append(match.start())
        elif opened:
            opened.pop()
        else:
            alone.add(match.start())
    alone |= set(opened)
    return _SIZED.sub(lambda x: x.group()[-1] if x.start() in alone else x.group(), line)


class Page(NamedTuple):
    """A printed page. `statement` is what the formulas are for, in LaTeX and as text."""

    name: str
    statement: tuple[str, str]
    notes: Sequence[str]
    letters: Sequence[Letter]

    def text(self, rows: Sequence[Row]) -> str:
        """Page as text for a screen."""
        width = int(WIDTH[False])
        lines = [f"{left} = " + "\n    ".join(right) for left, right in rows]
        table = [f"{x.text:<8} {value(x):<12} {x.meaning}".rstrip() for x in self.letters]
        head = f"{self.name}: {self.statement[1]}" if self.statement[1] else self.name
        notes = [_wrapped(note, width) for note in self.notes]
        blocks = ["\n".join(x) for x in ([_wrapped(head, width)], notes, table, lines) if x]
        return "\n\n".join(blocks)

    def latex(self, rows: Sequence[Row]) -> str:
        """The statement, the notes and an `align*` of the rows (package amsmath)."""
        notes = "\\\\\n".join(
            f"\\noindent {tex(note)}" if not k else tex(note) for k, note in enumerate(self.notes)
        )
        return "\n\n".join(part for part in (self._statement(), notes, _aligned(rows)) if part)

    def document(self, rows: Sequence[Row]) -> str:
        """A whole LaTeX file, with a table of the symbols."""
        return DOCUMENT.format(f"\\section*{{{tex(self.name)}}}\n{self._with_letters(rows)}")

    def _with_letters(self, rows: Sequence[Row]) -> str:
        table = [f"${x.latex}$ & {tex(value(x))} & {tex(x.meaning)}" for x in self.letters]
        parts = (self.latex([]), TABLE.format(" \\\\\n".join(table)) if table else "", _aligned(rows))
        return "\n\n".join(part for part in parts if part)

    def notebook(self, rows: Sequence[Row]) -> str:
        """The statement and the rows as one formula."""
        parts = [part for part in self.statement[0].split(PARTS) if part]
        aligned = _aligned(rows).replace("{align*}", "{aligned}")
        return (
            "$$\\begin{gathered}\n"
            + " \\\\[1ex]\n".join(filter(None, [*parts, aligned]))
            + "\n\\end{gathered}$$"
        )

    def _statement(self) -> str:
        parts = self.statement[0].split(PARTS)
        if len(parts) > 1:
            return "\\begin{gather*}\n" + " \\\\\n".join(parts) + "\n\\end{gather*}"
        return f"\\[ {parts[0]} \\]" if parts[0] else ""

    def markdown(self, rows: Sequence[Row]) -> str:
        """A page with a table of the symbols."""
        statement = [f"$$ {self.statement[0]} $$"] if self.statement[0] else []
        table = [f"| ${x.latex}$ | {value(x)} | {_cell(x.meaning)} |" for x in self.letters]
        parts = ["\n".join(["| symbol | value | meaning |", "|---|---|---|", *table])] if table else []
        lines = [f"$$ {_several(left, right)} $$" for left, right in rows]
        return "\n\n".join([f"# {self.name}", *statement, *self.notes, *parts, *lines]) + "\n"


def tex(text: str) -> str:
    """A sentence for LaTeX."""
    return _TEX.sub(lambda match: IN_TEX[match.group()], text)


def value(letter: Letter) -> str:
    """The number of a symbol, or nothing."""
    return "" if letter.value is None else f"{letter.value:.6g}"


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(
        text, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _aligned(rows: Sequence[Row]) -> str:
    """An `align*`; nothing where there are no rows, since an empty one does not compile."""
    lines = [f"{left} &= " + " \\\\\n  &\\quad ".join(right) for left, right in rows]
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}" if lines else ""


def _several(left: str, right: Sequence[str]) -> str:
    """Write one line, or several beneath each other."""
    if len(right) == 1:
        return f"{left} = {right[0]}"
    return "\\begin{aligned} " + f"{left} &= " + " \\\\ &\\quad ".join(right) + " \\end{aligned}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
