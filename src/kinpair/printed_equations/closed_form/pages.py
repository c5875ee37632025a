"""A page of formulas as text, LaTeX and Markdown: what they are for, notes, what the symbols mean, then the rows."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from kinpair.printed_equations.closed_form.breaking import WIDTH
from kinpair.printed_equations.closed_form.letters import Letter

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
