"""Roots of guards: where in a step a guard leaves its side, and what is done there.

What a change of sign calls for is in the rows of the array `acts`, one number for each guard: of a `FALL`; of a `RISE`;
one where it has just `FIRED`, which makes no root from the value that it has when the loop is called; and the guard
that it is the `SLOPE` of, or −1.

    NOTHING  the step is taken
    LOOK     the loop returns before the step; of a rise, also where the value is below zero as it is
    LASTS    of a rise: the loop returns before the step wherever the value is not above zero as it is
    STOP     the loop goes to the root and returns there
    PASS     it goes to the root, applies the program `change`, and goes on

A slope that rises calls for a LOOK where the guard itself may have been below zero in between.

Each root is a row of the array `log`: the time; the guards that have it; all guards at the ends of the step; and the
state before and behind `change`. `change` → (y, size) is repeated until size ≤ 1; where size is negative, it cannot
decide: the loop returns at the root and leaves the state as it was.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix, Vector
from kinpair.compiler.time_loop import bracket
from kinpair.compiler.time_loop.bracket import COUNT, LAND, LOST, MODE, OFF, Bracket, bracket_places
from kinpair.compiler.time_loop.memory import FULL, LENGTH, LOGGED, MORE, ROOT, STALE, STATUS, TIME, Memory
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.step import CROSSED, REFUSED, REPEATS, ROOM, SAFE, Step

NOTHING, LOOK, STOP, PASS, LASTS = range(5)  # what a change of sign calls for
FALL, RISE, FIRED, SLOPE = range(4)  # rows of `acts`


def root_places(flow: Flow) -> dict[str, int]:
    """Room for what the guards call for, and for a bracket."""
    return {"called_for": flow.ng, "g_fired": flow.ng} | bracket_places(flow) if flow.ng else {}


def row_length(flow: Flow) -> int:
    """Numbers of a row of the log."""
    return 1 + 3 * flow.ng + 2 * flow.ny


def remember_fired(acts: Matrix, g: Vector, fired: Vector) -> None:
    """Keep the values of the guards that have just fired, as the loop is called; NaN for the others."""
    for k in range(len(g)):
        fired[k] = g[k] if acts[FIRED, k] != 0.0 else math.nan


def call_for(
    acts: Matrix, g: Vector, new: Vector, fired: Vector, called: Vector, searched: Vector, h: float
) -> int:
    """Find what each guard calls for at the end of a step of length h; LOOK before all, STOP if a root is searched."""
    looks, searches = False, False
    for k in range(len(g)):
        called[k] = called_for(acts, g, new, fired, k, h)
        searched[k] = 1.0 if called[k] >= STOP else 0.0
        looks = looks or called[k] == LOOK
        searches = searches or called[k] >= STOP
    return LOOK if looks else STOP if searches else NOTHING


def ended(acts: Matrix, g: Vector) -> bool:
    """True if a guard that lasts is not above zero as it is."""
    found = False
    for k in range(len(g)):
        found = found or (acts[RISE, k] == LASTS and g[k] <= 0.0)
    return found


def called_for(acts: Matrix, g: Vector, new: Vector, fired: Vector, k: int, h: float) -> int:
    """Return what guard k calls for."""
    falls = g[k] > 0.0 and new[k] <= 0.0
    if acts[RISE, k] == LASTS and g[k] <= 0.0:
        return LOOK
    rises = g[k] < 0.0 and (new[k] >= 0.0 or acts[RISE, k] == LOOK)
    other = int(acts[SLOPE, k])
    if g[k] == g[k] and new[k] != new[k]:
        return LOOK
    if other >= 0:
        above = g[other] > 0.0 and new[other] > 0.0
        return LOOK if rises and above and g[other] + g[k] * h * SAFE < 0.0 else NOTHING
    if g[k] == fired[k]:
        return NOTHING
    return int(acts[FALL, k]) if falls else int(acts[RISE, k]) if rises else NOTHING


def stops_here(called: Vector, e: Vector) -> bool:
    """True if a guard whose root this is calls for a stop."""
    stops = False
    for k in range(len(called)):
        stops = stops or (called[k] == STOP and e[k] != 0.0)
    return stops


class Roots:
    """Written into a loop that tries step after step."""

    def __init__(self, step: Step, memory: Memory) -> None:
        self.step, self.memory, self.bracket = step, memory, Bracket(step, memory)
        self.code, self.flow, self.places = step.code, step.flow, step.places

    @property
    def searching(self) -> str:
        """True if the next step is tried for a root."""
        return self.code.both(self.memory.running(), self.code.no(self.bracket.is_mode(OFF)))

    def begin(self) -> None:
        """Values, as the loop is called, from which guards make no root."""
        self.code.run(remember_fired, self._acts, *self._guards("g", "g_fired"))

    def _guards(self, *names: str) -> list[str]:
        """Return the arguments of a loop function, an entry for each guard."""
        return [self.code.view(self.places[name], self.flow.ng) for name in names]

    @property
    def _acts(self) -> str:
        """The array `acts` as an argument of a loop function."""
        return f"ptr {self.step.arrays.pointers['acts']}, i64 4, i64 {self.flow.ng}, i64 {self.flow.ng}"

    # a step that was tried

    def examine(self, h: str, end: str) -> None:
        """The guards at the end of the step that was tried: a search begins, or goes on."""
        code, plain = self.code, self.bracket.is_mode(OFF)
        with code.when(code.no(plain)):
            self.bracket.go_on(end)
        with code.when(plain):
            self.step.share(end, "time")
            self.step.look("next", "g_new")
            over = code.run(ended, self._acts, *self._guards("g"))
            with code.when(code.either(self.step.crossed(), over)):
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
        """Write what follows a step that was taken to a root."""
        with self.code.when(self.bracket.is_mode(LAND)):
            self.bracket.set(OFF, MODE)
            self.memory.set(self.bracket.get(bracket.LENGTH), LENGTH)
            self.memory.set(self.code.real(1.0), STALE)
            self._note()

    def _open(self, h: str, end: str) -> None:
        """Write what the guards call for at the end of a step."""
        code = self.code
        guards = self._guards("g", "g_new", "g_fired", "called_for", "searched")
        call = code.run(call_for, self._acts, *guards, f"{code.number} {h}")
        with code.when(code.op(f"icmp eq i64 {call}, {int(LOOK)}")):
            self.bracket.set(h, bracket.LENGTH)
            self.bracket.set(LOST, MODE)
        with code.when(code.op(f"icmp eq i64 {call}, {int(STOP)}")):
            self.bracket.begin(h, end)

    # at a root

    def _note(self) -> None:
        """A row of the log; the run goes on, or returns here."""
        code, flow, places = self.code, self.flow, self.places
        first = code.op(f"mul i64 {code.integer(self.memory.get(LOGGED))}, {row_length(flow)}")
        self.memory.count(LOGGED)
        at = self._row(first, ("e", flow.ng), ("g_begin", flow.ng), ("g_end", flow.ng), ("y", flow.ny))
        stops = code.run(stops_here, *self._guards("called_for", "e"))
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
        if flow.source == "call":
            self._forget_refused()

    def _forget_refused(self) -> None:
        """Take the last row of the log back if the call for inputs behind the root failed."""
        with self.code.when(self.step.failed):
            rows = self.code.float("fsub", self.memory.get(LOGGED), self.code.real(1.0))
            self.memory.set(rows, LOGGED)
            self.memory.set(self.code.real(REFUSED), STATUS)

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
