"""Length of a step: the error of one in units of what is allowed, and the length of the next.

The error is the root mean square of e_i / (atol_i + rtol |y_i|) over the entries that count (Hairer, Nørsett & Wanner
1993, II.4); for two estimates as in their DOP853. The next step is

    h ← h · 0.85 · err^−α · err_before^β          within [1/5, 10]
"""

from __future__ import annotations

from math import log

from kinpair.compiler.time_loop.memory import (
    COLLAPSED,
    ERROR,
    FRESH,
    LENGTH,
    REJECTED,
    RTOL,
    STATUS,
    TIME,
    Memory,
)
from kinpair.compiler.time_loop.step import NOT_FINITE, Step
from kinpair.compiler.time_loop.tableau import Tableau

SAFETY, SHRINK, GROW = 0.85, 0.2, 10.0
FIRST_ERROR = 1e-4  # of the step before the first
SMALLEST = 16 * 2.0**-52  # a step shorter than this part of the time does not move it


class Lengths:
    """The control of steps, written into a loop."""

    def __init__(self, step: Step, memory: Memory, tableau: Tableau) -> None:
        self.step, self.memory, self.tableau = step, memory, tableau
        self.code, self.flow, self.places, self.arrays = step.code, step.flow, step.places, step.arrays

    def first(self) -> None:
        """A first step: 1/100 of what would double the state, or 1e-6."""
        code = self.code
        self.memory.set(code.real(1.0), FRESH)
        size, slope = self._norm("y"), self._norm("k0")
        guess = code.float("fdiv", code.float("fmul", code.real(0.01), size), slope)
        still, even = (self.memory.compare("olt", x, code.real(1e-5)) for x in (size, slope))
        small = code.op(f"or i1 {still}, {even}")
        chosen = code.op(f"select i1 {small}, {code.number} {code.real(1e-6)}, {code.number} {guess}")
        with code.when(self.memory.compare("oeq", self.memory.get(LENGTH), code.real(0.0))):
            self.memory.set(chosen, LENGTH)
        self.memory.set(code.real(log(FIRST_ERROR)), ERROR)

    def _norm(self, place: str) -> str:
        """Root mean square of a vector in units of what is allowed at y."""
        code, places = self.code, self.places
        code.store("zeroinitializer", places["sum"], 0)
        for k in code.over(self.flow.ny):
            part = code.op(f"fdiv {code.wide} {code.load(places[place], k)}, {self._scale(k, 'y')}")
            self._add("sum", code.each("fmul", part, part))
        return self._root(self._mean("sum"))

    def _scale(self, k: str, other: str) -> str:
        """atol + rtol max(|y|, |other|); infinite for entries that do not count."""
        code, places = self.code, self.places
        sizes = [
            code.op(f"call {code.wide} @llvm.fabs.{code.suffix}({code.wide} {code.load(places[x], k)})")
            for x in ("y", other)
        ]
        largest = code.op(
            f"call {code.wide} @llvm.maxnum.{code.suffix}({code.wide} {sizes[0]}, {code.wide} {sizes[1]})"
        )
        at = code.op(f"getelementptr {code.wide}, ptr {self.arrays.pointers['atol']}, i64 {k}")
        atol = code.op(f"load {code.wide}, ptr {at}, align 8")
        return code.each("fadd", atol, code.each("fmul", code.splat(self.memory.setting(RTOL)), largest))

    def _add(self, place: str, term: str) -> None:
        code = self.code
        code.store(code.each("fadd", code.load(self.places[place], 0), term), self.places[place], 0)

    def _mean(self, place: str) -> str:
        """The sum over the entries, divided by how many count (the number behind the tolerances)."""
        code = self.code
        count = code.get(self.arrays.pointers["atol"], code.vectors(self.flow.ny) * code.width)
        return code.float("fdiv", code.total(code.load(self.places[place], 0)), count)

    def _root(self, x: str) -> str:
        return self.code.op(
            f"call {self.code.number} @llvm.sqrt.{self.code.form.real.suffix}({self.code.number} {x})"
        )

    def error(self, h: str) -> str:
        """Error of the step, in units of what is allowed."""
        code, places = self.code, self.places
        sums = [f"error{i}" for i in range(len(self.tableau.errors))]
        for place in sums:
            code.store("zeroinitializer", places[place], 0)
        for k in code.over(self.flow.ny):
            scale = self._scale(k, "next")
            for place, row in zip(sums, self.tableau.errors, strict=True):
                part = code.op(f"fdiv {code.wide} {self.step.weighted(row, k)}, {scale}")
                self._add(place, code.each("fmul", part, part))
        means = [self._mean(place) for place in sums]
        if len(means) == 1:
            return code.float("fmul", h, self._root(means[0]))
        fifth, third = means
        below = code.float("fadd", fifth, code.float("fmul", code.real(0.01), third))
        none = self.memory.compare("oeq", below, code.real(0.0))
        error = code.float("fmul", h, code.float("fdiv", fifth, self._root(below)))
        return code.op(f"select i1 {none}, {code.number} {code.real(0.0)}, {code.number} {error}")

    def _call(self, function: str, x: str) -> str:
        """log or exp."""
        return self.code.op(f"call {self.code.number} @{function}({self.code.number} {x})")

    def longer(self, h: str, reaches: str) -> None:
        """The length after a step that was accepted; `reaches`: it was cut short by a stop."""
        code, places = self.code, self.places
        error = code.larger(code.get(places["error"], 0), code.real(1e-10))
        alpha, beta = self.tableau.exponents
        size = self._call("log", error)
        change = code.float("fmul", size, code.real(-alpha))
        change = code.float("fadd", change, code.float("fmul", self.memory.get(ERROR), code.real(beta)))
        factor = code.float("fmul", code.real(SAFETY), self._call("exp", change))
        factor = code.larger(code.smaller(factor, code.real(GROW)), code.real(SHRINK))
        grown = code.float("fmul", h, factor)
        kept = code.larger(
            grown, self.memory.get(LENGTH)
        )  # a step cut short by a stop says little about the next
        self.memory.set(code.op(f"select i1 {reaches}, {code.number} {kept}, {code.number} {grown}"), LENGTH)
        self.memory.set(code.larger(size, code.real(log(FIRST_ERROR))), ERROR)

    def shorter(self, h: str) -> None:
        """A shorter step; too short a one is the end."""
        code = self.code
        error = code.get(self.places["error"], 0)
        self.memory.count(REJECTED)
        power = code.float("fmul", self._call("log", error), code.real(-1.0 / self.tableau.order))
        factor = code.float("fmul", code.real(SAFETY), self._call("exp", power))
        factor = code.larger(code.real(SHRINK), code.smaller(code.real(1.0), factor))  # of NaN: the smallest
        shorter = code.float("fmul", h, factor)
        self.memory.set(shorter, LENGTH)
        time = self.memory.get(TIME)
        size = code.larger(code.larger(time, code.op(f"fneg {code.number} {time}")), code.real(1e-290))
        with code.when(
            self.memory.compare("ult", shorter, code.float("fmul", size, code.real(SMALLEST)))
        ):  # or NaN
            finite = self.memory.compare("oeq", code.float("fsub", error, error), code.real(0.0))
            status = code.op(
                f"select i1 {finite}, {code.number} {code.real(COLLAPSED)}, {code.number} {code.real(NOT_FINITE)}"
            )
            self.memory.set(status, STATUS)
