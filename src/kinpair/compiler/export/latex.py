r"""A program as LaTeX: an `align*` of named parts, then the results.

Names become symbols: `m2` is m_{2}, `theta` is \theta, entry 0 of `q` is q_{1} as books count. `letters` says
otherwise: {"qd": r"\dot q"}.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kinpair.compiler.export.names import shared
from kinpair.compiler.graph import Expr
from kinpair.compiler.program import Program

GREEK = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon
phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"""
FORMS = {  # text, rank of the result, ranks its arguments need: 1 sum, 2 product, 3 factor
    "add": ("{0} + {1}", 1, (1, 1)),
    "sub": ("{0} - {1}", 1, (1, 2)),
    "mul": ("{0} \\, {1}", 2, (2, 2)),
    "div": ("\\frac{{{0}}}{{{1}}}", 3, (0, 0)),
    "neg": ("-{0}", 1, (2,)),
    "sqrt": ("\\sqrt{{{0}}}", 3, (0,)),
    "sin": ("\\sin {0}", 2, (4,)),
    "cos": ("\\cos {0}", 2, (4,)),
    "atan2": ("\\operatorname{{atan2}}\\left({0}, {1}\\right)", 3, (0, 0)),
    "exp": ("e^{{{0}}}", 3, (0,)),
    "log": ("\\ln {0}", 2, (4,)),
    "tanh": ("\\tanh {0}", 2, (4,)),
    "abs": ("\\left|{0}\\right|", 3, (0,)),
    "sign": ("\\operatorname{{sign}} {0}", 2, (4,)),
    "floor": ("\\left\\lfloor {0} \\right\\rfloor", 3, (0,)),
    "min": ("\\min\\left({0}, {1}\\right)", 3, (0, 0)),
    "max": ("\\max\\left({0}, {1}\\right)", 3, (0, 0)),
    "lt": ("{0} < {1}", 0, (1, 1)),
    "le": ("{0} \\le {1}", 0, (1, 1)),
    "eq": ("{0} = {1}", 0, (1, 1)),
    "and": ("{0} \\wedge {1}", -1, (0, 0)),
    "or": ("{0} \\vee {1}", -2, (0, 0)),
    "not": ("\\neg \\left({0}\\right)", 0, (-9,)),
    "where": ("\\begin{{cases}} {1} & {0} \\\\ {2} & \\text{{else}} \\end{{cases}}", 3, (-9, 0, 0)),
}


def letter(name: str, letters: Mapping[str, str]) -> str:
    """`q[0]` → q_{1}, `m2` → m_{2}, `x0` of a part stays as given."""
    base, _, places = name.partition("[")
    index = [str(int(k) + 1) for k in places.rstrip("]").split(",") if k]
    if base in letters:
        symbol = letters[base]
    else:
        word, number = re.fullmatch(r"(.*?)_?(\d*)", base).groups()  # type: ignore[union-attr]
        index = ([number] if number else []) + index
        symbol = (
            f"\\{word}"
            if word in GREEK.split()
            else word
            if len(word) == 1
            else f"\\mathrm{{{word}}}".replace("_", "\\_")
        )
    return f"{symbol}_{{{','.join(index)}}}" if index else symbol


def number(value: float | bool) -> str:
    """A constant to the digits it needs."""
    if isinstance(value, bool):
        return "\\top" if value else "\\bot"
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "\\mathrm{NaN}", "inf": "\\infty", "-inf": "-\\infty"}[str(value)]
    text = repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa} \\cdot 10^{{{int(exponent)}}}" if exponent else text


def latex(program: Program, letters: Mapping[str, str] | None = None) -> str:
    """The equations of a program."""
    letters, named = dict(letters or {}), shared(program)
    text: dict[int, tuple[str, int]] = {}
    lines: list[str] = []
    for x in program.nodes:
        text[x.id] = _written(x, text, letters)
        if x.id in named:
            name = f"x_{{{len(lines) + 1}}}"
            lines.append(f"{name} &= {text[x.id][0]}")
            text[x.id] = name, 4
    for leaf in program.outputs:
        for k, x in enumerate(leaf.entries):
            place = f"[{','.join(map(str, _place(k, leaf.shape)))}]" if leaf.shape else ""
            lines.append(f"{letter(leaf.name + place, letters)} &= {text[x.id][0]}")
    return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"


def _written(x: Expr, text: dict[int, tuple[str, int]], letters: Mapping[str, str]) -> tuple[str, int]:
    if x.op == "const":
        return number(x.value), 1 if x.value < 0 else 4
    if x.op == "symbol":
        return letter(x.graph.names[x.id], letters), 4
    form, rank, needs = FORMS[x.op]
    arguments = [
        t if r >= need else f"\\left({t}\\right)"
        for (t, r), need in zip((text[y.id] for y in x.args), needs, strict=True)
    ]
    return form.format(*arguments), rank


def _place(k: int, shape: tuple[int, ...]) -> list[int]:
    place: list[int] = []
    for n in reversed(shape):
        k, i = divmod(k, n)
        place.insert(0, i)
    return place
