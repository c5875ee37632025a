"""A scheduled program as LLVM text: for one state, and for as many states at once as the machine has lanes.

Every number is a vector of `lanes`; with one lane it is a plain number. The text of both is made by the same
lines. Products and sums may be contracted to fused multiply-adds and reassociated; nothing else is relaxed,
so a NaN in one row is seen, and stays in that row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinpair.compiler.graph import Expr
from kinpair.compiler.layout import columns, layout_functions
from kinpair.compiler.program import Leaf, Program
from kinpair.compiler.schedule import Piece, Plan
from kinpair.compiler.sincos import sincos_function
from kinpair.compiler.target import Real

RELAXED = "contract reassoc"
INSTRUCTIONS = {  # {v} vector type, {b} vector of truth values, {f} suffix of intrinsics, {0} {1} arguments
    "add": f"fadd {RELAXED} {{v}} {{0}}, {{1}}",
    "sub": f"fsub {RELAXED} {{v}} {{0}}, {{1}}",
    "mul": f"fmul {RELAXED} {{v}} {{0}}, {{1}}",
    "div": "fdiv {v} {0}, {1}",
    "neg": "fneg {v} {0}",
    "sqrt": "call {v} @llvm.sqrt.{f}({v} {0})",
    "sin": "extractvalue {{{v}, {v}}} {pair}, 0",
    "cos": "extractvalue {{{v}, {v}}} {pair}, 1",
    "atan2": "call {v} @each.atan2.{lanes}({v} {0}, {v} {1})",
    "exp": "call {v} @each.exp.{lanes}({v} {0})",
    "log": "call {v} @each.log.{lanes}({v} {0})",
    "tanh": "call {v} @each.tanh.{lanes}({v} {0})",
    "abs": "call {v} @llvm.fabs.{f}({v} {0})",
    "floor": "call {v} @llvm.floor.{f}({v} {0})",
    "min": "call {v} @llvm.minimum.{f}({v} {0}, {v} {1})",
    "max": "call {v} @llvm.maximum.{f}({v} {0}, {v} {1})",
    "lt": "fcmp olt {v} {0}, {1}",
    "le": "fcmp ole {v} {0}, {1}",
    "eq": "fcmp oeq {v} {0}, {1}",
    "and": "and {b} {0}, {1}",
    "or": "or {b} {0}, {1}",
    "not": "xor {b} {0}, {true}",
    "where": "select {b} {0}, {v} {1}, {v} {2}",
}
LIBRARY = {"atan2": 2, "exp": 1, "log": 1, "tanh": 1}  # functions of the C library, called lane by lane


@dataclass(frozen=True, slots=True)
class Form:
    """How a value is written: its type and how many lanes."""

    real: Real
    lanes: int

    def of(self, scalar: str) -> str:
        """The type of `lanes` scalars."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    @property
    def suffix(self) -> str:
        """What the names of intrinsics end in."""
        return self.real.suffix if self.lanes == 1 else f"v{self.lanes}{self.real.suffix}"

    @property
    def bytes(self) -> int:
        """Size of a value."""
        return self.lanes * self.real.size

    def number(self, value: float | bool) -> str:
        """A constant in every lane."""
        if isinstance(value, bool):
            kind, text = "i1", str(value).lower()
        else:
            kind, text = self.real.llvm, self.real.literal(value)
        return text if self.lanes == 1 else f"splat ({kind} {text})"


METADATA = '!0 = !{}\n!1 = !{!"branch_weights", i32 1, i32 1000000}'


def one_module(plan: Plan, real: Real) -> str:
    """`@one` for a single state."""
    form = Form(real, 1)
    return "\n".join([METADATA, *_support(plan, form), _block(plan, form), _one(plan, form)])


def batch_module(plan: Plan, real: Real, lanes: int) -> str:
    """`@batch` for many states."""
    form = Form(real, lanes)
    return "\n".join(
        [
            METADATA,
            *_support(plan, form),
            _block(plan, form),
            layout_functions(real, lanes),
            _batch(plan, form),
        ]
    )


def _support(plan: Plan, form: Form) -> list[str]:
    """Functions the block calls."""
    used = {x.op for piece in plan.pieces for x in piece.nodes}
    texts = [sincos_function(form.real, form.lanes)] if used & {"sin", "cos"} else []
    if used & {"sin", "cos"}:
        texts += [f"declare {form.real.llvm} @{f}{form.real.libm}({form.real.llvm})" for f in ("sin", "cos")]
    return texts + [_each(name, form) for name in sorted(used & set(LIBRARY))]


def _each(name: str, form: Form) -> str:
    """A function of the C library on every lane."""
    v, scalar, inputs = form.of(form.real.llvm), form.real.llvm, range(LIBRARY[name])
    call = f"@{name}{form.real.libm}"
    arguments = ", ".join(f"{v} %a{i}" for i in inputs)
    head = f"define internal {v} @each.{name}.{form.lanes}({arguments}) noinline nounwind {{"
    lines = [f"declare {scalar} {call}({', '.join(scalar for _ in inputs)})", head]
    if form.lanes == 1:
        return "\n".join([*lines, f"  %y = call {scalar} {call}({arguments})", f"  ret {scalar} %y", "}"])
    for k in range(form.lanes):
        lines += [f"  %a{i}.{k} = extractelement {v} %a{i}, i32 {k}" for i in inputs]
        lines.append(f"  %y{k} = call {scalar} {call}({', '.join(f'{scalar} %a{i}.{k}' for i in inputs)})")
        before = f"%v{k - 1}" if k else "undef"
        lines.append(f"  %v{k} = insertelement {v} {before}, {scalar} %y{k}, i32 {k}")
    return "\n".join([*lines, f"  ret {v} %v{form.lanes - 1}", "}"])


def _pointers(program: Program, attributes: bool = True) -> str:
    """The parameters of a block: one pointer an input, one an output, and scratch."""
    read = " noalias readonly" if attributes else ""
    write = " noalias" if attributes else ""
    names = [f"ptr{read} %in{k}" for k in range(len(program.inputs))]
    names += [f"ptr{write} %out{k}" for k in range(len(program.outputs))]
    return ", ".join([*names, f"ptr{write} %scratch"])


def _block(plan: Plan, form: Form) -> str:
    """`@block.<lanes>`: the pieces, one function each, and one that calls them in turn."""
    parts = [_piece(plan, piece, form, f"@piece{k}.{form.lanes}") for k, piece in enumerate(plan.pieces)]
    arguments = _pointers(plan.program, attributes=False)
    calls = [f"  call void @piece{k}.{form.lanes}({arguments})" for k in range(len(plan.pieces))]
    head = f"define internal void @block.{form.lanes}({_pointers(plan.program)}) nounwind {{"
    return "\n".join([*parts, head, *calls, "  ret void", "}"])


def _piece(plan: Plan, piece: Piece, form: Form, name: str) -> str:
    writer = PieceWriter(plan, piece, form)
    head = f"define internal void {name}({_pointers(plan.program)}) nounwind noinline {{"
    return "\n".join([head, *writer.lines(), "  ret void", "}"])


class PieceWriter:
    """The instructions of one piece. Inputs and carried values are loaded where they are first used."""

    def __init__(self, plan: Plan, piece: Piece, form: Form) -> None:
        self.plan, self.piece, self.form = plan, piece, form
        self.v, self.b = form.of(form.real.llvm), form.of("i1")
        self.text: list[str] = []
        self.names: dict[int, str] = {}
        self.pairs: dict[int, str] = {}

    def lines(self) -> list[str]:
        """All of them, in the order of the schedule."""
        for x in self.piece.nodes:
            self.instruction(x)
        return self.text

    def instruction(self, x: Expr) -> None:
        """One node, and its stores if others need it."""
        arguments = [self.use(y) for y in x.args]
        if x.op in ("const", "symbol"):
            value = self.use(x)
        elif x.op == "sign":
            value = self.sign(x, arguments[0])
        else:
            pair = self.pair(x.args[0]) if x.op in ("sin", "cos") else ""
            value = f"%v{x.id}"
            words = {"v": self.v, "b": self.b, "f": self.form.suffix, "lanes": self.form.lanes, "pair": pair}
            line = INSTRUCTIONS[x.op].format(*arguments, true=self.form.number(True), **words)
            self.text.append(f"  {value} = {line}")
        self.names[x.id] = value
        for place in self.plan.stores.get(x.id, ()):
            self.store(value, *place)
        if x.id in self.piece.carried_out:
            self.store(value, "scratch", self.plan.slots[x.id])

    def use(self, x: Expr) -> str:
        """The name of a value, loaded first if it comes from memory."""
        found = self.names.get(x.id)
        if found is not None:
            return found
        if x.op == "const":
            return self.form.number(x.value)
        name = f"%v{x.id}"
        if x.op == "symbol":
            self.load(name, *self.plan.loads[x.id], note=", !invariant.load !0")
        else:
            self.load(name, "scratch", self.plan.slots[x.id])
        self.names[x.id] = name
        return name

    def pair(self, angle: Expr) -> str:
        """Sine and cosine of one angle, computed once."""
        if angle.id not in self.pairs:
            v, name = self.v, f"%pair{angle.id}"
            self.text.append(f"  {name} = call {{{v}, {v}}} @sincos.{self.form.lanes}({v} {self.use(angle)})")
            self.pairs[angle.id] = name
        return self.pairs[angle.id]

    def sign(self, x: Expr, argument: str) -> str:
        """1, −1, or the argument itself: 0 or NaN."""
        v, b, name, number = self.v, self.b, f"%v{x.id}", self.form.number
        self.text += [
            f"  {name}.up = fcmp ogt {v} {argument}, {number(0.0)}",
            f"  {name}.down = fcmp olt {v} {argument}, {number(0.0)}",
            f"  {name}.low = select {b} {name}.down, {v} {number(-1.0)}, {v} {argument}",
            f"  {name} = select {b} {name}.up, {v} {number(1.0)}, {v} {name}.low",
        ]
        return name

    def load(self, name: str, array: str, place: int, note: str = "") -> None:
        """Entry `place` of an array in lane order."""
        self.text.append(f"  {name}.at = getelementptr {self.v}, ptr %{array}, i64 {place}")
        self.text.append(f"  {name} = load {self.v}, ptr {name}.at, align {self.form.bytes}{note}")

    def store(self, value: str, array: str, place: int) -> None:
        """Entry `place` of an array in lane order."""
        at = f"%to.{array}.{place}"
        self.text.append(f"  {at} = getelementptr {self.v}, ptr %{array}, i64 {place}")
        self.text.append(f"  store {self.v} {value}, ptr {at}, align {self.form.bytes}")


def _one(plan: Plan, form: Form) -> str:
    """`@one(pointers*, scratch)`: one state; the pointers are those of the arrays themselves."""
    names = _array_names(plan.program)
    lines = _unpack(names, "pointers")
    arguments = ", ".join(f"ptr %{name}" for name in [*names, "scratch"])
    call = f"  call void @block.{form.lanes}({arguments})"
    return "\n".join(
        ["define void @one(ptr %pointers, ptr %scratch) nounwind {", *lines, call, "  ret void", "}"]
    )


def _array_names(program: Program) -> list[str]:
    return [f"in{k}" for k in range(len(program.inputs))] + [f"out{k}" for k in range(len(program.outputs))]


def _unpack(names: Sequence[str], table: str) -> list[str]:
    """Load the entries of a table of pointers."""
    lines: list[str] = []
    for k, name in enumerate(names):
        lines.append(f"  %{name}.at = getelementptr ptr, ptr %{table}, i64 {k}")
        lines.append(f"  %{name} = load ptr, ptr %{name}.at")
    return lines


def scratch_bytes(plan: Plan, form: Form) -> int:
    """Room `@batch` needs: every array in lane order, and the values carried between pieces."""
    arrays: Sequence[Leaf] = (*plan.program.inputs, *plan.program.outputs)
    return form.bytes * (sum(columns(leaf.size, form.lanes) for leaf in arrays) + plan.carried)


def _batch(plan: Plan, form: Form) -> str:
    """`@batch(pointers*, strides*, rows, scratch)`: gather a block, compute, scatter; strides in bytes."""
    program, lanes = plan.program, form.lanes
    names = _array_names(program)
    leaves: Sequence[Leaf] = (*program.inputs, *program.outputs)
    head, ins, outs, arguments, offset = list[str](), list[str](), list[str](), list[str](), 0
    head += _unpack(names, "pointers")
    for k, (name, leaf) in enumerate(zip(names, leaves, strict=True)):
        head += [
            f"  %{name}.s = getelementptr i64, ptr %strides, i64 {k}",
            f"  %{name}.stride = load i64, ptr %{name}.s",
            f"  %{name}.lanes = getelementptr i8, ptr %scratch, i64 {offset}",
        ]
        offset += form.bytes * columns(leaf.size, lanes)
        move = [
            f"  %{name}.off = mul i64 %row, %{name}.stride",
            f"  %{name}.now = getelementptr i8, ptr %{name}, i64 %{name}.off",
            f"  call void @{'gather' if name.startswith('in') else 'scatter'}(ptr %{name}.now, "
            f"i64 %{name}.stride, i64 %here, i64 {leaf.size}, ptr %{name}.lanes)",
        ]
        (ins if name.startswith("in") else outs).extend(move)
        arguments.append(f"ptr %{name}.lanes")
    head.append(f"  %carried = getelementptr i8, ptr %scratch, i64 {offset}")
    call = f"  call void @block.{lanes}({', '.join([*arguments, 'ptr %carried'])})"
    return "\n".join(
        [
            "define void @batch(ptr %pointers, ptr %strides, i64 %rows, ptr %scratch) nounwind {",
            *head,
            "  br label %next",
            "next:",
            "  %row = phi i64 [ 0, %0 ], [ %after, %work ]",
            "  %left = sub i64 %rows, %row",
            "  %more = icmp sgt i64 %left, 0",
            "  br i1 %more, label %work, label %end",
            "work:",
            f"  %here = call i64 @llvm.umin.i64(i64 %left, i64 {lanes})",
            *ins,
            call,
            *outs,
            f"  %after = add i64 %row, {lanes}",
            "  br label %next",
            "end:",
            "  ret void",
            "}",
        ]
    )
