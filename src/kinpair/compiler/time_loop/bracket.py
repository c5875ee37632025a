"""A bracket around the first root of some guards, lo ≤ root ≤ hi, narrowed by shorter steps from the same state.

It is narrowed by Illinois' rule (Dowell & Jarratt 1971) for the guard that seems to be the first to leave its side, and
by halving where that does not shrink it by half in three trials. The root is hi, when the bracket is as narrow as time
can be resolved. Guards that follow within two such widths have their root there, too.

The functions of a `Search` are loop functions.
"""

from __future__ import annotations

from typing import NamedTuple

from kinpair.compiler.loops.kinds import Vector
from kinpair.compiler.time_loop.memory import TIME, Memory
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.step import Step

FINE = 1e-14  # of a step: how narrow a bracket becomes,
LEAST = 4e-16  # or of the time
TURNS = 200
HALVING = 3  # trials by Illinois' rule before the bracket is halved
OFF, NARROW, ALSO, LAND, LOST = range(5)  # what the step that is tried is for
MODE, LO, HI, TRIAL, LENGTH, END, SIDE, REST, LAST, WIDTH, COUNT = range(11)  # numbers of a bracket
GUARDS = ("g_begin", "g_lo", "g_hi", "g_end", "searched", "e")


class Search(NamedTuple):
    """A search for the first root, as loop functions take it.

    `b` has the numbers of the bracket. `begin`, `low`, `high` and `last` have the guards where the step begins, at lo,
    at hi and where the step ends. `searched` has a one for each guard whose root is searched, `e` for each whose root
    is hi.
    """

    b: Vector
    begin: Vector
    low: Vector
    high: Vector
    last: Vector
    searched: Vector
    e: Vector


def bracket_places(flow: Flow) -> dict[str, int]:
    """Return the sizes of the arrays of a bracket, by name; behind the guards, `e` has one number more."""
    return {"bracket": 11} | dict.fromkeys(GUARDS, flow.ng) | {"e": flow.ng + 1}


def left(old: float, new: float) -> bool:
    """True if a guard has left the side of zero that it was on; zero is the other side."""
    return (old > 0.0 and new <= 0.0) or (old < 0.0 and new >= 0.0)


def some_left(begin: Vector, values: Vector, searched: Vector) -> bool:
    """True if a guard whose root is searched has left its side."""
    some = False
    for k in range(len(begin)):
        some = some or (searched[k] != 0.0 and left(begin[k], values[k]))
    return some


def mark(s: Search, values: Vector) -> None:
    """Mark the guards that have left their side: their root is at hi."""
    for k in range(len(s.begin)):
        if s.searched[k] != 0.0 and left(s.begin[k], values[k]):
            s.e[k] = 1.0


def open_bracket(s: Search, g: Vector, new: Vector, time: float, h: float, end: float) -> None:
    """Begin with the step of length h that was tried from `time` to `end`, with guards g and `new`."""
    b = s.b
    b[LENGTH], b[LO], b[HI], b[END], b[LAST] = h, time, end, end, h
    b[SIDE], b[REST], b[COUNT] = 0.0, 0.0, 0.0
    b[WIDTH] = max(h * FINE, max(abs(time), abs(end)) * LEAST)
    s.begin[:], s.low[:], s.high[:], s.last[:] = g, g, new, new
    if some_left(s.begin, s.last, s.searched):
        b[MODE] = NARROW
        choose(s)
    else:
        b[MODE] = LOST


def narrow(s: Search, new: Vector, trial: float) -> None:
    """Move one end to the trial, where the guards are `new`, and choose the next trial."""
    b = s.b
    if some_left(s.begin, new, s.searched):
        b[HI] = trial
        s.high[:] = new
        halve_again(b, s.low, -1.0)
    else:
        b[LO] = trial
        s.low[:] = new
        halve_again(b, s.high, 1.0)
    span = b[HI] - b[LO]
    if span <= b[LAST] * 0.5:
        b[LAST], b[REST] = span, 0.0
    choose(s)
    for k in range(len(new)):
        if new[k] != new[k]:
            b[MODE] = LOST


def halve_again(b: Vector, far: Vector, side: float) -> None:
    """Apply Illinois' rule: where the same end moves again, values at the far end count half."""
    if b[SIDE] == side:
        for k in range(len(far)):
            far[k] *= 0.5
    b[SIDE] = side


def choose(s: Search) -> None:
    """Choose the next trial, or end the search."""
    b, high = s.b, s.high
    lo, hi, best = b[LO], b[HI], b[HI]
    span = hi - lo
    for k in range(len(high)):
        if s.searched[k] != 0.0 and left(s.begin[k], high[k]):
            best = min(best, hi - high[k] * span / (high[k] - s.low[k]))
    halves = b[REST] >= HALVING
    margin = b[WIDTH] * 0.5
    trial = min(max((lo + hi) * 0.5 if halves else best, lo + margin), hi - margin)
    b[TRIAL] = trial
    b[REST] = 0.0 if halves else b[REST] + 1.0
    b[COUNT] += 1.0
    if span <= b[WIDTH] or b[COUNT] > TURNS or not lo < trial < hi:
        close(s)


def close(s: Search) -> None:
    """End the search at hi; try once more just behind it where further guards leave their side in this step."""
    b = s.b
    s.e[: len(s.begin)] = 0.0
    mark(s, s.high)
    b[MODE], b[TRIAL] = LAND, b[HI]
    for k in range(len(s.begin)):
        if s.searched[k] != 0.0 and left(s.begin[k], s.last[k]) and s.e[k] == 0.0:
            b[MODE], b[TRIAL] = ALSO, min(b[HI] + b[WIDTH] * 2.0, b[END])


class Bracket:
    """Written into a loop that tries step after step."""

    def __init__(self, step: Step, memory: Memory) -> None:
        self.step, self.memory = step, memory
        self.code, self.flow, self.places = step.code, step.flow, step.places

    def get(self, k: int) -> str:
        """Read number k."""
        return self.code.get(self.places["bracket"], k)

    def set(self, value: str | float, k: int) -> None:
        """A new number k."""
        self.code.set(value if isinstance(value, str) else self.code.real(value), self.places["bracket"], k)

    def is_mode(self, mode: int) -> str:
        """Write the condition that the step is tried for this mode."""
        return self.code.compare("oeq", self.get(MODE), float(mode))

    def chosen(self, h: str, end: str) -> tuple[str, str]:
        """Return the length and end of the step to be tried, which are h and `end` if nothing is searched for."""
        code, plain, trial = self.code, self.is_mode(OFF), self.get(TRIAL)
        short = code.op(f"fsub {code.number} {trial}, {self.memory.get(TIME)}")
        return code.choice(plain, h, short), code.choice(plain, end, trial)

    def taken(self, end: str) -> str:
        """Write the condition that the step that was tried is taken."""
        code = self.code
        at_root = code.both(self.is_mode(LAND), code.compare("oeq", end, self.get(HI)))
        return code.either(self.is_mode(OFF), at_root)

    def arrays(self, *names: str) -> list[str]:
        """Return arguments of a loop function: a `Search`, then other arrays with an entry for each guard."""
        further = [self.code.view(self.places[name], self.flow.ng) for name in (*GUARDS, *names)]
        return [self.code.view(self.places["bracket"], 11), *further]

    def refresh(self, time: str, place: str) -> None:
        """Inputs of a time and a state, where they are not constant between samples."""
        if self._changing:
            self.step.refresh(time, place)
        self.step.share(time, "time")

    @property
    def _changing(self) -> bool:
        """True if inputs change within a step."""
        return not self.flow.sampled and self.flow.source != "constant"

    def _look(self, end: str) -> None:
        """Write the guards at the end of the step, settled, with the inputs of that time."""
        step, places, place = self.step, self.places, "next"
        if "after" in step.parts:
            place = "sample"
            targets = [places["sample"], places["size"]][: step.parts["after"].results]
            step.parts["after"].call(self.code, places, targets, y=places["next"])
        self.refresh(end, place)
        step.look(place, "g_new")

    def begin(self, h: str, end: str) -> None:
        """Write a bracket around the step that was tried."""
        code, time = self.code, self.memory.get(TIME)
        if self._changing:
            self.refresh(time, "y")
            self.step.look("y")
        if self._changing or "after" in self.step.parts:
            self._look(end)
        numbers = [f"{code.number} {x}" for x in (time, h, end)]
        code.run(open_bracket, *self.arrays("g", "g_new"), *numbers)

    def go_on(self, trial: str) -> None:
        """Write a narrower bracket, from a shorter step that was tried."""
        code, narrows, also = self.code, self.is_mode(NARROW), self.is_mode(ALSO)
        with code.when(code.either(narrows, also)):
            self._look(trial)
        with code.when(narrows):
            code.run(narrow, *self.arrays("g_new"), f"{code.number} {trial}")
        with code.when(also):
            code.run(mark, *self.arrays("g_new"))
            self.set(LAND, MODE)
            self.set(self.get(HI), TRIAL)
