"""A hand carries an open vessel: how it must tilt, what the liquid does, and how far that stays below the edge.

Laws of time that leave no vibration of a given frequency behind: the law once now and once half a period later.

    s(t) = Σ_i A_i s_0(t − t_i),   A = (1, K)/(1 + K),   t = (0, π/ω_d),   K = exp(−ζπ/√(1−ζ²))         (VS9)

(N. C. Singer, W. P. Seering, *J. Dyn. Syst. Meas. Control* 112 (1990) 76–82.)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.errors import InputError, expect, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.motion.aligned import Aligned, apparent_vertical, jerk_jump
from kinpair.motion.follow import follow
from kinpair.motion.frame_motion import FrameTrajectory
from kinpair.motion.pieces import Retimed, retimed
from kinpair.motion.tank import MODELS, Tank, Waves, waves
from kinpair.motion.trajectory import Trajectory
from kinpair.spatial.rotation import to_quaternion
from kinpair.viewer.curves import figure_of, write_figure
from kinpair.viewer.looks import Panel, distinct

if TYPE_CHECKING:
    from matplotlib.figure import Figure
from math import exp, pi, sqrt

from kinpair.motion.pieces import Straight


@final
@dataclass(frozen=True, eq=False, repr=False)
class Delayed(Trajectory):
    """A motion several times, later and with less weight each."""

    motion: Trajectory
    weights: tuple[float, ...]
    delays: tuple[float, ...]

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        parts = [self.motion.series(time[..., 0] - delay, order, side) for delay in self.delays]
        length = max(map(len, parts))
        filled = [[*x, *[0.0 * x[0]] * (length - len(x))] for x in parts]
        return [sum(w * x[k] for w, x in zip(self.weights, filled, strict=True)) for k in range(length)]


def shaped(law: Trajectory, frequency: float, damping: float = 0.0) -> Trajectory:
    """The law without vibration at a frequency [rad/s], as long as before: half a period of it is for the shaper."""
    K = exp(-damping * pi / sqrt(1 - damping**2))
    delay = pi / (frequency * sqrt(1 - damping**2))
    if delay >= law.duration:
        raise InputError(
            f"shaped: half a period at {frequency:.4g} rad/s is {delay:.4g} s, and the motion takes "
            f"{law.duration:.4g} s; give it more time"
        )
    short = law.duration - delay
    clock = Straight(short, (), (0.0, short), np.zeros(1), np.array([law.duration]))
    sooner = retimed(law, clock)
    weights, delays = (1 / (1 + K), K / (1 + K)), (0.0, delay)  # (VS9)
    knots = tuple(np.unique([t + d for d in delays for t in sooner.knots]).tolist())
    return Delayed(law.duration, law.shape, (*knots[:-1], law.duration), sooner, weights, delays)


UPRIGHT = 1e-9  # how far the axis of a vessel at rest may be from the vertical
ROUNDING = 1e-9  # degrees, or mm
SMOOTH = 3  # continuous derivatives of a path along which a vessel can be aligned


@final
@dataclass(frozen=True, eq=False)
class Transfer:
    """A vessel carried along a path: the motion of its frame, of all joints, and of the liquid.

    way: "aligned", "upright" or "shaped". height: of the point above the frame that is aligned [m]. waves: of both
    modes, over the motion and `settle` seconds after it, in axes of the vessel.
    """

    mechanism: Mechanism
    frame: FrameTrajectory
    motion: Trajectory
    tank: Tank
    waves: Waves
    way: str
    height: float

    @property
    def peak(self) -> float:
        """The largest displacement of the first mode's mass in the vessel [m]."""
        return float(np.sqrt((self.waves.displacement[:, 0] ** 2).sum(-1)).max())

    @property
    def wave(self) -> float:
        """The highest wave at the wall [m]."""
        return float(self.waves.wall.max())

    @property
    def margin(self) -> float:
        """Margin of the wall above the highest wave [m]; below zero liquid is spilled."""
        return self.tank.freeboard - self.wave

    @property
    def spills(self) -> bool:
        """True if a wave passes the edge."""
        return self.margin < 0.0

    @cached_property
    def tilt(self) -> np.ndarray:
        """Angle of the vessel from upright [rad], at the times of the waves."""
        g = self.mechanism.model.gravity
        n = self.frame.at(self.waves.time).rotation[..., 2]
        up = -g / np.sqrt(g @ g)
        return np.arctan2(np.sqrt((np.cross(up, n) ** 2).sum(-1)), n @ up)

    def __str__(self) -> str:
        edge = f"spills: {-self.margin * 1e3:.3g} mm beyond the edge" if self.spills else ""
        left = "" if np.isinf(self.margin) else f"{self.margin * 1e3:.3g} mm below the edge"
        parts = [
            f"{self.way}: tilt up to {_shown(np.degrees(self.tilt.max()))}°",
            f"first mode up to {_shown(self.peak * 1e3)} mm",
            f"wave up to {_shown(self.wave * 1e3)} mm",
            edge or left,
        ]
        return ", ".join(part for part in parts if part)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """Tilt, displacement of both modes, and wave at the wall over time; written to the path if given."""
        figure = pictured({self.way: self}, title or f"{self.mechanism.name}: {self.way}")
        if path is not None:
            write_figure(figure, path)
        return figure


def _shown(number: float) -> str:
    """Format with four digits; what is rounding is 0."""
    return f"{number:.4g}" if number > ROUNDING else "0"


def pictured(transfers: Mapping[str, Transfer], title: str) -> Figure:
    """Draw several transfers next to each other."""
    time = max((x.waves.time for x in transfers.values()), key=len)
    modes = [
        {name: 1e3 * np.sqrt((x.waves.displacement[:, k] ** 2).sum(-1)) for name, x in transfers.items()}
        for k in (0, 1)
    ]
    tilt = {name: np.degrees(x.tilt) for name, x in transfers.items()}
    wall = {name: 1e3 * x.waves.wall for name, x in transfers.items()}
    looks = distinct(list(transfers))
    return figure_of(
        time,
        [
            [
                Panel("tilt of the vessel", "[°]", tilt, looks),
                Panel("first mode in the vessel", "[mm]", modes[0], looks),
            ],
            [
                Panel("wave at the wall", "[mm]", wall, looks),
                Panel("second mode in the vessel", "[mm]", modes[1], looks),
            ],
        ],
        title=title,
    )


def vessel(
    m: Mechanism,
    path: FrameTrajectory,
    *,
    frame: str,
    tank: Tank,
    way: str = "aligned",
    height: float | None = None,
    settle: float = 0.0,
    model: str = "pendulum",
    **options: Any,
) -> Transfer:
    """An arm carries an open vessel along a path, and the waves in it.

    path: of the vessel's frame, upright: its origin in the middle of the bottom, z along the axis. frame: its name.
    way: "aligned" turns the axis to the apparent vertical (VS1) of a point `height` above the bottom, the place of the
    first mode's mass by default, where nothing excites it; "upright" turns nothing; "shaped" is upright with a law that
    leaves no wave of the first mode behind. settle [s]: how long waves are looked at after the motion. model:
    "pendulum" or "springs". options: as `follow` has them.

    InputError where the path is not smooth enough: aligned it needs three continuous derivatives, as a septic law has.
    """
    expect("vessel", m, Mechanism)
    for name, value, known in (("way", way, tuple(WAYS)), ("model", model, MODELS)):
        if value not in known:
            raise InputError(
                f"vessel: no {name} {value!r}; {nearest(value, known)}{name.title()}s: {listed(known)}"
            )
    if settle < 0.0:
        raise InputError(f"vessel: settle is {settle!r}; give seconds, or 0")
    _check_upright(m, path)
    above = float(tank.heights[0] if height is None else height)
    if way == "aligned":
        _check_smooth(m, path, frame, options.get("start"))
    moved = WAYS[way](m, path, tank, above)
    found = waves(tank, moved, m.model.gravity, settle=settle, model=model)
    return Transfer(m, moved, follow(m, {frame: moved}, **options), tank, found, way, above)


def _aligned(m: Mechanism, path: FrameTrajectory, tank: Tank, height: float) -> FrameTrajectory:
    k = to_quaternion(path.at(0.0).rotation)
    x = path.motion
    return FrameTrajectory(x, Aligned(x.duration, (7,), x.knots, x, k, m.model.gravity, height))


def _check_smooth(m: Mechanism, path: FrameTrajectory, frame: str, start: Any) -> None:
    """Refuse a path along which the angular velocity of the vessel would jump; which joint would jump most."""
    if path.smoothness >= SMOOTH:
        return
    time, jump = jerk_jump(path.motion)
    x = path.at(time)
    q = m.inverse_kinematics(m.start() if start is None else start, frame, x.position, x.rotation)
    turn = apparent_vertical(x.acceleration[3:], jump, m.model.gravity).omega
    rates = np.linalg.pinv(m.jacobian(q, frame)) @ np.concatenate([turn, np.zeros(3)])
    joint, size = m.v_names[int(np.abs(rates).argmax())], float(np.abs(jump).max())
    raise InputError(
        f"vessel: the path has {path.smoothness:g} continuous derivatives; at {time:.4g} s its jerk jumps by "
        f"{size:.4g} m/s³, and the rate of {joint!r} would jump by {np.abs(rates).max():.3g}. Take a law with {SMOOTH} "
        "or more, such as septic",
        time=time,
        joint=joint,
        jump=size,
    )


def _upright(m: Mechanism, path: FrameTrajectory, tank: Tank, height: float) -> FrameTrajectory:
    return path


def _shaped(m: Mechanism, path: FrameTrajectory, tank: Tank, height: float) -> FrameTrajectory:
    x = path.motion
    if not isinstance(x, Retimed):
        raise InputError(
            "vessel: a path is shaped by its law; give a line, an arc, or another with a law of its own"
        )
    g = m.model.gravity
    frequency = float(tank.frequencies(float(np.sqrt(g @ g)))[0])
    return FrameTrajectory(path.path, retimed(x.path, shaped(x.law, frequency, tank.damping)))


WAYS: dict[str, Callable[[Mechanism, FrameTrajectory, Tank, float], FrameTrajectory]] = {
    "aligned": _aligned,
    "upright": _upright,
    "shaped": _shaped,
}


def _check_upright(m: Mechanism, path: FrameTrajectory) -> None:
    g = m.model.gravity
    if not g.any():
        raise InputError(f"vessel: {m.name} has no gravity, so nothing holds a liquid in an open vessel")
    n = path.at(np.linspace(0.0, path.duration, 33)).rotation[..., 2]
    off = np.abs(n + g / np.sqrt(g @ g)).max(-1)
    if off.max() > UPRIGHT:
        time = float(np.linspace(0.0, path.duration, 33)[off.argmax()])
        raise InputError(
            f"vessel: at {time:.4g} s the z axis of the path is not vertical; give the path of an upright vessel, it "
            "is tilted here",
            time=time,
        )
