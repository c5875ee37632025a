"""Entries of matrices that stand on a sheet, by name, so that what follows can be written in terms of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.closed_form.formula import ZERO, Formula, Number, Product, Symbol
from kinpair.closed_form.sheet import entry_name
from kinpair.compiler.program import Program
from kinpair.compiler.trace import trace

Shapes = Mapping[str, tuple[int, ...]]
Known = tuple[float, str]  # a factor, and the name of a letter or entry; "" for a number alone


class Entries:
    """Matrices of formulas. An entry that is zero, a number or a letter is itself; others go by their name."""

    def __init__(self, results: Mapping[str, Sequence[Formula]], shapes: Shapes) -> None:
        self._shapes = shapes
        self._known: dict[str, list[Known]] = {}
        self.definitions: list[tuple[str, Formula]] = []
        named: dict[Formula, str] = {}
        for what, shape in shapes.items():
            places = list(product(*map(range, shape)))
            self._known[what] = [
                self._entry(x, entry_name(what, place, shape), named)
                for x, place in zip(results[what], places, strict=True)
            ]
            self.definitions += [
                (entry_name(what, place, shape), x)
                for x, place in zip(results[what], places, strict=True)
                if x != ZERO and (what != "M" or place[0] <= place[1])
            ]

    @staticmethod
    def _entry(x: Formula, name: str, named: dict[Formula, str]) -> Known:
        match x:
            case Number(value):
                return value, ""
            case Symbol(letter):
                return 1.0, letter
            case Product((Number(-1.0), Symbol(letter))):
                return -1.0, letter
            case _:
                return 1.0, named.setdefault(x, name)

    def recorded(self, name: str, steps: Callable[..., dict[str, Any]]) -> Program:
        """Steps that take the matrices in order, as a program of the entries and letters."""
        inputs = list(dict.fromkeys(x for entries in self._known.values() for _, x in entries if x))

        def f(*values: Any) -> dict[str, Any]:
            values_by_name = dict(zip(inputs, values, strict=True))
            arrays = [self._array(what, values_by_name) for what in self._shapes]
            return steps(*arrays)

        with np.errstate(all="ignore"):
            return trace(f, dict.fromkeys(inputs, ()), name=name)

    def _array(self, what: str, values_by_name: Mapping[str, Any]) -> np.ndarray:
        entries = [factor * values_by_name[x] if x else factor for factor, x in self._known[what]]
        return array(entries).reshape(self._shapes[what]) if entries else np.zeros(self._shapes[what])
