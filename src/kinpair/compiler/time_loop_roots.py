"""Roots of guards: where in a step a guard leaves its side, and what is done there.

What a change of sign calls for is in the rows of the array `acts`, one number for each guard: of a `FALL`; of a `RISE`;
one where it has just `FIRED`, which makes no root from the value that it has when the loop is called; and the guard
that it is the `SLOPE` of, or −1.

    NOTHING  the step is taken
    LOOK     the loop returns before the step; of a rise, also where the value is below zero as it is
    STOP     the loop goes to the root and returns there
    PASS     it goes to the root, applies the program `change`, and goes on

A slope that rises calls for a LOOK where the guard itself may have been below zero in between.

Each root is a row of the array `log`: the time; the guards that have it; all guards at the ends of the step; and the
state before and behind `change`. `change` → (y, size) is repeated until size ≤ 1; where size is negative, it cannot
tell: the loop returns at the root and leaves the state as it was.
"""

from __future__ import annotations

from kinpair.compiler import time_loop_bracket as bracket
from kinpair.compiler.time_loop_bracket import COUNT, LAND, LOST, MODE, OFF, Bracket, bracket_places
from kinpair.compiler.time_loop_memory import FULL, LENGTH, LOGGED, MORE, ROOT, STALE, STATUS, TIME, Memory
from kinpair.compiler.time_loop_parts import Flow
from kinpair.compiler.time_loop_step import CROSSED, REPEATS, ROOM, Step

NOTHING, LOOK, STOP, PASS = 0.0, 1.0, 2.0, 3.0  # what a change of sign calls for
FALL, RISE, FIRED, SLOPE = range(4)  # rows of `acts`
SAFE = 1.5  # a value that is larger than so many times its way in a step is not passed within it


def root_places(flow: Flow) -> dict[str, int]:
    """Room for what the guards call for, and for a bracket."""
    return {"called_for": flow.ng, "g_fired": flow.ng} | bracket_places(flow) if flow.ng else {}


def row_length(flow: Flow) -> int:
    """Numbers of a row of the log."""
    return 1 + 3 * flow.ng + 2 * flow.ny


class Roots:
    """Written into a loop that tries step after step."""

    def __init__(self, step: Step, memory: Memory) -> None:
        self.step, self.memory, self.bracket = step, memory, Bracket(step, memory)
        self.code, self.flow, self.places = step.code, step.flow, step.places

    @property
    def searching(self) -> str:
        """Is the next step tried for a root?"""
        return self.code.both(self.memory.running(), self.code.no(self.bracket.is_mode(OFF)))

    def begin(self) -> None:
        """Values, as the loop is called, from which guards make no root."""
        code, none = self.code, self.code.real(float("nan"))
        with code.loop(self.flow.ng) as k:
            fired = code.compare("one", self._act(FIRED, k))
            code.set(code.choice(fired, self.bracket.value("g", k), none), self.places["g_fired"], k)

    # a step that was tried

    def examine(self, h: str, end: str) -> None:
        """The guards at the end of the step that was tried: a search begins, or goes on."""
        code, plain = self.code, self.bracket.is_mode(OFF)
        with code.when(code.no(plain)):
            self.bracket.go_on(end)
        with code.when(plain):
            self.step.share(end, "time")
            self.step.look("next", "g_new")
            with code.when(self.step.crossed()):
                self._open(h, end)
            with code.when(self.bracket.is_mode(OFF)):
                code.copy(self.places["g_new"], self.places["g"], self.flow.ng)
        with code.when(self.bracket.is_mode(LOST)):
            self.abandon()

    def abandon(self) -> None:
        """Return before the step."""
        self.memory.set(self.bracket.get(bracket.LENGTH), LENGTH)
        self.memory.set(self.code.real(CROSSED), STATUS)
        self.bracket.set(OFF, MODE)

    def land(self) -> None:
        """What follows a step that was taken to a root."""
        with self.code.when(self.bracket.is_mode(LAND)):
            self.bracket.set(OFF, MODE)
            self.memory.set(self.bracket.get(bracket.LENGTH), LENGTH)
            self.memory.set(self.code.real(1.0), STALE)
            self._note()

    # what is called for

    def _open(self, h: str, end: str) -> None:
        """What the guards call for at the end of a step."""
        code, value = self.code, self.bracket.value
        with code.loop(self.flow.ng) as k:
            act = self._called_for(k, h)
            code.set(act, self.places["called_for"], k)
            wanted = code.compare("oge", act, STOP)
            code.set(code.choice(wanted, code.real(1.0), code.real(0.0)), self.places["wanted"], k)
        looks = self.bracket.some(lambda k: code.compare("oeq", value("called_for", k), LOOK))
        wanted = self.bracket.some(lambda k: code.compare("one", value("wanted", k)))
        with code.when(looks):
            self.bracket.set(h, bracket.LENGTH)
            self.bracket.set(LOST, MODE)
        with code.when(code.both(wanted, code.no(looks))):
            self.bracket.begin(h, end)

    def _called_for(self, k: str, h: str) -> str:
        """What guard k calls for."""
        code, value, nothing = self.code, self.bracket.value, self.code.real(NOTHING)
        old, new = value("g", k), value("g_new", k)
        on_fall, on_rise, other = (self._act(row, k) for row in (FALL, RISE, SLOPE))
        falls = code.both(code.compare("ogt", old), code.compare("ole", new))
        beyond = code.either(code.compare("oge", new), code.compare("oeq", on_rise, LOOK))
        rises = code.both(code.compare("olt", old), beyond)
        act = code.choice(falls, on_fall, code.choice(rises, on_rise, nothing))
        act = code.choice(code.compare("oeq", old, value("g_fired", k)), nothing, act)
        at = code.integer(code.larger(other, code.real(0.0)))
        first, last = value("g", at), value("g_new", at)
        least = code.float("fadd", first, code.float("fmul", code.float("fmul", old, h), code.real(SAFE)))
        above = code.both(code.compare("ogt", first), code.compare("ogt", last))
        dips = code.both(rises, above, code.compare("olt", least))
        is_slope = code.compare("oge", other)
        act = code.choice(is_slope, code.choice(dips, code.real(LOOK), nothing), act)
        lost = code.both(code.compare("ord", old), code.compare("uno", new))
        return code.choice(lost, code.real(LOOK), act)

    def _act(self, row: int, k: str) -> str:
        place = self.code.op(f"add i64 {k}, {row * self.flow.ng}")
        return self.code.get(self.step.arrays.pointers["acts"], place)

    # at a root

    def _note(self) -> None:
        """A row of the log; the run goes on, or returns here."""
        code, flow, places, value = self.code, self.flow, self.places, self.bracket.value
        first = code.op(f"mul i64 {code.integer(self.memory.get(LOGGED))}, {row_length(flow)}")
        self.memory.count(LOGGED)
        at = self._row(first, ("e", flow.ng), ("g_begin", flow.ng), ("g_end", flow.ng), ("y", flow.ny))
        stops = self.bracket.some(
            lambda k: code.both(
                code.compare("oeq", value("called_for", k), STOP), code.compare("one", value("e", k))
            )
        )
        full = code.compare("oge", self.memory.get(LOGGED), self.memory.setting(ROOM))
        status = code.choice(full, code.real(FULL), code.real(MORE))
        with code.when(self.memory.running()):
            self.memory.set(code.choice(stops, code.real(ROOT), status), STATUS)
        if "change" in self.step.parts:
            with code.when(code.no(stops)):
                self._change()
        self.step.arrays.put(code, "log", at, flow.ny, places["y"])
        self.bracket.refresh(self.memory.get(TIME), "y")
        self.step.look("y")

    def _row(self, first: str, *parts: tuple[str, int]) -> str:
        """The time and these places, from a number of the log on; where the next ones go."""
        code = self.code
        code.set(self.memory.get(TIME), self.step.arrays.pointers["log"], first)
        at = code.op(f"add i64 {first}, 1")
        for place, size in parts:
            self.step.arrays.put(code, "log", at, size, self.places[place])
            at = code.op(f"add i64 {at}, {size}")
        return at

    def _change(self) -> None:
        """`change` of the state, until it is there; else the state as it was, and the loop returns."""
        code, places, flow = self.code, self.places, self.flow
        code.copy(places["y"], places["stage"], flow.ny)
        code.set(code.real(1.0), places["e"], flow.ng)
        self.bracket.set(0.0, COUNT)
        with code.forever() as loop:
            self.bracket.refresh(self.memory.get(TIME), "y")
            self.step.parts["change"].call(code, places, [places["next"], places["size"]])
            code.copy(places["next"], places["y"], flow.ny)
            with code.loop(flow.ng + 1) as k:
                code.set(code.real(0.0), places["e"], k)
            self.bracket.set(code.float("fadd", self.bracket.get(COUNT), code.real(1.0)), COUNT)
            there = code.no(code.compare("ogt", code.get(places["size"], 0), 1.0))
            loop.leave(code.either(there, code.compare("oge", self.bracket.get(COUNT), float(REPEATS))))
        size = code.get(places["size"], 0)
        with code.when(code.either(code.compare("ugt", size, 1.0), code.compare("olt", size))):
            code.copy(places["stage"], places["y"], flow.ny)
            self.memory.set(code.real(ROOT), STATUS)
