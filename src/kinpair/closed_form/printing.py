"""Formulas as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm, pi, sqrt

from kinpair.closed_form.formula import Call, Formula, Number, Power, Product, Sum, Symbol, Trig
from kinpair.closed_form.letters import Alphabet
from kinpair.compiler.export.latex import FORMS

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
    """In brackets."""
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
