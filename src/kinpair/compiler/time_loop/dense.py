"""Dense output: samples at the times at which they are wanted, from a polynomial over a step."""

from __future__ import annotations

from kinpair.compiler.time_loop.code import OpenLoop
from kinpair.compiler.time_loop.memory import CURSOR, TIME, Memory
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.time_loop.step import Step
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
        """All that lie within the step, its end apart."""
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
            step.parts["watch"].call(code, places, [places["w"]], y=places[place])
            self.arrays.put(code, "W", code.op(f"mul i64 {at}, {flow.nw}"), flow.nw, places["w"])
        if flow.source == "call":
            loop.leave(step.failed)
        self.memory.count(CURSOR)
