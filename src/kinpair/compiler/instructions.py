"""Nodes as LLVM instructions, one line each.

Every number is a vector of `lanes`; with one lane it is a plain number. The text of both is made by the same
lines. Products and sums may be contracted to fused multiply-adds and reassociated; nothing else is relaxed,
so a NaN in one row is seen, and stays in that row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from kinpair.compiler.graph import Expr
from kinpair.compiler.operations import OPERATIONS
from kinpair.compiler.sincos import sincos_function
from kinpair.compiler.target import Form

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
FEW = 2  # angles that are no vector
LIBRARY = {"atan2": 2, "exp": 1, "log": 1, "tanh": 1}  # functions of the C library, called lane by lane


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Places where symbols are loaded from, results stored to, and carried values kept: array and entry.

    `fixed` says that nothing is stored to where symbols come from. An array of `numbers` holds plain
    numbers that serve every lane.
    """

    loads: dict[int, tuple[str, int]]
    stores: dict[int, list[tuple[str, int]]]
    slots: dict[int, int] = field(default_factory=dict[int, int])
    fixed: bool = True
    numbers: frozenset[str] = frozenset()


class Instructions:
    """Lines for a sequence of nodes. What comes from memory is loaded where it is first used."""

    def __init__(self, places: Places, form: Form) -> None:
        self.places, self.form = places, form
        self.v, self.b = form.of(form.real.llvm), form.of("i1")
        self.text: list[str] = []
        self.names: dict[int, str] = {}
        self.pairs: dict[int, str] = {}
        self.turned: dict[int, tuple[str, int]] = {}

    def lines(self, nodes: Sequence[Expr], carried: Collection[int] = ()) -> list[str]:
        """The nodes in their order; those `carried` go to the scratch buffer too."""
        self.turn_together(nodes)
        for x in nodes:
            self.instruction(x)
            if x.id in carried:
                self.store(self._as_number(x), "scratch", self.places.slots[x.id])
        return self.text

    def _as_number(self, x: Expr) -> str:
        """The value as the scratch buffer has it: a truth value is 1 or 0."""
        value = self.names[x.id]
        if OPERATIONS[x.op].gives == "n":
            return value
        self.text.append(f"  {value}.n = uitofp {self.b} {value} to {self.v}")
        return f"{value}.n"

    def instruction(self, x: Expr) -> None:
        """Write one node, and its stores if it is a result."""
        arguments = [self.use(y) for y in x.args]
        if x.op in ("const", "symbol"):
            value = self.use(x)
        elif x.op == "sign":
            value = self.sign(x, arguments[0])
        elif x.op in ("sin", "cos") and x.args[0].id in self.turned:
            value = f"%v{x.id}"
            group, lane = self.turned[x.args[0].id]
            wide = Form(self.form.real, self.form.turning).of(self.v)
            self.text.append(f"  {value} = extractelement {wide} {group}.{x.op}, i32 {lane}")
        else:
            pair = self.pair(x.args[0]) if x.op in ("sin", "cos") else ""
            value = f"%v{x.id}"
            words = {"v": self.v, "b": self.b, "f": self.form.suffix, "lanes": self.form.lanes, "pair": pair}
            line = INSTRUCTIONS[x.op].format(*arguments, true=self.form.number(True), **words)
            self.text.append(f"  {value} = {line}")
        self.names[x.id] = value
        for place in self.places.stores.get(x.id, ()):
            self.store(value, *place)

    def use(self, x: Expr) -> str:
        """The name of a value, loaded first if it comes from memory."""
        known = self.names.get(x.id)
        if known is not None:
            return known
        if x.op == "const":
            return self.form.number(x.value)
        name = f"%v{x.id}"
        array, place = self.places.loads[x.id] if x.op == "symbol" else ("scratch", self.places.slots[x.id])
        number = name if OPERATIONS[x.op].gives == "n" else f"{name}.n"
        self.load(number, array, place, fixed=x.op == "symbol" and self.places.fixed)
        if number != name:
            self.text.append(f"  {name} = fcmp une {self.v} {number}, {self.form.number(0.0)}")
        self.names[x.id] = name
        return name

    def turn_together(self, nodes: Iterable[Expr]) -> None:
        """Sines and cosines of the angles that come from memory, as many at once as the form has `turning`."""
        width, known = self.form.turning, self.pairs | self.turned
        angles = {x.args[0].id: x.args[0] for x in nodes if x.op in ("sin", "cos")}
        new = [x for key, x in angles.items() if x.op == "symbol" and key not in known]
        if width == 1 or len(new) <= FEW:
            return
        v = Form(self.form.real, width).of(self.v)
        for group in (new[i : i + width] for i in range(0, len(new), width)):
            name, whole = f"%turn{group[0].id}", "zeroinitializer"
            for lane, angle in enumerate(group):
                self.text.append(
                    f"  {name}.{lane} = insertelement {v} {whole}, {self.v} {self.use(angle)}, i32 {lane}"
                )
                whole, self.turned[angle.id] = f"{name}.{lane}", (name, lane)
            self.text += [
                f"  {name} = call {{{v}, {v}}} @sincos.{width}({v} {whole})",
                f"  {name}.sin = extractvalue {{{v}, {v}}} {name}, 0",
                f"  {name}.cos = extractvalue {{{v}, {v}}} {name}, 1",
            ]

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

    def load(self, name: str, array: str, place: int, fixed: bool) -> None:
        """Entry `place` of an array in lane order, or of an array of numbers."""
        note = ", !invariant.load !0" if fixed else ""
        scalar = self.form.real.llvm
        if array in self.places.numbers and self.form.lanes > 1:
            self.text += [
                f"  {name}.at = getelementptr {scalar}, ptr %{array}, i64 {place}",
                f"  {name}.x = load {scalar}, ptr {name}.at, align {self.form.real.size}{note}",
                f"  {name}.v = insertelement {self.v} undef, {scalar} {name}.x, i32 0",
                f"  {name} = shufflevector {self.v} {name}.v, {self.v} undef, "
                f"<{self.form.lanes} x i32> zeroinitializer",
            ]
            return
        self.text.append(f"  {name}.at = getelementptr {self.v}, ptr %{array}, i64 {place}")
        self.text.append(f"  {name} = load {self.v}, ptr {name}.at, align {self.form.bytes}{note}")

    def store(self, value: str, array: str, place: int) -> None:
        """Entry `place` of an array in lane order."""
        at = f"%to.{array}.{place}"
        self.text.append(f"  {at} = getelementptr {self.v}, ptr %{array}, i64 {place}")
        self.text.append(f"  store {self.v} {value}, ptr {at}, align {self.form.bytes}")


def support(used: Collection[str], form: Form) -> list[str]:
    """Functions that the instructions of these operations call."""
    used = set(used)
    texts: list[str] = []
    if used & {"sin", "cos"}:
        texts += [sincos_function(form.real, lanes) for lanes in sorted({form.lanes} | {form.turning} - {1})]
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
