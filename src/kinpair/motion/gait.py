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
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.errors import InputError, listed
from kinpair.motion import gait_pictures as pictures
from kinpair.motion.human_gait import quintic
from kinpair.motion.inputs import Inputs, inputs_of
from kinpair.motion.leg_synergy import Steps, mirror
from kinpair.motion.nominal import Nominal
from kinpair.motion.support import Ground, Support, carried, shared, support

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinpair.mechanism import Mechanism
    from kinpair.motion.leg_synergy import LegNumbers, LegSynergy
    from kinpair.motion.pelvis_gait import PelvisStep, PlannedStep
    from kinpair.motion.synergy import Synergy
    from kinpair.motion.trajectory import Trajectory
    from kinpair.viewer.page import Page

TRUNK = ("trunk-pitch", "trunk-roll")
ARMS = {"left-shoulder": 1.0, "right-shoulder": -1.0}
SOLES = ("left-sole", "right-sole")
Outline = tuple[tuple[float, float], tuple[float, float]]
SOLE: Outline = ((-0.07, 0.19), (-0.05, 0.05))  # [m]: outline forward and sideways of the ankle
SAMPLES = 401


@final
@dataclass(frozen=True, eq=False)
class Gait:
    """A gait of a biped over one step, the left foot swinging; the next step is its mirror image.

    mechanism: with gravity turned by the slope. synergy: the step, with what is free. legs: what was given.
    """

    mechanism: Mechanism
    synergy: Synergy | PelvisStep
    legs: LegSynergy | PlannedStep
    path: Trajectory
    ground: Ground
    slope: float
    arms: float
    outline: Outline = SOLE
    notes: tuple[str, ...] = ()  # roles of joints that were guessed, and what else was assumed

    @property
    def numbers(self) -> LegNumbers:
        """Durations and lengths of a step."""
        return self.legs.numbers

    @property
    def step_time(self) -> float:
        """Duration of a step [s]."""
        return self.numbers.T

    @property
    def soles(self) -> Mapping[str, np.ndarray]:
        """Outlines of the soles (4, 3) in axes of their frames."""
        (back, front), (inner, outer) = self.outline
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
        """Distance of the state after two steps from that at the start, the distance travelled left out."""
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
        """Loads that the left and the right foot carry (n, 2), and the points where they are pressed (n, 3)."""
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
        """Support that the ground must give at times (n,), along the gait or another motion of the same feet."""
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
        """Support that the ground must give over one step."""
        return self.support_at(np.linspace(0.0, self.step_time, SAMPLES))

    @cached_property
    def rigid(self) -> Support:
        """Distance of the zero-moment point from the feet with a rigid trunk and still arms."""
        return self.support_at(self.support.time, self._steps(self.legs, 2))

    def moment(self, time: np.ndarray) -> np.ndarray:
        """About the normal at the prescribed zero-moment point, at times (n,) of one step [N m]."""
        x, z = self.synergy.at(time), self.path.at(time).q
        w = self.mechanism.resultant(x.q, x.qd, x.qdd)
        return w[:, 2] - (z[:, 0] * w[:, 4] - z[:, 1] * w[:, 3])

    def wrenches(self, time: Any) -> dict[str, np.ndarray]:
        """Wrenches of the ground on the soles (n, 6), at their origins in world axes."""
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
        """Efforts of all rates (n, nv) [N m]; those of the base are what is left of the balance, and zero."""
        times = np.atleast_1d(np.asarray(time, dtype=float))
        x = self._long_enough(times).at(times)
        return self.mechanism.inverse_dynamics(x.q, x.qd, x.qdd, external=self.wrenches(times))

    @cached_property
    def samples(self) -> Mapping[str, np.ndarray]:
        """Samples over two steps: time, q, qd, qdd, effort, power, kinetic and potential energy."""
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

    def inputs(self) -> Inputs:
        """Inputs of the actuators over two steps, with what comes in and what is lost [W], [J]; see `motion.inputs`."""
        return self.inputs_at(self.samples["time"], self.samples["effort"])

    def inputs_at(self, time: np.ndarray, effort: np.ndarray) -> Inputs:
        """Inputs of the actuators at times (n,) for joint efforts (n, nv) [N m]."""
        walk = self._long_enough(time)
        x = walk.at(time)
        options = {"passive": True}
        return inputs_of(Nominal(self.mechanism, walk, time, x.q, x.qd, x.qdd, x.jerk, effort, options))

    @property
    def feasible(self) -> bool:
        """True if real feet on the ground could give all this."""
        return self.support.feasible

    def figures(self) -> dict[str, float]:
        """The numbers that distinguish gaits."""
        x, s = self.samples, self.support
        trunk = (
            self.synergy.free.at(s.time).q if self.synergy.names[0] in TRUNK else np.zeros((len(s.time), 2))
        )
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

    def report(self, path: str | os.PathLike[str] = "gait.html", *, steps: int = 4) -> Path:
        """Write a page, complete in itself, in which it walks: zero-moment point and support polygon on the ground,
        efforts [N m], loads of the feet [N] and margin [m] on one slider."""
        file = Path(path)
        try:
            file.write_text(pictures.page(self, steps), "utf-8")
        except OSError as reason:
            raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
        return file

    def view(
        self, *, steps: int = 4, port: int = 8080, browser: bool = True, wait: bool | None = None
    ) -> Page:
        """Show the gait in the browser; options as for `Mechanism.view`."""
        from kinpair.viewer.page import Page, stays_open

        recordings = [pictures.recording(self, steps)]
        page = Page(self.mechanism, recordings=recordings, port=port, browser=browser)
        if stays_open(wait):
            page.wait()
        return page

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
                f"effort {x['largest_effort']:.0f} N m; cost of transport (positive work) {x['cost']:.3f}",
                *self.notes,
            ]
        )
