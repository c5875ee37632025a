"""A synthesised gait as a problem: the free machine with its feet fixed, in single and in double support.

    x_1(0) = S x_2(T_2) − step,   x_2(0) = x_1(T_1)      S: mirror image, left and right exchanged              (OP16)

Phase 1 has the right foot fixed, phase 2 both, by the loops of `walking/phases`; their multipliers are the wrenches of
the ground. The left foot lands flat, at rest and where the gait puts it; while it swings, no corner of its sole is
lower than its sole was in the gait. Joints stay within 0.3 rad of their range in the gait, the pelvis within 0.1 rad.

Path constraints of feet that stand: the centre of pressure inside the sole, and the friction cone.

With the wrench [n; f] of the ground on a foot at the origin of its sole, in axes of the sole, z its normal:

    (c − a_i)·b_i ≥ margin,   c = (−n_y, n_x)/f_z        corners a_i, inward normals b_i of the edges          (OP13)
    f_x² + f_y² + (m/ρ)² ≤ μ² f_z²                       m: moment about the normal at the middle of the sole  (OP14)
    f_z ≥ load                                                                                                 (OP15)

(OP13) is multiplied by f_z, so that it is linear in the wrench; forces count as parts of the weight. ρ: mean distance
of the sole from its middle, see (GZ7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.errors import InputError
from kinpair.motion.gait import Gait
from kinpair.motion.human_gait import height, swing_coefficients
from kinpair.motion.leg_synergy import mirror
from kinpair.motion.polygon import hull
from kinpair.motion.support import mean_distance
from kinpair.optimisation.equations import Point, inner
from kinpair.optimisation.mechanism_equations import equations_of
from kinpair.optimisation.stages import Stage, stage
from kinpair.walking.phases import Phase, phases

GRAVITY = 9.81
Path = dict[str, tuple[float, Callable[[Point], Any], None]]


def standing(
    feet: Mapping[str, Any],
    *,
    friction: float = 0.6,
    margin: float = 0.0,
    load: float = 0.0,
    loops: Mapping[str, str] | None = None,
) -> Path:
    """Path constraints for `kp.optimise`: feet stand flat on the ground without tilting or slipping.

    feet: frame of the sole, its z axis upward → outline (k, 3) or (k, 2) in axes of the frame [m]. friction:
    coefficient of the ground. margin: least distance of the centre of pressure from the border of the sole [m]. load:
    least normal force of a foot as a part of the weight. loops: frame → loop between ground and foot that holds it. A
    single foot without a loop carries the whole machine: its centre of pressure is then the zero-moment point.
    """
    held = dict(loops or {})
    free = [x for x in feet if x not in held]
    if not feet or (len(feet) > 1 and free):
        raise InputError(
            f"standing: {len(feet)} feet, of which {len(free)} have no loop; give one foot, or the loop that "
            "holds each foot: loops={'sole': 'loop'}"
        )
    if not (friction > 0.0 and margin >= 0.0 and load >= 0.0):
        raise InputError(
            f"standing: friction {friction!r}, margin {margin!r}, load {load!r}; give positive numbers"
        )
    path: Path = {}
    for sole, outline in feet.items():
        own = _Foot(sole, _corners(sole, outline), held.get(sole), friction, margin, load)
        path |= {
            f"centre of pressure of {sole}": (0.0, inner(own.pressed), None),
            f"friction of {sole}": (0.0, inner(own.sticks), None),
            f"load of {sole}": (load, inner(own.loaded), None),
        }
    return path


def _corners(sole: str, outline: Any) -> np.ndarray:
    points = np.asarray(outline, dtype=float)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or len(points) < 3:
        raise InputError(f"standing: the outline of {sole!r} has shape {points.shape}; give 3 or more points")
    return hull(points[:, :2])


class _Foot:
    """The constraints of one foot as functions of a point."""

    def __init__(
        self, sole: str, corners: np.ndarray, loop: str | None, friction: float, margin: float, load: float
    ) -> None:
        self.sole, self.loop, self.friction, self.load, self.corners = sole, loop, friction, load, corners
        along = np.roll(corners, -1, axis=0) - corners
        inward = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.sqrt((along**2).sum(1))[:, None]
        self.inward, self.least = inward, (inward * corners).sum(1) + margin
        self.radius, self.middle = mean_distance(corners), corners.mean(axis=0)

    def wrench(self, point: Point) -> Any:
        """[n; f] at the origin of the sole in its axes, as parts of the weight."""
        R = point.rotation(self.sole)
        w = point.wrench(self.loop, self.sole) if self.loop else point.resultant(self.sole)
        weight = GRAVITY * float(point.equations.subject.mass)
        return np.concatenate([R.T @ w[:3], R.T @ w[3:]]) / weight

    def pressed(self, point: Point) -> Any:
        """Distances of the centre of pressure from the edges less the margin, times the normal force.    (OP13)"""
        n_x, n_y, _, _, _, f_z = self.wrench(point)
        return array(
            [-b[0] * n_y + b[1] * n_x - c * f_z for b, c in zip(self.inward, self.least, strict=True)]
        )

    def sticks(self, point: Point) -> Any:
        """μ² f_z² − f_x² − f_y² − (m/ρ)².    (OP14)"""
        _, _, n_z, f_x, f_y, f_z = self.wrench(point)
        m = (n_z - self.middle[0] * f_y + self.middle[1] * f_x) / self.radius
        return self.friction**2 * f_z * f_z - f_x * f_x - f_y * f_y - m * m

    def loaded(self, point: Point) -> Any:
        """Normal force f_z [N].    (OP15)"""
        return self.wrench(point)[5]


MARGIN, LOAD = 0.005, 0.02  # [m]; part of the weight
NEAR, TURNED = 0.3, 0.1  # [rad]: of joints beyond their range in the gait; of the pelvis
SMOOTH = 0.02  # of the effort: the cost of accelerations; without it the optimum is not unique
APART = 0.9  # of the distance of the feet
SAMPLES = 201
BASE = 6  # rates of the base, which nothing drives
ANYWHERE: Mapping[str, Any] = {"q": None, "qd": None}


class GaitProblem(NamedTuple):
    """Phases, boundary constraints and where the iteration begins."""

    stages: list[Stage]
    boundary: dict[str, Any]
    guess: list[Any]


def gait_problem(gait: Gait, cost: Any, limits: Any, path: Mapping[str, Any] | None) -> GaitProblem:
    """The problem of a gait at its speed and step, under friction of its ground and limits of efforts."""
    stages, guess = list[Stage](), list[Any]()
    cost = {"effort": 1.0, "acceleration": _weight(gait)} if cost == "effort" else cost
    for own in phases(gait):
        m = own.mechanism
        x = gait.synergy.at((own.start + own.end) / 2)
        eq = equations_of(m, cost=cost, actuators=m.v_names[BASE:], guess=x.q)
        loops = {name: name.replace("-sole", "-hold") for name in own.soles}
        feet = {name: gait.soles[name] for name in own.soles}
        held = standing(feet, friction=gait.ground.friction, margin=MARGIN, load=LOAD, loops=loops)
        swing = {} if len(own.soles) == 2 else _swings(gait)
        every = {**held, **swing, **(path or {})}
        bounds = limits if limits is False else _near(gait, limits)
        stages.append(stage(eq, ANYWHERE, ANYWHERE, own.duration, cost, bounds, every))
        guess.append(_samples(gait, own, len(eq.inputs)))
    return GaitProblem(stages, _links(gait), guess)


def _weight(gait: Gait) -> float:
    """Weight of accelerations at which they cost a share of the efforts in the given gait."""
    x = gait.samples
    return SMOOTH * float((x["effort"][:, BASE:] ** 2).mean() / (x["qdd"] ** 2).mean())


def _near(gait: Gait, limits: Any) -> dict[str, Any]:
    """Limits that keep the motion near the gait, within those of the file; limits that are given come first."""
    m = gait.mechanism
    q = gait.motion(2).at(np.linspace(0.0, 2 * gait.step_time, SAMPLES)).q
    joints, low, high = m.model.joints, q.min(axis=0), q.max(axis=0)
    room = np.where(np.isfinite(joints.upper), NEAR, np.inf)
    turned = [m.q_names.index(f"base.{x}") for x in ("qx", "qy", "qz")]
    room[turned] = np.sin(TURNED / 2)
    near = {
        name: (max(a - r, c), min(b + r, d))
        for name, a, b, r, c, d in zip(m.q_names, low, high, room, joints.lower, joints.upper, strict=True)
        if np.isfinite(r)
    }
    given = dict(limits) if isinstance(limits, Mapping) else {}
    return {**near, **given}


def _samples(gait: Gait, own: Phase, inputs: int) -> tuple[np.ndarray, ...]:
    """Times, states, inputs and algebraic variables of the gait during a phase."""
    time = np.linspace(own.start, own.end, SAMPLES)
    inside = time + 1e-9 * own.duration * np.linspace(1.0, -1.0, SAMPLES)
    x, w = gait.synergy.at(inside), gait.wrenches(inside)
    u = gait.efforts(inside)[:, BASE:]
    wrenches = [np.concatenate([w[name][:, 3:], w[name][:, :3]], axis=1) for name in own.soles]
    zero = np.zeros((SAMPLES, 6 * len(own.soles) + inputs - u.shape[1]))
    mu, rest = zero[:, : 6 * len(own.soles)], zero[:, 6 * len(own.soles) :]
    states, algebraic = np.concatenate([x.q, x.qd], axis=1), np.concatenate([x.qdd, *wrenches, mu], axis=1)
    return time, states, np.concatenate([u, rest], axis=1), algebraic


def _swings(gait: Gait) -> dict[str, Any]:
    """Path constraints of the foot in the air."""
    p, corners, (_, c) = gait.numbers, gait.soles["left-sole"], swing_coefficients()

    def clearance(point: Point) -> Any:
        least = p.lift * height(point.time / point.duration, c)
        return array([point.position(("left-sole", x))[2] - least for x in corners])

    def apart(point: Point) -> Any:
        return point.position("left-sole")[1]

    return {
        "clearance of left-sole": (0.0, inner(clearance), None),
        "distance of the feet": ((2.0 * APART - 1.0) * p.track, inner(apart), None),
    }


def _links(gait: Gait) -> dict[str, Any]:
    """Constraints between the phases and between steps.    (OP16)"""
    m, p = gait.mechanism, gait.numbers
    S = np.zeros((m.nq + m.nv, m.nq + m.nv))
    S[: m.nq, : m.nq], S[m.nq :, m.nq :] = mirror(m.q_names), mirror(m.v_names)
    ahead = np.zeros(m.nq + m.nv)
    ahead[m.q_names.index("base.x")] = p.step

    def repeats(a: Point, b: Point, c: Point, d: Point) -> Any:
        return a.values["states"] + ahead - S @ d.values["states"]  # (OP16)

    def goes_on(a: Point, b: Point, c: Point, d: Point) -> Any:
        return c.values["states"] - b.values["states"]

    def lands(a: Point, b: Point, c: Point, d: Point) -> Any:
        R = c.rotation("left-sole")
        level = array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return np.concatenate([level, c.position("left-sole") - np.array([p.step, p.track, 0.0])])

    def at_rest(a: Point, b: Point, c: Point, d: Point) -> Any:
        return c.twist("left-sole")

    functions = {"mirror image": repeats, "phases": goes_on, "landing": lands, "landing at rest": at_rest}
    return {name: inner(f) for name, f in functions.items()}
