"""Names that other languages accept, and operations that libraries of expressions write alike."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kinpair.compiler.program import Program

RESERVED = """auto break case char const continue default do double else enum extern float for goto if
inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while main sin cos exp log sqrt floor fabs tanh atan2"""


def identifier(name: str) -> str:
    """`name` with everything but letters, digits and underscores replaced."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    return (
        f"x_{word}" if not word or word[0].isdigit() or word[0] == "_" or word in RESERVED.split() else word
    )


def identifiers(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Different identifiers for different names."""
    used = set(taken)
    words: list[str] = []
    for name in names:
        base = each = identifier(name)
        number = 1
        while each in used:
            number += 1
            each = f"{base}_{number}"
        used.add(each)
        words.append(each)
    return words


def shared(program: Program) -> set[int]:
    """Operations used more than once: the ones worth a name."""
    uses: dict[int, int] = {}
    for x in program.nodes:
        for y in x.args:
            uses[y.id] = uses.get(y.id, 0) + 1
    for leaf in program.outputs:
        for x in leaf.entries:
            uses[x.id] = uses.get(x.id, 0) + 1
    return {x.id for x in program.nodes if x.args and x.op != "neg" and uses[x.id] > 1}


def smooth_forms(library: Any) -> dict[str, Any]:
    """Table of how each operation with a derivative everywhere is written with a library that has NumPy's names."""
    named = {name: getattr(library, name) for name in ("sqrt", "sin", "cos", "atan2", "exp", "log", "tanh")}
    return {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "neg": lambda x: -x,
        **named,
    }
