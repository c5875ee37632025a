"""A time loop that chooses its steps, as LLVM text: an embedded method with dense output at requested times.

All that the loop knows between two calls is in the array `state`, so a run cut in two is the same to the last bit.

Samples at the times at which they are wanted come from a polynomial over a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kinpair.compiler.target import ATTRIBUTES, Form, Real
from kinpair.compiler.time_loop.code import Code, OpenLoop
from kinpair.compiler.time_loop.fixed import declarations, declared_solve, programs_text
from kinpair.compiler.time_loop.lengths import Lengths
from kinpair.compiler.time_loop.memory import (
    ACCEPTED,
    CURSOR,
    DONE,
    FRESH,
    HEAD,
    HOLD,
    HOLDS,
    LARGEST,
    LENGTH,
    LOGGED,
    LONGEST,
    MORE,
    SHORT,
    STALE,
    STATUS,
    STEPS,
    STOP,
    T0,
    TIME,
    Memory,
)
from kinpair.compiler.time_loop.parts import Flow, Frame, Part
from kinpair.compiler.time_loop.roots import Roots, root_places
from kinpair.compiler.time_loop.step import LEAST, Arrays, Step
from kinpair.compiler.time_loop.tableau import Tableau


def dense_places(flow: Flow, tableau: Tableau) -> dict[str, int]:
    """Room for the polynomial and a sample."""
    return {f"F{i}": flow.ny for i in range(3 + len(tableau.dense))} | {"sample": flow.ny}


class Dense:
    """Samples, written into a loop; `last` is the place of the slope at the end of a step."""

    def __init__(self, step: Step, memory: Memory, tableau: Tableau, last: str) -> None:
        self.step, self.memory, self.tableau, self.last = step, memory, tableau, last
        self.code, self.flow, self.places, self.arrays = step.code, step.flow, step.places, step.arrays

    def arrived(self) -> None:
        """Samples wanted at the time reached: the state itself, with inputs that are new there."""
        code = self.code
        code.copy(self.places["y"], self.places["stage"], self.flow.ny)
        with code.forever() as loop:
            wanted = self.memory.wanted()
            loop.leave(self.memory.compare("ugt", wanted, self.memory.get(TIME)))
            self._sample(wanted, loop)
        self.memory.refused()

    def samples(self, time: str, h: str, end: str) -> None:
        """Write all samples that lie within the step, its end apart."""
        code = self.code
        first = self.tableau.stages + 1
        rows = [
            (first + i, c, row)
            for i, (c, row) in enumerate(zip(self.tableau.more_c, self.tableau.more_a, strict=True))
        ]
        self.step.stages(rows, time, h)
        self._polynomial(h)
        with code.forever() as loop:
            wanted = self.memory.wanted()
            loop.leave(self.memory.compare("uge", wanted, end))
            self._between(code.float("fdiv", code.float("fsub", wanted, time), h))
            self._sample(wanted, loop)

    def _polynomial(self, h: str) -> None:
        """Coefficients F: Δ, h f₀ − Δ, 2Δ − h (f₀ + f₁), then those of the method's own."""
        code, places = self.code, self.places
        step = code.splat(h)
        for k in code.over(self.flow.ny):
            change = code.each("fsub", code.load(places["next"], k), code.load(places["y"], k))
            f0 = code.each("fmul", step, code.load(places["k0"], k))
            f1 = code.each("fmul", step, code.load(places[self.last], k))
            code.store(change, places["F0"], k)
            code.store(code.each("fsub", f0, change), places["F1"], k)
            twice = code.each("fadd", change, change)
            code.store(code.each("fsub", twice, code.each("fadd", f0, f1)), places["F2"], k)
            for i, row in enumerate(self.tableau.dense):
                code.store(code.each("fmul", step, self.step.weighted(row, k)), places[f"F{3 + i}"], k)

    def _between(self, part: str) -> None:
        """y + θ (F₀ + (1 − θ)(F₁ + θ (F₂ + (1 − θ)(F₃ + ...)))) to `stage`."""
        code, places = self.code, self.places
        there, back = code.splat(part), code.splat(code.float("fsub", code.real(1.0), part))
        for k in code.over(self.flow.ny):
            total = ""
            for i in reversed(range(3 + len(self.tableau.dense))):
                F = code.load(places[f"F{i}"], k)
                total = code.each("fadd", F, total) if total else F
                total = code.each("fmul", total, there if i % 2 == 0 else back)
            code.store(code.each("fadd", code.load(places["y"], k), total), places["stage"], k)

    def _sample(self, time: str, loop: OpenLoop) -> None:
        """Write what is in `stage`, settled, as the next sample; leave the loop if there are no inputs for it."""
        code, step, places, flow = self.code, self.step, self.places, self.flow
        at = code.integer(self.memory.get(CURSOR))
        step.share(time, "time")
        place = "stage"
        if "after" in step.parts:
            place = "sample"
            targets = [places["sample"], places["size"]][: step.parts["after"].results]
            step.parts["after"].call(code, places, targets, y=places["stage"])
        self.arrays.put(code, "Y", code.op(f"mul i64 {at}, {flow.ny}"), flow.ny, places[place])
        if flow.nw:
            if not flow.sampled:
                step.refresh(time, place)
                step.share(time, "time")
            step.evaluate("watch", [places["w"]], y=places[place])
            self.arrays.put(code, "W", code.op(f"mul i64 {at}, {flow.nw}"), flow.nw, places["w"])
        if flow.source == "call":
            loop.leave(step.failed)
        self.memory.count(CURSOR)


ARRAYS = ("settings", "p", "times", "table", "called", "wanted", "atol", "state", "Y", "W", "acts", "log")
STRETCH = 1.01  # a step that nearly reaches a stop reaches it


def further_places(flow: Flow, tableau: Tableau) -> dict[str, int]:
    """Room for errors, the polynomial of dense output, a sample, and a search for roots."""
    errors = {f"error{i}": 1 for i in range(len(tableau.errors))}
    return errors | dense_places(flow, tableau) | root_places(flow)


def adaptive_text(
    flow: Flow, parts: Mapping[str, Part], frame: Frame, tableau: Tableau, real: Real, width: int
) -> tuple[str, Sequence[Callable[..., Any]]]:
    """Write `@one(pointers, scratch)`; return its text and the loop functions that it calls."""
    form = Form(real, 1)
    code = Code(form, width)
    pointers: dict[str, str] = {}
    for k, name in enumerate(ARRAYS):
        at = code.op(f"getelementptr ptr, ptr %pointers, i64 {k}", "at")
        pointers[name] = code.op(f"load ptr, ptr {at}")
    _Writer(Step(code, flow, parts, frame, Arrays(pointers)), tableau).run()
    used = {op for part in parts.values() for op in part.blocks.used}
    text = "\n".join(
        [
            *programs_text(parts, form),
            declarations(code),
            *code.declared_loops,
            *(declared_solve() if flow.solve is not None else ()),
            *(f"declare {code.number} @{f}({code.number})" for f in ("log", "exp") if f not in used),
            f"declare {code.number} @llvm.sqrt.{real.suffix}({code.number})",
            f"declare {code.wide} @llvm.fabs.{code.suffix}({code.wide})",
            f"declare {code.wide} @llvm.maxnum.{code.suffix}({code.wide}, {code.wide})",
            f"define void @one(ptr %pointers, ptr %scratch) {ATTRIBUTES} {{",
            "start:",
            *code.lines,
            "  ret void",
            "}",
        ]
    )
    return text, code.loops


class _Writer:
    def __init__(self, step: Step, tableau: Tableau) -> None:
        self.step, self.tableau, self.memory = step, tableau, Memory(step)
        self.code, self.flow, self.places, self.arrays = step.code, step.flow, step.places, step.arrays
        self.last = f"k{tableau.stages}"
        self.end_in_error = any(row[-1] for row in tableau.errors)
        self.lengths = Lengths(step, self.memory, tableau)
        self.dense = Dense(step, self.memory, tableau, self.last)
        self.roots = Roots(step, self.memory) if step.guarded else None

    def run(self) -> None:
        """Step after step, until the end, so many steps, or trouble."""
        code, real = self.code, self.code.real
        self.restore()
        self.memory.set(real(MORE), STATUS)
        self.memory.set(real(0.0), LOGGED)
        steps = code.integer(self.memory.setting(STEPS))
        with code.forever() as run:
            with code.loop(steps):
                self.turn(run)
            run.leave("true")
        self.move("scatter")

    def turn(self, run: OpenLoop) -> None:
        """Write what is due at this time, then a step."""
        code, real = self.code, self.code.real
        if self.flow.sampled:
            self.hold(run)
        if self.bends:
            self.pass_rows()
        with code.when(self.memory.compare("one", self.memory.get(STALE), real(0.0))):
            self.step.slope(0, self.memory.get(TIME), "y")
            with self.memory.unless_refused():
                self.memory.set(real(0.0), STALE)
        if self.flow.source == "call":
            run.leave(self.memory.running("one"))
        with code.when(self.memory.compare("oeq", self.memory.get(FRESH), real(0.0))):
            self.lengths.first()
        with code.when(self.memory.compare("ole", self.memory.wanted(), self.memory.get(TIME))):
            self.dense.arrived()
        run.leave(self.memory.running("one"))
        with code.when(self.memory.compare("oge", self.memory.get(TIME), self.memory.setting(STOP))):
            self.memory.set(real(DONE), STATUS)
        run.leave(self.memory.running("one"))
        least = code.float("fmul", self.memory.setting(LEAST), self.memory.get(LARGEST))
        with code.when(self.memory.compare("olt", self.memory.get(LENGTH), least)):
            self.memory.set(real(SHORT), STATUS)
        run.leave(self.memory.running("one"))
        with code.forever() as tries:  # one, unless a root is searched for
            self.attempt()
            tries.leave("true" if self.roots is None else code.no(self.roots.searching))
        run.leave(self.memory.running("one"))

    def restore(self) -> None:
        """State, inputs and first slope from where the last call left them."""
        code, flow = self.code, self.flow
        self.step.clear()
        self.arrays.fetch(code, "p", "0", flow.np, self.places["p"])
        self.move("gather")
        if self.step.guarded:
            self.step.share(self.memory.get(TIME), "time")
            self.step.look("y")
        if self.roots is not None:
            self.roots.begin()

    def move(self, way: str) -> None:
        code, flow = self.code, self.flow
        move = self.arrays.fetch if way == "gather" else self.arrays.put
        first = HEAD
        for place, size in (("y", flow.ny), ("u", flow.nu), ("k0", flow.ny)):
            move(code, "state", str(first), size, self.places[place])
            first += size

    def hold(self, run: OpenLoop) -> None:
        """New inputs at their sample times, which every step stops at."""
        code = self.code
        with code.when(self.memory.compare("oge", self.memory.get(TIME), self.next_hold())):
            self.step.refresh(self.memory.get(TIME), "y")
            with self.memory.unless_refused():
                self.memory.count(HOLDS)
                self.memory.set(code.real(1.0), STALE)
        run.leave(self.memory.running("one"))

    def next_hold(self) -> str:
        """t₀ + n · sample time."""
        code = self.code
        return code.float(
            "fadd",
            self.memory.setting(T0),
            code.float("fmul", self.memory.get(HOLDS), self.memory.setting(HOLD)),
        )

    @property
    def bends(self) -> bool:
        """True if the inputs are straight lines between the rows of a table, which every step stops at."""
        return self.flow.reads_table and not self.flow.sampled

    def pass_rows(self) -> None:
        """HOLDS counts the rows that are not ahead; behind the last there is an infinite one."""
        with self.code.forever() as loop:
            loop.leave(self.memory.compare("ogt", self.next_row(), self.memory.get(TIME)))
            self.memory.count(HOLDS)

    def next_row(self) -> str:
        """Time of the next row."""
        return self.code.get(self.arrays.pointers["times"], self.code.integer(self.memory.get(HOLDS)))

    def attempt(self) -> None:
        """Write one step, accepted or not."""
        code, step, tableau = self.code, self.step, self.tableau
        time, length = (
            self.memory.get(TIME),
            code.smaller(self.memory.get(LENGTH), self.memory.setting(LONGEST)),
        )
        stop = self.memory.setting(STOP)
        if self.flow.sampled:
            stop = code.smaller(stop, self.next_hold())
        if self.bends:
            stop = code.smaller(stop, self.next_row())
        left = code.float("fsub", stop, time)
        reaches = self.memory.compare("oge", code.float("fmul", length, code.real(STRETCH)), left)
        h = code.op(f"select i1 {reaches}, {code.number} {left}, {code.number} {length}")
        end = code.op(
            f"select i1 {reaches}, {code.number} {stop}, {code.number} {code.float('fadd', time, length)}"
        )
        searching = "false" if self.roots is None else self.roots.searching
        if self.roots is not None:
            h, end = self.roots.bracket.chosen(h, end)
        rows = list(zip(range(tableau.stages), tableau.c, tableau.a, strict=True))
        step.stages(rows[1:], time, h)
        step.combine(tableau.b, h, "next")
        if self.end_in_error:
            step.slope(tableau.stages, end, "next")
        error = self.lengths.error(h)
        code.set(error, self.places["error"], 0)
        self.memory.refused()
        good = self.memory.compare("ole", error, code.real(1.0))
        running = self.memory.running()
        with code.when(code.op(f"and i1 {good}, {running}")):
            if self.roots is None:
                self.accept(time, h, end, reaches)
            else:
                self.roots.examine(h, end)
                self.memory.refused()
                with code.when(code.both(self.memory.running(), self.roots.bracket.taken(end))):
                    self.accept(time, h, end, reaches)
        bad = code.both(code.compare("ugt", error, 1.0), running)
        with code.when(code.both(bad, code.no(searching))):
            self.lengths.shorter(h)
        if self.roots is not None:
            with code.when(code.both(bad, searching)):
                self.roots.abandon()

    def accept(self, time: str, h: str, end: str, reaches: str) -> None:
        """Write the samples within a step and take it, unless there are no inputs for one of them."""
        code, step = self.code, self.step
        self.lengths.longer(h, reaches)
        self.memory.set(code.larger(self.memory.get(LARGEST), h), LARGEST)
        self.memory.count(ACCEPTED)
        goes_on = "after" not in step.parts  # the slope at the end is the first of the next step
        if not self.end_in_error and goes_on:
            step.slope(self.tableau.stages, end, "next")
        with code.when(self.memory.compare("olt", self.memory.wanted(), end)):
            if not self.end_in_error and not goes_on:
                step.slope(self.tableau.stages, end, "next")
            self.dense.samples(time, h, end)
        with self.memory.unless_refused():
            self.take(end, goes_on)

    def take(self, end: str, goes_on: bool) -> None:
        """Go to the end of an accepted step."""
        code, step, places, flow = self.code, self.step, self.places, self.flow
        code.copy(places["next"], places["y"], flow.ny)
        self.memory.set(end, TIME)
        step.share(end, "time")
        if not goes_on:
            step.settle()
            if step.guarded:
                step.look("y")  # as `restore` does: the run does not depend on where it is cut
            self.memory.set(code.real(1.0), STALE)
            with code.when(self.memory.compare("one", code.get(places["verdict"], 0), code.real(0.0))):
                self.memory.set(code.get(places["verdict"], 0), STATUS)
        else:
            code.copy(places[self.last], places["k0"], flow.ny)
        if self.roots is not None:
            self.roots.land()
