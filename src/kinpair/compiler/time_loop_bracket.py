"""A bracket around the first root of some guards, lo ≤ root ≤ hi, narrowed by shorter steps from the same state.

It is narrowed by Illinois' rule (Dowell & Jarratt 1971) for the guard that seems to be the first to leave its side, and
by halving where that does not shrink it by half in three turns. The root is hi, when the bracket is as narrow as time
can be told. Guards that follow within two such widths have their root there, too.
"""

from __future__ import annotations

from collections.abc import Callable

from kinpair.compiler.time_loop_memory import TIME, Memory
from kinpair.compiler.time_loop_parts import Flow
from kinpair.compiler.time_loop_step import Step

FINE = 1e-14  # of a step: how narrow a bracket becomes,
LEAST = 4e-16  # or of the time
TURNS = 200
OFF, NARROW, ALSO, LAND, LOST = range(5)  # what the step that is tried is for
MODE, LO, HI, TRIAL, LENGTH, END, SIDE, REST, LAST, WIDTH, COUNT, FLAG, BEST = range(13)  # its numbers


def bracket_places(flow: Flow) -> dict[str, int]:
    """Room: its numbers; guards where the step begins, at both ends of the bracket, and where the step ends; one for
    each guard whose root is `wanted`; one in `e` for each whose root is hi."""
    values = dict.fromkeys(("g_begin", "g_lo", "g_hi", "g_end", "wanted"), flow.ng)
    return {"bracket": 13, "e": flow.ng + 1} | values


class Bracket:
    """Written into a loop that tries step after step."""

    def __init__(self, step: Step, memory: Memory) -> None:
        self.step, self.memory = step, memory
        self.code, self.flow, self.places = step.code, step.flow, step.places

    def get(self, k: int) -> str:
        """Number k."""
        return self.code.get(self.places["bracket"], k)

    def set(self, value: str | float, k: int) -> None:
        """A new number k."""
        self.code.set(value if isinstance(value, str) else self.code.real(value), self.places["bracket"], k)

    def is_mode(self, mode: int) -> str:
        """Is the step tried for this?"""
        return self.code.compare("oeq", self.get(MODE), float(mode))

    def chosen(self, h: str, end: str) -> tuple[str, str]:
        """Length and end of the step to be tried, which are these if nothing is searched for."""
        code, plain, trial = self.code, self.is_mode(OFF), self.get(TRIAL)
        short = code.op(f"fsub {code.number} {trial}, {self.memory.get(TIME)}")
        return code.choice(plain, h, short), code.choice(plain, end, trial)

    def taken(self, end: str) -> str:
        """Is the step that was tried to be taken?"""
        code = self.code
        at_root = code.both(self.is_mode(LAND), code.compare("oeq", end, self.get(HI)))
        return code.either(self.is_mode(OFF), at_root)

    # guards

    def value(self, place: str, k: str) -> str:
        """Of guard k."""
        return self.code.get(self.places[place], k)

    def some(self, condition: Callable[[str], str]) -> str:
        """Does a condition hold for some guard?"""
        code = self.code
        self.set(0.0, FLAG)
        with code.loop(self.flow.ng) as k, code.when(condition(k)):
            self.set(1.0, FLAG)
        return code.compare("one", self.get(FLAG))

    def left(self, place: str, k: str) -> str:
        """Has a guard whose root is wanted left the side that it was on? Zero is the other side."""
        code, old, new = self.code, self.value("g_begin", k), self.value(place, k)
        falls = code.both(code.compare("ogt", old), code.compare("ole", new))
        rises = code.both(code.compare("olt", old), code.compare("oge", new))
        return code.both(code.compare("one", self.value("wanted", k)), code.either(falls, rises))

    def refresh(self, time: str, place: str) -> None:
        """Inputs of a time and a state, where they are not held."""
        if self._changing:
            self.step.refresh(time, place)
        self.step.share(time, "time")

    @property
    def _changing(self) -> bool:
        """Are there inputs that change within a step?"""
        return not self.flow.sampled and self.flow.source != "constant"

    def _look(self, end: str) -> None:
        """At the end of the step, settled, with inputs of then."""
        step, places, place = self.step, self.places, "next"
        if "after" in step.parts:
            place = "sample"
            targets = [places["sample"], places["size"]][: step.parts["after"].results]
            step.parts["after"].call(self.code, places, targets, y=places["next"])
        self.refresh(end, place)
        step.look(place, "g_new")

    def _hit(self, place: str) -> None:
        """Guards that have left their side there have their root at hi."""
        with self.code.loop(self.flow.ng) as k, self.code.when(self.left(place, k)):
            self.code.set(self.code.real(1.0), self.places["e"], k)

    # both ends

    def begin(self, h: str, end: str) -> None:
        """Around the step that was tried."""
        code, time = self.code, self.memory.get(TIME)
        for value, k in ((h, LENGTH), (time, LO), (end, HI), (end, END), (h, LAST)):
            self.set(value, k)
        for k in (SIDE, REST, COUNT):
            self.set(0.0, k)
        sizes = [code.larger(x, code.op(f"fneg {code.number} {x}")) for x in (time, end)]
        least = code.float("fmul", code.larger(*sizes), code.real(LEAST))
        self.set(code.larger(code.float("fmul", h, code.real(FINE)), least), WIDTH)
        if self._changing:
            self.refresh(time, "y")
            self.step.look("y")
        if self._changing or "after" in self.step.parts:
            self._look(end)
        for source, target in (("g", "g_begin"), ("g", "g_lo"), ("g_new", "g_hi"), ("g_new", "g_end")):
            code.copy(self.places[source], self.places[target], self.flow.ng)
        left = self.some(lambda k: self.left("g_end", k))
        self.set(code.choice(left, code.real(NARROW), code.real(LOST)), MODE)
        with code.when(left):
            self._choose()

    def go_on(self, trial: str) -> None:
        """From a shorter step that was tried."""
        code, narrows, also = self.code, self.is_mode(NARROW), self.is_mode(ALSO)
        with code.when(code.either(narrows, also)):
            self._look(trial)
        with code.when(narrows):
            self._narrow(trial)
        with code.when(also):
            self._hit("g_new")
            self.set(LAND, MODE)
            self.set(self.get(HI), TRIAL)

    def _narrow(self, trial: str) -> None:
        """One end moves to the trial."""
        code = self.code
        lost = self.some(lambda k: code.compare("uno", self.value("g_new", k)))
        left = self.some(lambda k: self.left("g_new", k))
        with code.when(left):
            self._move(trial, HI, "g_hi", "g_lo", -1.0)
        with code.when(code.no(left)):
            self._move(trial, LO, "g_lo", "g_hi", 1.0)
        span = code.float("fsub", self.get(HI), self.get(LO))
        with code.when(code.compare("ole", span, code.float("fmul", self.get(LAST), code.real(0.5)))):
            self.set(span, LAST)
            self.set(0.0, REST)
        self._choose()
        with code.when(lost):
            self.set(LOST, MODE)

    def _move(self, trial: str, end: int, near: str, far: str, side: float) -> None:
        """Illinois: where the same end moves again, values at the other count half."""
        code = self.code
        self.set(trial, end)
        code.copy(self.places["g_new"], self.places[near], self.flow.ng)
        with code.when(code.compare("oeq", self.get(SIDE), side)), code.loop(self.flow.ng) as k:
            code.set(code.float("fmul", self.value(far, k), code.real(0.5)), self.places[far], k)
        self.set(side, SIDE)

    def _choose(self) -> None:
        """The next trial, or the end of the search."""
        code, n = self.code, self.code.number
        lo, hi, width, rest = (self.get(k) for k in (LO, HI, WIDTH, REST))
        span = code.op(f"fsub {n} {hi}, {lo}")
        self.set(hi, BEST)
        with code.loop(self.flow.ng) as k, code.when(self.left("g_hi", k)):
            low, high = self.value("g_lo", k), self.value("g_hi", k)
            over, under = code.op(f"fmul {n} {high}, {span}"), code.op(f"fsub {n} {high}, {low}")
            root = code.op(f"fsub {n} {hi}, {code.op(f'fdiv {n} {over}, {under}')}")
            self.set(code.smaller(self.get(BEST), root), BEST)
        halves = code.compare("oge", rest, 3.0)
        middle = code.float("fmul", code.float("fadd", lo, hi), code.real(0.5))
        margin = code.float("fmul", width, code.real(0.5))
        trial = code.larger(code.choice(halves, middle, self.get(BEST)), code.float("fadd", lo, margin))
        trial = code.smaller(trial, code.float("fsub", hi, margin))
        self.set(trial, TRIAL)
        self.set(code.choice(halves, code.real(0.0), code.float("fadd", rest, code.real(1.0))), REST)
        self.set(code.float("fadd", self.get(COUNT), code.real(1.0)), COUNT)
        between = code.both(code.compare("olt", lo, trial), code.compare("olt", trial, hi))
        enough = code.compare("ogt", self.get(COUNT), float(TURNS))
        with code.when(code.either(code.compare("ole", span, width), enough, code.no(between))):
            self._close()

    def _close(self) -> None:
        """The bracket is narrow: do others follow at once?"""
        code = self.code
        with code.loop(self.flow.ng) as k:
            code.set(code.real(0.0), self.places["e"], k)
        self._hit("g_hi")
        self.set(LAND, MODE)
        self.set(self.get(HI), TRIAL)
        waits = self.some(lambda k: code.both(self.left("g_end", k), code.compare("oeq", self.value("e", k))))
        with code.when(waits):
            behind = code.float("fadd", self.get(HI), code.float("fmul", self.get(WIDTH), code.real(2.0)))
            self.set(ALSO, MODE)
            self.set(code.smaller(behind, self.get(END)), TRIAL)
