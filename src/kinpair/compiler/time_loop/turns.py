"""Sines and cosines of the entries of a state, many at once, before the scalar code that uses them.

The code of one trajectory is scalar. What it needs of sines and cosines is known beforehand where the angles are
entries of the state: they are computed in whole vectors and lie where a value carried between two pieces of code would.
The state has just been written in whole vectors and is read so: gathered one by one, as `Instructions` does for the
arguments of a single call (`Form.turning`), the angles made an rk4 step of a six-joint arm a quarter slower.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kinpair.compiler.instructions import FEW
from kinpair.compiler.llvm import Blocks, straight_blocks
from kinpair.compiler.program import Program
from kinpair.compiler.schedule import Piece, Plan, schedule
from kinpair.compiler.target import Form
from kinpair.compiler.time_loop.code import Code


@dataclass(frozen=True, slots=True)
class Turns:
    """Which wide vectors of the state have angles, and where in scratch memory their cosines begin."""

    vectors: tuple[int, ...]
    width: int
    cosines: int

    def text(self, name: str, form: Form) -> str:
        """`@name.turns(state, scratch)`."""
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
