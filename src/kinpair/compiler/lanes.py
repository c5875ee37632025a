"""Numbers of a batch between rows and lanes: LLVM text of the functions that transpose them.

A batch is C-ordered: row after row. The code of a block wants entry k of all its rows side by side. `gather`
copies `rows` rows into that order by small transposes, `scatter` copies the results back. With fewer rows
than lanes, `gather` repeats the last row and `scatter` writes only the rows there are, so a remainder runs
the same code as everything else. A stride of zero repeats one row: so a parameter is shared by a batch.

`spread` is `scatter` for a result that is mostly zero, such as a matrix of a tree. A table has the tiles (runs of as
many entries as there are lanes): first those with values, which are transposed, then those of zeros, which are written
without a look at the lanes. Half of the time of a mass matrix was spent on transposing its zeros.
"""

from __future__ import annotations

from collections.abc import Collection

from kinpair.compiler.target import ATTRIBUTES, Real

NL = "\n"


def layout_functions(real: Real, lanes: int) -> str:
    """LLVM text of `@gather(source, stride, rows, entries, lanes*)`, and of `@scatter` and `@spread`, the reverse."""
    mask = f"<{lanes} x i1>"
    vector = f"<{lanes} x {real.llvm}>"
    kind = f"v{lanes}{real.suffix}.p0"
    declared = (
        f"declare {vector} @llvm.masked.load.{kind}(ptr, i32, {mask}, {vector})\n"
        f"declare void @llvm.masked.store.{kind}({vector}, ptr, i32, {mask})\n"
        "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
    )
    return declared + _gather(real, lanes) + _scatter(real, lanes) + _spread(real, lanes)


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
    """Source of place k in (a, b): runs of `span`, alternately of a and of b."""
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
    edge: list[str] = []
    vector = f"<{lanes} x {real.llvm}>"
    shuffles, names = _tile(real, lanes, "y")
    edge += shuffles
    for k, name in enumerate(names):
        edge += [
            f"  %ya{k} = getelementptr {real.llvm}, ptr %p{k}, i64 %k",
            f"  %here{k} = icmp ugt i64 %rows, {k}",
            f"  %m{k} = select i1 %here{k}, <{lanes} x i1> %inside, <{lanes} x i1> zeroinitializer",
            f"  call void @llvm.masked.store.v{lanes}{real.suffix}.p0"
            f"({vector} {name}, ptr %ya{k}, i32 {real.size}, <{lanes} x i1> %m{k})",
        ]
    head = [*_rows(lanes, clamp=False), _ahead(lanes)]
    full, names = _tile(real, lanes, "x")
    return _walk("scatter", lanes, head, full + _stored(real, lanes, names, "x"), edge)


def _ahead(lanes: int) -> str:
    """The distance to the same row of the next block: it will be written soon."""
    return f"  %ahead = mul i64 %stride, {lanes}"


def _tile(real: Real, lanes: int, letter: str, entry: str = "%k") -> tuple[list[str], list[str]]:
    """Lines that load the tile of an entry from the lanes and transpose it, and the names of its rows."""
    vector, lines = f"<{lanes} x {real.llvm}>", list[str]()
    for k in range(lanes):
        lines.append(f"  %{letter}c{k} = add i64 {entry}, {k}")
        lines.append(f"  %{letter}d{k} = getelementptr {vector}, ptr %lanes, i64 %{letter}c{k}")
        lines.append(f"  %{letter}{k} = load {vector}, ptr %{letter}d{k}, align {lanes * real.size}")
    shuffles, names = _network(vector, lanes, [f"%{letter}{k}" for k in range(lanes)])
    return lines + shuffles, names


def _stored(real: Real, lanes: int, names: list[str], letter: str, entry: str = "%k") -> list[str]:
    """Lines that write the rows of a tile, and fetch where those of the next block will be."""
    lines: list[str] = []
    for k, name in enumerate(names):
        lines += [
            f"  %{letter}a{k} = getelementptr {real.llvm}, ptr %p{k}, i64 {entry}",
            f"  store <{lanes} x {real.llvm}> {name}, ptr %{letter}a{k}, align {real.size}",
            f"  %{letter}n{k} = getelementptr i8, ptr %{letter}a{k}, i64 %ahead",
            f"  call void @llvm.prefetch.p0(ptr %{letter}n{k}, i32 1, i32 3, i32 1)",
        ]
    return lines


def _spread(real: Real, lanes: int) -> str:
    moved, names = _tile(real, lanes, "v", "%v.k")
    moved += _stored(real, lanes, names, "v", "%v.k")
    zeros = _stored(real, lanes, ["zeroinitializer"] * lanes, "z", "%z.k")
    head = [*_rows(lanes, clamp=False), _ahead(lanes)]
    return f"""
define internal void @spread(ptr %array, i64 %stride, i64 %rows, i64 %entries, ptr noalias %lanes, \
ptr %tiles, i64 %filled, i64 %count) {ATTRIBUTES} {{
  %whole = icmp eq i64 %rows, {lanes}
  br i1 %whole, label %start, label %all
all:
  call void @scatter(ptr %array, i64 %stride, i64 %rows, i64 %entries, ptr %lanes)
  ret void
start:
{NL.join(head)}
{_over_tiles("v", "start", "0", "%filled", moved)}
{_over_tiles("z", "v.end", "%filled", "%count", zeros)}
  %done = mul i64 %count, {lanes}
  %rest = sub i64 %entries, %done
  %array.rest = getelementptr {real.llvm}, ptr %array, i64 %done
  %lanes.rest = getelementptr <{lanes} x {real.llvm}>, ptr %lanes, i64 %done
  call void @scatter(ptr %array.rest, i64 %stride, i64 %rows, i64 %rest, ptr %lanes.rest)
  ret void
}}
"""


def _over_tiles(x: str, before: str, first: str, last: str, lines: list[str]) -> str:
    """Write a loop over places of the table; `%x.k` is the entry where a tile begins."""
    return f"""  br label %{x}.next
{x}.next:
  %{x}.n = phi i64 [ {first}, %{before} ], [ %{x}.after, %{x}.tile ]
  %{x}.more = icmp ult i64 %{x}.n, {last}
  br i1 %{x}.more, label %{x}.tile, label %{x}.end
{x}.tile:
  %{x}.at = getelementptr i32, ptr %tiles, i64 %{x}.n
  %{x}.entry = load i32, ptr %{x}.at
  %{x}.k = zext i32 %{x}.entry to i64
{NL.join(lines)}
  %{x}.after = add i64 %{x}.n, 1
  br label %{x}.next
{x}.end:"""


def tiles(zeros: Collection[int], entries: int, lanes: int) -> tuple[list[int], list[int]]:
    """First entries of the whole tiles of a result: of those with values, and of those whose entries are all zero."""
    starts = range(0, entries - lanes + 1, lanes)
    blank = [k for k in starts if all(i in zeros for i in range(k, k + lanes))]
    return sorted(set(starts) - set(blank)), blank


def _walk(name: str, lanes: int, head: list[str], full: list[str], edge: list[str]) -> str:
    """A loop over tiles: `full` while a whole tile of whole rows is there, `edge` for what is left."""
    whole = f"icmp eq i64 %rows, {lanes}" if name == "scatter" else "icmp ne i64 %rows, 0"
    steps = f"<{', '.join(f'i64 {k}' for k in range(lanes))}>"
    return f"""
define internal void @{name}(ptr %array, i64 %stride, i64 %rows, i64 %entries, ptr noalias %lanes) {ATTRIBUTES} {{
{NL.join(head)}
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
{NL.join(full)}
  br label %next
rim:
  %left = sub i64 %entries, %k
  %left1 = insertelement <{lanes} x i64> undef, i64 %left, i32 0
  %lefts = shufflevector <{lanes} x i64> %left1, <{lanes} x i64> undef, <{lanes} x i32> zeroinitializer
  %inside = icmp ult <{lanes} x i64> {steps}, %lefts
{NL.join(edge)}
  br label %next
end:
  ret void
}}
"""
