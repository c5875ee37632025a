"""The transmission function of a linkage with one freedom: how an output follows an input (after Vukobratović).

On the curve of positions q(s) with direction t, dq = t ds:

    i = dq_out/dq_in = t_out / t_in                    velocity ratio; of a frame t_out = J t     (TF3)
    τ_in q̇_in = τ_out q̇_out,   τ_out/τ_in = 1/i        force ratio of a linkage without loss      (TF4)
    t_in = 0: the input stands, i → ∞;   t_out = 0: the output stands, i = 0        dead points   (TF5)

The positions of a mechanism with one freedom: a curve, followed through the points where a coordinate stands still.

    A(q) t = 0,   |t| = 1                              direction of the curve φ(q) = 0           (TF1)
    q ← q ⊕ h t,   then [A; tᵀ] δ = −[φ; 0],  q ← q ⊕ δ    until it closes                       (TF2)

The row tᵀ keeps the step along the curve, so no coordinate is special and none has to grow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.rounding import RANK
from kinpair.constraints.solvers.rank_revealing import lengths, null_space
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.formulations.kinematics import moved, normalised, poses
from kinpair.mechanism import Mechanism
from kinpair.viewer.curves import draw_curves
from kinpair.viewer.looks import Panel

LONGEST, SHORTEST = 0.05, 1e-7  # steps along the curve [rad] or [m]
TURN = 0.1  # the direction turns by less than this angle in a step [rad]
TRIALS, STILL, CLOSED = 12, 1e-13, 1e-10  # of Newton: steps, the last one, what may stay open [rad] or [m]
HALVINGS = 200


class Point(NamedTuple):
    """A position (nq,) and the direction of the curve there, along the rates (nv,), of length one."""

    q: np.ndarray
    t: np.ndarray


class Segment(NamedTuple):
    """Two neighbours on the curve, the second a step from the first."""

    here: Point
    step: float
    there: Point


@dataclass(frozen=True, slots=True, eq=False)
class Positions:
    """The curve of a mechanism."""

    mechanism: Mechanism

    def start(self, q: Any) -> np.ndarray:
        """The closed position nearest the guess; errors if the freedom there is not one."""
        m = self.mechanism
        q_start = m.assemble(m.neutral() if q is None else q)
        if len(m.constraint_residual(q_start)) < len(m.constraint_matrix(q_start)):
            raise InputError(
                f"{m.name}: has constraints on rates alone (rolling, knife edges, momentum), and no curve of positions"
            )
        mobility = m.mobility(q_start)
        if mobility.freedom != 1:
            elsewhere = "; it is singular here, try another guess q" if mobility.singular else ""
            raise InputError(
                f"{m.name}: has {mobility.freedom} freedoms, a transmission needs 1{elsewhere}",
                freedom=mobility.freedom,
            )
        return q_start

    def direction(self, q: np.ndarray, like: np.ndarray) -> np.ndarray:
        """t at q, on the side of `like`.    (TF1)"""
        Z = null_space(self.mechanism.constraint_matrix(q))
        t = Z @ (Z.T @ like)
        return t / max(float(np.linalg.norm(t)), np.finfo(float).tiny)

    def beyond(self, here: Point, step: float) -> Point | None:
        """The point a step further; None where Newton's method does not arrive.    (TF2)"""
        m, q = self.mechanism, self._moved(here.q, step * here.t)
        for _ in range(TRIALS):
            A, phi = m.constraint_matrix(q), m.constraint_residual(q)
            sizes = lengths(A)
            rows = np.vstack([A / sizes[:, None], here.t])
            delta = np.linalg.lstsq(rows, np.append(-phi / sizes, 0.0), rcond=RANK)[0]  # (TF2)
            if not np.isfinite(delta).all() or np.abs(delta).max() > 1.0:
                return None
            q = self._moved(q, delta)
            if np.abs(delta).max() < STILL:
                break
        closed = np.abs(m.constraint_residual(q)).max(initial=0.0) <= CLOSED
        return Point(q, self.direction(q, here.t)) if closed else None

    def onward(self, start: Point) -> Iterator[Segment]:
        """The curve from a point on, without end."""
        here, step = start, LONGEST
        while True:
            there = self.beyond(here, step)
            if there is not None and there.t @ here.t > np.cos(TURN):
                yield Segment(here, step, there)
                here, step = there, min(2.0 * step, LONGEST)
            elif step > SHORTEST:
                step *= 0.5
            else:
                raise SingularError(
                    f"{self.mechanism.name}: the curve of its positions cannot be followed beyond q = "
                    f"{np.round(here.q, 6).tolist()}; it branches there, or the closure is at its limit",
                    q=here.q,
                )

    def crossing(self, segment: Segment, f: Callable[[Point], float]) -> Segment:
        """The segment cut off where f is zero; f has different signs at its ends. (Regula falsi, Illinois)"""
        here, step, there = segment
        low, high = 0.0, step
        f_low, f_high = f(here), f(there)
        best = there
        for _ in range(HALVINGS):
            if f_high == 0.0 or abs(high - low) <= 1e-15 * step:
                break
            cut = high - f_high * (high - low) / (f_high - f_low)
            reached = self.beyond(here, cut)
            if reached is None:
                break
            f_cut = f(reached)
            if f_cut * f_high < 0.0:
                low, f_low = high, f_high
            else:
                f_low *= 0.5
            done = abs(cut - high) <= 1e-14 * step
            high, f_high, best = cut, f_cut, reached
            if done:
                break
        return Segment(here, high, best)

    def _moved(self, q: np.ndarray, step: np.ndarray) -> np.ndarray:
        model = self.mechanism.model
        return np.asarray(normalised(model, moved(model, q, step)), dtype=float)


SAMPLES = 181
HALF_TURN, FAR = np.pi, 10.0  # how far to either side at most: [rad] of an angle, [m] of a slide
STANDS = 1e-9  # a rate below this part of the largest on the curve is zero
SAME = 1e-6  # positions that agree to this are the same [m]
TALL = 20.0  # pictures end at so many times the middle ratio


@dataclass(frozen=True, slots=True, eq=False)
class DeadPoint:
    """A dead point, where a coordinate rests while the other moves: its name, both coordinates, and the position
    (nq,)."""

    standing: str
    input: float
    output: float
    q: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Transmission:
    """An output over an input: arrays (samples,), angles in rad, slides and places in m.

    `velocity_ratio` is dq_out/dq_in, infinite at a dead point of the input; `force_ratio` the effort at the output for
    a unit effort at the input, infinite at one of the output. `range` is where the input can be without the linkage
    being opened; its ends are dead points, or the limit of `extent`. `full_turn`: the input turns right round and the
    linkage comes back to where it was.
    """

    mechanism: str
    input_name: str
    output_name: str
    q: np.ndarray
    input: np.ndarray
    output: np.ndarray
    velocity_ratio: np.ndarray
    force_ratio: np.ndarray
    range: tuple[float, float]
    full_turn: bool
    dead_points: tuple[DeadPoint, ...]
    units: tuple[str, str]

    def __str__(self) -> str:
        low, high = self.range
        through = ", a full turn" if self.full_turn else ""
        lines = [
            f"{self.mechanism}: {self.output_name} [{self.units[1]}] over {self.input_name} [{self.units[0]}]",
            f"range {low:.6g} to {high:.6g}{through}",
        ]
        for x in self.dead_points:
            lines.append(
                f"dead point: {x.standing} stands at {self.input_name} {x.input:.6g}, {self.output_name} {x.output:.6g}"
            )
        return "\n".join(lines)

    def plot(self, path: str | os.PathLike[str] = "transmission.png") -> Path:
        """Draw output, velocity ratio and force ratio over the input, and return the file written."""
        unit_in, unit_out = self.units
        panels = [
            Panel("output", f"{self.output_name} [{unit_out}]", {self.output_name: self.output}),
            Panel("velocity ratio", f"[{unit_out}/{unit_in}]", {self.output_name: _cut(self.velocity_ratio)}),
            Panel("force ratio", f"[{unit_in}/{unit_out}]", {self.output_name: _cut(self.force_ratio)}),
        ]
        title = f"{self.mechanism}: {self.output_name} over {self.input_name}"
        axis = f"{self.input_name} [{unit_in}]"
        return draw_curves(path, self.input, panels, title=title, columns=1, abscissa=axis)


def _cut(x: np.ndarray) -> np.ndarray:
    """Leave out what would leave a picture flat: NaN beyond many times the middle."""
    finite = np.abs(x[np.isfinite(x)])
    tall = TALL * float(np.median(finite)) if finite.size else 0.0
    return np.where(np.isfinite(x) & (np.abs(x) <= tall), x, np.nan)


class Measured(NamedTuple):
    """A coordinate by name: its value at a position, its rate along a direction there, and its unit."""

    name: str
    value: Callable[[np.ndarray], float]
    rate: Callable[[Point], float]
    unit: str


def transmission(
    mechanism: Mechanism,
    input: str,
    output: str,
    *,
    samples: int = SAMPLES,
    q: Any = None,
    extent: float | None = None,
) -> Transmission:
    """Compute how `output` follows `input` in a linkage with one freedom, over all inputs for which it closes.

    `input` is the coordinate of a joint, `output` another or a place of a frame, such as "tip.x" [m]. The branch is
    that of the guess q, which is assembled; from there the linkage is moved in both directions to the dead points of
    the input,
    at most by `extent`: half a turn, or 10 m. InputError where the freedom is not one or a name is unknown.
    """
    if samples < 2:
        raise InputError(f"samples is {samples}; give 2 or more")
    driven, led = _coordinate(mechanism, "input", input), _output(mechanism, output)
    positions = Positions(mechanism)
    q_0 = positions.start(q)
    along = np.eye(mechanism.nv)[mechanism.v_names.index(input)]
    start = Point(q_0, positions.direction(q_0, along))
    if abs(driven.rate(start)) < STANDS:
        raise InputError(
            f"{mechanism.name}: input {input!r} stands at a dead point in this position; give a guess q away from it",
            joint=input,
        )
    limit = extent or (HALF_TURN if driven.unit == "rad" else FAR)
    ends = {sign: list(_branch(positions, start, driven, limit, sign)) for sign in (-1.0, 1.0)}
    curve = [*(_turned(x) for x in reversed(ends[-1.0])), *ends[1.0]]
    return _sampled(positions, driven, led, curve, samples)


def _coordinate(mechanism: Mechanism, what: str, name: str) -> Measured:
    names = [x for x in mechanism.v_names if x in mechanism.q_names]
    if name not in names:
        raise InputError(
            f"{mechanism.name}: no coordinate {name!r} for the {what}; {nearest(str(name), names)}"
            f"Coordinates: {listed(names)}",
            joint=name,
        )
    k, rate = mechanism.q_names.index(name), mechanism.v_names.index(name)
    model = mechanism.model
    i = next(i for i in model.moving if model.v_span[i].start <= rate < model.v_span[i].stop)
    pair = model.body[i].pair
    turning = np.any(np.asarray(pair.p(pair.neutral()))[:3, rate - model.v_span[i].start])
    return Measured(name, lambda q: float(q[k]), lambda x: float(x.t[rate]), "rad" if turning else "m")


def _output(mechanism: Mechanism, name: str) -> Measured:
    frame, _, part = str(name).rpartition(".")
    if name in mechanism.v_names or part not in ("x", "y", "z") or frame not in mechanism.frames:
        return _coordinate(mechanism, "output", name)
    k = "xyz".index(part)
    return Measured(
        name,
        lambda q: float(mechanism.pose(q, frame).position[k]),
        lambda x: float(mechanism.jacobian(x.q, frame)[3 + k] @ x.t),
        "m",
    )


def _branch(
    positions: Positions, start: Point, driven: Measured, limit: float, sign: float
) -> Iterator[Segment]:
    """The curve from the start to a dead point of the input, or to the limit."""
    facing = np.sign(driven.rate(start)) * sign
    last = driven.value(start.q) + sign * limit
    for segment in positions.onward(Point(start.q, facing * start.t)):
        if sign * driven.rate(segment.there) <= 0.0:
            yield positions.crossing(segment, driven.rate)  # (TF5)
            return
        if sign * (driven.value(segment.there.q) - last) >= 0.0:
            yield positions.crossing(segment, lambda x: driven.value(x.q) - last)
            return
        yield segment


def _turned(segment: Segment) -> Segment:
    """Return the curve from its other end; the step is still the first one's."""
    there, step, here = segment
    return Segment(Point(here.q, -here.t), -step, Point(there.q, -there.t))


def _from_start(segment: Segment) -> Segment:
    """Return the curve as it was followed: a step is taken from where it was found."""
    return _turned(segment)._replace(step=-segment.step) if segment.step < 0.0 else segment


def _sampled(
    positions: Positions, driven: Measured, led: Measured, curve: list[Segment], samples: int
) -> Transmission:
    m, nodes = positions.mechanism, [curve[0].here, *(x.there for x in curve)]
    inputs = np.array([driven.value(x.q) for x in nodes])
    wanted = np.linspace(inputs[0], inputs[-1], samples)
    points = [_at(positions, driven, curve, inputs, x) for x in wanted]
    t_in, t_out = _rates(driven, points), _rates(led, points)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, force = t_out / t_in, t_in / t_out  # (TF3), (TF4)
    dead = [
        DeadPoint(x.name, driven.value(p.q), led.value(p.q), p.q)
        for x in (driven, led)
        for p in _standing(positions, x, curve, nodes)
    ]
    full_turn = driven.unit == "rad" and _comes_back(m, nodes)
    if full_turn:
        dead = [x for x in dead if x.input < inputs[-1] - SAME or x.input == inputs[0]]
    return Transmission(
        m.name,
        driven.name,
        led.name,
        np.array([x.q for x in points]),
        wanted,
        np.array([led.value(x.q) for x in points]),
        ratio,
        force,
        (float(inputs[0]), float(inputs[-1])),
        full_turn,
        tuple(sorted(dead, key=lambda x: x.input)),
        (driven.unit, led.unit),
    )


def _at(
    positions: Positions, driven: Measured, curve: list[Segment], inputs: np.ndarray, wanted: float
) -> Point:
    """The point of the curve at an input."""
    k = min(int(np.searchsorted(inputs[1:], wanted)), len(curve) - 1)
    segment = curve[k]
    for node in (segment.here, segment.there):
        if driven.value(node.q) == wanted:
            return node
    position = positions.crossing(_from_start(segment), lambda x: driven.value(x.q) - wanted).there
    return position if segment.step > 0.0 else Point(position.q, -position.t)


def _rates(x: Measured, points: list[Point]) -> np.ndarray:
    """Rates along the curve, with zeros where it stands."""
    rates = np.array([x.rate(point) for point in points])
    return np.where(np.abs(rates) < STANDS * max(float(np.abs(rates).max()), STANDS), 0.0, rates)


def _standing(positions: Positions, x: Measured, curve: list[Segment], nodes: list[Point]) -> Iterator[Point]:
    """Find where a coordinate reverses, and the ends where it stands.    (TF5)"""
    rates = _rates(x, nodes)
    moving = [k for k, rate in enumerate(rates) if rate]
    for k in (0, -1):
        if moving and not rates[k]:
            yield nodes[k]
    for k, n in pairwise(moving):
        if rates[k] * rates[n] < 0.0:
            between = nodes[k + 1] if n > k + 1 else positions.crossing(_from_start(curve[k]), x.rate).there
            yield between


def _comes_back(mechanism: Mechanism, nodes: list[Point]) -> bool:
    """True if all bodies are at the end where they were at the beginning."""
    first, last = (poses(mechanism.model, node.q) for node in (nodes[0], nodes[-1]))
    pairs = zip(first, last, strict=True)
    return all(np.abs(a.R - b.R).max() < SAME and np.abs(a.a - b.a).max() < SAME for a, b in pairs)
