"""The LaTeX of formulas as MathML, which browsers draw without a script and without a network.

row    = (atom scripts)*
atom   = number | letter | sign | { row } | command | environment
scripts = [_ atom] [^ atom]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from html import escape

TOKEN = re.compile(r"\\\\(?:\[[^\]]*\])?|\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|[^\s]")
CAPITALS = "Gamma:Γ Delta:Δ Theta:Θ Lambda:Λ Xi:Ξ Pi:Π Sigma:Σ Upsilon:Υ Phi:Φ Psi:Ψ Omega:Ω"
FIRST = "alpha:α beta:β gamma:γ delta:δ epsilon:ϵ zeta:ζ eta:η theta:θ iota:ι kappa:κ lambda:λ mu:μ nu:ν"
LAST = "xi:ξ pi:π rho:ρ sigma:σ tau:τ upsilon:υ phi:ϕ chi:χ psi:ψ omega:ω"
GREEK: dict[str, str] = {x[:-2]: x[-1] for x in f"{CAPITALS} {FIRST} {LAST}".split()}
ACCENTS = {"dot": "˙", "ddot": "¨", "dddot": "⃛", "hat": "^", "tilde": "~", "bar": "¯"}
NAMES = ("sin", "cos", "tan", "tanh", "ln", "min", "max", "exp", "arctan")
SIGNS = {
    "cdot": "⋅",
    "le": "≤",
    "ge": "≥",
    "wedge": "∧",
    "vee": "∨",
    "neg": "¬",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "times": "×",
    "pm": "±",
    "-": "−",
}
SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em", "qquad": "2em", " ": "0.25em"}
WORDS = ("mathrm", "operatorname", "text", "mathbf")
FENCES = {"bmatrix": ("[", "]"), "pmatrix": ("(", ")"), "cases": ("{", "")}
HIGH = ("mfrac", "mtable")
ALIGNED = ("aligned", "align*", "align")


def mathml(latex: str) -> str:
    """Return a formula in LaTeX as one MathML element; ValueError for a command that formulas do not have."""
    parser = _Parser(TOKEN.findall(latex.strip().strip("$")))
    content = parser.row()
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">{content}</math>'


class _Parser:
    """Reads tokens one after the other."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._place = tokens, 0

    @property
    def next(self) -> str:
        """The token that is read next; empty at the end."""
        return self._tokens[self._place] if self._place < len(self._tokens) else ""

    def take(self) -> str:
        """Read a token."""
        token = self.next
        self._place += 1
        return token

    def row(self, ends: tuple[str, ...] = ()) -> str:
        """Read everything up to one of these tokens, which is left, or to the end."""
        parts: list[str] = []
        while self.next and not self.next.startswith(ends):
            parts.append(self._with_scripts(self.atom()))
        return f"<mrow>{''.join(parts)}</mrow>"

    def atom(self) -> str:
        """Read a number, a letter, a sign, a group in braces or a command with its arguments."""
        token = self.take()
        if token == "{":
            content = self.row(("}",))
            self.take()
            return content
        if token.startswith("\\"):
            return self._command(token[1:])
        if token[:1].isdigit():
            return f"<mn>{token}</mn>"
        if token.isalpha():
            return f"<mi>{escape(token)}</mi>"
        return f'<mo stretchy="false">{escape(SIGNS.get(token, token))}</mo>'

    def word(self) -> str:
        """Read the characters of a group in braces."""
        self.take()
        characters: list[str] = []
        while self.next not in ("}", ""):
            characters.append(self.take().removeprefix("\\"))
        self.take()
        return "".join(characters)

    def fence(self) -> str:
        """Read a bracket; nothing for a dot."""
        sign = self.take().removeprefix("\\")
        return SIGNS.get(sign, sign) if sign != "." else ""

    def _with_scripts(self, base: str) -> str:
        below, above = "", ""
        while self.next in ("_", "^"):
            if self.take() == "_":
                below = self.atom()
            else:
                above = self.atom()
        kind = ("msub" if below else "") + (("sup" if below else "msup") if above else "")
        return f"<{kind}>{base}{below}{above}</{kind}>" if kind else base

    def _command(self, name: str) -> str:
        for names, form in FORMS:
            if name in names:
                return form(self, name)
        raise ValueError(f"\\{name} is no command of a formula")


def _fraction(x: _Parser, _: str) -> str:
    return f"<mfrac>{x.atom()}{x.atom()}</mfrac>"


def _accent(x: _Parser, name: str) -> str:
    return f"<mover>{x.atom()}<mo>{ACCENTS[name]}</mo></mover>"


def _between(x: _Parser, _: str) -> str:
    left, content = x.fence(), x.row(("\\right",))
    x.take()
    return _fenced(left, content, x.fence())


def _fenced(left: str, content: str, right: str) -> str:
    """Write brackets around content; they grow only with content that is higher than a line."""
    grows = "true" if any(f"<{name}" in content for name in HIGH) else "false"
    signs = (f'<mo stretchy="{grows}">{escape(x)}</mo>' if x else "" for x in (left, right))
    return f"<mrow>{next(signs)}{content}{next(signs)}</mrow>"


def _table(x: _Parser, _: str) -> str:
    """Write an environment: rows of cells."""
    kind, rows = x.word(), list[str]()
    while x.next != "\\end":
        cells = [x.row(("&", "\\\\", "\\end"))]
        while x.next == "&":
            x.take()
            cells.append(x.row(("&", "\\\\", "\\end")))
        rows.append(_line(cells, kind in ALIGNED))
        if x.next.startswith("\\\\"):
            x.take()
    x.take()
    x.word()
    left, right = FENCES.get(kind, ("", ""))
    return _fenced(left, f'<mtable displaystyle="true">{"".join(rows)}</mtable>', right)


def _line(cells: list[str], aligned: bool) -> str:
    """Write a row of a table; aligned cells are flush right and left in turn."""
    sides = [f' style="text-align:{("right", "left")[k % 2]}"' if aligned else "" for k in range(len(cells))]
    return f"<mtr>{''.join(f'<mtd{side}>{x}</mtd>' for side, x in zip(sides, cells, strict=True))}</mtr>"


Form = Callable[[_Parser, str], str]
FORMS: tuple[tuple[Collection[str], Form], ...] = (
    (("frac",), _fraction),
    (("sqrt",), lambda x, _: f"<msqrt>{x.atom()}</msqrt>"),
    (ACCENTS, _accent),
    (WORDS, lambda x, _: f"<mtext>{escape(x.word())}</mtext>"),
    (("left",), _between),
    (("begin",), _table),
    (GREEK, lambda _, name: f"<mi>{GREEK[name]}</mi>"),
    (NAMES, lambda _, name: f"<mi>{name}</mi>"),
    (SIGNS, lambda _, name: f"<mo>{escape(SIGNS[name])}</mo>"),
    (SPACES, lambda _, name: f'<mspace width="{SPACES[name]}"/>'),
    ("_{}%&#$", lambda _, name: f"<mo>{escape(name)}</mo>"),
)
