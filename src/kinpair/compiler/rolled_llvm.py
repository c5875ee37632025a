"""Loops over items as LLVM: a function for each step and loop, tables of what a turn reads and writes."""

from __future__ import annotations

from kinpair.compiler.form import ATTRIBUTES, Form
from kinpair.compiler.instructions import Instructions, Places
from kinpair.compiler.llvm import Blocks, parameters
from kinpair.compiler.rolled import NUMBERS, Loop, Rolled, Step
from kinpair.compiler.schedule import ordered


def rolled_blocks(rolled: Rolled) -> Blocks:
    """The code of a rolled program."""
    arrays = {f"in{k}": shape[0] for k, shape in enumerate(rolled.input_shapes.values())}
    arrays |= {f"out{k}": shape[0] for k, shape in enumerate(rolled.output_shapes.values())}
    used = {x.op for loop in rolled.loops for step in loop.steps for x in step.program.nodes}
    return Blocks(arrays, sum(rolled.work.values()), used, lambda form: _Writer(rolled, arrays, form).text())


class _Writer:
    def __init__(self, rolled: Rolled, arrays: dict[str, int], form: Form) -> None:
        self.rolled, self.arrays, self.form = rolled, arrays, form
        self.bases = {f"in:{name}": (f"%in{k}", 0) for k, name in enumerate(rolled.input_shapes)}
        self.bases |= {f"out:{name}": (f"%out{k}", 0) for k, name in enumerate(rolled.output_shapes)}
        self.bases[NUMBERS] = (f"@{NUMBERS}", 0)
        offset = 0
        for name, size in rolled.work.items():
            self.bases[name] = ("%scratch", offset)
            offset += size

    def text(self) -> str:
        """`@block`: the loops in turn."""
        parts, calls = [self.numbers()], list[str]()
        for k, loop in enumerate(self.rolled.loops):
            parts += [self.step(step, f"loop{k}.step{s}") for s, step in enumerate(loop.steps)]
            parts.append(self.loop(loop, f"loop{k}"))
            calls.append(f"  call void @loop{k}({parameters(self.arrays, attributes=False)})")
        head = f"define internal void @block.{self.form.lanes}({parameters(self.arrays)}) {ATTRIBUTES} {{"
        return "\n".join([*parts, head, *calls, "  ret void", "}"])

    def numbers(self) -> str:
        real = self.form.real
        entries = ", ".join(f"{real.llvm} {real.literal(x)}" for x in self.rolled.numbers.tolist())
        return f"@{NUMBERS} = private constant [{len(self.rolled.numbers)} x {real.llvm}] [{entries}]"

    def step(self, step: Step, name: str) -> str:
        """The function of one step: find the entries of this turn, load them all, compute, store."""
        program = step.program
        accesses = (*step.reads, *step.writes)
        names = [f"r{k}" for k in range(len(step.reads))] + [f"w{k}" for k in range(len(step.writes))]
        pointers = parameters(self.arrays, attributes=False)
        lines = [f"define internal void @{name}({pointers}, i64 %turn) {ATTRIBUTES} {{"]
        table = f"getelementptr [{len(accesses)} x i32], ptr @{name}.table, i64 %turn"
        for k, (access, pointer) in enumerate(zip(accesses, names, strict=True)):
            base, offset = self.bases[access.array]
            kind = self.form.real.llvm if access.array == NUMBERS else self.form.of(self.form.real.llvm)
            lines += [
                f"  %{pointer}.table = {table}, i64 {k}",
                f"  %{pointer}.start = load i32, ptr %{pointer}.table",
                f"  %{pointer}.place = add i32 %{pointer}.start, {offset}",
                f"  %{pointer} = getelementptr {kind}, ptr {base}, i32 %{pointer}.place",
            ]
        places = Places(
            {x.id: (f"r{k}", i) for k, leaf in enumerate(program.inputs) for i, x in enumerate(leaf.entries)},
            self.stores(step),
            fixed=False,
            numbers=frozenset(f"r{k}" for k, a in enumerate(step.reads) if a.array == NUMBERS),
            sums=frozenset(f"w{k}" for k, a in enumerate(step.writes) if a.add),
        )
        writer = Instructions(places, self.form)
        for x in program.nodes:
            if x.op == "symbol":
                writer.use(x)
        lines += [*writer.lines(ordered(program)), "  ret void", "}"]
        return self.table(step, name) + "\n" + "\n".join(lines)

    def stores(self, step: Step) -> dict[int, list[tuple[str, int]]]:
        stores: dict[int, list[tuple[str, int]]] = {}
        for k, leaf in enumerate(step.program.outputs):
            for i, x in enumerate(leaf.entries):
                stores.setdefault(x.id, []).append((f"w{k}", i))
        return stores

    def table(self, step: Step, name: str) -> str:
        """Where each turn reads and writes."""
        rows = list(zip(*[a.starts for a in (*step.reads, *step.writes)], strict=True))
        width = len(step.reads) + len(step.writes)
        text = ", ".join(f"[{width} x i32] [{', '.join(f'i32 {x}' for x in row)}]" for row in rows)
        return f"@{name}.table = private constant [{len(rows)} x [{width} x i32]] [{text}]"

    def loop(self, loop: Loop, name: str) -> str:
        """Turn after turn, the step of its kind."""
        turns, arguments = len(loop.kinds), parameters(self.arrays, attributes=False)
        kinds = ", ".join(f"i32 {k}" for k in loop.kinds)
        cases = " ".join(f"i32 {k}, label %step{k}" for k in range(len(loop.steps)))
        steps: list[str] = []
        for k in range(len(loop.steps)):
            steps += [f"step{k}:", f"  call void @{name}.step{k}({arguments}, i64 %turn)", "  br label %done"]
        return "\n".join(
            [
                f"@{name}.kinds = private constant [{turns} x i32] [{kinds}]",
                f"define internal void @{name}({arguments}) {ATTRIBUTES} {{",
                "  br label %next",
                "next:",
                "  %turn = phi i64 [ 0, %0 ], [ %after, %done ]",
                f"  %more = icmp ult i64 %turn, {turns}",
                "  br i1 %more, label %work, label %end",
                "work:",
                f"  %kind.at = getelementptr i32, ptr @{name}.kinds, i64 %turn",
                "  %kind = load i32, ptr %kind.at",
                f"  switch i32 %kind, label %done [ {cases} ]",
                *steps,
                "done:",
                "  %after = add i64 %turn, 1",
                "  br label %next",
                "end:",
                "  ret void",
                "}",
            ]
        )
