"""Rows of a batch to lanes and back, in LLVM text.

A batch is C-ordered: row after row. The code of a block wants entry k of all its rows side by side. `gather`
copies `rows` rows into that order by small transposes, `scatter` copies the results back. With fewer rows
than lanes, `gather` repeats the last row and `scatter` writes only the rows there are, so a remainder runs
the same code as everything else. A stride of zero repeats one row: so a parameter is shared by a batch.
"""

from __future__ import annotations

from kinpair.compiler.form import ATTRIBUTES
from kinpair.compiler.target import Real


def columns(entries: int, lanes: int) -> int:
    """Room for `entries` in lane order: whole tiles."""
    return -(-entries // lanes) * lanes


def layout_functions(real: Real, lanes: int) -> str:
    """LLVM text of `@gather(source, stride, rows, entries, lanes*)` and `@scatter`, the way back."""
    mask = f"<{lanes} x i1>"
    vector = f"<{lanes} x {real.llvm}>"
    kind = f"v{lanes}{real.suffix}.p0"
    declared = (
        f"declare {vector} @llvm.masked.load.{kind}(ptr, i32, {mask}, {vector})\n"
        f"declare void @llvm.masked.store.{kind}({vector}, ptr, i32, {mask})\n"
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
    )
    return declared + _gather(real, lanes) + _scatter(real, lanes)


def _network(vector: str, lanes: int, names: list[str]) -> tuple[list[str], list[str]]:
    """Lines that transpose `lanes` vectors by log₂(lanes) rounds of shuffles, and the resulting names."""
    lines: list[str] = []
    span = 1
    while span < lanes:
        wires = list(names)
        for i in range(lanes):
            if i & span:
                continue
            j = i + span
            for target, half in ((i, 0), (j, span)):
                pick = [_source(k, span, half, lanes) for k in range(lanes)]
                name = f"%{names[target][1:].split('.')[0]}.{span}"
                shuffle = f"<{lanes} x i32> <{', '.join(f'i32 {p}' for p in pick)}>"
                lines.append(f"  {name} = shufflevector {vector} {names[i]}, {vector} {names[j]}, {shuffle}")
                wires[target] = name
        names = wires
        span *= 2
    return lines, names


def _source(k: int, span: int, half: int, lanes: int) -> int:
    """Which entry of (a, b) goes to place k: runs of `span`, alternately of a and of b."""
    block, place = k // (2 * span) * 2 * span, k % span
    return block + half + place + (lanes if k & span else 0)


def _rows(lanes: int, clamp: bool) -> list[str]:
    """Addresses %p0, %p1, ... of the rows; those past the end are the last one again if `clamp`."""
    lines = ["  %last = sub i64 %rows, 1"]
    for k in range(lanes):
        row = f"{k}"
        if clamp:
            lines.append(f"  %row{k} = call i64 @llvm.umin.i64(i64 {k}, i64 %last)")
            row = f"%row{k}"
        lines.append(f"  %off{k} = mul i64 %stride, {row}")
        lines.append(f"  %p{k} = getelementptr i8, ptr %array, i64 %off{k}")
    return lines


def _gather(real: Real, lanes: int) -> str:
    vector = f"<{lanes} x {real.llvm}>"
    full: list[str] = []
    edge: list[str] = []
    for k in range(lanes):
        full.append(f"  %a{k} = getelementptr {real.llvm}, ptr %p{k}, i64 %k")
        full.append(f"  %x{k} = load {vector}, ptr %a{k}, align {real.size}")
        edge.append(f"  %b{k} = getelementptr {real.llvm}, ptr %p{k}, i64 %k")
        edge.append(
            f"  %y{k} = call {vector} @llvm.masked.load.v{lanes}{real.suffix}.p0"
            f"(ptr %b{k}, i32 {real.size}, <{lanes} x i1> %inside, {vector} zeroinitializer)"
        )
    for lines, letter in ((full, "x"), (edge, "y")):
        shuffles, names = _network(vector, lanes, [f"%{letter}{k}" for k in range(lanes)])
        lines += shuffles
        for k, name in enumerate(names):
            lines.append(f"  %{letter}c{k} = add i64 %k, {k}")
            lines.append(f"  %{letter}d{k} = getelementptr {vector}, ptr %lanes, i64 %{letter}c{k}")
            lines.append(f"  store {vector} {name}, ptr %{letter}d{k}, align {lanes * real.size}")
    return _walk("gather", lanes, _rows(lanes, clamp=True), full, edge)


def _scatter(real: Real, lanes: int) -> str:
    vector = f"<{lanes} x {real.llvm}>"
    full: list[str] = []
    edge: list[str] = []
    for lines, letter in ((full, "x"), (edge, "y")):
        for k in range(lanes):
            lines.append(f"  %{letter}c{k} = add i64 %k, {k}")
            lines.append(f"  %{letter}d{k} = getelementptr {vector}, ptr %lanes, i64 %{letter}c{k}")
            lines.append(f"  %{letter}{k} = load {vector}, ptr %{letter}d{k}, align {lanes * real.size}")
        shuffles, names = _network(vector, lanes, [f"%{letter}{k}" for k in range(lanes)])
        lines += shuffles
        for k, name in enumerate(names):
            lines.append(f"  %{letter}a{k} = getelementptr {real.llvm}, ptr %p{k}, i64 %k")
            if letter == "x":
                lines.append(f"  store {vector} {name}, ptr %xa{k}, align {real.size}")
                lines.append(f"  %n{k} = getelementptr i8, ptr %xa{k}, i64 %ahead")
                lines.append(f"  call void @llvm.prefetch.p0(ptr %n{k}, i32 1, i32 3, i32 1)")
                continue
            lines.append(f"  %here{k} = icmp ugt i64 %rows, {k}")
            lines.append(
                f"  %m{k} = select i1 %here{k}, <{lanes} x i1> %inside, <{lanes} x i1> zeroinitializer"
            )
            lines.append(
                f"  call void @llvm.masked.store.v{lanes}{real.suffix}.p0"
                f"({vector} {name}, ptr %ya{k}, i32 {real.size}, <{lanes} x i1> %m{k})"
            )
    ahead = (
        f"  %ahead = mul i64 %stride, {lanes}"  # the same place in the next block: it will be written soon
    )
    return _walk("scatter", lanes, [*_rows(lanes, clamp=False), ahead], full, edge)


def _walk(name: str, lanes: int, head: list[str], full: list[str], edge: list[str]) -> str:
    """A loop over tiles: `full` while a whole tile of whole rows is there, `edge` for what is left."""
    whole = f"icmp eq i64 %rows, {lanes}" if name == "scatter" else "icmp ne i64 %rows, 0"
    steps = f"<{', '.join(f'i64 {k}' for k in range(lanes))}>"
    nl = "\n"
    return f"""
define internal void @{name}(ptr %array, i64 %stride, i64 %rows, i64 %entries, ptr noalias %lanes) {ATTRIBUTES} {{
{nl.join(head)}
  %whole = {whole}
  br label %next
next:
  %k = phi i64 [ 0, %0 ], [ %after, %tile ], [ %after, %rim ]
  %after = add i64 %k, {lanes}
  %more = icmp ult i64 %k, %entries
  br i1 %more, label %test, label %end
test:
  %fits = icmp ule i64 %after, %entries
  %plain = and i1 %fits, %whole
  br i1 %plain, label %tile, label %rim
tile:
{nl.join(full)}
  br label %next
rim:
  %left = sub i64 %entries, %k
  %left1 = insertelement <{lanes} x i64> undef, i64 %left, i32 0
  %lefts = shufflevector <{lanes} x i64> %left1, <{lanes} x i64> undef, <{lanes} x i32> zeroinitializer
  %inside = icmp ult <{lanes} x i64> {steps}, %lefts
{nl.join(edge)}
  br label %next
end:
  ret void
}}
"""
