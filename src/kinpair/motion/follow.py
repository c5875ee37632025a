"""Motions of frames and of some coordinates as motions of the whole mechanism, by inverse kinematics along the path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinpair.errors import InputError, SingularError, expect, listed, nearest
from kinpair.inverse_kinematics.path import Followed
from kinpair.inverse_kinematics.search import FOUND
from kinpair.inverse_kinematics.targets import Form
from kinpair.mechanism import Mechanism
from kinpair.motion.frame_motion import FrameTrajectory, crossed
from kinpair.motion.joints import through
from kinpair.motion.pieces import Pieces
from kinpair.motion.rated import motion_of
from kinpair.motion.trajectory import Trajectory

SAMPLES = 500
FEWEST = 8  # between two knots
SINGULAR = 1e-8  # part of a row that is its own, below which a position is singular
LARGE = 0.5  # of the largest part in a motion: a joint that has so much of it is named
PARTS: dict[str, tuple[tuple[int, ...], bool, tuple[float, ...]]] = {
    "pose": ((0, 1, 2), True, ()),
    "position": ((0, 1, 2), False, ()),
    "rotation": ((), True, ()),
    "axis x": ((0, 1, 2), False, (1.0, 0.0, 0.0)),
    "axis y": ((0, 1, 2), False, (0.0, 1.0, 0.0)),
    "axis z": ((0, 1, 2), False, (0.0, 0.0, 1.0)),
}


class Targets(NamedTuple):
    """Frames and coordinates that move as given: forms, and entries of q, in the order in which they are wanted."""

    frames: Mapping[Form, FrameTrajectory]
    entries: Mapping[int, Trajectory]

    @property
    def motions(self) -> tuple[FrameTrajectory | Trajectory, ...]:
        """Motions of all targets."""
        return *self.frames.values(), *self.entries.values()

    @property
    def duration(self) -> float:
        """Duration of the longest."""
        return max(x.duration for x in self.motions)

    def numbers(self, time: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Target values, then their rates, at times (n,); and the derivatives of all that."""
        values: list[np.ndarray] = [time[:, None]]
        changes: list[np.ndarray] = [np.ones((len(time), 1))]
        rates: list[np.ndarray] = []
        accelerations: list[np.ndarray] = []
        for form, motion in self.frames.items():
            x = motion.at(time, side=side)
            omega = x.twist[:, None, :3]
            along = list(form.along)
            values.append(x.position[:, along])
            changes.append(x.twist[:, 3:][:, along])
            if form.rotation:
                turned = crossed(omega, np.swapaxes(x.rotation, 1, 2))  # ω × each column
                values.append(x.rotation.reshape(-1, 9))
                changes.append(np.swapaxes(turned, 1, 2).reshape(-1, 9))
            if form.axis:
                n = x.rotation @ np.array(form.axis)
                values.append(n)
                changes.append(crossed(x.twist[:, :3], n))
            turns = [0, 1, 2] if form.rotation or form.axis else []
            some = [3 + k for k in along] + turns
            rates.append(x.twist[:, some])
            accelerations.append(x.acceleration[:, some])
        for motion in self.entries.values():
            q, qd, qdd, _ = (np.reshape(part, (-1, 1)) for part in motion.at(time, side=side))
            values.append(q)
            changes.append(qd)
            rates.append(qd)
            accelerations.append(qdd)
        return np.concatenate([*values, *rates], axis=1), np.concatenate([*changes, *accelerations], axis=1)


def follow(
    m: Mechanism,
    targets: Mapping[str, FrameTrajectory | Trajectory],
    *,
    start: Any = None,
    parts: Mapping[str, str] | None = None,
    criterion: str = "rates",
    samples: int = SAMPLES,
) -> Trajectory:
    """The motion of all joints while frames and some coordinates move as given and every constraint holds.

    targets: by name of a frame or link a motion of it (`line`, `arc`, ...), by name of a coordinate a motion of one
    number. parts: of a frame "pose" (the default), "position", "rotation", or "axis z", which is the position and the
    direction of that axis. start: a guess of the coordinates at time 0. criterion: what is preferred where joints are
    left over: "rates", "energy" or "limits".

    SingularError where the path leads through a singular position or out of reach: it names the time and the joints,
    and has times and coordinates up to there in `parts`.

    Units: coordinates [rad] or [m].
    """
    expect("follow", m, Mechanism)
    expect("follow", targets, Mapping, advice='give {"tip": motion} by frame or coordinate')
    wanted = targets_of(m, targets, parts or {})
    if samples < FEWEST:
        raise InputError(f"follow: samples is {samples!r}; give {FEWEST} or more")
    q = first_place(m, wanted, m.start() if start is None else start)
    path = m.inverse.path(tuple(wanted.frames), tuple(wanted.entries), q, criterion)
    found: list[tuple[np.ndarray, Followed]] = []
    for time in _grid(wanted, samples):
        halves = np.sort(np.concatenate([time, (time[1:] + time[:-1]) / 2]))
        reached = path.samples(q, _between_knots(wanted, halves)[0], float(halves[1] - halves[0]))
        found.append((time, path.motions(reached, *_between_knots(wanted, time))))
        _check(m, wanted, found)
        q = reached[-1]
    return _trajectory(m, found)


def targets_of(
    m: Mechanism, given: Mapping[str, Any], parts: Mapping[str, str], owner: str = "follow"
) -> Targets:
    """Frames and coordinates by name, checked."""
    if not given:
        raise InputError(f"{owner}: give a motion for one frame or coordinate at least")
    for name, part in parts.items():
        if name not in given:
            raise InputError(f"{owner}: parts names {name!r}, which has no motion")
        if part not in PARTS:
            raise InputError(
                f"{owner}: {name!r} has the part {part!r}; {nearest(part, PARTS)}Parts: {listed(PARTS)}"
            )
    frames: dict[Form, FrameTrajectory] = {}
    entries: dict[int, Trajectory] = {}
    for name, motion in given.items():
        if isinstance(motion, FrameTrajectory):
            m.model.place(name)
            frames[Form(name, *PARTS[parts.get(name, "pose")])] = motion
        elif name not in m.q_names:
            raise InputError(
                f"{owner}: {m.name} has no coordinate {name!r}; {nearest(name, m.q_names)}"
                f"Coordinates: {listed(m.q_names)}; the motion of a frame is a line, an arc, ..."
            )
        elif not isinstance(motion, Trajectory):
            raise InputError(
                f"{owner}: the motion of {name!r} is {motion!r}; give a trajectory, such as kp.motion.cycloid(0, 1, 2)"
            )
        elif motion.shape != ():
            raise InputError(
                f"{owner}: the motion of {name!r} has shape {motion.shape}; give that of one number"
            )
        else:
            entries[m.q_names.index(name)] = motion
    return Targets(frames, entries)


def first_place(m: Mechanism, wanted: Targets, start: Any, owner: str = "follow") -> np.ndarray:
    """Find where the motion begins, near a guess."""
    guess = np.asarray(start, dtype=float)
    if guess.shape != (m.nq,):
        raise InputError(f"{owner}: start has shape {guess.shape}; give {m.nq} coordinates")
    forms, entries = tuple(wanted.frames), tuple(wanted.entries)
    size = 1 + sum(form.size for form in forms) + len(entries)
    u, _ = wanted.numbers(np.zeros(1), "right")
    return m.inverse.at(guess[None], u[:, :size], forms, entries)[0]


def _grid(wanted: Targets, samples: int) -> list[np.ndarray]:
    """Times of samples, evenly between two knots."""
    inside = [t for x in wanted.motions for t in x.knots if 0.0 < t < wanted.duration]
    knots = [0.0, *np.unique(inside).tolist(), wanted.duration]
    share = samples / wanted.duration
    return [np.linspace(a, b, max(FEWEST, round(share * (b - a))) + 1) for a, b in pairwise(knots)]


def _between_knots(wanted: Targets, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the targets as they are between the first and the last of the times."""
    after, before = wanted.numbers(time[:-1], "right"), wanted.numbers(time[-1:], "left")
    u, ud = (np.concatenate(pair) for pair in zip(after, before, strict=True))
    return u, ud


def _check(m: Mechanism, wanted: Targets, found: Sequence[tuple[np.ndarray, Followed]]) -> None:
    """Refuse a path that was lost, at its first bad sample; what was found before is kept."""
    time, x = found[-1]
    lost = ~(x.V <= FOUND) | ~(x.own > SINGULAR)
    if not lost.any():
        return
    k = int(lost.argmax())
    good = max(k - 1, 0)
    names = _stretched(m, wanted, x.q[good])
    times = np.concatenate([*(t[:-1] for t, _ in found[:-1]), time[:k]])
    q = np.concatenate([*(y.q[:-1] for _, y in found[:-1]), x.q[:k]])
    frames = listed(repr(form.frame) for form in wanted.frames)
    raise SingularError(
        f"{m.name}: {frames or 'the motion'} cannot be followed at {time[k]:.4g} s: the position is singular, or the "
        f"path leads out of reach; joints {listed(names)} move it no further. Lead the path past it, or leave a part "
        "of it free",
        time=float(time[k]),
        joints=names,
        times=times,
        q=q,
    )


def _stretched(m: Mechanism, wanted: Targets, q: np.ndarray) -> list[str]:
    """The joints of the motion that moves the targets least."""
    rows: list[np.ndarray] = [m.constraint_matrix(q)]
    for form in wanted.frames:
        J = m.jacobian(q, form.frame)
        rows.append(J[[3 + k for k in form.along] + ([0, 1, 2] if form.rotation or form.axis else [])])
    J = np.concatenate(rows)
    rank = min(J.shape) - 1
    motion = np.abs(np.linalg.svd(J)[2][rank])
    return [m.v_names[k] for k in np.flatnonzero(motion >= LARGE * motion.max())]


def _trajectory(m: Mechanism, found: Sequence[tuple[np.ndarray, Followed]]) -> Trajectory:
    """The samples joined: by position, rate and acceleration between them."""
    return motion_of(m, _joined([through(t - t[0], x.q, x.dq, x.ddq) for t, x in found], found))


def _joined(pieces: Sequence[Pieces], found: Sequence[tuple[np.ndarray, Followed]]) -> Pieces:
    """Polynomials of all parts, one after the other."""
    knots = np.concatenate([*(t[:-1] for t, _ in found), found[-1][0][-1:]])
    powers = np.concatenate([x.coefficients for x in pieces])
    return Pieces(float(knots[-1]), pieces[0].shape, tuple(knots.tolist()), powers)
