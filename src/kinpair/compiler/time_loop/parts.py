"""Parts of a time loop: recorded programs, the memory they share, and where their inputs come from.

The code of one trajectory is scalar. What it needs of sines and cosines is known beforehand where the angles are
entries of the state: they are computed in whole vectors, before the scalar code that uses them, and lie where a value
carried between two pieces of code would. The state has just been written in whole vectors and is read so: gathered one
by one, as `Instructions` does for the arguments of a single call (`Form.turning`), the angles made an rk4 step of a
six-joint arm a quarter slower.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from kinpair.compiler.instructions import FEW
from kinpair.compiler.llvm import Blocks, straight_blocks
from kinpair.compiler.loops.functions import LoopFunction
from kinpair.compiler.machine_code import blocks_of
from kinpair.compiler.program import Program
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.schedule import Piece, Plan, schedule
from kinpair.compiler.target import ATTRIBUTES, Form, Real
from kinpair.compiler.time_loop.code import Code


@dataclass(frozen=True, slots=True)
class Turns:
    """Wide vectors of the state that have angles, and where in scratch memory their cosines begin."""

    vectors: tuple[int, ...]
    width: int
    cosines: int

    def text(self, name: str, form: Form) -> str:
        """LLVM text of `@name.turns(state, scratch)`."""
        code = Code(form, self.width)
        for k in self.vectors:
            pair = f"{{{code.wide}, {code.wide}}}"
            both = code.op(f"call {pair} @sincos.{self.width}({code.wide} {code.load('%y', k)})")
            for which, place in enumerate((k, self.cosines + k)):
                code.store(code.op(f"extractvalue {pair} {both}, {which}"), "%scratch", place)
        return code.function(f"{name}.turns", ("ptr %y", "ptr %scratch"))


def prepared(program: Program, width: int) -> tuple[Blocks, Turns | None]:
    """The code of a program without the sines and cosines of its state, and what computes those."""
    plan = schedule(program)
    places = {x.id: k for leaf in program.inputs if leaf.name == "y" for k, x in enumerate(leaf.entries)}
    tables = {
        x.id: x
        for piece in plan.pieces
        for x in piece.nodes
        if x.op in ("sin", "cos") and x.args[0].id in places and x.id not in plan.places.stores
    }
    if len(plan.pieces) != 1 or width == 1 or len({x.args[0].id for x in tables.values()}) <= FEW:
        return straight_blocks(plan), None
    vectors = -(-len(places) // width)
    start = {"sin": 0, "cos": vectors * width}
    slots = {x.id: start[x.op] + places[x.args[0].id] for x in tables.values()}
    nodes = tuple(x for x in plan.pieces[0].nodes if x.id not in tables)
    rest = Plan(plan.arrays, (Piece(nodes, frozenset()),), replace(plan.places, slots=slots), plan.cleared)
    blocks = replace(straight_blocks(rest), carried=2 * vectors * width)
    used = sorted({places[x.args[0].id] // width for x in tables.values()})
    return blocks, Turns(tuple(used), width, vectors)


ALIGNMENT = 64
OWN_NAMES = re.compile(r"@(block|piece\d+|loop\d+|numbers)\b")
HEADS = re.compile(rf"{re.escape(ATTRIBUTES)}( noinline)? {{$", re.MULTILINE)
INVARIANT = ", !invariant.load !0"
BRIEF = 60  # operations: for one trajectory, a program this short is no function of its own
SOURCES = ("constant", "table", "program", "call")
SOLVE = "solve"  # symbols of the loop function of a flow and of its constants
WORDS = 11  # of its arguments


@dataclass(frozen=True, slots=True, eq=False)
class Solve:
    """A loop function that changes the unknowns z of one trajectory between `start` and a program that reads z.

    `function` has the arguments (dt, z, numbers, whole, memory, places) and returns a verdict, zero if all is well.
    `numbers` and `whole` are constants; `memory` and `places` are working memory of so many numbers and whole numbers,
    which is not cleared between steps. `carried` has the first entry in y, the first in z and the number of entries
    that go from y to z before it and back after a step, and that no program reads or writes.
    """

    function: LoopFunction
    numbers: np.ndarray
    whole: np.ndarray
    memory: int
    places: int
    carried: tuple[int, int, int] = (0, 0, 0)

    @property
    def data(self) -> dict[str, bytes]:
        """Bytes of the constants by symbol."""
        return {f"{SOLVE}.numbers": self.numbers.tobytes(), f"{SOLVE}.whole": self.whole.tobytes()}


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """A motion to be followed in time: programs whose inputs go by the names of what they read.

    Names: `time`, `dt`, the state `y`, the sampled inputs `u`, the parameters `p`, and the unknowns `z` of an
    implicit step. An explicit method has `rhs` → ẏ; any other gives its step as `finish` → y₁, with `start` → z and
    `improve` → (z, size) before it if it is implicit: `improve` is repeated until size ≤ 1; or the loop function
    `solve` changes z, also for `rhs`, `guard` and `watch` that read z. `after` → y, or (y, size) to be repeated
    likewise, is applied to each state reached; `watch` → w looks at samples. A step in which
    an entry of `guard` → g changes its sign is not taken: a trajectory stops before it, the others of a batch go on. An
    adaptive one may go on from the root by `change` → (y, size), which reads in `e` which guards have theirs there, and
    behind these a one when it is called for the first time; see `roots.py`.

    `source` says where u comes from: `constant` with the state, a `table` over time, the program `control` → u, or a
    function that is `call`ed. `sampled` inputs change at their own sample times only, others whenever they are needed.
    A `control` may read the numbers `r` of a row of the table, `nr` of them.
    `ahead` is the part of a step after which a method that is not explicit wants its table read. `afresh` is the entry
    of the state that becomes zero when sampled inputs change: what a method carries from step to step is of no use
    then.
    `lasting` are the guards that are positive until something happens: one that is negative already where a loop of
    equal steps begins, because its inputs are new, stops it before its first step. `slopes` (guard, other) are guards
    that are slopes of other ones: in equal steps they matter where the other one may be passed there and back.
    """

    ny: int
    nu: int = 0
    np: int = 0
    nw: int = 0
    nz: int = 0
    ng: int = 0
    nr: int = 0
    rhs: Program | Rolled | None = None
    start: Program | Rolled | None = None
    improve: Program | Rolled | None = None
    finish: Program | Rolled | None = None
    after: Program | Rolled | None = None
    watch: Program | Rolled | None = None
    guard: Program | None = None
    change: Program | None = None
    solve: Solve | None = None
    control: Program | None = None
    source: str = "constant"
    sampled: bool = False
    ahead: float = 0.0
    afresh: int | None = None
    lasting: tuple[int, ...] = ()
    slopes: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if self.source not in SOURCES or (self.control is not None) != (self.source == "program"):
            raise ValueError(
                f"source {self.source!r} with{'' if self.control else 'out'} a program `control`"
            )
        if (self.rhs is None) == (self.finish is None):
            raise ValueError("a flow has either `rhs` or `finish`")
        if self.nr and self.control is None:
            raise ValueError("rows of numbers are for a program `control`")

    @property
    def reads_table(self) -> bool:
        """True if the inputs depend on a table, by themselves or by the program that gives them."""
        return self.source == "table" or self.nr > 0

    @property
    def changes_u(self) -> bool:
        """True if the inputs change along a trajectory that guards may stop."""
        return self.guard is not None and self.source != "constant"

    @property
    def constants(self) -> dict[str, bytes]:
        """Bytes that the loop function reads, by symbol."""
        return {} if self.solve is None else self.solve.data

    @property
    def functions(self) -> dict[str, int]:
        """Address of the loop function, by symbol."""
        return {} if self.solve is None else {SOLVE: self.solve.function.address}

    @property
    def programs(self) -> dict[str, Program | Rolled]:
        """Recorded programs by name."""
        names = ("rhs", "start", "improve", "finish", "after", "watch", "guard", "change", "control")
        programs = {name: getattr(self, name) for name in names}
        return {name: program for name, program in programs.items() if program is not None}


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A program in the loop: its code under names of its own, and the names of what it reads."""

    name: str
    blocks: Blocks
    reads: tuple[str, ...]
    results: int
    turns: Turns | None = None
    inlined: bool = False

    def text(self, form: Form) -> str:
        """LLVM text of the functions."""
        own = OWN_NAMES.sub(lambda match: f"@{self.name}.{match[1]}", self.blocks.text(form))
        if self.inlined:  # what it reads changes in the function that it becomes a part of
            own = HEADS.sub(f"{ATTRIBUTES} alwaysinline {{", own).replace(INVARIANT, "")
        return own if self.turns is None else f"{own}\n{self.turns.text(self.name, form)}"

    def call(self, code: Code, places: Mapping[str, str], targets: Sequence[str], **instead: str) -> None:
        """Read from `places`, but for those given `instead`, and write to the targets."""
        reads = [instead.get(name, places[name]) for name in self.reads]
        for k, target in enumerate(targets):
            if f"out{k}" in self.blocks.cleared:
                size = self.blocks.arrays[f"out{k}"] * code.form.bytes
                code.do(f"call void @llvm.memset.p0.i64(ptr {target}, i8 0, i64 {size}, i1 false)")
        if self.turns is not None:
            y = instead.get("y", places["y"])
            code.do(f"call void @{self.name}.turns(ptr {y}, ptr {places['carried']})")
        pointers = ", ".join(f"ptr {x}" for x in (*reads, *targets, places["carried"]))
        code.do(f"call void @{self.name}.block.{code.lanes}({pointers})")


def parts_of(flow: Flow, form: Form, width: int) -> dict[str, Part]:
    """Every program, scheduled; for one trajectory, with the sines and cosines of the state in whole vectors."""
    parts: dict[str, Part] = {}
    for name, program in flow.programs.items():
        turns, brief = None, False
        if form.lanes == 1 and isinstance(program, Program):
            blocks, turns = prepared(program, width)
            brief = turns is None and program.count["total"] <= BRIEF
        else:
            blocks = blocks_of(program)
        parts[name] = Part(
            name, blocks, tuple(program.input_shapes), len(program.output_shapes), turns, brief
        )
    return parts


def data_of(parts: Mapping[str, Part], real: Real) -> dict[str, bytes]:
    """Bytes that the code of all programs reads, by symbol."""
    return {name: content for part in parts.values() for name, content in part.blocks.data(real).items()}


@dataclass(frozen=True, slots=True)
class Frame:
    """Memory of a loop: places by name, each so many values, whole vectors apart."""

    sizes: tuple[tuple[str, int], ...]
    form: Form
    width: int
    unclear: int = 0  # places at the end that need no zeros

    def _bytes(self, size: int) -> int:
        values = -(-max(1, size) // self.width) * self.width  # whole vectors, whole tiles
        return -(-values * self.form.bytes // ALIGNMENT) * ALIGNMENT

    @property
    def bytes(self) -> int:
        """Bytes of all places."""
        return sum(self._bytes(size) for _, size in self.sizes)

    @property
    def cleared(self) -> int:
        """Bytes of the places that begin with zeros."""
        return sum(self._bytes(size) for _, size in self.sizes[: len(self.sizes) - self.unclear])

    def size(self, name: str) -> int:
        """Values of a place."""
        return dict(self.sizes)[name]

    def places(self, code: Code) -> dict[str, str]:
        """A pointer for each place, from the pointer `%scratch`."""
        places: dict[str, str] = {}
        offset = 0
        for name, size in self.sizes:
            places[name] = code.op(f"getelementptr i8, ptr %scratch, i64 {offset}", name)
            offset += self._bytes(size)
        return places


def frame_of(
    flow: Flow,
    parts: Mapping[str, Part],
    form: Form,
    width: int,
    slopes: int,
    further: Mapping[str, int] = MappingProxyType({}),
) -> Frame:
    """Room for the state, the inputs, the slopes, and what the programs carry."""
    sizes = {"time": 1, "dt": 1, "y": flow.ny, "u": flow.nu, "p": flow.np, "w": flow.nw, "z": flow.nz}
    sizes |= {"next": max(flow.ny, flow.nz), "stage": flow.ny, "kept": flow.ny + flow.nu}
    sizes |= dict.fromkeys(("size", "error", "tries", "sum", "step", "cursor", "failed"), 1)
    sizes |= {
        "before": flow.ny,
        "g": flow.ng,
        "g_new": flow.ng,
        "verdict": 2,
    }
    sizes |= dict.fromkeys(("u_before", "u_stopped"), flow.nu) if flow.changes_u and form.lanes > 1 else {}
    sizes |= {"call": 3} if flow.source == "call" else {}
    sizes |= {"u_new": flow.nu, "r": flow.nr} | dict.fromkeys(("low", "high"), max(flow.nu, flow.nr))
    sizes |= {f"k{i}": flow.ny for i in range(slopes)}
    sizes |= further
    sizes["carried"] = max([part.blocks.carried for part in parts.values()], default=0)
    own = _memory_of(flow, form.lanes)
    return Frame(tuple({**sizes, **own}.items()), form, width, len(own))


def _memory_of(flow: Flow, lanes: int) -> dict[str, int]:
    """Sizes of the places of `solve`: of one trajectory, whatever the number of lanes."""
    if flow.solve is None:
        return {}
    sizes = {
        "words": WORDS,
        "solved": lanes,
        "own": flow.nz,
        "memory": flow.solve.memory,
        "places": flow.solve.places,
    }
    return {name: -(-size // lanes) for name, size in sizes.items()}
