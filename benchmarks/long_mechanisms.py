"""Long mechanisms: time per body of forward and inverse dynamics, serial chains and binary trees, next to Pinocchio.

python -m benchmarks.long_mechanisms [LARGEST] [PICTURE]

Chains have equal links: planar ones, and general ones with skew axes and full inertia tensors. The trees have two
bodies on each body. One thread, one state a call; the rivals take turns in the same run, and the shortest of several
turns counts. Pinocchio's data grow with the cube of the joints: it takes part up to PINOCCHIO of them. The table gives
the error of inverse of forward dynamics as a part of the largest effort that the motion needs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import kinpair as kp
from benchmarks.chains import dh_chain
from benchmarks.planning import Row as Figure
from benchmarks.timing import race, repeated

PINOCCHIO = 300  # joints
SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
FEWER = 30_000  # bodies of general chains and trees: they are built body by body
SHAPES = {"planar chain": "#2f6db5", "general chain": "#2e8b57", "binary tree": "#c2571a"}
TURNS = 5
QUANTITIES = ("inverse_dynamics", "forward_dynamics")
SLOPE, WITHIN, ONE_STATE = (
    1.05,
    2.0,
    1.5,
)  # demanded: exponent, spread of the time per body, times Pinocchio's
FORWARD = {100: 25.0, 300: 70.0, 3_000: 800.0}  # microseconds demanded of forward dynamics, by links


@dataclass(frozen=True, slots=True)
class Row:
    """One size of one shape: seconds a call by quantity, first call with compiling, those of Pinocchio, error."""

    shape: str
    bodies: int
    ours: dict[str, float]
    first: dict[str, float]
    theirs: dict[str, float]
    error: float


def chain(n: int) -> kp.Mechanism:
    """n equal links of 1 cm and 10 g on revolute joints."""
    return kp.build(
        kp.Builder(f"chain of {n}").chain("link", n=n, length=0.01 * n, mass=0.01 * n, joint="revolute")
    )


def binary_tree(n: int) -> kp.Mechanism:
    """n equal links, two on each."""
    builder = kp.Builder(f"tree of {n}")
    for k in range(1, n + 1):
        builder.link(f"link {k}", mass=0.01, com=(0.0, 0.0, -0.005), inertia=(1e-6, 1e-6, 1e-7))
        parent = f"link {k // 2}" if k > 1 else "ground"
        builder.joint(
            f"joint {k}", "revolute", parent, f"link {k}",
            xyz=(0.005 if k % 2 else -0.005, 0.0, -0.01), axis=(0.0, 1.0, 0.0),
        )  # fmt: skip
    return kp.build(builder)


def measured(shape: str, n: int, mechanism: kp.Mechanism) -> Row:
    """Times of one mechanism, and of Pinocchio's where it can take part."""
    rng = np.random.default_rng(n)
    q, qd = 0.1 * rng.normal(size=mechanism.nq), 1e-3 * rng.normal(size=mechanism.nv)
    x = rng.normal(size=mechanism.nv)
    first: dict[str, float] = {}
    calls: dict[tuple[str, str], Callable[[], object]] = {}
    for quantity in QUANTITIES:
        start = process_time()
        kernel = mechanism.kernel(quantity, rolled=True).compile("one")
        first[quantity] = process_time() - start
        kernel(q, qd, x)
        calls["ours", quantity] = lambda kernel=kernel: kernel(q, qd, x)
    qdd = mechanism.kernel("forward_dynamics", rolled=True)(q, qd, x)[0]
    inverse = mechanism.kernel("inverse_dynamics", rolled=True)
    scale = max(1.0, np.abs(inverse(q, qd, 0.0 * qd)).max())
    error = float(np.abs(inverse(q, qd, qdd) - x).max() / scale)
    if shape != "binary tree" and n <= PINOCCHIO:
        calls |= _pinocchio(mechanism, q, qd, x)
    times = max(1, 3_000 // n)
    raced = race({key: repeated(call, times=times) for key, call in calls.items()}, TURNS)
    seconds = {key: t / times for key, t in raced.items()}
    ours, theirs = (
        {quantity: t for (who, quantity), t in seconds.items() if who == name}
        for name in ("ours", "Pinocchio")
    )
    return Row(shape, n, ours, first, theirs, error)


def pinocchio_model(mechanism: kp.Mechanism) -> Any:
    """A chain of hinges in Pinocchio."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array(mechanism.model.gravity)
    for i in mechanism.model.moving:
        body = mechanism.model.body[i]
        place = pin.SE3(np.array(body.R_seat), np.array(body.a_seat))
        joint = model.addJoint(i - 1, pin.JointModelRZ(), place, f"joint {i}")
        inertia = pin.Inertia(float(body.m), np.array(body.d), np.array(body.I))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    return model


def _pinocchio(
    mechanism: kp.Mechanism, q: np.ndarray, qd: np.ndarray, x: np.ndarray
) -> dict[tuple[str, str], Callable[[], object]]:
    import pinocchio as pin

    model = pinocchio_model(mechanism)
    data = model.createData()
    mine = mechanism.kernel("inverse_dynamics", rolled=True)(q, qd, x)
    assert np.abs(pin.rnea(model, data, q, qd, x) - mine).max() < 1e-9 * max(1.0, np.abs(mine).max())
    return {
        ("Pinocchio", "inverse_dynamics"): lambda: pin.rnea(model, data, q, qd, x),
        ("Pinocchio", "forward_dynamics"): lambda: pin.aba(model, data, q, qd, x),
    }


def slope(rows: list[Row], quantity: str) -> float:
    """Exponent of the time over the bodies, from 100 bodies on."""
    long = [row for row in rows if row.bodies >= 100]
    x, y = np.log([row.bodies for row in long]), np.log([row.ours[quantity] for row in long])
    return float(np.polyfit(x, y, 1)[0]) if len(long) > 1 else float("nan")


def draw(rows: list[Row], path: Path) -> None:
    """Nanoseconds a body over the bodies, a panel a quantity."""
    from matplotlib.figure import Figure as Canvas

    figure = Canvas(figsize=(9.0, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for panel, quantity in zip(panels, QUANTITIES, strict=True):
        for shape, colour in SHAPES.items():
            own = [row for row in rows if row.shape == shape]
            label = f"kinpair, {shape} (slope {slope(own, quantity):.2f})"
            n = [row.bodies for row in own]
            panel.loglog(
                n, [1e9 * row.ours[quantity] / row.bodies for row in own], "o-", color=colour, label=label
            )
            theirs = [row for row in own if row.theirs]
            times = [1e9 * row.theirs[quantity] / row.bodies for row in theirs]
            if theirs:
                n = [row.bodies for row in theirs]
                panel.loglog(n, times, "s--", color=colour, alpha=0.5, label=f"Pinocchio, {shape}")
        panel.set(title=quantity.replace("_", " "), xlabel="bodies", ylim=(10, 3000))
        panel.grid(alpha=0.3)
        panel.legend(frameon=False, fontsize=8)
    panels[0].set_ylabel("time of a call per body [ns]")
    figure.savefig(path, dpi=150)


def rows(largest: int) -> Iterator[Row]:
    """A row a shape and size; general chains and trees up to FEWER bodies."""
    for shape, make in zip(SHAPES, (chain, dh_chain, binary_tree), strict=True):
        most = largest if make is chain else min(largest, FEWER)
        for n in (n for n in SIZES if n <= most):
            yield measured(shape, n, make(n))


def figures(quick: bool) -> Iterator[Figure]:
    """Slopes, times at some sizes, compile time, ratios to Pinocchio, errors."""
    every = list(rows(10_000 if quick else SIZES[-1]))
    for shape, quantity in product(SHAPES, QUANTITIES):
        own = [row for row in every if row.shape == shape]
        name = f"{quantity.replace('_', ' ')}, {shape}"
        yield Figure(f"{name}: slope of the time from 100 bodies on", slope(own, quantity), "", SLOPE)
        each = [row.ours[quantity] / row.bodies for row in own if row.bodies >= 100]
        yield Figure(f"{name}: time per body, largest by least", max(each) / min(each), "", WITHIN)
        ratios = [row.theirs[quantity] / row.ours[quantity] for row in own if row.theirs]
        if ratios:
            what = f"{name}: times of Pinocchio by ours, one state, least of 10 to {PINOCCHIO}"
            yield Figure(what, min(ratios), "", ONE_STATE, above=True)
        longest = own[-1]
        yield Figure(f"{name}: one call, {longest.bodies} bodies", longest.ours[quantity], "s", 1.0)
    general = {row.bodies: row.ours["forward_dynamics"] for row in every if row.shape == "general chain"}
    for n, demanded in FORWARD.items():
        yield Figure(f"forward dynamics, general chain of {n}", 1e6 * general[n], "µs", demanded)
    yield Figure("compiling of loops, longest", max(max(row.first.values()) for row in every), "s", 1.0)
    yield Figure("forward, then inverse dynamics, largest error", max(row.error for row in every), "", 1e-6)


def main(largest: int = 100_000, picture: str = "") -> None:
    """Print a row for each size as it is measured; draw the picture."""
    every: list[Row] = []
    print(
        "shape           bodies  inverse µs  ns/body   forward µs  ns/body  compile s   Pinocchio inv / fwd µs   error"
    )
    for row in rows(largest):
        every.append(row)
        n, (a, b) = row.bodies, (row.ours[quantity] for quantity in QUANTITIES)
        theirs = " / ".join(f"{1e6 * t:.1f}" for t in row.theirs.values()) or "-"
        print(
            f"{row.shape:13} {n:8} {1e6 * a:11.1f} {1e9 * a / n:8.0f} {1e6 * b:12.1f} {1e9 * b / n:8.0f} "
            f"{max(row.first.values()):10.2f}   {theirs:>22}   {row.error:.1e}",
            flush=True,
        )
    for shape in SHAPES:
        own = [row for row in every if row.shape == shape]
        slopes = ", ".join(
            f"{quantity.replace('_', ' ')} {slope(own, quantity):.3f}" for quantity in QUANTITIES
        )
        print(f"slope of a {shape} from 100 bodies on: {slopes}")
    if picture:
        draw(every, Path(picture))


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:2]), *sys.argv[2:3])
