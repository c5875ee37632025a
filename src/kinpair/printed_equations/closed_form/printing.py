"""Formulas as text, LaTeX and MathML.

The LaTeX of formulas as MathML, which browsers draw without a script and without a network.

row    = (atom scripts)*
atom   = number | symbol | sign | { row } | command | environment
scripts = [_ atom] [^ atom]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from math import lcm, pi, sqrt

from kinpair.compiler.export.latex import FORMS
from kinpair.printed_equations.closed_form.formula import (
    Alphabet,
    Call,
    Formula,
    Number,
    Power,
    Product,
    Sum,
    Symbol,
    Trig,
)

DIGITS = 6  # of a printed number; SymPy and C have all of them
DENOMINATORS = (1, 2, 3, 4, 6, 8, 12, 16)  # printed as a fraction
COMMON = lcm(*DENOMINATORS)
EXACT = 4e-15  # beside a number that is one but for rounding
LARGE = 1e6  # above it a number is no fraction
UNITS = {  # what numbers are simple multiples of: as text and in LaTeX
    1.0: ("", ""),
    sqrt(2.0): ("sqrt(2)", "\\sqrt{2}"),
    sqrt(3.0): ("sqrt(3)", "\\sqrt{3}"),
    pi: ("pi", "\\pi"),
}


@dataclass(frozen=True, slots=True)
class Style:
    """Notation for the parts of a formula."""

    latex: bool
    fraction: str
    power: str
    between: str
    call: Callable[[str, list[str]], str]


def _call(op: str, arguments: list[str]) -> str:
    return f"{op}({', '.join(arguments)})"


def _latex_call(op: str, arguments: list[str]) -> str:
    form, _, needs = FORMS[op]
    return form.format(
        *[x if need <= 0 else f"\\left({x}\\right)" for x, need in zip(arguments, needs, strict=True)]
    )


TEXT = Style(False, "{0}/{1}", "{0}^{1}", "*", _call)
LATEX = Style(True, "\\frac{{{0}}}{{{1}}}", "{0}^{{{1}}}", " \\, ", _latex_call)


def written(x: Formula, letters: Alphabet, style: Style) -> str:
    """A formula in a style."""
    return _write(x, letters, style)


def summands(x: Formula, letters: Alphabet, style: Style) -> list[str]:
    """The terms of a sum, each with its sign: `+ a`, `- b`; the first without plus."""
    first, *others = (_write(term, letters, style) for term in (x.terms if isinstance(x, Sum) else (x,)))
    return [first, *map(signed, others)]


def signed(text: str) -> str:
    """A term behind others: `+ a`, `- b`."""
    return f"- {text[1:]}" if text.startswith("-") else f"+ {text}"


def _write(x: Formula, letters: Alphabet, style: Style) -> str:
    match x:
        case Number(value):
            return number(value, style)
        case Symbol(name):
            letter = letters.letter(name)
            return letter.latex if style.latex else letter.text
        case Trig():
            return _trig(x, letters, style)
        case Power(of, exponent):
            return _power(of, exponent, letters, style)
        case Product(factors):
            return _product(factors, letters, style)
        case Sum():
            return " ".join(summands(x, letters, style))
        case Call(op, arguments):
            return style.call(op, [_write(y, letters, style) for y in arguments])


def _trig(x: Trig, letters: Alphabet, style: Style) -> str:
    short = letters.short(x)
    if short is not None:
        return short.latex if style.latex else short.text
    angle = letters.angle(x.angle, style.latex)
    return f"\\{x.kind}({angle})" if style.latex else f"{x.kind}({angle})"


def _power(of: Symbol | Trig | Sum, exponent: int, letters: Alphabet, style: Style) -> str:
    if exponent < 0:
        return _product((Power(of, exponent),), letters, style)
    base = _factor(of, letters, style)
    if isinstance(of, Trig) and style.latex and base.endswith(")"):
        return f"\\{base[1:4]}^{{{exponent}}}{base[4:]}"  # cos²(...)
    return style.power.format(base, exponent)


def fraction_parts(factors: tuple[Formula, ...]) -> tuple[str, list[Formula], list[Formula]]:
    """Sign, factors above the fraction bar and below it."""
    first, sign = factors[0], ""
    if isinstance(first, Number) and abs(first.value) == 1.0:
        sign, factors = ("-" if first.value < 0 else ""), factors[1:]
    under = [_inverse(y) for y in factors if isinstance(y, Power) and y.exponent < 0]
    return sign, [y for y in factors if not (isinstance(y, Power) and y.exponent < 0)], under


def _product(factors: tuple[Formula, ...], letters: Alphabet, style: Style) -> str:
    sign, over, under = fraction_parts(factors)
    above = style.between.join(_factor(y, letters, style) for y in over) or "1"
    if not under:
        return sign + above
    below = style.between.join(_factor(y, letters, style) for y in under)
    if style.latex:
        above, below = (
            _write(y[0], letters, style) if len(y) == 1 else x for x, y in ((above, over), (below, under))
        )
        minus = "-" if above.startswith("-") and not isinstance(over[0], Sum) else ""
        return f"{sign}{minus}\\frac{{{above.removeprefix(minus)}}}{{{below}}}"
    return f"{sign}{above}/({below})" if len(under) > 1 else f"{sign}{above}/{below}"


def _inverse(x: Power) -> Formula:
    return x.of if x.exponent == -1 else Power(x.of, -x.exponent)


def _factor(x: Formula, letters: Alphabet, style: Style) -> str:
    text = _write(x, letters, style)
    return bracketed(text, style) if isinstance(x, Sum) else text


def bracketed(text: str, style: Style) -> str:
    """Put a formula in brackets."""
    return f"\\left({text}\\right)" if style.latex else f"({text})"


def number(value: float, style: Style) -> str:
    """A constant: whole, a simple fraction, such a one of √2, √3 or π, or to six digits."""
    for unit, spelled in UNITS.items():
        fraction = _fraction(value / unit)
        if fraction is not None:
            return ("-" if value < 0 else "") + _multiple(abs(fraction), spelled[style.latex], style)
    text = f"{value:.{DIGITS}g}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent and style.latex else text


def _fraction(value: float) -> Fraction | None:
    """The simple fraction that a number is, but for rounding."""
    if not EXACT * DIGITS < abs(value) < LARGE:
        return Fraction(0) if not value else None
    nearest = round(value * COMMON)
    if abs(nearest / COMMON - value) > EXACT * abs(value):
        return None
    fraction = Fraction(nearest, COMMON)
    return fraction if fraction.denominator in DENOMINATORS else None


def _multiple(x: Fraction, unit: str, style: Style) -> str:
    """A fraction of √3 or π."""
    over = style.between.join(
        part for part in ("" if x.numerator == 1 and unit else str(x.numerator), unit) if part
    )
    return over if x.denominator == 1 else style.fraction.format(over, x.denominator)


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
        """Read a number, a symbol, a sign, a group in braces or a command with its arguments."""
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
        for names, form in COMMANDS:
            if name in names:
                return form(self, name)
        raise ValueError(f"\\{name} is no command of a formula")


def _fraction_element(x: _Parser, _: str) -> str:
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
COMMANDS: tuple[tuple[Collection[str], Form], ...] = (
    (("frac",), _fraction_element),
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
