"""Whole modules of LLVM text: for one state, and for as many states at once as the machine has lanes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kinpair.compiler.form import ATTRIBUTES, Form
from kinpair.compiler.instructions import support
from kinpair.compiler.layout import columns, layout_functions
from kinpair.compiler.target import Real

METADATA = '!0 = !{}\n!1 = !{!"branch_weights", i32 1, i32 1000000}'
CLEAR = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """What a module is made around: the code that computes one block of states.

    `arrays` are `in0`, `in1`, ..., `out0`, ... with their entries, `carried` the values kept in scratch
    memory, `used` the operations, `data` the bytes that the code reads, by symbol. `text` writes `@block.<lanes>`,
    which takes a pointer for each array and one to the scratch memory, all in lane order.
    """

    arrays: dict[str, int]
    carried: int
    used: Collection[str]
    text: Callable[[Form], str]
    cleared: tuple[str, ...] = ()  # arrays of results whose zeros the code does not write
    data: Callable[[Real], Mapping[str, bytes]] = lambda _: {}


def parameters(arrays: Iterable[str], attributes: bool = True) -> str:
    """The parameters of a block."""
    notes = {"in": " noalias readonly", "ou": " noalias", "sc": " noalias"} if attributes else {}
    return ", ".join(f"ptr{notes.get(name[:2], '')} %{name}" for name in (*arrays, "scratch"))


def one_module(blocks: Blocks, real: Real, lanes: int) -> str:
    """`@one` for a single state; sines and cosines of its angles as many at once as there are lanes."""
    form = Form(real, 1, turning=lanes)
    text = blocks.text(form)
    helped = form if f"@sincos.{lanes}(" in text else Form(real, 1)
    return "\n".join([METADATA, CLEAR, *support(blocks.used, helped), text, _one(blocks, form)])


def batch_module(blocks: Blocks, real: Real, lanes: int) -> str:
    """`@batch` for many states."""
    form = Form(real, lanes)
    parts = [METADATA, CLEAR, *support(blocks.used, form), blocks.text(form)]
    return "\n".join([*parts, layout_functions(real, lanes), _batch(blocks, form)])


def scratch_bytes(blocks: Blocks, form: Form) -> int:
    """Room `@batch` needs: every array in lane order, and the values carried."""
    return form.bytes * (sum(columns(size, form.lanes) for size in blocks.arrays.values()) + blocks.carried)


def _one(blocks: Blocks, form: Form) -> str:
    """`@one(pointers*, scratch)`: one state; the pointers are those of the arrays themselves."""
    names = list(blocks.arrays)
    lines = _unpack(names, "pointers")
    lines += [_cleared(f"%{name}", form.bytes * blocks.arrays[name]) for name in blocks.cleared]
    arguments = ", ".join(f"ptr %{name}" for name in [*names, "scratch"])
    call = f"  call void @block.{form.lanes}({arguments})"
    return "\n".join(
        [f"define void @one(ptr %pointers, ptr %scratch) {ATTRIBUTES} {{", *lines, call, "  ret void", "}"]
    )


def _unpack(names: Iterable[str], table: str) -> list[str]:
    """Load the entries of a table of pointers."""
    lines: list[str] = []
    for k, name in enumerate(names):
        lines.append(f"  %{name}.at = getelementptr ptr, ptr %{table}, i64 {k}")
        lines.append(f"  %{name} = load ptr, ptr %{name}.at")
    return lines


def _cleared(pointer: str, size: int) -> str:
    return f"  call void @llvm.memset.p0.i64(ptr {pointer}, i8 0, i64 {size}, i1 false)"


def _batch(blocks: Blocks, form: Form) -> str:
    """`@batch(pointers*, strides*, rows, scratch)`: gather a block, compute, scatter; strides in bytes."""
    lanes = form.lanes
    head, ins, outs, arguments, offset = list[str](), list[str](), list[str](), list[str](), 0
    head += _unpack(blocks.arrays, "pointers")
    for k, (name, size) in enumerate(blocks.arrays.items()):
        head += [
            f"  %{name}.s = getelementptr i64, ptr %strides, i64 {k}",
            f"  %{name}.stride = load i64, ptr %{name}.s",
            f"  %{name}.lanes = getelementptr i8, ptr %scratch, i64 {offset}",
        ]
        offset += form.bytes * columns(size, lanes)
        if name in blocks.cleared:  # once: no block writes there
            head.append(_cleared(f"%{name}.lanes", form.bytes * size))
        move = [
            f"  %{name}.off = mul i64 %row, %{name}.stride",
            f"  %{name}.now = getelementptr i8, ptr %{name}, i64 %{name}.off",
            f"  call void @{'gather' if name.startswith('in') else 'scatter'}(ptr %{name}.now, "
            f"i64 %{name}.stride, i64 %here, i64 {size}, ptr %{name}.lanes)",
        ]
        (ins if name.startswith("in") else outs).extend(move)
        arguments.append(f"ptr %{name}.lanes")
    head.append(f"  %carried = getelementptr i8, ptr %scratch, i64 {offset}")
    call = f"  call void @block.{lanes}({', '.join([*arguments, 'ptr %carried'])})"
    return "\n".join(
        [
            f"define void @batch(ptr %pointers, ptr %strides, i64 %rows, ptr %scratch) {ATTRIBUTES} {{",
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
