"""Pieces that every time loop has: stages, linear combinations, inputs, what follows a step.

The file is long because it is one class: every piece is emitted with the registers of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from kinpair.compiler.time_loop.code import Code
from kinpair.compiler.time_loop.inputs import SUCCESS
from kinpair.compiler.time_loop.parts import SOLVE, Flow, Frame, Part
from kinpair.compiler.time_loop.tableau import Tableau

SAFE = 1.5  # a value that is larger than so many times its way in a step is not passed within it
REPEATS = 60  # of `improve` and `after`; more means that they do not converge
NOT_FINITE = 1.0  # verdicts: of a state,
STUCK = 2.0  # of an iteration,
REFUSED = 3.0  # of the function that gives the inputs,
CROSSED = 5.0  # of a guard,
FULL = 12.0  # of a loop function whose memory is too small
ROWS = 7  # of the settings: rows of the table
FREE = 8  # not zero: guards are not minded
LEAST = 9  # a step shorter than this part of the longest so far stops an adaptive run before it
ROOM = 10  # rows of the log of an adaptive run
SETTINGS = 11


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """The arrays of a run, as pointers, and what moving their rows takes."""

    pointers: Mapping[str, str]
    strides: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: str = "1"

    def fetch(self, code: Code, array: str, first: str, size: int, place: str) -> None:
        """Entries from `first` on of each row of an array, to a place."""
        self._move(code, "gather", array, first, size, place)

    def put(self, code: Code, array: str, first: str, size: int, place: str) -> None:
        """Convert in the other direction."""
        self._move(code, "scatter", array, first, size, place)

    def _move(self, code: Code, way: str, array: str, first: str, size: int, place: str) -> None:
        if not size:
            return
        at = code.at(self.pointers[array], first)
        if code.lanes > 1:
            stride = self.strides[array]
            code.do(f"call void @{way}(ptr {at}, i64 {stride}, i64 {self.rows}, i64 {size}, ptr {place})")
            return
        to, source = (place, at) if way == "gather" else (at, place)
        count = size * code.form.real.size
        code.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {count}, i1 false)")


class Step:
    """Writer of the function of a loop, for a flow and its memory."""

    def __init__(
        self, code: Code, flow: Flow, parts: Mapping[str, Part], frame: Frame, arrays: Arrays
    ) -> None:
        self.code, self.flow, self.parts, self.frame, self.arrays = code, flow, parts, frame, arrays
        self.places = frame.places(code)

    def clear(self) -> None:
        """Zeros everywhere: also behind the last entry of an array, where whole vectors end."""
        self.code.do(f"call void @llvm.memset.p0.i64(ptr %scratch, i8 0, i64 {self.frame.cleared}, i1 false)")
        self.code.do(f"store i64 -1, ptr {self.places['cursor']}")

    # numbers that every lane shares

    def share(self, value: str, place: str) -> None:
        """A number, for all lanes."""
        code = self.code
        if code.lanes > 1:
            code.store(code.splat(value), self.places[place], 0)
        else:
            code.set(value, self.places[place], 0)

    # explicit methods

    def combine(self, weights: Sequence[float], dt: str, target: str, base: str = "y") -> None:
        """target = base + dt Σ weight_j k_j."""
        code, places = self.code, self.places
        step = code.splat(dt)
        for k in code.over(self.flow.ny):
            change = self.weighted(weights, k)
            code.store(
                code.each("fadd", code.load(places[base], k), code.each("fmul", step, change)),
                places[target],
                k,
            )

    def weighted(self, weights: Sequence[float], k: str) -> str:
        """Wide vector k of Σ weight_j k_j."""
        code = self.code
        total = ""
        for j, weight in enumerate(weights):
            if weight:
                number = f"splat ({code.number} {code.real(weight)})"
                term = code.each("fmul", code.load(self.places[f"k{j}"], k), number)
                total = code.each("fadd", total, term) if total else term
        return total

    def slope(self, j: int, time: str, place: str) -> None:
        """k_j = f(time, state at the place), its inputs fresh if they are not constant between samples."""
        if not self.flow.sampled:
            self.refresh(time, place)
        self.share(time, "time")
        self.evaluate("rhs", [self.places[f"k{j}"]], y=self.places[place])

    def stages(self, rows: Iterable[tuple[int, float, Sequence[float]]], time: str, dt: str) -> None:
        """Stage after stage (number, c, row of a)."""
        code = self.code
        for j, c, row in rows:
            place = "y"
            if row:
                place = "stage"
                self.combine(row, dt, place)
            at = code.float("fadd", time, code.float("fmul", dt, code.real(c))) if c else time
            self.slope(j, at, place)

    def explicit(self, tableau: Tableau, time: str, dt: str) -> None:
        """y of the end of a step, to `next`."""
        rows = list(zip(range(tableau.stages), tableau.c, tableau.a, strict=True))
        self.stages(rows, time, dt)
        self.combine(tableau.b, dt, "next")

    # other methods

    def other(self, time: str, dt: str) -> None:
        """The step that `start`, `improve` and `finish` make, to `next`; `dt` stands in its place already."""
        code, places, flow = self.code, self.places, self.flow
        if (
            not flow.sampled
        ):  # a function is asked about the state there is, a table about the middle of the step
            ahead = flow.ahead if flow.source == "table" else 0.0
            self.refresh(code.float("fadd", time, code.float("fmul", dt, code.real(ahead))), "y")
        self.share(time, "time")
        if "improve" in self.parts:
            self.parts["start"].call(code, places, [places["z"]])
            self.repeated("improve", "z", flow.nz)
        self.evaluate("finish", [places["next"]], dt)
        if flow.solve is not None:
            self._judge()

    def evaluate(self, name: str, targets: Sequence[str], dt: str = "0.0", **instead: str) -> None:
        """Call a program; one that reads z in a flow with a loop function is called with z of the same state."""
        part, solve = self.parts[name], self.flow.solve
        if solve is None or "z" not in part.reads:
            part.call(self.code, self.places, targets, **instead)
            return
        y, z = instead.get("y", self.places["y"]), self.places["z"]
        in_y, in_z, size = solve.carried
        self.parts["start"].call(self.code, self.places, [z], **instead)
        self._carry(y, in_y, z, in_z, size)
        self._solve(dt)
        part.call(self.code, self.places, targets, **instead)
        if name == "finish":
            self._carry(z, in_z, targets[0], in_y, size)

    def _carry_on(self) -> None:
        """Copy the entries of y that no program writes to the next state."""
        if self.flow.solve is not None:
            first, _, size = self.flow.solve.carried
            self._carry(self.places["y"], first, self.places["next"], first, size)

    def _carry(self, source: str, first: int, target: str, to: int, size: int) -> None:
        """Copy entries of one place to entries of another."""
        if size:
            code, lanes = self.code, self.code.lanes
            ends = ", ".join(f"ptr {code.at(x, k * lanes)}" for x, k in ((target, to), (source, first)))
            bytes = size * code.form.bytes
            code.do(f"call void @llvm.memcpy.p0.p0.i64({ends}, i64 {bytes}, i1 false)")

    def _solve(self, dt: str) -> None:
        """Call the loop function for one lane after the other; its verdicts are in the place `solved`."""
        code, places, flow = self.code, self.places, self.flow
        assert flow.solve is not None
        lanes = code.lanes
        own = places["z"] if lanes == 1 else places["own"]
        sizes = {
            own: flow.nz,
            f"@{SOLVE}.numbers": len(flow.solve.numbers),
            f"@{SOLVE}.whole": len(flow.solve.whole),
        }
        sizes |= {places["memory"]: flow.solve.memory, places["places"]: flow.solve.places}
        with code.loop(lanes) as lane:
            if lanes > 1:
                self._lane(lane, to_own=True)
            words = [f"{code.number} {code.real(0.0) if dt == '0.0' else dt}"]
            for pointer, size in sizes.items():
                words += [f"ptr {pointer}", f"i64 {size}"]
            for k, word in enumerate(words):
                target = code.op(f"getelementptr i64, ptr {places['words']}, i64 {k}")
                code.do(f"store {word}, ptr {target}")
            code.do(f"call void @{SOLVE}(ptr {places['words']})")
            code.set(code.get(places["words"], 0), places["solved"], lane)
            if lanes > 1:
                self._lane(lane, to_own=False)

    def _judge(self) -> None:
        """Take the verdicts of the loop function for those of the step."""
        code, form = self.code, self.code.form
        kind = form.of(form.real.llvm)
        verdict = code.op(f"load {kind}, ptr {self.places['solved']}")
        for value in (NOT_FINITE, STUCK, FULL):
            self.lost(code.op(f"fcmp oeq {kind} {verdict}, {form.number(value)}"), value)

    def _lane(self, lane: str, to_own: bool) -> None:
        """Copy the unknowns of one lane to their own place, or back."""
        code, places = self.code, self.places
        with code.loop(self.flow.nz) as k:
            at = code.op(f"add i64 {code.op(f'mul i64 {k}, {code.lanes}')}, {lane}")
            if to_own:
                code.set(code.get(places["z"], at), places["own"], k)
            else:
                code.set(code.get(places["own"], k), places["z"], at)

    def repeated(self, name: str, place: str, size: int) -> None:
        """Repeat a program → (value, size) until the size is at most 1; rows that are there stay as they are."""
        code, places, form = self.code, self.places, self.code.form
        kind, mask = form.of(form.real.llvm), form.of("i1")
        code.do(f"store {kind} {form.number(2.0)}, ptr {places['size']}")
        code.do(f"store i64 0, ptr {places['tries']}")
        with code.forever() as loop:
            size_before = code.op(f"load {kind}, ptr {places['size']}")
            active = code.op(f"fcmp ogt {kind} {size_before}, {form.number(1.0)}")
            loop.leave(code.op(f"xor i1 {self.any(active)}, true"))
            tries = code.op(f"load i64, ptr {places['tries']}")
            too_many = code.op(f"icmp sge i64 {tries}, {REPEATS}")
            with code.when(too_many):
                self.lost(active, STUCK)
            loop.leave(too_many)
            code.do(f"store i64 {code.op(f'add i64 {tries}, 1')}, ptr {places['tries']}")
            self.parts[name].call(code, places, [places["next"], places["error"]])
            if name == "after":
                self._carry_on()
            self._keep(active, place, size)
            error = code.op(f"load {kind}, ptr {places['error']}")
            kept = code.op(f"select {mask} {active}, {kind} {error}, {kind} {size_before}")
            code.do(f"store {kind} {kept}, ptr {places['size']}")

    def _keep(self, active: str, place: str, size: int) -> None:
        """Keep what `next` has, in the rows that are still active."""
        code, places = self.code, self.places
        if code.lanes == 1:
            code.copy(places["next"], places[place], size)
        else:
            self.put_back(active, "next", place, size)

    def any(self, condition: str) -> str:
        """True if it holds in some lane."""
        mask = self.code.form.of("i1")
        if mask == "i1":
            return condition
        return self.code.op(f"call i1 @llvm.vector.reduce.or.v{self.code.lanes}i1({mask} {condition})")

    # inputs

    def refresh(self, time: str, place: str) -> None:
        """u at a time and a state."""
        code, places = self.code, self.places
        if self.flow.source == "program":
            if self.flow.nr:
                self._look_up(time, "r", self.flow.nr)
            self.share(time, "time")
            self.parts["control"].call(code, places, [places["u_new"]], y=places[place])
            code.copy(places["u_new"], places["u"], self.flow.nu)  # it reads the inputs before
        if self.flow.source == "table":
            self._look_up(time, "u", self.flow.nu)
        if self.flow.source == "call":
            self._call(time, place)

    def _call(self, time: str, place: str) -> None:
        """Write inputs from a Python function, see `inputs.py`; a failure is noted."""
        code, places = self.code, self.places
        arguments = {0: f"{code.number} {time}", 1: f"ptr {places[place]}", 2: f"ptr {places['u']}"}
        for k, argument in arguments.items():
            target = code.op(f"getelementptr i64, ptr {places['call']}, i64 {k}")
            code.do(f"store {argument}, ptr {target}")
        address = code.op(f"load i64, ptr {self.arrays.pointers['called']}")
        function = code.op(f"inttoptr i64 {address} to ptr")
        answer = code.op(f"call i64 {function}(ptr {places['call']})")
        failed = code.op(f"zext i1 {code.op(f'icmp ne i64 {answer}, {SUCCESS}')} to i64")
        old = code.op(f"load i64, ptr {places['failed']}")
        code.do(f"store i64 {code.op(f'or i64 {old}, {failed}')}, ptr {places['failed']}")

    @property
    def failed(self) -> str:
        """True if a Python function has failed."""
        failures = self.code.op(f"load i64, ptr {self.places['failed']}")
        return self.code.op(f"icmp ne i64 {failures}, 0")

    def _look_up(self, time: str, target: str, size: int) -> None:
        """Numbers between two rows of the table, on a straight line."""
        code, places = self.code, self.places
        times, number = self.arrays.pointers["times"], code.number
        last = code.op(f"sub i64 {code.integer(code.get(self.arrays.pointers['settings'], ROWS))}, 2")
        cursor = places["cursor"]
        old = code.op(f"load i64, ptr {cursor}")
        below = code.op(f"icmp slt i64 {old}, 0")
        code.do(f"store i64 {code.op(f'select i1 {below}, i64 0, i64 {old}')}, ptr {cursor}")
        for change, edge, test, beside in ((1, last, "fcmp olt", 1), (-1, "0", "fcmp oge", 0)):
            with code.forever() as loop:
                now = code.op(f"load i64, ptr {cursor}")
                loop.leave(code.op(f"icmp eq i64 {now}, {edge}"))
                border = code.get(times, code.op(f"add i64 {now}, {beside}"))
                loop.leave(code.op(f"{test} {number} {time}, {border}"))
                code.do(f"store i64 {code.op(f'add i64 {now}, {change}')}, ptr {cursor}")
        now = code.op(f"load i64, ptr {cursor}")
        after = code.op(f"add i64 {now}, 1")
        with code.when(code.op(f"icmp ne i64 {now}, {old}")):
            for row, place in ((now, "low"), (after, "high")):
                self.arrays.fetch(code, "table", code.op(f"mul i64 {row}, {size}"), size, places[place])
        start, end = code.get(times, now), code.get(times, after)
        share = code.float("fdiv", code.float("fsub", time, start), code.float("fsub", end, start))
        share = code.larger(code.smaller(share, code.real(1.0)), code.real(0.0))
        part = code.splat(share)
        for k in code.over(size):
            low, high = code.load(places["low"], k), code.load(places["high"], k)
            change = code.each("fmul", part, code.each("fsub", high, low))
            code.store(code.each("fadd", low, change), places[target], k)

    # after a step

    def settle(self) -> None:
        """`after` of the state."""
        if "after" not in self.parts:
            return
        if self.parts["after"].results > 1:
            self.repeated("after", "y", self.flow.ny)
            return
        self.parts["after"].call(self.code, self.places, [self.places["next"]])
        self._carry_on()
        self.code.copy(self.places["next"], self.places["y"], self.flow.ny)

    def look(self, place: str, values: str = "g") -> None:
        """The guards at a state; time stands in its place."""
        self.evaluate("guard", [self.places[values]], y=self.places[place])

    def crossed(self, slopes: Mapping[int, int] = MappingProxyType({})) -> str:
        """Lanes in which a guard has left its side, or become NaN. Zero is the other side.

        slopes: guards by number that are slopes of other ones, which may have been passed there and back.
        """
        code, form = self.code, self.code.form
        kind, mask = form.of(form.real.llvm), form.of("i1")
        zero, none, every = form.number(0.0), form.number(False), form.number(True)
        crossed = none
        for k in range(self.flow.ng):
            old, new = (self._value(x, k) for x in ("g", "g_new"))
            if k in slopes:
                turned = self._turned(old, new, slopes[k])
                crossed = code.op(f"or {mask} {crossed}, {turned}")
            for side in () if k in slopes else ("ogt", "olt"):
                was, stays = (code.op(f"fcmp {side} {kind} {x}, {zero}") for x in (old, new))
                left = code.op(f"and {mask} {was}, {code.op(f'xor {mask} {stays}, {every}')}")
                crossed = code.op(f"or {mask} {crossed}, {left}")
            was, lost = (code.op(f"fcmp {how} {kind} {x}, {x}") for how, x in (("ord", old), ("uno", new)))
            crossed = code.op(f"or {mask} {crossed}, {code.op(f'and {mask} {was}, {lost}')}")
        free = code.get(self.arrays.pointers["settings"], FREE)
        minded = code.op(f"fcmp oeq {code.number} {free}, {code.real(0.0)}")
        return code.op(f"select i1 {minded}, {mask} {crossed}, {mask} {none}")

    def _value(self, place: str, k: int) -> str:
        """Value k of a place, in every lane."""
        kind = self.code.form.of(self.code.number)
        at = self.code.op(f"getelementptr {kind}, ptr {self.places[place]}, i64 {k}")
        return self.code.op(f"load {kind}, ptr {at}")

    def _turned(self, old: str, new: str, of: int) -> str:
        """Lanes in which a slope has risen through zero, from where its guard is reached within the step.

        −slope · dt · SAFE > guard before the step
        """
        code, form = self.code, self.code.form
        kind, mask, zero = form.of(form.real.llvm), form.of("i1"), form.number(0.0)
        falls = code.op(f"fcmp olt {kind} {old}, {zero}")
        rises = code.op(f"fcmp oge {kind} {new}, {zero}")
        reach = code.op(f"fmul {kind} {self._value('dt', 0)}, {form.number(SAFE)}")
        way = code.op(f"fmul {kind} {old}, {reach}")
        least = code.op(f"fadd {kind} {self._value('g', of)}, {way}")
        near = code.op(f"fcmp olt {kind} {least}, {zero}")
        return code.op(f"and {mask} {code.op(f'and {mask} {falls}, {rises}')}, {near}")

    @property
    def guarded(self) -> bool:
        """True if there are guards to be looked at."""
        return "guard" in self.parts

    def verdict(self, value: float) -> str:
        """Lanes that have this verdict."""
        code, form = self.code, self.code.form
        kind = form.of(form.real.llvm)
        verdict = code.op(f"load {kind}, ptr {self.places['verdict']}")
        return code.op(f"fcmp oeq {kind} {verdict}, {form.number(value)}")

    def put_back(self, lanes: str, source: str, target: str, size: int) -> None:
        """Copy the values of these lanes from one place to another."""
        code, form = self.code, self.code.form
        kind, mask = form.of(form.real.llvm), form.of("i1")
        with code.loop(size) as k:
            at = [code.op(f"getelementptr {kind}, ptr {self.places[x]}, i64 {k}") for x in (source, target)]
            new, old = (code.op(f"load {kind}, ptr {x}") for x in at)
            chosen = code.op(f"select {mask} {lanes}, {kind} {new}, {kind} {old}")
            code.do(f"store {kind} {chosen}, ptr {at[1]}")

    def not_finite(self, place: str = "y") -> str:
        """Lanes in which something of a state is not finite: 0 · Σ y is NaN there."""
        code, places = self.code, self.places
        zero = f"splat ({code.number} {code.real(0.0)})"
        code.store(zero, places["sum"], 0)
        for k in code.over(self.flow.ny):
            term = code.op(f"fmul {code.wide} {code.load(places[place], k)}, {zero}")
            code.store(code.op(f"fadd {code.wide} {code.load(places['sum'], 0)}, {term}"), places["sum"], 0)
        bad = code.op(f"fcmp uno {code.wide} {code.load(places['sum'], 0)}, {zero}")
        if code.lanes > 1:
            return bad
        return code.op(f"call i1 @llvm.vector.reduce.or.v{code.width}i1(<{code.width} x i1> {bad})")

    def lost(self, lanes: str, verdict: float) -> None:
        """Note the verdict and the step for those of the lanes that have none yet."""
        code, places, form = self.code, self.places, self.code.form
        kind, mask = form.of(form.real.llvm), form.of("i1")
        at = [code.op(f"getelementptr {kind}, ptr {places['verdict']}, i64 {k}") for k in range(2)]
        old, step = (code.op(f"load {kind}, ptr {x}") for x in at)
        fine = code.op(f"fcmp oeq {kind} {old}, {form.number(0.0)}")
        new = code.op(f"and {mask} {fine}, {lanes}")
        now = code.op(f"load {kind}, ptr {places['step']}")
        for place, value, before in ((at[0], form.number(verdict), old), (at[1], now, step)):
            chosen = code.op(f"select {mask} {new}, {kind} {value}, {kind} {before}")
            code.do(f"store {kind} {chosen}, ptr {place}")
