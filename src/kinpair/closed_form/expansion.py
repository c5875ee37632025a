"""A program expanded to normal forms, entry by entry, as far as it is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import cos, prod, sin, sqrt
from typing import TypeAlias

from kinpair.closed_form import polynomial
from kinpair.closed_form.polynomial import PLAIN, Polynomial
from kinpair.compiler.graph import Expr
from kinpair.compiler.program import needed
from kinpair.errors import ClosedFormError

Watch: TypeAlias = Callable[[str], None]  # is told what is being worked on


WORK = 20  # products of terms for each term that a product may have
OF_NUMBERS: dict[str, Callable[..., float]] = {"sqrt": sqrt}


class Expansion:
    """Normal forms of the nodes of one graph, kept as they are found.

    `groups` says for each symbol that is an angle which others it adds to: same number, parallel axes.
    `limit` is how many terms a node may have. `phases` are the constants met in angles: sin(x + α) is expanded.
    """

    def __init__(
        self, groups: Mapping[str, int], limit: int | None = None, watch: Watch | None = None
    ) -> None:
        self.groups = dict(groups)
        self.limit = limit
        self.phases: set[float] = set()
        self._watch = watch
        self._forms: dict[int, Polynomial] = {}

    def of(self, x: Expr) -> Polynomial:
        """The normal form of a node."""
        for node in needed([x]):
            if node.id not in self._forms:
                self._forms[node.id] = self.form_of(node, [self._forms[y.id] for y in node.args])
        return self._forms[x.id]

    def form_of(self, x: Expr, known: list[Polynomial]) -> Polynomial:
        """The normal form of a node from those of what it is made of."""
        if x.op == "const":
            return polynomial.number(float(x.value))
        if x.op == "symbol":
            return polynomial.letter(x.graph.names[x.id])
        self._check_length(x.op, known)
        if x.op in ("sin", "cos"):
            return self._wave(x, known[0])
        if x.op in OF_NUMBERS and all(map(_is_number, known)):
            return polynomial.number(OF_NUMBERS[x.op](*(y.terms.get(PLAIN, 0.0) for y in known)))
        if x.op not in FORMS:
            raise ClosedFormError(f"{x.op} in {x} has no expanded form", operation=x.op)
        result = FORMS[x.op](*known)
        if result is None:
            raise ClosedFormError(f"a division by a sum in {x} has no expanded form", operation=x.op)
        return result

    def _check_length(self, op: str, known: list[Polynomial]) -> None:
        longest = max(map(len, known))
        if self._watch is not None:
            self._watch(f"{longest} terms")
        work = prod(map(len, known)) / WORK if op == "mul" else 0
        if self.limit is not None and max(longest, work) > self.limit:
            raise ClosedFormError(f"the expanded form has more than {self.limit} terms", limit=self.limit)

    def _wave(self, x: Expr, argument: Polynomial) -> Polynomial:
        angle: list[tuple[str, int]] = []
        phase = argument.terms.get(PLAIN, 0.0)
        for (powers, waves), value in argument.terms.items():
            if (powers, waves) == PLAIN:
                continue
            whole = len(powers) == 1 and powers[0][1] == 1 and not waves and value == int(value)
            if not whole or powers[0][0] not in self.groups:
                raise ClosedFormError(f"{x} is not a function of angles alone", operation=x.op)
            angle.append((powers[0][0], int(value)))
        groups = {self.groups[name] for name, _ in angle}
        if len(groups) > 1:
            raise ClosedFormError(f"{x} adds angles about axes that are not parallel", operation=x.op)
        group, turned = min(groups, default=0), tuple(sorted(angle))
        waves = {kind: polynomial.wave(group, kind, turned) for kind in ("sin", "cos")}
        if not phase:
            return waves[x.op]
        self.phases.add(phase)
        other, sign = ("cos", 1.0) if x.op == "sin" else ("sin", -1.0)
        return waves[x.op].scaled(cos(phase)) + waves[other].scaled(sign * sin(phase))


def _divided(x: Polynomial, y: Polynomial) -> Polynomial | None:
    inverse = y.inverse()
    return None if inverse is None else x * inverse


FORMS: dict[str, Callable[..., Polynomial | None]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x.scaled(y.terms[PLAIN]) if _is_number(y) else x * y,
    "neg": lambda x: -x,
    "div": _divided,
}


def _is_number(x: Polynomial) -> bool:
    return len(x) == 1 and PLAIN in x.terms
