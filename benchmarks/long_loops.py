"""Many loops: time of forward dynamics per loop, and the width of the elimination.

python -m benchmarks.long_loops [LARGEST]

Rows of four-bars next to each other on the ground, four-bars on the coupler of the one before, chains with both ends
fixed, and nets. Compared with the time of the same tree without its loops, in the same run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np

import kinpair as kp
from benchmarks.timing import race, repeated
from kinpair.constraints.assembly.long import LongLoops

TURNS = 5


def four_bars(n: int, *, stacked: bool = False) -> kp.Builder:
    """n four-bars in a row on the ground, or each on the coupler of the one before."""
    builder, base = kp.Builder(f"{n} four-bars"), "ground"
    for k in range(n):
        x = 0.0 if stacked else 0.5 * k
        builder.link(f"crank {k}", mass=0.1, com=(0.0, 0.0, 0.1), inertia=(1e-3, 1e-3, 1e-4))
        builder.link(f"coupler {k}", mass=0.2, com=(0.15, 0.0, 0.0), inertia=(1e-4, 2e-3, 2e-3))
        builder.link(f"rocker {k}", mass=0.1, com=(0.0, 0.0, 0.1), inertia=(1e-3, 1e-3, 1e-4))
        builder.joint(f"a {k}", "revolute", base, f"crank {k}", xyz=(x, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
        builder.joint(
            f"b {k}", "revolute", f"crank {k}", f"coupler {k}", xyz=(0.0, 0.0, 0.2), axis=(0.0, 1.0, 0.0)
        )
        builder.joint(
            f"c {k}", "revolute", base, f"rocker {k}", xyz=(x + 0.3, 0.0, 0.0), axis=(0.0, 1.0, 0.0)
        )
        builder.loop(
            f"d {k}", "pin", f"coupler {k}", f"rocker {k}",
            xyz=(0.3, 0.0, 0.0), child_xyz=(0.0, 0.0, 0.2), axis=(0.0, 1.0, 0.0),
        )  # fmt: skip
        base = f"coupler {k}" if stacked else "ground"
    return builder


def fixed_chain(n: int, span: float = 0.6, joint: str = "universal") -> kp.Builder:
    """A chain of n links, 1 m and 1 kg together, with both ends fixed at equal height."""
    builder = kp.Builder(f"fixed chain of {n}").chain("link", n=n, length=1.0, mass=1.0, joint=joint)
    kind, axis = ("pin", {"axis": (0.0, 1.0, 0.0)}) if joint == "revolute" else ("spherical", {})
    return builder.loop("far end", kind, "ground", "link_end", xyz=(span, 0.0, 0.0), **axis)


def arc(n: int, part: int = 0, parts: int = 2) -> np.ndarray:
    """Coordinates of a chain of n joints of so many parts each as an arc between its ends, 0.6 of its length apart."""
    q, half = np.zeros((n, parts)), 1.6602
    q[0, part], q[1:, part] = half - np.pi / 2, -2.0 * half / n
    return q.reshape(-1)


def net(rows: int, columns: int, mesh: float = 0.1) -> kp.Builder:
    """A net that hangs from its upper left corner: a spine, rows to the right, and links that close (rows − 1) columns
    meshes between neighbouring rows."""
    builder, spine = kp.Builder(f"net of {rows} × {columns}"), "ground"
    down = {"mass": 0.01, "com": (0.0, 0.0, -mesh / 2), "inertia": (1e-5, 1e-5, 1e-6)}
    right = {"mass": 0.01, "com": (mesh / 2, 0.0, 0.0), "inertia": (1e-6, 1e-5, 1e-5)}
    axis, below, aside = (0.0, 1.0, 0.0), (0.0, 0.0, -mesh), (mesh, 0.0, 0.0)
    for j in range(rows):
        builder.link(f"spine {j}", **down)
        builder.joint(
            f"s {j}", "revolute", spine, f"spine {j}", xyz=below if j else (0.0, 0.0, 0.0), axis=axis
        )
        spine = last = f"spine {j}"
        for k in range(columns):
            builder.link(f"row {j} {k}", **right)
            builder.joint(
                f"r {j} {k}", "revolute", last, f"row {j} {k}", xyz=aside if k else below, axis=axis
            )
            last = f"row {j} {k}"
            if j + 1 < rows:
                builder.link(f"hanging {j} {k}", **down)
                builder.joint(f"h {j} {k}", "revolute", last, f"hanging {j} {k}", xyz=aside, axis=axis)
    for j in range(rows - 1):
        for k in range(columns):
            builder.loop(
                f"mesh {j} {k}", "pin", f"hanging {j} {k}", f"row {j + 1} {k}", xyz=below, child_xyz=aside, axis=axis
            )  # fmt: skip
    return builder


SHAPES: dict[str, tuple[Callable[[int], kp.Builder], tuple[int, ...]]] = {
    "four-bars in a row": (four_bars, (50, 200, 1000)),
    "four-bars on each other": (lambda n: four_bars(n, stacked=True), (50, 200, 1000)),
    "chain with both ends fixed": (fixed_chain, (200, 1_000, 10_000)),
    "net, 4 meshes wide": (lambda n: net(n, 4), (26, 52)),
}


def measured(shape: str, n: int) -> str:
    """A row of the table."""
    make, _ = SHAPES[shape]
    closed = kp.build(make(n))
    assert closed.closure is not None
    long = LongLoops(closed.closure)
    rng = np.random.default_rng(0)
    start = perf_counter()
    guess = arc(n) if make is fixed_chain else np.zeros(closed.nq)
    q = closed.assemble(guess + 0.01 / n * np.sin(np.arange(closed.nq)))
    qd = closed.velocities(q, guess=0.1 * rng.normal(size=closed.nv))
    tau = 0.1 * rng.normal(size=closed.nv)
    closed.forward_dynamics(q, qd, tau)
    first = perf_counter() - start
    tree = kp.build(make(n), constraints=False)
    tree.forward_dynamics(q, qd, tau)
    times = max(1, 300 // n)
    calls = {
        "closed": repeated(lambda: closed.forward_dynamics(q, qd, tau), times=times),
        "tree": repeated(lambda: tree.forward_dynamics(q, qd, tau), times=times),
    }
    seconds = {name: t / times for name, t in race(calls, TURNS).items()}
    loops, width = long.fill
    bodies, time = len(closed.model.moving), seconds["closed"]
    return (
        f"| {shape} | {bodies} | {loops} | {width} | {1e6 * time:.0f} | {1e9 * time / bodies:.0f} | "
        f"{time / seconds['tree']:.1f} | {first:.1f} |"
    )


def main(largest: int = 1_000_000) -> None:
    """Print a row for each size as it is measured."""
    heads = ("shape", "bodies", "loops", "rows open at one body", "forward dynamics [µs]", "per body [ns]")
    print(f"| {' | '.join(heads)} | times the open tree | first call, assembled [s] |")
    print("|---|---|---|---|---|---|---|---|")
    for shape, (_, sizes) in SHAPES.items():
        for n in (n for n in sizes if n <= largest):
            print(measured(shape, n), flush=True)


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:2]))
