"""From speed, step length and slope to a gait: what legs do, where the zero-moment point goes, and what follows.

The path (GB9), (GB10) is prescribed; trunk, and arms where they swing, follow from the rows about it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinpair.errors import InputError, expect, listed
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.motion.free_rows import Resultant, moment
from kinpair.motion.gait import ARMS, SAMPLES, SOLES, TRUNK, Gait
from kinpair.motion.human_gait import swing_coefficients
from kinpair.motion.laws import polynomial_law
from kinpair.motion.leg_synergy import ANGLES, LegNumbers, LegSynergy, angles_of, places
from kinpair.motion.retimed import Straight, retimed
from kinpair.motion.sequence import Part, sequence
from kinpair.motion.support import Ground
from kinpair.motion.synergy import synergy
from kinpair.motion.trajectory import Trajectory, positive

PRESSED = (0.0, 0.1)  # [m]: where the zero-moment point is under a foot, from and to, forward of the ankle
EXTENSION = 0.985  # of a straight leg: the longest that legs become
TRACK = 0.65  # of the distance of the hips from the middle
WAY, BENT = 0.2, 0.9  # [m], part of a straight leg: of a foot that is moved to see what mass goes with it
SWAY_Z, LIFT = 0.01, 0.06  # [m]
INTERVALS = 24
CORRECTIONS, BEND = 2, 0.1  # of where the pelvis is; [rad]


def gait(
    m: Mechanism,
    *,
    speed: float = 0.8,
    step: float | None = None,
    double: float = 0.2,
    slope: float = 0.0,
    arms: float = 0.5,
    lift: float = LIFT,
    friction: float = 0.6,
    track: float | None = None,
    method: str = "collocation",
) -> Gait:
    """A gait of a biped with joints named as those of the bundled one: legs as people move them, the rest in balance.

    speed [m/s]; step: its length [m], by default 0.3 m and a quarter of a second of the way; double: part of a step
    with both feet on the ground; slope [rad]: the ground falls forward; arms: they take away this part of the moment
    about the normal by swinging, and hang still with 0; lift: how high the swinging foot goes [m]; track: half the
    distance of the feet [m]; friction: what the ground offers. method: of `synergy`.

    `feasible` and `support.excesses` of the result say whether feet can give it. SingularError where no motion of trunk
    and arms does it.
    """
    expect("gait", m, Mechanism)
    positive("gait", speed=speed)
    length = 0.3 + 0.25 * speed if step is None else step
    positive("gait", step=length, lift=lift)
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
    """With arms that hang still, and the pelvis so far ahead that the mean of the trunk is upright."""
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
    """How far the mass centre goes forward while the trunk bends by 1 rad [m/rad]."""
    at = m.neutral()
    bent = at.copy()
    bent[m.q_names.index(TRUNK[0])] = BEND
    return float(m.centre_of_mass(bent)[0] - m.centre_of_mass(at)[0]) / BEND


def _tilted(m: Mechanism, slope: float) -> Mechanism:
    """The mechanism with gravity as it is on a ground that falls forward."""
    if not (np.isscalar(slope) and abs(float(slope)) < 0.5):  # type: ignore[arg-type]
        raise InputError(f"gait: slope is {slope!r}; give an angle [rad] below 0.5")
    needed = ["base", *TRUNK, *ARMS, *(f"{side}-{x}" for side in ("left", "right") for x in ANGLES)]
    lacking = [x for x in needed if x not in m.joint_names] + [x for x in SOLES if x not in m.frames]
    if lacking:
        raise InputError(
            f"gait: {m.name} has no {listed(lacking, 4)}; joints and frames are named as those of kp.example('biped')"
        )
    g = float(np.sqrt(m.model.gravity @ m.model.gravity))
    gravity = (g * float(np.sin(slope)), 0.0, -g * float(np.cos(slope)))
    description = m.model.description
    return m if slope == 0.0 else Mechanism(build(description.with_gravity(gravity)), compiled=m.compiled)


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


def _path(p: LegNumbers) -> Trajectory:
    """Of the zero-moment point, on the ground (3,).    (GB9), (GB10)"""
    points = [
        np.array(x)
        for x in (
            (PRESSED[0], -p.track, 0.0),
            (PRESSED[1], -p.track, 0.0),
            (p.step + PRESSED[0], p.track, 0.0),
        )
    ]
    parts = [
        retimed(Straight(1.0, (3,), (0.0, 1.0), a, b), polynomial_law(duration, 5))
        for a, b, duration in zip(points[:-1], points[1:], (p.swing, p.T - p.swing), strict=True)
    ]
    return sequence((Part(parts[0], 0.0), Part(parts[1], p.swing)), (0.0, p.swing, p.T))
