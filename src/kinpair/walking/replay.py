"""A gait played back: its efforts, and a regulator, drive the free machine, with feet fixed or on contacts.

Each step is two runs, single and double support. The next step is the mirror image of the first, so its state is
mirrored, too. On contacts, feet push on the ground, stick, slide, land and leave as they do; a step is counted from the
place of the foot that stands. With feet fixed, a foot that comes down is stopped by an impulse p on it; with J of the
soles that are fixed

    H (q̇⁺ − q̇⁻) = Jᵀ p,   J q̇⁺ = 0                                                                           (GW13)
    τ + Σ_i J_iᵀ w_i = inverse dynamics of the run,   i: soles that are fixed                                    (GW14)

The latter has the wrench w_i of the ground on each foot, also where there are two.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.description.fields import counted
from kinpair.errors import InputError
from kinpair.forces.states import has_actuators
from kinpair.motion.gait import Gait
from kinpair.motion.leg_synergy import ANGLES, angles_of
from kinpair.motion.support import Support, support
from kinpair.runs.judgement import whole_runs
from kinpair.runs.result import Result
from kinpair.runs.simulate import simulate
from kinpair.runs.targets import Kind, target
from kinpair.walking import pictures as replay_pictures
from kinpair.walking.phases import Phase, phases, phases_on_contacts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinpair.control.linear_quadratic import LinearQuadratic


SAMPLES = 100  # of a run
DT = 1e-3  # [s]: longest step on contacts
AIRBORNE = 0.01  # of the weight: feet that carry less have left the ground
FALLEN = 0.7  # of the height of the mass centre: a machine below this has fallen
RTOL = {True: 1e-8, False: 1e-12}  # with a regulator; without, errors grow
FEET = {"held": phases, "contact": phases_on_contacts}
FORMAT = "kinpair gait"


@final
@dataclass(frozen=True, eq=False)
class Replay:
    """Runs of a gait played back, two a step, in axes of each step (the left foot swings in all of them).

    jumps: of a coordinate at the start of each run, where a foot came down off its place. impulses: at the soles
    [N s], the larger of each run; zero on contacts. shifts (2,): of the machine at the start of each step, after the
    mirror, to the place of the foot that stands [m].
    """

    gait: Gait
    phases: tuple[Phase, Phase]
    runs: tuple[Result, ...]
    jumps: tuple[float, ...]
    impulses: tuple[float, ...]
    shifts: tuple[np.ndarray, ...] = ()

    @property
    def on_contacts(self) -> bool:
        """True if nothing holds the feet."""
        return bool(self.phases[0].mechanism.model.description.contacts.geoms)

    @property
    def fell(self) -> int | None:
        """The step in which the machine fell, from 1; None if it did not."""
        if self.on_contacts and not self.runs[-1].contacts.count.any():
            return (len(self.runs) + 1) // 2
        end = self.gait.mechanism.centre_of_mass(self.runs[-1].q[-1])[2]
        whole = self.gait.mechanism.centre_of_mass(self.nominal(len(self.runs) - 1).q[-1])[2]
        return (len(self.runs) + 1) // 2 if end < FALLEN * whole else None

    def nominal(self, k: int) -> Any:
        """The gait at the samples of a run."""
        return self.gait.synergy.at(self.runs[k].time)

    @property
    def deviations(self) -> np.ndarray:
        """Largest deviation of a coordinate and of a rate from the gait, at the end of each run (runs, 2)."""
        return np.array([self._largest(k, -1) for k in range(len(self.runs))])

    def _largest(self, k: int, sample: int) -> tuple[float, float]:
        run, x = self.runs[k], self.nominal(k)
        return np.abs(run.q[sample] - x.q[sample]).max(), np.abs(run.qd[sample] - x.qd[sample]).max()

    def off(self, k: int) -> np.ndarray:
        """Distance of the mass centre from that of the gait (n, 3) during a run [m]."""
        m = self.gait.mechanism
        return m.centre_of_mass(self.runs[k].q) - m.centre_of_mass(self.nominal(k).q)

    @property
    def distances(self) -> np.ndarray:
        """Distances of the mass centre from that of the gait, at the start and after each step (steps + 1,) [m]."""
        ends = [self.off(k)[-1] for k in range(1, len(self.runs), 2)]
        return np.sqrt((np.array([self.off(0)[0], *ends]) ** 2).sum(1))

    def wrenches(self, k: int) -> dict[str, np.ndarray]:
        """Wrenches of the ground on the soles that stand (n, 6), at their origins in axes of the step, during a run.

        On contacts: on both soles, at the samples after the first.
        """
        run, m, soles = self.runs[k], self.gait.mechanism, self.phases[k % 2].soles
        if self.on_contacts:
            return {sole: self._pushes(k, sole) for sole in self.gait.soles}
        J = np.concatenate([m.jacobian(run.q, sole) for sole in soles], axis=1)
        rest = m.inverse_dynamics(run.q, run.qd, run.qdd) - run.tau
        w = np.linalg.solve(J @ np.swapaxes(J, 1, 2), J @ rest[..., None])[..., 0]  # (GW14)
        return {sole: w[:, 6 * i : 6 * i + 6] for i, sole in enumerate(soles)}

    def _pushes(self, k: int, sole: str) -> np.ndarray:
        """Wrench of contact on a sole (n − 1, 6), as in `wrenches`."""
        run, m = self.runs[k], self.phases[0].mechanism
        places = {x.name: x.link for x in m.model.description.frames}
        own = {x.name for x in m.model.description.contacts.geoms if x.link in (sole, places.get(sole))}
        origin, w = m.pose(run.q, sole).position, np.zeros((len(run.time), 6))
        for name, x in run.contacts.points.items():
            one, other = name.rpartition(" #")[0].split(" on ")
            if own & {one, other}:
                force = x.force if one in own else -x.force
                w[:, :3] += np.cross(np.nan_to_num(x.place - origin), force)
                w[:, 3:] += force
        return w[1:]

    @cached_property
    def support(self) -> tuple[Support, ...]:
        """Support that the ground gave during each run, foot by foot; on contacts at the samples at which it gave
        something."""
        flew = self.on_contacts and not self.runs[-1].contacts.count.any()
        return tuple(self._support(k) for k in range(len(self.runs) - flew))

    def _support(self, k: int) -> Support:
        run, gait, given = self.runs[k], self.gait, self.wrenches(k)
        soles = {name: outline for name, outline in gait.soles.items() if name in given}
        if not self.on_contacts:
            state = run.q, run.qd, run.qdd
            return support(gait.mechanism, *state, soles, wrenches=given, ground=gait.ground, time=run.time)
        every = sum((w[:, 5] for w in given.values()), np.zeros(len(run.time) - 1))
        stood = np.flatnonzero(every > AIRBORNE * 9.81 * gait.mechanism.mass)
        given = {name: w[stood] for name, w in given.items()}
        q, qd, tau, time = (x[1:][stood] for x in (run.q, run.qd, run.tau, run.time))
        qdd = gait.mechanism.forward_dynamics(q, qd, tau, external=given)
        return support(gait.mechanism, q, qd, qdd, soles, wrenches=given, ground=gait.ground, time=time)

    def walked(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times (n,) [s] and coordinates (n, nq) of all steps, one after another in the world."""
        walk, at = self.gait.motion(2), [self.gait.mechanism.q_names.index(f"base.{x}") for x in "xy"]
        times, places = list[np.ndarray](), list[np.ndarray]()
        for k, run in enumerate(self.runs):
            q = run.q.copy()
            for shift in self.shifts[k // 2 :: -1][:-1]:
                q[:, at] -= shift
                q = q @ walk.mirror_q.T
            times.append(run.time + (k // 2) * self.gait.step_time)
            places.append(q)
        return np.concatenate(times), np.concatenate(places)

    @property
    def excesses(self) -> tuple[str, ...]:
        """Excesses that no foot could give, in words, with the step; empty where all could be given, as on contacts."""
        if self.on_contacts:
            return ()
        return tuple(f"step {k // 2 + 1}: {x}" for k, s in enumerate(self.support) for x in s.excesses)

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> Figure:
        """The zero-moment point in the footprints, how far the mass centre is off, margins and loads of the feet."""
        return replay_pictures.picture(self, title, path)

    def report(self, path: str | os.PathLike[str] = "walk.html") -> Path:
        """Write a page, complete in itself, in which it walks, with loads of the feet [N] and margins [m]."""
        file = Path(path)
        try:
            file.write_text(replay_pictures.page(self), "utf-8")
        except OSError as reason:
            raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
        return file

    def __str__(self) -> str:
        every, fell = self.support, self.fell
        away = ", ".join(f"{1e3 * x:.2g}" for x in self.distances)
        margin, slip = min(x.margin.min() for x in every), max(x.slip.max() for x in every)
        feet = "on contacts" if self.on_contacts else "feet fixed"
        lines = [
            f"{self.gait.mechanism.name}: {counted(len(self.runs) // 2, 'step')} played back, {feet}",
            f"mass centre {away} mm from the gait, at the start and after each step",
            f"least margin {1e3 * margin:.2g} mm; friction demand with moment at most {slip:.2f}, offered "
            f"{self.gait.ground.friction:g}; {self._landing()}",
            *([f"fell in step {fell}"] if fell else []),
        ]
        if not self.on_contacts:
            lines += self.excesses or ("feasible: feet on the ground can give all this",)
        return "\n".join(lines)

    def _landing(self) -> str:
        """Return what it took to land."""
        if not self.on_contacts:
            return f"impulse of a foot at most {max(self.impulses):.2g} N s"
        ends = [run.contacts for run in self.runs]
        impact, friction = (
            sum(x[-1] for x in y) for y in zip(*((x.impact_loss, x.friction_loss) for x in ends), strict=True)
        )
        return f"{impact:.2g} J lost in impacts, {friction:.2g} J in friction"


def pushed(
    gait: Gait, *, forward: float = 0.0, sideways: float = 0.0, rate: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """State q (nq,), qd (nv,) at the start of the gait with the pelvis displaced [m], both feet in their places, and
    the trunk turning at a rate [rad/s] forward and to the right, in addition to that of the gait."""
    m, p, x = gait.mechanism, gait.numbers, gait.synergy.at(0.0)
    q, qd = x.q.copy(), x.qd.copy()
    q[[m.q_names.index(f"base.{axis}") for axis in "xy"]] += (forward, sideways)
    pelvis = q[[m.q_names.index(f"base.{axis}") for axis in "xyz"]]
    for side, sign, ahead in (("left", 1.0, -p.step), ("right", -1.0, 0.0)):
        hip = pelvis + np.array([p.hip_x, sign * p.hip_y, p.hip_z])
        ankle = np.array([ahead, sign * p.track, p.ankle])
        q[[m.q_names.index(f"{side}-{name}") for name in ANGLES]] = angles_of(list(ankle - hip), p)
    qd[[m.v_names.index(name) for name in ("trunk-pitch", "trunk-roll")]] += rate
    q, qd, _ = _placed(gait, phases(gait)[0], q, qd)
    return q, qd


def replay(
    gait: Gait,
    *,
    steps: int = 1,
    start: tuple[Any, Any] | None = None,
    regulator: tuple[LinearQuadratic, LinearQuadratic] | None = None,
    rtol: float | None = None,
    feet: str = "held",
) -> Replay:
    """The gait from its start, or from another state (q, qd), such as `pushed` gives, for so many steps.

    Without a regulator its efforts alone drive the machine, and nothing leads it back. `feet`: "held" by constraints
    while they stand, or on "contact": they only push, with the friction of the ground, and land and leave as they do.
    The regulator is the same. A machine that falls is not led on.

    Units: coordinates [rad] or [m], rates [rad/s] or [m/s].
    """
    if feet not in FEET:
        raise InputError(f"replay: feet is {feet!r}; give one of {', '.join(FEET)}", argument="feet")
    if not (isinstance(steps, int) and steps > 0):  # type: ignore[redundant-expr]
        raise InputError(f"replay: steps is {steps!r}; give a positive whole number")
    both = FEET[feet](gait)
    laws = [phase.inputs for phase in both] if regulator is None else regulator
    x = gait.synergy.at(0.0)
    q, qd = (x.q, x.qd) if start is None else (np.asarray(s, dtype=float) for s in start)
    tolerance = RTOL[regulator is not None] if rtol is None else rtol
    what = "input" if has_actuators(gait.mechanism.model) else "torque"
    played = Replay(gait, both, (), (), ())
    for step in range(steps):
        q, qd, shift = _turned(gait, q, qd, feet) if step else (q, qd, np.zeros(2))
        played = replace(played, shifts=(*played.shifts, shift))
        for phase, law in zip(both, laws, strict=True):
            jump, impulse = 0.0, 0.0
            options: dict[str, Any] = {"time": phase.start, "duration": phase.duration, what: law}
            if feet == "held":
                q, qd, (jump, impulse) = _placed(gait, phase, q, qd)
                options |= {"rtol": tolerance, "atol": tolerance}
            else:
                options["dt"] = phase.duration / (SAMPLES * np.ceil(phase.duration / (SAMPLES * DT)))
            output = np.linspace(phase.start, phase.end, SAMPLES + 1)
            with whole_runs():
                run = simulate(phase.mechanism, q, qd, output=output, **options)
            played = replace(
                played,
                runs=(*played.runs, run),
                jumps=(*played.jumps, jump),
                impulses=(*played.impulses, impulse),
            )
            if played.fell:
                return played
            q, qd = run.q[-1].copy(), run.qd[-1].copy()
    return played


def _turned(
    gait: Gait, q: np.ndarray, qd: np.ndarray, feet: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mirrored state at the end of a step, counted from the foot that stands next, and the shift (2,)."""
    walk, m, p = gait.motion(2), gait.mechanism, gait.numbers
    q, qd, shift = walk.mirror_q @ q, walk.mirror_v @ qd, np.array([-p.step, 0.0])
    if feet != "held":
        shift = np.array([0.0, -p.track]) - m.pose(q, "right-sole").position[:2]
    q[[m.q_names.index(f"base.{axis}") for axis in "xy"]] += shift
    return q, qd, shift


def _placed(
    gait: Gait, phase: Phase, q: np.ndarray, qd: np.ndarray
) -> tuple[np.ndarray, np.ndarray, tuple[float, float]]:
    """The nearest state in which feet are fixed, how far it is, and the impulse that stops them."""
    at = phase.mechanism.assemble(q)
    J = np.concatenate([gait.mechanism.jacobian(at, sole) for sole in phase.soles])
    felt = np.linalg.solve(gait.mechanism.mass_matrix(at), J.T)
    p = -np.linalg.solve(J @ felt, J @ qd)  # (GW13)
    largest = np.sqrt((p.reshape(-1, 2, 3)[:, 1] ** 2).sum(1)).max()
    return at, qd + felt @ p, (float(np.abs(at - q).max()), float(largest))


def _is_gait(path: Path) -> bool:
    from kinpair.runs.hdf5 import format_of  # importing h5py is slow

    return format_of(path) == FORMAT


GAIT = Kind("gait", (".h5", ".hdf5"), _is_gait)


def save_gait(gait: Gait, path: str | os.PathLike[str]) -> Path:
    """Write time, coordinates, rates, accelerations, efforts, power, energies, and what the ground gives, over two
    steps, to an HDF5 file; its figures are attributes. A file of another kind is not replaced."""
    import h5py  # it takes its time

    file = target(path, GAIT)
    x = gait.samples
    s = gait.support_at(x["time"])
    ground = {"zmp": s.zmp, "margin": s.margin, "friction": s.friction, "slip": s.slip, "moment": s.moment}
    with h5py.File(file, "w") as out:
        out.attrs["format"] = FORMAT
        out.attrs["name"] = gait.mechanism.name
        out.attrs["q_names"] = list(gait.mechanism.q_names)
        out.attrs["v_names"] = list(gait.mechanism.v_names)
        out.attrs["feasible"] = gait.feasible
        for name, value in {**gait.figures(), **gait.numbers._asdict()}.items():
            out.attrs[name] = float(value)
        for name, values in {**x, **ground}.items():
            out[name] = values
        for name, wrench in s.wrenches.items():
            out[f"wrenches/{name}"] = wrench
    return file
