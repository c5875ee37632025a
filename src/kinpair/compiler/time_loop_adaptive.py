"""A time loop that chooses its steps, as LLVM text: an embedded method with dense output at requested times.

The error of a step, in units of what is allowed, is the root mean square of e_i / (atol_i + rtol |y_i|) over the
entries that count (Hairer, Nørsett & Wanner 1993, II.4); for two estimates as in their DOP853. The next step is

    h ← h · 0.85 · err^−α · err_before^β          within [1/5, 10]

All that the loop knows between two calls is in the array `state`, so a run cut in two is the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from kinpair.compiler.form import ATTRIBUTES, Form
from kinpair.compiler.target import Real
from kinpair.compiler.time_loop_code import Code, Walk
from kinpair.compiler.time_loop_fixed import declarations, programs_text
from kinpair.compiler.time_loop_parts import Flow, Frame, Part
from kinpair.compiler.time_loop_step import CROSSED, NOT_FINITE, REFUSED, Arrays, Step
from kinpair.compiler.time_loop_tableau import Tableau

ARRAYS = ("settings", "p", "times", "table", "called", "wanted", "atol", "state", "Y", "W")
STOP, RTOL, STEPS, LONGEST, WANTED, HOLD, T0 = range(7)  # of the settings; then ROWS
TIME, LENGTH, ERROR, ACCEPTED, REJECTED, CURSOR, STALE, STATUS, HOLDS, FRESH = range(
    10
)  # of the state; then y, u, k
HEAD = 16
MORE, DONE, COLLAPSED = 0.0, 10.0, 4.0
SAFETY, SHRINK, GROW = 0.85, 0.2, 10.0
FIRST_ERROR = 1e-4  # of the step before the first
SMALLEST = 16 * 2.0**-52  # a step shorter than this part of the time does not move it
STRETCH = 1.01  # a step that nearly reaches a stop reaches it


def further_places(flow: Flow, tableau: Tableau) -> dict[str, int]:
    """Room for errors, the polynomial of dense output, and a sample."""
    sizes = {f"error{i}": 1 for i in range(len(tableau.errors))}
    return sizes | {f"F{i}": flow.ny for i in range(3 + len(tableau.dense))} | {"sample": flow.ny}


def adaptive_text(
    flow: Flow, parts: Mapping[str, Part], frame: Frame, tableau: Tableau, real: Real, width: int
) -> str:
    """`@one(pointers, scratch)`."""
    form = Form(real, 1)
    code = Code(form, width)
    pointers: dict[str, str] = {}
    for k, name in enumerate(ARRAYS):
        at = code.op(f"getelementptr ptr, ptr %pointers, i64 {k}", "at")
        pointers[name] = code.op(f"load ptr, ptr {at}")
    _Writer(Step(code, flow, parts, frame, Arrays(pointers)), tableau).run()
    used = {op for part in parts.values() for op in part.blocks.used}
    return "\n".join(
        [
            *programs_text(parts, form),
            declarations(code),
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


class _Writer:
    def __init__(self, step: Step, tableau: Tableau) -> None:
        self.step, self.tableau = step, tableau
        self.code, self.flow, self.places, self.arrays = step.code, step.flow, step.places, step.arrays
        self.settings, self.state = self.arrays.pointers["settings"], self.arrays.pointers["state"]
        self.last = f"k{tableau.stages}"
        self.end_in_error = any(row[-1] for row in tableau.errors)

    # numbers of the state

    def get(self, k: int) -> str:
        return self.code.get(self.state, k)

    def set(self, value: str, k: int) -> None:
        self.code.set(value, self.state, k)

    def count(self, k: int) -> None:
        self.set(self.code.float("fadd", self.get(k), self.code.real(1.0)), k)

    def setting(self, k: int) -> str:
        return self.code.get(self.settings, k)

    def compare(self, how: str, a: str, b: str) -> str:
        return self.code.op(f"fcmp {how} {self.code.number} {a}, {b}")

    # the loop

    def run(self) -> None:
        """Step after step, until the end, so many steps, or trouble."""
        code, real = self.code, self.code.real
        self.restore()
        self.set(real(MORE), STATUS)
        steps = code.integer(self.setting(STEPS))
        with code.forever() as run:
            with code.loop(steps):
                self.turn(run)
            run.leave("true")
        self.move("scatter")

    def turn(self, run: Walk) -> None:
        """What is due at this time, then a step."""
        code, real = self.code, self.code.real
        if self.flow.held:
            self.hold(run)
        with code.when(self.compare("one", self.get(STALE), real(0.0))):
            self.step.slope(0, self.get(TIME), "y")
            self.set(real(0.0), STALE)
        with code.when(self.compare("oeq", self.get(FRESH), real(0.0))):
            self.begin()
        with code.when(self.compare("ole", self.wanted(), self.get(TIME))):
            self.arrived()
        run.leave(self.compare("one", self.get(STATUS), real(MORE)))
        with code.when(self.compare("oge", self.get(TIME), self.setting(STOP))):
            self.set(real(DONE), STATUS)
        run.leave(self.compare("one", self.get(STATUS), real(MORE)))
        self.attempt()
        run.leave(self.compare("one", self.get(STATUS), real(MORE)))

    def restore(self) -> None:
        """State, inputs and first slope from where the last call left them."""
        code, flow = self.code, self.flow
        self.step.clear()
        self.arrays.fetch(code, "p", "0", flow.np, self.places["p"])
        self.move("gather")
        if self.step.guarded:
            self.step.share(self.get(TIME), "time")
            self.step.look("y")

    def move(self, way: str) -> None:
        code, flow = self.code, self.flow
        move = self.arrays.fetch if way == "gather" else self.arrays.put
        first = HEAD
        for place, size in (("y", flow.ny), ("u", flow.nu), ("k0", flow.ny)):
            move(code, "state", str(first), size, self.places[place])
            first += size

    def hold(self, run: Walk) -> None:
        """New inputs at their sample times, which every step stops at."""
        code = self.code
        with code.when(self.compare("oge", self.get(TIME), self.next_hold())):
            self.step.refresh(self.get(TIME), "y")
            self.refused()
            self.count(HOLDS)
            self.set(code.real(1.0), STALE)
        run.leave(self.compare("one", self.get(STATUS), code.real(MORE)))

    def next_hold(self) -> str:
        """t₀ + n · sample time."""
        code = self.code
        return code.float("fadd", self.setting(T0), code.float("fmul", self.get(HOLDS), self.setting(HOLD)))

    def refused(self) -> None:
        """Did the function that gives the inputs fail?"""
        code = self.code
        if self.flow.source == "call":
            answer = code.op(f"load i64, ptr {self.places['failed']}")
            with code.when(code.op(f"icmp ne i64 {answer}, 0")):
                self.set(code.real(REFUSED), STATUS)

    def begin(self) -> None:
        """A first step: 1/100 of what would double the state, or 1e-6."""
        code = self.code
        self.set(code.real(1.0), FRESH)
        size, slope = self.norm("y"), self.norm("k0")
        guess = code.float("fdiv", code.float("fmul", code.real(0.01), size), slope)
        small = code.op(
            f"or i1 {self.compare('olt', size, code.real(1e-5))}, {self.compare('olt', slope, code.real(1e-5))}"
        )
        chosen = code.op(f"select i1 {small}, {code.number} {code.real(1e-6)}, {code.number} {guess}")
        with code.when(self.compare("oeq", self.get(LENGTH), code.real(0.0))):
            self.set(chosen, LENGTH)
        self.set(code.real(log(FIRST_ERROR)), ERROR)

    def norm(self, place: str) -> str:
        """Root mean square of a vector in units of what is allowed at y."""
        code, places = self.code, self.places
        code.store("zeroinitializer", places["sum"], 0)
        for k in code.over(self.flow.ny):
            part = code.op(f"fdiv {code.wide} {code.load(places[place], k)}, {self.scale(k, 'y')}")
            self.add("sum", code.each("fmul", part, part))
        return self.root(self.mean("sum"))

    def scale(self, k: str, other: str) -> str:
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
        return code.each("fadd", atol, code.each("fmul", code.splat(self.setting(RTOL)), largest))

    def add(self, place: str, term: str) -> None:
        code = self.code
        code.store(code.each("fadd", code.load(self.places[place], 0), term), self.places[place], 0)

    def mean(self, place: str) -> str:
        """The sum over the entries, divided by how many count (the number behind the tolerances)."""
        code = self.code
        count = code.get(self.arrays.pointers["atol"], code.vectors(self.flow.ny) * code.width)
        return code.float("fdiv", code.total(code.load(self.places[place], 0)), count)

    def root(self, x: str) -> str:
        return self.code.op(
            f"call {self.code.number} @llvm.sqrt.{self.code.form.real.suffix}({self.code.number} {x})"
        )

    def attempt(self) -> None:
        """One step, accepted or not."""
        code, step, tableau = self.code, self.step, self.tableau
        time, length = self.get(TIME), code.smaller(self.get(LENGTH), self.setting(LONGEST))
        stop = self.setting(STOP)
        if self.flow.held:
            stop = code.smaller(stop, self.next_hold())
        left = code.float("fsub", stop, time)
        reaches = self.compare("oge", code.float("fmul", length, code.real(STRETCH)), left)
        h = code.op(f"select i1 {reaches}, {code.number} {left}, {code.number} {length}")
        end = code.op(
            f"select i1 {reaches}, {code.number} {stop}, {code.number} {code.float('fadd', time, length)}"
        )
        rows = list(zip(range(tableau.stages), tableau.c, tableau.a, strict=True))
        step.stages(rows[1:], time, h)
        step.combine(tableau.b, h, "next")
        if self.end_in_error:
            step.slope(tableau.stages, end, "next")
        error = self.error(h)
        code.set(error, self.places["found"], 0)
        self.refused()
        good = self.compare("ole", error, code.real(1.0))
        running = self.compare("oeq", self.get(STATUS), code.real(MORE))
        with code.when(code.op(f"and i1 {good}, {running}")):
            if step.guarded:
                self.guard(h, end)
            with code.when(self.compare("oeq", self.get(STATUS), code.real(MORE))):
                self.accept(time, h, end, reaches)
        bad = self.compare("ugt", error, code.real(1.0))
        with code.when(code.op(f"and i1 {bad}, {running}")):
            self.reject(h)

    def guard(self, h: str, end: str) -> None:
        """Stop before a step in which a guard leaves its side; its length is kept."""
        self.step.share(end, "time")
        self.step.look("next", "g_new")
        with self.code.when(self.step.crossed()):
            self.set(h, LENGTH)
            self.set(self.code.real(CROSSED), STATUS)
        self.code.copy(self.places["g_new"], self.places["g"], self.flow.ng)

    def error(self, h: str) -> str:
        """Of the step, in units of what is allowed."""
        code, places = self.code, self.places
        sums = [f"error{i}" for i in range(len(self.tableau.errors))]
        for place in sums:
            code.store("zeroinitializer", places[place], 0)
        for k in code.over(self.flow.ny):
            scale = self.scale(k, "next")
            for place, row in zip(sums, self.tableau.errors, strict=True):
                part = code.op(f"fdiv {code.wide} {self.step.weighted(row, k)}, {scale}")
                self.add(place, code.each("fmul", part, part))
        means = [self.mean(place) for place in sums]
        if len(means) == 1:
            return code.float("fmul", h, self.root(means[0]))
        fifth, third = means
        below = code.float("fadd", fifth, code.float("fmul", code.real(0.01), third))
        none = self.compare("oeq", below, code.real(0.0))
        found = code.float("fmul", h, code.float("fdiv", fifth, self.root(below)))
        return code.op(f"select i1 {none}, {code.number} {code.real(0.0)}, {code.number} {found}")

    def call(self, function: str, x: str) -> str:
        """log or exp."""
        return self.code.op(f"call {self.code.number} @{function}({self.code.number} {x})")

    def accept(self, time: str, h: str, end: str, reaches: str) -> None:
        code, step, places, flow = self.code, self.step, self.places, self.flow
        error = code.larger(code.get(places["found"], 0), code.real(1e-10))
        alpha, beta = self.tableau.exponents
        size = self.call("log", error)
        change = code.float("fmul", size, code.real(-alpha))
        change = code.float("fadd", change, code.float("fmul", self.get(ERROR), code.real(beta)))
        factor = code.float("fmul", code.real(SAFETY), self.call("exp", change))
        factor = code.larger(code.smaller(factor, code.real(GROW)), code.real(SHRINK))
        grown = code.float("fmul", h, factor)
        kept = code.larger(grown, self.get(LENGTH))  # a step cut short by a stop says little about the next
        self.set(code.op(f"select i1 {reaches}, {code.number} {kept}, {code.number} {grown}"), LENGTH)
        self.set(code.larger(size, code.real(log(FIRST_ERROR))), ERROR)
        self.count(ACCEPTED)
        goes_on = "after" not in step.parts  # the slope at the end is the first of the next step
        if not self.end_in_error and goes_on:
            step.slope(self.tableau.stages, end, "next")
        with code.when(self.compare("olt", self.wanted(), end)):
            if not self.end_in_error and not goes_on:
                step.slope(self.tableau.stages, end, "next")
            self.samples(time, h, end)
        code.copy(places["next"], places["y"], flow.ny)
        self.set(end, TIME)
        step.share(end, "time")
        if not goes_on:
            step.settle()
            self.set(code.real(1.0), STALE)
            with code.when(self.compare("one", code.get(places["verdict"], 0), code.real(0.0))):
                self.set(code.get(places["verdict"], 0), STATUS)
        else:
            code.copy(places[self.last], places["k0"], flow.ny)
        self.refused()

    def reject(self, h: str) -> None:
        """A shorter step; too short a one is the end."""
        code = self.code
        error = code.get(self.places["found"], 0)
        self.count(REJECTED)
        power = code.float("fmul", self.call("log", error), code.real(-1.0 / self.tableau.order))
        factor = code.float("fmul", code.real(SAFETY), self.call("exp", power))
        factor = code.larger(code.real(SHRINK), code.smaller(code.real(1.0), factor))  # of NaN: the smallest
        shorter = code.float("fmul", h, factor)
        self.set(shorter, LENGTH)
        time = self.get(TIME)
        size = code.larger(code.larger(time, code.op(f"fneg {code.number} {time}")), code.real(1e-290))
        with code.when(self.compare("ult", shorter, code.float("fmul", size, code.real(SMALLEST)))):  # or NaN
            finite = self.compare("oeq", code.float("fsub", error, error), code.real(0.0))
            status = code.op(
                f"select i1 {finite}, {code.number} {code.real(COLLAPSED)}, {code.number} {code.real(NOT_FINITE)}"
            )
            self.set(status, STATUS)

    # dense output

    def wanted(self) -> str:
        """The next time at which a sample is wanted; behind the last there is a NaN."""
        return self.code.get(self.arrays.pointers["wanted"], self.code.integer(self.get(CURSOR)))

    def arrived(self) -> None:
        """Samples wanted at the time reached: the state itself, with inputs that are new there."""
        code = self.code
        code.copy(self.places["y"], self.places["stage"], self.flow.ny)
        with code.forever() as walk:
            wanted = self.wanted()
            walk.leave(self.compare("ugt", wanted, self.get(TIME)))
            self.sample(wanted)
        self.refused()

    def samples(self, time: str, h: str, end: str) -> None:
        """All that lie within the step, its end apart."""
        code = self.code
        first = self.tableau.stages + 1
        rows = [
            (first + i, c, row)
            for i, (c, row) in enumerate(zip(self.tableau.more_c, self.tableau.more_a, strict=True))
        ]
        self.step.stages(rows, time, h)
        self.polynomial(h)
        with code.forever() as walk:
            wanted = self.wanted()
            walk.leave(self.compare("uge", wanted, end))
            self.between(code.float("fdiv", code.float("fsub", wanted, time), h))
            self.sample(wanted)

    def polynomial(self, h: str) -> None:
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

    def between(self, part: str) -> None:
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

    def sample(self, time: str) -> None:
        """What is in `stage`, settled, is the next sample."""
        code, step, places, flow = self.code, self.step, self.places, self.flow
        at = code.integer(self.get(CURSOR))
        step.share(time, "time")
        place = "stage"
        if "after" in step.parts:
            place = "sample"
            targets = [places["sample"], places["size"]][: step.parts["after"].results]
            step.parts["after"].call(code, places, targets, y=places["stage"])
        self.arrays.put(code, "Y", code.op(f"mul i64 {at}, {flow.ny}"), flow.ny, places[place])
        if flow.nw:
            if not flow.held:
                step.refresh(time, place)
                step.share(time, "time")
            step.parts["watch"].call(code, places, [places["w"]], y=places[place])
            self.arrays.put(code, "W", code.op(f"mul i64 {at}, {flow.nw}"), flow.nw, places["w"])
        self.count(CURSOR)
