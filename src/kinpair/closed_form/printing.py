"""Formulas as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from kinpair.closed_form.formula import Call, Formula, Number, Power, Product, Sum, Symbol, Trig
from kinpair.closed_form.letters import Alphabet
from kinpair.compiler.export.latex import FORMS

DIGITS = 6  # of a printed number; SymPy and C have all of them
DENOMINATORS = (1, 2, 4, 8, 16)  # printed as a fraction
TERMS_IN_A_LINE = 6


@dataclass(frozen=True, slots=True)
class Style:
    """How the parts of a formula are written."""

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
    terms = x.terms if isinstance(x, Sum) else (x,)
    signed = [_signed(_write(term, letters, style)) for term in terms]
    first = signed[0]
    return [first.removeprefix("+ ") if first.startswith("+") else f"-{first[2:]}", *signed[1:]]


def _signed(text: str) -> str:
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


def _power(of: Symbol | Trig, exponent: int, letters: Alphabet, style: Style) -> str:
    if exponent < 0:
        return _product((Power(of, exponent),), letters, style)
    base = _write(of, letters, style)
    if style.latex and base.endswith(")"):
        return f"\\{base[1:4]}^{{{exponent}}}{base[4:]}"  # cos²(...)
    return style.power.format(base, exponent)


def _product(factors: tuple[Formula, ...], letters: Alphabet, style: Style) -> str:
    first, rest = factors[0], factors[1:]
    sign = ""
    if isinstance(first, Number) and abs(first.value) == 1.0:
        sign, factors = ("-" if first.value < 0 else ""), rest
    under = [_inverse(y) for y in factors if isinstance(y, Power) and y.exponent < 0]
    over = [y for y in factors if not (isinstance(y, Power) and y.exponent < 0)]
    above = style.between.join(_factor(y, letters, style) for y in over) or "1"
    if not under:
        return sign + above
    below = style.between.join(_factor(y, letters, style) for y in under)
    if style.latex:
        minus = "-" if above.startswith("-") else ""
        return f"{sign}{minus}\\frac{{{above.removeprefix('-')}}}{{{below}}}"
    return f"{sign}{above}/({below})" if len(under) > 1 else f"{sign}{above}/{below}"


def _inverse(x: Power) -> Formula:
    return x.of if x.exponent == -1 else Power(x.of, -x.exponent)


def _factor(x: Formula, letters: Alphabet, style: Style) -> str:
    text = _write(x, letters, style)
    if not isinstance(x, Sum):
        return text
    return f"\\left({text}\\right)" if style.latex else f"({text})"


def number(value: float, style: Style) -> str:
    """A constant: whole, a simple fraction, or to six digits."""
    for denominator in DENOMINATORS:
        if value * denominator == int(value * denominator) and abs(value) < 1e6:
            found = Fraction(int(value * denominator), denominator)
            if found.denominator == 1:
                return str(found.numerator)
            sign = "-" if value < 0 else ""
            return sign + style.fraction.format(abs(found.numerator), found.denominator)
    text = f"{value:.{DIGITS}g}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent and style.latex else text


def lines(x: Formula, letters: Alphabet, style: Style) -> list[str]:
    """A formula in lines of a few terms each."""
    every = summands(x, letters, style)
    return [" ".join(every[k : k + TERMS_IN_A_LINE]) for k in range(0, len(every), TERMS_IN_A_LINE)]
