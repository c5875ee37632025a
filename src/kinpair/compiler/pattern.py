"""How a call is written: which argument is what.

A call that fits a pattern goes straight to machine code: as many arguments, the same keywords in the same order, the
same options. Its arrays are then looked at one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinpair.compiler.structure import Structure

SLOT, CONSTANT, WRENCH, MOMENT = range(4)
Source: TypeAlias = tuple[int, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Arguments by number, the keywords behind those without a name.

    sources: where each input of the code is: (SLOT, argument), (CONSTANT, array), (WRENCH, its number in the dict), or
    (MOMENT, argument), a Python float for a vector of one number. options: arguments with the object they must be, or a
    string equal to it. out: the argument with the array to write into. wrench_slot: the argument with a dict that has
    exactly the `wrench_names`, in this order.
    """

    positional: int
    keywords: tuple[str, ...]
    sources: tuple[Source, ...]
    options: tuple[tuple[int, Any], ...] = ()
    out: int = -1
    wrench_slot: int = -1
    wrench_names: tuple[str, ...] = ()


def plain_patterns(inputs: int) -> tuple[Pattern, Pattern]:
    """The inputs in their order; the same with `out=`."""
    sources = tuple((SLOT, k) for k in range(inputs))
    return Pattern(inputs, (), sources), Pattern(inputs, ("out",), sources, out=inputs)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What machine code looks at besides types and shapes, and what it hands out.

    quaternions: the first entries of quaternions in the first argument; one that is zero is no rotation. moving:
    entries of the second argument that must not be zero. line: every judged number must be above it, where the result
    is (what is handed out, ..., what is judged). shape: the named tuple for what is a tuple otherwise.
    """

    quaternions: tuple[int, ...] = ()
    moving: tuple[int, ...] = ()
    line: float | None = None
    shape: Any = None

    def seen(self, structure: Structure) -> Structure:
        """The structure of what is handed out."""
        return structure if self.line is None else structure[2][0]


AS_IT_IS = Outcome()


def addresses(objects: Sequence[Any]) -> np.ndarray:
    """Where objects are; whoever keeps the array keeps them too."""
    return np.array([id(x) for x in objects] or [0], dtype=np.int64)
