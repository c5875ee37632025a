"""The shortest time along a given path under limits of rate, acceleration, jerk and effort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.compiler.patience import patience
from kinpair.constraints.assembly.actuated import Actuators
from kinpair.errors import InputError, SingularError, expect, listed
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.units import units
from kinpair.motion.follow import follow
from kinpair.motion.frame_motion import FrameTrajectory
from kinpair.motion.joints import through
from kinpair.motion.laws import polynomial_law
from kinpair.motion.limits import RateLimits, limit_of, rate_limits
from kinpair.motion.pace import Pace
from kinpair.motion.pace_limits import Rows, Table, first_pace
from kinpair.motion.pieces import Pieces, Retimed, retimed, scaled, when
from kinpair.motion.rated import Satisfying, WithRates, motion_of
from kinpair.motion.trajectory import Motion, Trajectory

CALL = "kp.motion.fastest(m, path, actuators={})"
NODES = {2: 1500, 3: 600}  # with limits of jerk fewer: their rows have 1/h²
FEWEST = 20
JUMP = (0.0, 1e-6, 1e-6, 1e-3)  # of the size of a derivative: less is rounding, or from sampling
STILL = 1e-9  # of the largest |P′|: less is standing still
ROUNDS = 12
EXCEEDED = 1e-8  # of a limit, between nodes
PLACES = 101  # at which a path is judged before it is timed
OPEN = 1e-6  # [m], [rad]: a wider gap is no rounding of the samples of a path
GAUSS = np.polynomial.legendre.leggauss(8)


class Path(NamedTuple):
    """A path P over σ from 0 to 1 that leaves rest as σⁿ: its nodes, and P to P‴ there from both sides."""

    geometry: Trajectory
    law: Trajectory  # of the parameter of the path over σ
    degree: int  # n
    nodes: np.ndarray
    sides: tuple[Motion, ...]
    between: tuple[Motion, ...]  # in the middle between two nodes, as often as there are sides


def fastest(
    m: Mechanism,
    path: Trajectory | Mapping[str, FrameTrajectory | Trajectory],
    *,
    velocity: Any = None,
    acceleration: Any = None,
    jerk: Any = None,
    effort: Any = None,
    start: Any = None,
    parts: Mapping[str, str] | None = None,
    criterion: str = "rates",
    passive: bool = True,
    actuators: Actuators = None,
    nodes: int | None = None,
) -> Trajectory:
    """The motion along a path, from rest to rest, that takes the least time under limits.

    path: a motion of all coordinates, or of a frame as `follow` takes it; how fast that was to be followed is not used.
    Limits: a number, or one for each rate; those not given are taken from the file. Without a limit of jerk the
    accelerations jump (C¹), with one they do not (C²). The efforts are exact: gravity, springs, dampers and friction,
    loops with their actuated joints, or the `actuators`.

    SingularError where no time scaling can meet the limits: it names joint and time, and has the efforts at rest.

    Units: rates [rad/s] or [m/s], efforts [N m] or [N], duration [s].
    """
    expect("fastest", m, Mechanism)
    if nodes is not None and nodes < FEWEST:
        raise InputError(f"fastest: nodes is {nodes!r}; give {FEWEST} or more")
    given = {"velocity": velocity, "acceleration": acceleration, "jerk": jerk}
    limits, efforts = rate_limits("fastest", m.nv, given, m), limit_of("fastest", "effort", effort, m.nv, m)
    geometry, timing = _geometry(m, path, {"start": start, "parts": parts, "criterion": criterion})
    degree = 3 if np.isfinite(limits.jerk).any() else 2
    way = _way(m, geometry, degree, nodes or NODES[degree])
    _check_limited(m, way, limits, efforts)
    if m.closure is not None:
        m.actuated(way.sides[0].q[0], actuators=actuators, call=CALL)
    options = {"passive": passive, "actuators": actuators}
    at, between = (Rows(m, x, limits, efforts, options) for x in (way.sides, way.between))
    with patience(f"the fastest motion of {m.name!r}"):
        pace = _timed(*_paced(m, way, at, between, timing))
    move = motion_of(m, retimed(geometry, retimed(way.law, pace)))
    return motion_of(m, retimed(geometry, retimed(way.law, _stretched(pace, _share(move, limits)))))


def _paced(
    m: Mechanism, way: Path, at: Rows, between: Rows, timing: Trajectory | None
) -> tuple[Pace, np.ndarray]:
    """The fastest pace; limits at nodes are lowered by what is exceeded between them, until that is nothing."""
    pace = Pace(way.nodes, way.degree)
    middle = (way.nodes[1:] + way.nodes[:-1]) / 2
    root, tight = np.ones(len(way.nodes)), 0.0
    c = np.zeros(0)
    for _ in range(ROUNDS):
        rows = at.rows(root)
        limits = rows.limits._replace(constant=rows.limits.constant + tight)
        solution = pace.fastest(limits, first_pace(limits))
        if not solution.solved:
            _refuse(m, way, timing, rows, solution.r, at)
        c, before = solution.c, root
        root, inside = np.sqrt(pace.values(c, way.nodes)), np.sqrt(pace.values(c, middle))
        y = np.stack([pace.values(c, middle, k) for k in range(3)], axis=1)
        excess = np.maximum(between.rows(inside).limits.at(y), 0.0)
        tight = tight + np.maximum(np.pad(excess, ((1, 0), (0, 0))), np.pad(excess, ((0, 1), (0, 0))))
        if excess.max() <= EXCEEDED and at.agree(before, root):
            break
    return pace, c


def _geometry(m: Mechanism, path: Any, options: Mapping[str, Any]) -> tuple[Trajectory, Trajectory | None]:
    """The path without its law of time, and that law where it has one."""
    timing: Trajectory | None = None
    if isinstance(path, Mapping):
        targets, timing = _untimed(path)
        path = follow(m, targets, **options)
    while isinstance(path, Satisfying | WithRates):
        path = path.motion if isinstance(path, Satisfying) else path.coordinates
    if isinstance(path, Retimed):
        path, timing = path.path, path.law
    if path.shape != (m.nq,):
        raise InputError(
            f"fastest: the path has shape {path.shape}, and {m.name} has {m.nq} coordinates; give a path of all of "
            "them, or a dict of motions by name"
        )
    _check_closed(m, path)
    return path, timing


def _untimed(
    targets: Mapping[str, FrameTrajectory | Trajectory],
) -> tuple[Mapping[str, FrameTrajectory | Trajectory], Trajectory | None]:
    """Return the motions by name without their law of time, and that law; several motions must have it in common."""
    parts: dict[str, FrameTrajectory | Trajectory] = {}
    laws: list[Trajectory] = []
    for name, x in targets.items():
        motion = x.motion if isinstance(x, FrameTrajectory) else x
        laws += [motion.law] if isinstance(motion, Retimed) else []
        if isinstance(x, FrameTrajectory):
            parts[name] = FrameTrajectory(x.path, x.path)
        else:
            parts[name] = x.path if isinstance(x, Retimed) else x
    if len(targets) > 1 and not (len(laws) == len(targets) and _same_law(laws)):
        return targets, None
    return parts, laws[0] if laws else None


def _same_law(laws: Sequence[Trajectory]) -> bool:
    """True if all laws have the same course."""
    times = np.linspace(0.0, max(law.duration for law in laws), PLACES)
    first, *others = (law.at(times).q for law in laws)
    return all(np.array_equal(first, x) for x in others)


def _check_closed(m: Mechanism, path: Trajectory) -> None:
    """Refuse a path that breaks a constraint."""
    if m.closure is None:
        return
    places = np.linspace(0.0, path.duration, PLACES)
    q = rows(kinematics.normalised(m.model, columns(path.at(places).q)), PLACES)
    gaps = np.abs(m.constraint_residual(q)).max(axis=1, initial=0.0)
    worst = int(gaps.argmax())
    if gaps[worst] > OPEN:
        raise InputError(
            f"fastest: the path breaks the constraints at {places[worst]:.4g} of {path.duration:.4g}: "
            f"{m.closure.worst(m.constraint_residual(q[worst]))}; give a dict of motions by name, and the other joints "
            "follow",
            place=float(places[worst]),
        )


def _way(m: Mechanism, geometry: Trajectory, degree: int, count: int) -> Path:
    """Nodes, evenly between the places where a derivative of the path jumps."""
    law = scaled(polynomial_law(1.0, 2 * degree - 1), geometry.duration)
    jumps = _jumps(geometry, degree)
    inner = when(law, np.array(jumps)) if jumps else np.zeros(0)
    borders = np.concatenate([[0.0], inner, [1.0]])
    share = [
        np.linspace(a, b, max(4, round(count * (b - a))) + 1)[:-1] for a, b in pairwise(borders.tolist())
    ]
    nodes = np.append(np.concatenate(share), 1.0)
    P = motion_of(m, retimed(geometry, law))
    after = P.at(nodes, side="right")
    before = P.at(nodes, side="left")
    right = Motion(*(np.concatenate([x[:-1], y[-1:]]) for x, y in zip(after, before, strict=True)))
    left = Motion(*(np.concatenate([x[:1], y[1:]]) for x, y in zip(after, before, strict=True)))
    middle = P.at((nodes[1:] + nodes[:-1]) / 2)
    sides = (right, left) if jumps else (right,)
    return Path(geometry, law, degree, nodes, sides, (middle,) * len(sides))


def _jumps(path: Trajectory, degree: int) -> list[float]:
    """Places where a derivative of the path jumps that the accelerations, or the jerk, depend on."""
    knots = np.array(path.knots[1:-1])
    if not len(knots):
        return []
    before, after = (list(path.at(knots, side=side)) for side in ("left", "right"))
    size = [np.abs(x).max(initial=1e-300) for x in path.at(np.linspace(0.0, path.duration, NODES[2]))]
    jumps = [np.abs(a - b).max(1) > j * s for a, b, s, j in zip(after, before, size, JUMP, strict=True)]
    for order, what in ((1, "direction"), (2, "curvature"))[: degree - 1]:
        if jumps[order].any():
            place = float(knots[jumps[order].argmax()])
            raise InputError(
                f"fastest: the {what} of the path jumps at {place:.4g} of {path.duration:.4g}; "
                "blend the corner, or stop there",
                place=place,
            )
    return knots[jumps[degree]].tolist()


def _check_limited(m: Mechanism, way: Path, limits: RateLimits, efforts: np.ndarray) -> None:
    """Refuse a path that stands still, and one that nothing holds back."""
    P = motion_of(m, way.geometry).at(np.clip(way.law.at(way.nodes).q, 0.0, way.geometry.duration))
    speed = np.abs(P.qd).max(1)
    slow = speed <= STILL * speed.max()
    if slow.any():
        place = float(way.law.at(way.nodes[slow.argmax()]).q)
        raise InputError(
            f"fastest: the path rests at {place:.4g} of {way.geometry.duration:.4g}; give one that moves on "
            "throughout, such as a spline with free ends",
            place=place,
        )
    moves = np.abs(P.qd).max(0) > 0.0
    bounded = np.isfinite(limits.acceleration) & moves | np.isfinite(efforts)
    if not bounded.any():
        names = [name for name, moving in zip(m.v_names, moves, strict=True) if moving]
        raise InputError(
            f"fastest: joints {listed(names)} have no limit of acceleration or effort; give one of them, or a file "
            "that has it"
        )


def _refuse(
    m: Mechanism, way: Path, timing: Trajectory | None, table: Table, r: np.ndarray, at: Rows
) -> None:
    """No pace was found: where, and for which joint."""
    node, worst = np.unravel_index(int(r.argmax()), r.shape)
    rate, quantity = table.names[worst]
    place = float(way.law.at(way.nodes[node]).q)
    time = place if timing is None else float(when(timing, np.array([place]))[0])
    name, unit = m.v_names[rate], units(m.model)["tau"][rate]
    rest = at.at_rest()
    needs = f"the limit of {quantity} of {name!r} is not met"
    if quantity == "effort":
        needs = f"{name!r} needs {rest[node, rate]:.4g} {unit} to stay there, and its limit is {at.effort[rate]:.4g}"
    raise SingularError(
        f"fastest: no time scaling keeps {m.name} within its limits: at {time:.4g} s of the path {needs}",
        joint=name,
        time=time,
        place=place,
        q=way.sides[0].q,
        efforts_at_rest=rest,
    )


def _share(move: Trajectory, limits: RateLimits) -> float:
    """Factor how much longer the motion must take so that what its polynomials exceed between nodes is nothing."""
    knots = np.array(move.knots)
    time = (knots[:-1, None] + np.diff(knots)[:, None] * np.linspace(0.0, 1.0, 5)).ravel()
    x = move.at(time)
    return max(
        float((np.abs(part) / limit).max()) ** (1 / order)
        for order, part, limit in zip((1, 2, 3), x[1:], limits, strict=True)
    )


def _stretched(pace: Pieces, share: float) -> Pieces:
    longer = max(1.0, share)
    return replace(pace, duration=pace.duration * longer, knots=tuple(longer * t for t in pace.knots))


def _timed(pace: Pace, c: np.ndarray) -> Pieces:
    """σ over time."""
    h = np.diff(pace.nodes)
    inside = pace.nodes[:-1, None] + h[:, None] * (GAUSS[0] + 1) / 2
    spent = (h[:, None] * GAUSS[1] / 2 / np.sqrt(pace.values(c, inside))).sum(1)
    times = np.append(0.0, np.cumsum(spent))
    y, first, second = (pace.values(c, pace.nodes, k) for k in range(3))
    rates = [pace.nodes, np.sqrt(y), first / 2, second * np.sqrt(y) / 2][: pace.degree + 1]
    return replace(through(times, *(x[:, None] for x in rates)), shape=())
