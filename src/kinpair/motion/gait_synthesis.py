"""Synthesis of a gait from speed, step length and slope: motion of the legs, path of the zero-moment point, and the
result.

The path (GB9), (GB10) is prescribed; trunk, and arms where they swing, follow from the rows about it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kinpair.description.schema import read_roles
from kinpair.errors import InputError, expect
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.motion.free_rows import Resultant, moment
from kinpair.motion.gait import ARMS, SAMPLES, SOLES, TRUNK, Gait, Outline
from kinpair.motion.human_gait import swing_coefficients
from kinpair.motion.laws import polynomial_law
from kinpair.motion.leg_synergy import ANGLES, LegNumbers, LegSynergy, angles_of, places
from kinpair.motion.pelvis_gait import PelvisGait, first_posture
from kinpair.motion.pieces import Part, Straight, retimed, sequence
from kinpair.motion.roles import foot_links, renamed, roles_of, sole_of
from kinpair.motion.support import Ground
from kinpair.motion.synergy import synergy
from kinpair.motion.trajectory import Trajectory, positive

PRESSED = (0.0, 0.1)  # [m]: where the zero-moment point is under a foot, from and to, forward of the ankle
EXTENSION = 0.985  # of a straight leg: the longest that legs become
TRACK = 0.65  # of the distance of the hips from the middle
WAY, BENT = 0.2, 0.9  # [m], part of a straight leg: of a foot that is moved to see what mass goes with it
SWAY_Z, LIFT, LOW = 0.01, 0.06, 0.04  # [m]
SLOW, SHORT = 0.1, 0.25  # speed and step of any machine: of √(g l), and of the length l of a leg
INTERVALS = 24
CORRECTIONS, BEND = 2, 0.1  # of where the pelvis is; [rad]


def gait(
    m: Mechanism,
    *,
    speed: float | None = None,
    step: float | None = None,
    double: float | None = None,
    slope: float = 0.0,
    arms: float | None = None,
    lift: float | None = None,
    friction: float = 0.6,
    track: float | None = None,
    method: str = "collocation",
    roles: Mapping[str, str] | str | os.PathLike[str] | None = None,
    posture: Mapping[str, float] | None = None,
    soles: tuple[float, Outline] | None = None,
    extension: float = 0.93,
) -> Gait:
    """A gait of a machine with two legs: feet as people move them, the rest in balance.

    Joints named as those of the bundled biped: trunk and arms keep the balance. Other machines, and where `roles` are
    given: the pelvis does, and trunk and arms are fixed.

    speed [m/s], by default 0.8; step: its length [m], by default 0.3 m and a quarter of a second of the distance;
    double:
    part of a step with both feet on the ground; slope [rad]: the ground falls forward; arms: they take away this part
    of the moment about the normal by swinging, and hang still with 0; lift: how high the swinging foot goes [m]; track:
    half the distance of the feet [m]; friction: what the ground offers. method: of `synergy`.

    roles: role → joint, such as {"left_hip_pitch": "l_leg_hpy"}, or a TOML file with them in its table [gait]; those of
    the table [gait] of the machine's own file count too. Others are guessed from names and geometry of the file, and
    `notes` of the result reports them. posture: angles of joints without a role and of the "pelvis pitch"
    [rad], fixed. soles: height of the ankle above the sole, and outline ((back, front), (right, left)) about the ankle
    [m], by default from the meshes of the feet. extension: largest length of a leg as a part of a straight one. By
    default such a machine walks slowly, by the length of its legs, with 0.3 of a step on both feet.

    `feasible` and `support.excesses` of the result say whether feet can give it. SingularError where no motion of
    trunk, arms or pelvis does it, or joints exceed their limits: which, and by how much.
    """
    expect("gait", m, Mechanism)
    given = {"speed": speed, "step": step, "lift": lift}
    positive("gait", **{name: value for name, value in given.items() if value is not None})
    if roles is not None or m.model.description.gait or _lacking(m):
        return _by_pelvis(
            m,
            read_roles(roles) if isinstance(roles, str | os.PathLike) else roles,
            posture or {},
            soles,
            speed,
            step,
            double or 0.3,
            lift or LOW,
            friction,
            track,
            extension,
        )
    speed, double, arms = speed or 0.8, 0.2 if double is None else double, 0.5 if arms is None else arms
    length = 0.3 + 0.25 * speed if step is None else step
    lift = lift or LIFT
    if not 0.0 <= arms <= 1.0:
        raise InputError(f"gait: arms is {arms!r}; give the part of the moment that they take, from 0 to 1")
    if not 0.05 <= double <= 0.8:
        raise InputError(f"gait: double is {double!r}; give a part of a step from 0.05 to 0.8")
    own = _tilted(m, slope)
    numbers = _numbers(own, speed, float(length), double, slope, lift, track)
    still = _upright(own, numbers, Ground(friction=friction), slope, method)
    if not arms:
        return still
    rows = [*_rows(still.path), moment("z", still.path, lambda time: (1.0 - arms) * still.moment(time))]
    free, signs, mesh = [*TRUNK, ARMS], [1, -1, -1], _mesh(still.numbers)
    found = synergy(own, still.legs, free, rows, symmetry=signs, mesh=mesh, method=method)
    return replace(still, synergy=found, arms=float(arms))


def _upright(m: Mechanism, numbers: LegNumbers, ground: Ground, slope: float, method: str) -> Gait:
    """Posture with arms that hang still, and the pelvis so far ahead that the mean of the trunk is upright."""
    path, mesh = _path(numbers), _mesh(numbers)
    lean = _lean(m)
    found: Gait | None = None
    for _ in range(CORRECTIONS + 1):
        if found is not None:
            time = np.linspace(0.0, numbers.T, SAMPLES)
            mean = float(found.synergy.free.at(time).q[:, 0].mean())
            numbers = numbers._replace(offset=numbers.offset + lean * mean, pelvis=0.0)
            numbers = numbers._replace(pelvis=_height(numbers))
        legs = _legs(m, numbers)
        start = found.synergy.free if found is not None else None
        step = synergy(m, legs, TRUNK, _rows(path), symmetry=[1, -1], mesh=mesh, method=method, start=start)
        found = Gait(m, step, legs, path, ground, slope, 0.0)
    assert found is not None
    return found


def _rows(path: Trajectory) -> list[Resultant]:
    return [moment("y", path), moment("x", path)]


def _mesh(p: LegNumbers) -> np.ndarray:
    """Points in single and in double support."""
    share = INTERVALS / p.T
    phases = enumerate(((0.0, p.swing), (p.swing, p.T)))
    return np.concatenate([np.linspace(a, b, max(2, round(share * (b - a))) + 1)[k:] for k, (a, b) in phases])


def _lean(m: Mechanism) -> float:
    """Distance that the mass centre goes forward while the trunk bends by 1 rad [m/rad]."""
    at = m.neutral()
    bent = at.copy()
    bent[m.q_names.index(TRUNK[0])] = BEND
    return float(m.centre_of_mass(bent)[0] - m.centre_of_mass(at)[0]) / BEND


def _tilted(m: Mechanism, slope: float) -> Mechanism:
    """The mechanism with gravity as it is on a ground that falls forward."""
    if not (np.isscalar(slope) and abs(float(slope)) < 0.5):  # type: ignore[arg-type]
        raise InputError(f"gait: slope is {slope!r}; give an angle [rad] below 0.5")
    g = float(np.sqrt(m.model.gravity @ m.model.gravity))
    gravity = (g * float(np.sin(slope)), 0.0, -g * float(np.cos(slope)))
    description = m.model.description
    return m if slope == 0.0 else Mechanism(build(description.with_gravity(gravity)), compiled=m.compiled)


def _lacking(m: Mechanism) -> list[str]:
    """Joints and frames of the bundled biped that a machine has not."""
    needed = ["base", *TRUNK, *ARMS, *(f"{side}-{x}" for side in ("left", "right") for x in ANGLES)]
    return [x for x in needed if x not in m.joint_names] + [x for x in SOLES if x not in m.frames]


def _numbers(
    m: Mechanism, speed: float, step: float, double: float, slope: float, lift: float, track: float | None
) -> LegNumbers:
    """Lengths of the legs as the mechanism has them when it stands upright, and a pelvis as high as they allow."""
    q = m.neutral()
    at = {x: m.pose(q, x).position for x in ("pelvis", "left-thigh", "left-shank", "left-foot", "left-sole")}
    hip = at["left-thigh"] - at["pelvis"]
    thigh, shank = at["left-thigh"][2] - at["left-shank"][2], at["left-shank"][2] - at["left-foot"][2]
    ankle = at["left-foot"][2] - at["left-sole"][2]
    high = float(thigh + shank + ankle)
    half = TRACK * float(hip[1]) if track is None else float(track)
    T = step / speed
    sway = 1.2 * half / (1.0 + (np.pi / T) ** 2 * high / 9.81)
    offset = float(np.mean(PRESSED) - high * np.tan(slope))
    lengths = [float(x) for x in (*hip, thigh, shank, ankle)]
    of_step = [T, (1.0 - double) * T, speed, step, 0.0, offset, sway, SWAY_Z, half, lift]
    numbers = LegNumbers._make([*of_step, *lengths, 0.0])
    numbers = numbers._replace(share=_share(m, numbers))
    return numbers._replace(pelvis=_height(numbers))


def _share(m: Mechanism, p: LegNumbers) -> float:
    """The part of the mass that goes with an ankle while the pelvis stands."""
    columns = [m.q_names.index(f"left-{x}") for x in ANGLES]
    centres: list[float] = []
    for ahead in (-WAY, WAY):
        q = m.neutral()
        q[columns] = angles_of([ahead, 0.0, -BENT * (p.thigh + p.shank)], p)
        centres.append(float(m.centre_of_mass(q)[0]))
    return (centres[1] - centres[0]) / (2 * WAY)


def _height(p: LegNumbers) -> float:
    """The highest pelvis from which both feet are reached at all times."""
    time = np.linspace(0.0, p.T, SAMPLES)
    pelvis, *ankles = places(time, p, *swing_coefficients())
    longest = EXTENSION * (p.thigh + p.shank)
    room: list[np.ndarray] = []
    for sign, ankle in zip((1.0, -1.0), ankles, strict=True):
        dx = ankle[0] - pelvis[0] - p.hip_x
        dy = ankle[1] - pelvis[1] - sign * p.hip_y
        left = longest**2 - dx**2 - dy**2
        if not (left > 0.25 * longest**2).all():
            k = int(np.argmin(left))
            raise InputError(
                f"gait: steps of {p.step:.3g} m are too long for legs of {p.thigh + p.shank:.3g} m: at {time[k]:.3g} s "
                f"a foot is {np.sqrt(longest**2 - left[k]):.3g} m away; take shorter steps",
                step=p.step,
            )
        room.append(np.sqrt(left) + ankle[2] - p.hip_z - pelvis[2])
    return float(np.min(room))


def _legs(m: Mechanism, numbers: LegNumbers) -> LegSynergy:
    names = [f"{side}-{x}" for side in ("left", "right") for x in ANGLES]
    q = [m.q_names.index(x) for x in ("base.x", "base.y", "base.z", *names)]
    v = [m.v_names.index(x) for x in ("base.vx", "base.vy", "base.vz", *names)]
    knots = (0.0, numbers.swing, numbers.T)
    swing = swing_coefficients()
    return LegSynergy(numbers.T, (m.nq,), knots, numbers, *swing, m.neutral(), m.nv, np.array(q), np.array(v))


def _path(p: LegNumbers, pressed: tuple[float, float] = PRESSED) -> Trajectory:
    """Path of the zero-moment point, on the ground (3,).    (GB9), (GB10)"""
    points = [
        np.array(x)
        for x in (
            (pressed[0], -p.track, 0.0),
            (pressed[1], -p.track, 0.0),
            (p.step + pressed[0], p.track, 0.0),
        )
    ]
    parts = [
        retimed(Straight(1.0, (3,), (0.0, 1.0), a, b), polynomial_law(duration, 5))
        for a, b, duration in zip(points[:-1], points[1:], (p.swing, p.T - p.swing), strict=True)
    ]
    return sequence((Part(parts[0], 0.0), Part(parts[1], p.swing)), (0.0, p.swing, p.T))


def _by_pelvis(
    m: Mechanism,
    given: Mapping[str, str] | None,
    posture: Mapping[str, float],
    soles: tuple[float, Outline] | None,
    speed: float | None,
    step: float | None,
    double: float,
    lift: float,
    friction: float,
    track: float | None,
    extension: float,
) -> Gait:
    """A gait of any machine with two legs, by the path of its pelvis."""
    roles = roles_of(m, given)
    ankle, outline, note = sole_of(m, foot_links(m, roles)["left"]) if soles is None else (*soles, "")
    own = renamed(m, roles, dict.fromkeys(("left", "right"), ankle), posture)
    rest = first_posture(own, roles, posture)
    numbers = _lengths(own, rest, ankle, track)
    leg = numbers.thigh + numbers.shank
    pace = SLOW * float(np.sqrt(9.81 * leg)) if speed is None else float(speed)
    length = SHORT * leg if step is None else float(step)
    T = length / pace
    reach = (extension * leg) ** 2 - (0.55 * length) ** 2
    if reach <= 0.0:
        raise InputError(
            f"gait: steps of {length:.3g} m are too long for legs of {leg:.3g} m; take shorter steps",
            step=length,
        )
    pelvis = numbers.pelvis - leg + float(np.sqrt(reach))
    numbers = numbers._replace(
        T=T, swing=(1.0 - double) * T, speed=pace, step=length, lift=lift, pelvis=pelvis
    )
    (back, front), _ = outline
    pressed = (back + 0.4 * (front - back), back + 0.6 * (front - back))
    path = _path(numbers, pressed)
    found, planned = PelvisGait(own, roles, numbers, rest).found(path)
    notes = (*roles.notes, *([note] if note else []))
    return Gait(own, found, planned, path, Ground(friction=friction), 0.0, 0.0, outline, notes)


def _lengths(m: Mechanism, rest: np.ndarray, ankle: float, track: float | None) -> LegNumbers:
    """Lengths of the legs, and the pelvis where straight legs stand."""
    q = m.neutral()
    hip, knee = (m.pose(q, next(j.child for j in m.model.description.joints if j.name == name)).position
                 for name in ("left-hip", "left-knee"))  # fmt: skip
    foot, base = m.pose(q, "left-foot").position, q[:3]
    thigh, shank = float(np.linalg.norm(hip - knee)), float(np.linalg.norm(knee - foot))
    stands = float(base[2] - foot[2] + ankle)
    half = float(foot[1] - base[1]) if track is None else float(track)
    ahead = float(foot[0] - m.centre_of_mass(rest)[0])
    offset = ahead + float(base[0])
    of_step = [0.0, 0.0, 0.0, 0.0, stands, offset, 0.0, 0.0, half, 0.0]
    return LegNumbers._make([*of_step, *(hip - base).tolist(), thigh, shank, ankle, 0.0])
