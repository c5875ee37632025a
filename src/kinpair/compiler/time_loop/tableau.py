"""Runge–Kutta methods as data that checks itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Row = tuple[float, ...]
EXACT = 1e-13  # sums of coefficients given to sixteen digits


@dataclass(frozen=True, slots=True)
class Tableau:
    """An explicit method: k_i = f(t + c_i h, y + h Σ a_ij k_j), y₁ = y + h Σ b_i k_i.

    `errors` weigh the k_i and f(t₁, y₁) to estimates of the error: one row, or two for 8(5,3). `dense` adds to the
    cubic through both ends of a step what makes it as exact as the method needs; its rows weigh the k_i, f(t₁, y₁)
    and the further stages `more_c`, `more_a`. `exponents` are those of the step control, of this error and the last.
    """

    name: str
    order: int
    c: Row
    a: tuple[Row, ...]
    b: Row
    errors: tuple[Row, ...] = ()
    dense: tuple[Row, ...] = ()
    more_c: Row = ()
    more_a: tuple[Row, ...] = ()
    exponents: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        sizes = [len(row) for row in (*self.a, *self.more_a)]
        further = range(self.stages + 1, self.stages + 1 + len(self.more_a))
        if sizes != [*range(self.stages), *further]:
            raise ValueError(
                f"{self.name}: the rows of a have lengths {sizes}; each stage may use earlier ones"
            )
        self._check("b", self.b, 1.0)
        for i, (row, c) in enumerate(zip((*self.a, *self.more_a), (*self.c, *self.more_c), strict=True)):
            self._check(f"row {i} of a", row, c)
        for row in self.errors:
            self._check("errors", row, 0.0)
        if any(len(row) != self.stages + 1 for row in self.errors):
            raise ValueError(f"{self.name}: an error weighs {self.stages} stages and the one behind")
        if any(len(row) != self.stages + 1 + len(self.more_a) for row in self.dense):
            raise ValueError(f"{self.name}: dense output weighs every stage")

    def _check(self, what: str, row: Sequence[float], total: float) -> None:
        if abs(sum(row) - total) > EXACT * max(1.0, *(abs(x) for x in (*row, 0.0))):
            raise ValueError(f"{self.name}: {what} sums to {sum(row)!r}; it must be {total!r}")

    @property
    def stages(self) -> int:
        """Number of evaluations of the right-hand side in a step."""
        return len(self.b)

    @property
    def slopes(self) -> int:
        """Slopes kept: of the stages, of the end of the step, and of the further ones."""
        return self.stages + 1 + len(self.more_a)
