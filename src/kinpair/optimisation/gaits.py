"""A synthesised gait as a problem: the free machine with its feet fixed, in single and in double support.

    x_1(0) = S x_2(T_2) − step,   x_2(0) = x_1(T_1)      S: mirror image, left and right exchanged              (OP16)

Phase 1 has the right foot fixed, phase 2 both, by the loops of `walking/phases`; their multipliers are the wrenches of
the ground. The left foot lands flat, at rest and where the gait puts it; while it swings, no corner of its sole is
lower than its sole was in the gait. Joints stay within 0.3 rad of their range in the gait, the pelvis within 0.1 rad.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import array
from kinpair.motion.gait import Gait
from kinpair.motion.human_gait import height, swing_coefficients
from kinpair.motion.steps import mirror
from kinpair.optimisation.equations import Point, inner
from kinpair.optimisation.feet import standing
from kinpair.optimisation.mechanism_equations import equations_of
from kinpair.optimisation.stages import Stage, stage
from kinpair.walking.phases import Phase, phases

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
