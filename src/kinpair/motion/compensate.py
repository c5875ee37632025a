"""Dynamic compensation: hands and joints move as given, the rest so that chosen resultants have a prescribed course.

Accelerations obey the targets and the rows of the resultants at once,

    [J; ∂F/∂q̈] q̈ = [ẍ* − J̇ q̇; F*(t) − F(q, q̇, 0)]                                                       (MO17)

with J the rows of frames and coordinates and F those of efforts, moments and forces (GS2)–(GS4), which are straight in
q̈. Where joints are left over, the accelerations are the least. It starts from rest and is integrated in time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.compiler.patience import patience
from kinpair.errors import InputError, SingularError, expect, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.motion.follow import Targets, first_place, targets_of
from kinpair.motion.frame_motion import FrameTrajectory
from kinpair.motion.free_rows import FreeRows, GivenMotion, Resultant
from kinpair.motion.joints import through
from kinpair.motion.trajectory import Trajectory

SAMPLES = 200  # steps, at least
SHORTEST = 1e-7  # step, as a part of the duration: below it nothing leads on
TOLERANCE = 1e-10
CLOSED = 1e-6  # of the right side: rows that no accelerations meet


class _Sample(NamedTuple):
    time: float
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


def compensate(
    m: Mechanism,
    targets: Mapping[str, FrameTrajectory | Trajectory],
    rows: Sequence[str | Resultant],
    *,
    course: Trajectory | Any = None,
    start: Any = None,
    parts: Mapping[str, str] | None = None,
    samples: int = SAMPLES,
) -> Trajectory:
    """The motion of all joints while frames and some coordinates move as given and resultants have a course of theirs.

    targets, start, parts: as in `follow`; of a frame "pose", "position" or "rotation". rows: joints whose efforts, or
    `kp.motion.moment(axis, about)` and `kp.motion.force(axis)` of what the ground hands to the mechanism, have the
    course: numbers, or a motion of as many numbers; by default what they are at the start, at rest.

    SingularError where the joints that are left cannot bring the rows about: it names the time, and keeps what was
    found before.

    Units: efforts [N m], forces [N].
    """
    expect("compensate", m, Mechanism)
    if m.closure is not None or m.nq != m.nv:
        raise InputError(f"compensate: {m.name} has loops or quaternions; give a tree without")
    wanted = targets_of(m, targets, parts or {}, "compensate")
    for form in wanted.frames:
        if form.axis:
            raise InputError(
                f"compensate: {form.frame!r} has an axis for its target; give pose, position or rotation"
            )
    for row in rows:
        if isinstance(row, str) and row not in m.v_names:
            raise InputError(
                f"compensate: {m.name} has no row {row!r}; {nearest(row, m.v_names)}Rows: {listed(m.v_names)}; "
                "others are kp.motion.moment and kp.motion.force"
            )
    problem = _Problem(m, wanted, tuple(rows))
    q = first_place(m, wanted, m.start() if start is None else start, "compensate")
    problem.course = _course(problem, q, course, wanted.duration)
    with patience(f"compensation of {m.name!r}"):
        found = _integrated(problem, q, wanted.duration, samples)
    return through(*(np.array(x) for x in zip(*found, strict=True)))


@final
class _Problem:
    """(MO17) of one mechanism."""

    def __init__(self, m: Mechanism, wanted: Targets, rows: tuple[str | Resultant, ...]) -> None:
        self.m, self.wanted = m, wanted
        one = np.eye(m.nv)
        self.rows = FreeRows(m, tuple(m.v_names), one, one, rows)
        self.course: Trajectory | np.ndarray = np.zeros(len(rows))

    @property
    def knots(self) -> list[np.ndarray]:
        """Times at which something jumps."""
        own = [self.course] if isinstance(self.course, Trajectory) else []
        inner = [np.array(x.knots) for x in (*self.wanted.motions, *own)]
        return [x[(x > 0.0) & (x < self.wanted.duration)] for x in inner]

    def terms(self, time: float, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F(q, q̇, 0) (rows,) and ∂F/∂q̈ (rows, nv)."""
        still = np.zeros((1, self.m.nv))
        given = GivenMotion(q[None], qd[None], still, *self.rows.courses(np.array([time])))
        found = self.rows.terms(given, still, still, still)
        return found.F[0], found.by_cdd[0]

    def accelerations(self, time: float, q: np.ndarray, qd: np.ndarray, side: str = "") -> np.ndarray:
        """Accelerations of all joints at a time."""
        J, Jd = self.matrices(q, qd)
        _, changes = self.wanted.numbers(np.array([time]), side)
        F, slope = self.terms(time, q, qd)
        course = self.course.at(time).q if isinstance(self.course, Trajectory) else self.course
        right = np.concatenate([changes[0, -len(J) :] - Jd @ qd, course - F])
        K = np.concatenate([J, slope])
        qdd, *_ = np.linalg.lstsq(K, right, rcond=1e-10)  # (MO17)
        off = np.abs(K @ qdd - right)
        if not off.max() <= CLOSED * max(1.0, np.abs(right).max()):
            raise _LostError(int(off.argmax()))
        return qdd

    def matrices(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J and J̇ of the targets, in the order of their numbers."""
        J: list[np.ndarray] = []
        Jd: list[np.ndarray] = []
        for form in self.wanted.frames:
            some = [3 + k for k in form.along] + ([0, 1, 2] if form.rotation else [])
            J.append(self.m.jacobian(q, form.frame)[some])
            Jd.append(self.m.jacobian_rate(q, qd, form.frame)[some])
        entries = np.eye(self.m.nv)[list(self.wanted.entries)]
        return np.concatenate([*J, entries]), np.concatenate([*Jd, 0.0 * entries])


class _LostError(Exception):
    def __init__(self, row: int) -> None:
        super().__init__(row)
        self.row = row


def _course(problem: _Problem, q: np.ndarray, given: Any, duration: float) -> Trajectory | np.ndarray:
    count = len(problem.rows.rows)
    if given is None:
        return problem.terms(0.0, q, np.zeros(problem.m.nv))[0]
    shape = given.shape if isinstance(given, Trajectory) else np.shape(given)
    if shape not in ((), (count,)) or (isinstance(given, Trajectory) and shape != (count,)):
        raise InputError(
            f"compensate: the course has shape {shape}; give numbers, or a motion, of shape ({count},), one for each "
            "row"
        )
    return (
        given if isinstance(given, Trajectory) else np.broadcast_to(np.asarray(given, dtype=float), (count,))
    )


def _integrated(problem: _Problem, q: np.ndarray, duration: float, samples: int) -> list[_Sample]:
    """Every step of an adaptive method, from knot to knot."""
    from scipy.integrate import DOP853

    n = problem.m.nv
    borders = [0.0, *np.unique(np.concatenate([*problem.knots, np.zeros(0)])).tolist(), duration]

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], problem.accelerations(t, y[:n], y[n:])])

    def sample(t: float, y: np.ndarray, side: str) -> _Sample:
        return _Sample(t, y[:n], y[n:], problem.accelerations(t, y[:n], y[n:], side))

    state = np.concatenate([q, np.zeros(n)])
    found: list[_Sample] = []
    longest, shortest = duration / samples, SHORTEST * duration
    try:
        for begin, end in pairwise(borders):
            found = [*found[:-1], sample(begin, state, "right")]
            run = DOP853(rate, begin, state, end, rtol=TOLERANCE, atol=TOLERANCE, max_step=longest)
            while run.status == "running":
                run.step()
                if found[-1].time + min(shortest, (end - run.t) / 2) > run.t:
                    raise _LostError(-1)
                found.append(sample(run.t, run.y, "left" if run.t == end else ""))
            state = run.y
    except _LostError as lost:
        _refuse(problem, found, lost.row)
    return found


def _refuse(problem: _Problem, found: list[_Sample], row: int) -> None:
    time = found[-1].time if found else 0.0
    names = problem.rows.row_names
    count = len(problem.matrices(problem.m.start(), np.zeros(problem.m.nv))[0])
    what = names[row - count] if row >= count else listed(names)
    raise SingularError(
        f"compensate: {problem.m.name} cannot bring {what} about after {time:.4g} s: the joints that are left do not "
        "move it, or the path leads out of reach. Leave more joints free, or take fewer rows",
        time=time,
        row=what,
        times=np.array([x.time for x in found]),
        q=np.array([x.q for x in found]),
    )
