"""Gaits of a biped: legs as people move them, trunk and arms such that the feet on the ground can give what it takes.

    z(t) = z_1 + (z_2 − z_1) s(t/T_s)                       single support: under the foot that stands         (GB9)
    z(t) = z_2 + (z_3 − z_2) λ,   λ = s((t − T_s)/T_d)      double support: over to the other foot             (GB10)
    e·f_rear = (1 − λ) e·f at z_2,   e·f_front = λ e·f at z_3      from (GZ6) with loads 1 − λ and λ            (GB11)

z is the path prescribed for the zero-moment point, s(x) = x³(10 − 15x + 6x²). Trunk, and arms where they swing, follow
from the rows (GS3) about it. λ is also how much of the load is on the front foot: it goes over continuously.

Derivation, no line of code: (GB11).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.errors import InputError, listed
from kinpair.mechanism import Mechanism
from kinpair.model.build import build
from kinpair.motion import gait_pictures as pictures
from kinpair.motion.free_rows import Resultant, moment
from kinpair.motion.human_gait import quintic, swing_coefficients
from kinpair.motion.laws import polynomial_law
from kinpair.motion.leg_synergy import ANGLES, LegNumbers, LegSynergy, angles_of, places
from kinpair.motion.retimed import Straight, retimed
from kinpair.motion.sequence import Part, sequence
from kinpair.motion.steps import Steps, mirror
from kinpair.motion.support import Ground, Support, carried, shared, support
from kinpair.motion.synergy import Synergy, synergy
from kinpair.motion.trajectory import Trajectory, positive

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRUNK = ("trunk-pitch", "trunk-roll")
ARMS = {"left-shoulder": 1.0, "right-shoulder": -1.0}
SOLES = ("left-sole", "right-sole")
SOLE = ((-0.07, 0.19), (-0.05, 0.05))  # [m]: outline forward and sideways of the ankle
PRESSED = (0.0, 0.1)  # [m]: where the zero-moment point is under a foot, from and to, forward of the ankle
EXTENSION = 0.985  # of a straight leg: the longest that legs become
TRACK = 0.65  # of the distance of the hips from the middle
WAY, BENT = 0.2, 0.9  # [m], part of a straight leg: of a foot that is moved to see what mass goes with it
SWAY_Z, LIFT = 0.01, 0.06  # [m]
SAMPLES = 401
INTERVALS = 24
CORRECTIONS, BEND = 2, 0.1  # of where the pelvis is; [rad]


@final
@dataclass(frozen=True, eq=False)
class Gait:
    """A gait of a biped over one step, the left foot swinging; the next step is its mirror image.

    mechanism: with gravity turned by the slope. synergy: the step, with what is free. legs: what was given.
    """

    mechanism: Mechanism
    synergy: Synergy
    legs: LegSynergy
    path: Trajectory
    ground: Ground
    slope: float
    arms: float

    @property
    def numbers(self) -> LegNumbers:
        """Durations and lengths of a step."""
        return self.legs.numbers

    @property
    def step_time(self) -> float:
        """Of a step [s]."""
        return self.numbers.T

    @property
    def soles(self) -> Mapping[str, np.ndarray]:
        """Outlines of the soles (4, 3) in axes of their frames."""
        (back, front), (inner, outer) = SOLE
        corners = [(back, inner), (front, inner), (front, outer), (back, outer)]
        return dict.fromkeys(SOLES, np.array([(x, y, 0.0) for x, y in corners]))

    def motion(self, steps: int = 2) -> Steps:
        """The motion of all coordinates over so many steps."""
        return self._steps(self.synergy.motion, steps)

    def _steps(self, step: Trajectory, count: int) -> Steps:
        m, T = self.mechanism, self.step_time
        knots = tuple((T * np.arange(count + 1)).tolist())
        mirrors = mirror(m.q_names), mirror(m.v_names)
        return Steps(count * T, (m.nq,), knots, step, self.numbers.step, m.q_names.index("base.x"), *mirrors)

    @property
    def repeats(self) -> float:
        """How far the state after two steps is from that at the start, the way gone left out."""
        x = self.motion(2)
        start, end = x.at(0.0), x.at(x.duration)
        way = np.zeros(self.mechanism.nq)
        way[self.mechanism.q_names.index("base.x")] = 2 * self.numbers.step
        inner = [np.abs(a - b).max() for a, b in ((end.q - way, start.q), (end.qd, start.qd))]
        middle = x.at(self.step_time, side="left")
        first = self.synergy.motion.at(self.step_time)
        mirrored = [mirror(self.mechanism.q_names) @ start.q, mirror(self.mechanism.v_names) @ start.qd]
        mirrored[0][self.mechanism.q_names.index("base.x")] += self.numbers.step
        outer = [
            np.abs(a - b).max()
            for a, b in ((first.q, mirrored[0]), (first.qd, mirrored[1]), (middle.q, first.q))
        ]
        return float(max(*inner, *outer))

    def loads(self, time: Any) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """How much the left and the right foot are to carry (n, 2), and the points where they are pressed (n, 3)."""
        times = np.atleast_1d(np.asarray(time, dtype=float))
        k, t = self._long_enough(times).local(times)
        p = self.numbers
        part = quintic(np.clip((t - p.swing) / (p.T - p.swing), 0.0, 1.0))
        at = self.path.at(t).q
        rear = np.where((t < p.swing)[:, None], at, self.path.at(p.swing).q)
        front = np.broadcast_to(self.path.at(p.T).q, rear.shape)
        flip = np.where(k % 2 == 1, -1.0, 1.0)[:, None]
        turned = np.concatenate([np.ones_like(flip), flip, np.ones_like(flip)], axis=1)
        ahead = np.stack([k * p.step, 0.0 * k, 0.0 * k], axis=1)
        rear, front = rear * turned + ahead, front * turned + ahead
        odd = (k % 2 == 1)[:, None]
        loads = np.where(odd, np.stack([1.0 - part, part], axis=1), np.stack([part, 1.0 - part], axis=1))
        points = {"left-sole": np.where(odd, rear, front), "right-sole": np.where(odd, front, rear)}
        return loads, points

    def support_at(self, time: Any, motion: Trajectory | None = None) -> Support:
        """What the ground must give at times (n,), along the gait or another motion of the same feet."""
        times = np.atleast_1d(np.asarray(time, dtype=float))
        x = (motion or self._long_enough(times)).at(times)
        loads, points = self.loads(times)
        return support(
            self.mechanism,
            x.q,
            x.qd,
            x.qdd,
            self.soles,
            loads=loads,
            points=points,
            ground=self.ground,
            time=times,
        )

    @cached_property
    def support(self) -> Support:
        """What the ground must give over one step."""
        return self.support_at(np.linspace(0.0, self.step_time, SAMPLES))

    @cached_property
    def rigid(self) -> Support:
        """The same with a rigid trunk and still arms: how far the zero-moment point would be from the feet."""
        return self.support_at(self.support.time, self._steps(self.legs, 2))

    def moment(self, time: np.ndarray) -> np.ndarray:
        """About the normal at the prescribed zero-moment point, at times (n,) of one step [N m]."""
        x, z = self.synergy.at(time), self.path.at(time).q
        w = self.mechanism.resultant(x.q, x.qd, x.qdd)
        return w[:, 2] - (z[:, 0] * w[:, 4] - z[:, 1] * w[:, 3])

    def wrenches(self, time: Any) -> dict[str, np.ndarray]:
        """Of the ground on the soles (n, 6), at their origins in world axes."""
        times = np.atleast_1d(np.asarray(time, dtype=float))
        x = self._long_enough(times).at(times)
        loads, points = self.loads(times)
        w = shared(self.mechanism.resultant(x.q, x.qd, x.qdd), points, dict(zip(SOLES, loads.T, strict=True)))
        return {
            name: carried(w[name], points[name], self.mechanism.pose(x.q, name).position) for name in SOLES
        }

    def _long_enough(self, times: np.ndarray) -> Steps:
        return self.motion(max(2, int(times.max() / self.step_time) + 1))

    def efforts(self, time: Any) -> np.ndarray:
        """Of all rates (n, nv) [N m]; those of the base are what is left of the balance, and zero."""
        times = np.atleast_1d(np.asarray(time, dtype=float))
        x = self._long_enough(times).at(times)
        return self.mechanism.inverse_dynamics(x.q, x.qd, x.qdd, external=self.wrenches(times))

    @cached_property
    def samples(self) -> Mapping[str, np.ndarray]:
        """Over two steps: time, q, qd, qdd, effort, power, kinetic and potential energy."""
        time = np.linspace(0.0, 2 * self.step_time, 2 * SAMPLES - 1)
        x = self.motion(2).at(time)
        effort = self.efforts(time)
        energy = self.mechanism.energy(x.q, x.qd)
        return {
            "time": time,
            "q": x.q,
            "qd": x.qd,
            "qdd": x.qdd,
            "effort": effort,
            "power": effort * x.qd,
            "kinetic": energy.kinetic,
            "potential": energy.potential,
        }

    @property
    def feasible(self) -> bool:
        """Could real feet on the ground give all this?"""
        return self.support.feasible

    def figures(self) -> dict[str, float]:
        """The numbers that tell gaits from each other."""
        x, s = self.samples, self.support
        trunk = self.synergy.free.at(s.time).q
        joints = slice(6, None)
        work = float(np.trapezoid(np.clip(x["power"][:, joints], 0.0, None).sum(1), x["time"]))
        way = 2 * self.numbers.step
        return {
            "speed": self.numbers.speed,
            "step": self.numbers.step,
            "slope_deg": float(np.rad2deg(self.slope)),
            "arms": self.arms,
            "arm_swing_deg": float(np.rad2deg(np.abs(trunk[:, 2:]).max(initial=0.0))),
            "trunk_pitch_deg": float(np.rad2deg(np.ptp(trunk[:, 0]) / 2)),
            "trunk_roll_deg": float(np.rad2deg(np.abs(trunk[:, 1]).max())),
            "margin": float(s.margin.min()),
            "rigid_margin": float(self.rigid.margin.min()),
            "friction": float(s.friction.max()),
            "slip": float(s.slip.max()),
            "vertical_moment": float(np.abs(s.moment).max()),
            "largest_effort": float(np.abs(x["effort"][:, joints]).max()),
            "cost": work / (self.mechanism.mass * 9.81 * way),
        }

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """Stick figures, the zero-moment point in the footprints, efforts and phase portraits; written to the path."""
        return pictures.picture(self, title, path)

    def __str__(self) -> str:
        p, x = self.numbers, self.figures()
        free = listed(self.synergy.names)
        return "\n".join(
            [
                f"{self.mechanism.name}: {p.speed:.3g} m/s, steps of {p.step:.3g} m in {p.T:.4g} s, both feet down for "
                f"{p.T - p.swing:.3g} s, slope {np.rad2deg(self.slope):.3g} degrees",
                f"{free} follow; repeats to {self.repeats:.2g}, multipliers "
                f"{listed([f'{x:.4g}' for x in self.synergy.multipliers], 6)}",
                str(self.support),
                f"a rigid trunk would take the zero-moment point {-1e3 * x['rigid_margin']:.0f} mm out of the feet",
                f"trunk ±{x['trunk_pitch_deg']:.1f} degrees forward, ±{x['trunk_roll_deg']:.1f} sideways; largest "
                f"effort {x['largest_effort']:.0f} N m; positive work {x['cost']:.3f} of weight times way",
            ]
        )


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
