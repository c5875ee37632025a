"""A program as one C99 function: no allocation, nothing but <math.h>; with a header and a self-test."""

from __future__ import annotations

import math
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np

from kinpair.compiler.export.names import identifier, identifiers
from kinpair.compiler.operations import OPERATIONS
from kinpair.compiler.program import Program, flatten, interpret
from kinpair.compiler.target import REALS, Real

FORMS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "sqrt": "sqrt{f}({0})",
    "sin": "sin{f}({0})",
    "cos": "cos{f}({0})",
    "atan2": "atan2{f}({0}, {1})",
    "exp": "exp{f}({0})",
    "log": "log{f}({0})",
    "tanh": "tanh{f}({0})",
    "abs": "fabs{f}({0})",
    "sign": "{0} > 0 ? 1 : ({0} < 0 ? -1 : {0})",
    "floor": "floor{f}({0})",
    "min": "({0} < {1} || {0} != {0}) ? {0} : {1}",
    "max": "({0} > {1} || {0} != {0}) ? {0} : {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "eq": "{0} == {1}",
    "and": "{0} && {1}",
    "or": "{0} || {1}",
    "not": "!{0}",
    "where": "{0} ? {1} : {2}",
}
TOLERANCE = {"double": 1e-12, "float": 1e-4}


def write_c(program: Program, path: Path, real: Real = REALS["float64"], *, seed: int = 1) -> Path:
    """Write `path` (.c), its header (.h) and a self-test (_test.c) next to it."""
    path = path.with_suffix(".c")
    header = path.with_suffix(".h")
    path.write_text(source(program, header.name, real))
    header.write_text(header_text(program, header.stem, real))
    path.with_name(f"{path.stem}_test.c").write_text(self_test(program, header.name, real, seed))
    return path


def _arrays(program: Program) -> list[str]:
    """Names of the arguments, inputs then outputs."""
    return identifiers(
        [leaf.name for leaf in (*program.inputs, *program.outputs)], taken=[identifier(program.name)]
    )


def prototype(program: Program, real: Real) -> str:
    """The declaration, without semicolon."""
    names, inputs = _arrays(program), len(program.inputs)
    parts = [f"const {real.c} *{name}" for name in names[:inputs]] + [
        f"{real.c} *{name}" for name in names[inputs:]
    ]
    return f"void {identifier(program.name)}({', '.join(parts)})"


def source(program: Program, header: str, real: Real) -> str:
    """The text of the .c file."""
    names = _arrays(program)
    lines = ["#include <math.h>", "", f'#include "{header}"', "", prototype(program, real), "{"]
    lines += [f"    (void){name};" for name in names]
    value = _entries(program, names)
    for x in program.nodes:
        if x.op == "const":
            value[x.id] = number(x.value, real)
        elif x.op != "symbol":
            kind = real.c if OPERATIONS[x.op].gives == "n" else "int"
            text = FORMS[x.op].format(*[value[y.id] for y in x.args], f=real.libm)
            value[x.id] = f"v{x.id}"
            lines.append(f"    const {kind} v{x.id} = {text};")
    for name, leaf in zip(names[len(program.inputs) :], program.outputs, strict=True):
        lines += [f"    {name}[{k}] = {value[x.id]};" for k, x in enumerate(leaf.entries)]
    return "\n".join([*lines, "}", ""])


def _entries(program: Program, names: list[str]) -> dict[int, str]:
    """Symbols as entries of the arguments."""
    pairs = zip(names, program.inputs, strict=False)
    return {x.id: f"{name}[{k}]" for name, leaf in pairs for k, x in enumerate(leaf.entries)}


def number(value: Any, real: Real) -> str:
    """A constant, exact."""
    if isinstance(value, bool):
        return str(int(value))
    if not math.isfinite(value):
        return "NAN" if value != value else "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value)) + real.libm
    return f"({text})" if value < 0 else text


def header_text(program: Program, stem: str, real: Real) -> str:
    """The text of the .h file."""
    guard = identifier(stem).upper() + "_H"
    notes = [
        f" *   {name:<12} {'in ' if k < len(program.inputs) else 'out'} {list(leaf.shape)}"
        for k, (name, leaf) in enumerate(
            zip(_arrays(program), (*program.inputs, *program.outputs), strict=True)
        )
    ]
    count = ", ".join(f"{n} {kind}" for kind, n in program.count.items() if n and kind != "total")
    lines = [
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        f"/* {identifier(program.name)}: {count}. Arrays in C order.",
    ]
    notes += [" *", *(f" * {line}" for line in wrap(program.note, 96))] if program.note else []
    return "\n".join([*lines, *notes, " */", prototype(program, real) + ";", "", "#endif", ""])


def self_test(program: Program, header: str, real: Real, seed: int) -> str:
    """A program that calls the function once and compares with the interpreter's result."""
    random = np.random.default_rng(seed)
    numbers = [random.uniform(0.1, 0.9, leaf.shape) for leaf in program.inputs]
    expected = [np.asarray(x, dtype=float) for _, x in flatten(interpret(program, *numbers))[1]]
    names = _arrays(program)
    lines = [
        "#include <math.h>",
        "#include <stdio.h>",
        "",
        f'#include "{header}"',
        "",
        SAME,
        "",
        "int main(void)",
        "{",
    ]
    for name, values in zip(names, numbers, strict=False):
        lines.append(f"    static const {real.c} {name}[] = {_braces(values, real)};")
    for name, values in zip(names[len(numbers) :], expected, strict=True):
        lines.append(f"    static const double {name}_expected[] = {_braces(values, REALS['float64'])};")
        lines.append(f"    static {real.c} {name}[{max(1, values.size)}];")
    lines += ["    int wrong = 0;", f"    {identifier(program.name)}({', '.join(names)});"]
    for name, values in zip(names[len(numbers) :], expected, strict=True):
        lines.append(f"    for (int k = 0; k < {values.size}; k++)")
        lines.append(f"        wrong += !same((double){name}[k], {name}_expected[k], {TOLERANCE[real.c]!r});")
    lines += ['    puts(wrong ? "wrong" : "right");', "    return wrong != 0;", "}", ""]
    return "\n".join(lines)


SAME = """static int same(double found, double expected, double tolerance)
{
    if (expected != expected)
        return found != found;
    return found == expected || fabs(found - expected) <= tolerance * fmax(1.0, fabs(expected));
}"""


def _braces(values: np.ndarray, real: Real) -> str:
    return "{" + ", ".join(number(float(x), real) for x in values.reshape(-1)) + "}" if values.size else "{0}"
