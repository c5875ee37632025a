"""Operations that libraries of expressions write alike."""

from __future__ import annotations

from typing import Any


def smooth_forms(library: Any) -> dict[str, Any]:
    """How each operation with a derivative everywhere is written with a library that has NumPy's names."""
    named = {name: getattr(library, name) for name in ("sqrt", "sin", "cos", "atan2", "exp", "log", "tanh")}
    return {
        "add": lambda x, y: x + y,
        "sub": lambda x, y: x - y,
        "mul": lambda x, y: x * y,
        "div": lambda x, y: x / y,
        "neg": lambda x: -x,
        **named,
    }
