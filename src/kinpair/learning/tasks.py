"""Tasks: what is observed, rewarded and ended, over arrays of motions (n, ...).

A task is drawn for one motion at a time, by the generator of that motion, so that a motion of a batch starts as it does
alone. Everything else works on all motions at once.

Many motions of a task at a time are on the batched stepper.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, final

import numpy as np

from kinpair.description.memory import available_memory
from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism

FAR, FAST = 100.0, 1000.0  # bounds of observed positions and rates; observations are clipped to them


class Start(NamedTuple):
    """State (nq,), (nv,) at which a motion begins, and what it is to reach."""

    q: np.ndarray
    qd: np.ndarray
    goal: np.ndarray


class Task(ABC):
    """A task for a mechanism: an action drives `rates`, and `effort` is that of an action of 1 [N m], [N]."""

    example: ClassVar[str]
    rates: ClassVar[tuple[str, ...]] = ()
    effort: ClassVar[float] = 1.0
    duration: ClassVar[float] = 10.0  # [s]
    goals: ClassVar[int] = 0  # numbers of a goal

    def __init__(self, m: Mechanism, effort: float | None = None) -> None:
        self.m = m
        names = self.rates or tuple(m.v_names)
        missing = [x for x in names if x not in m.v_names]
        if missing:
            raise InputError(
                f"{m.name}: the task drives {listed(missing)}, which is not a rate of this mechanism; rates: "
                f"{listed(m.v_names)}",
                rates=tuple(missing),
            )
        if m.nx or any(x not in m.u_names for x in names):
            raise InputError(
                f"{m.name}: the task needs efforts on {listed(names)}, and its inputs are {listed(m.u_names)}; load it "
                "with actuators=False",
                inputs=m.u_names,
            )
        self.driven = [m.u_names.index(x) for x in names]
        self.efforts = np.full(len(names), self.effort if effort is None else effort)

    @property
    def actions(self) -> int:
        """Number of entries of an action."""
        return len(self.driven)

    @abstractmethod
    def bounds(self) -> np.ndarray:
        """Largest absolute values of an observation (k,)."""

    @abstractmethod
    def start(self, rng: np.random.Generator) -> Start:
        """Draw the start of one motion."""

    @abstractmethod
    def observe(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Observations (n, k) of states (n, nq), (n, nv)."""

    @abstractmethod
    def reward(self, q: np.ndarray, qd: np.ndarray, action: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """Rewards (n,) of states reached with actions (n, a)."""

    def ended(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """True (n,) where a motion is at its end, for good or bad."""
        return np.zeros(len(q), dtype=bool)


@final
class CartPole(Task):
    """Keep a pole upright on a cart: 1 for each step until it tilts by 12° or the cart is 2.4 m away."""

    example, rates, effort = "cart-pole", ("slide",), 10.0

    def bounds(self) -> np.ndarray:
        return np.array([FAR, 4.0, FAST, FAST])

    def start(self, rng: np.random.Generator) -> Start:
        q, qd = rng.uniform(-0.05, 0.05, (2, self.m.nv))
        return Start(q, qd, np.zeros(0))

    def observe(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return np.concatenate([q, qd], axis=-1)

    def reward(self, q: np.ndarray, qd: np.ndarray, action: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return np.ones(len(q))

    def ended(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return (np.abs(q[:, 0]) > 2.4) | (np.abs(q[:, 1]) > np.deg2rad(12))


@final
class DoublePendulum(Task):
    """Swing the tip of a double pendulum up and keep it there: the height of the tip, less the cost of torque."""

    example, effort = "double-pendulum", 6.0

    def bounds(self) -> np.ndarray:
        return np.repeat([1.0, 1.0, FAST], self.m.nv)

    def start(self, rng: np.random.Generator) -> Start:
        q, qd = rng.uniform(-0.1, 0.1, (2, self.m.nv))
        return Start(q, qd, np.zeros(0))

    def observe(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return np.concatenate([np.cos(q), np.sin(q), qd], axis=-1)

    def reward(self, q: np.ndarray, qd: np.ndarray, action: np.ndarray, goal: np.ndarray) -> np.ndarray:
        height = self.m.pose(q, "tip").position[:, 2]
        return height - 0.01 * (action**2).sum(axis=-1)


@final
class Reacher(Task):
    """Bring a frame of an arm to a point that it can reach; with frame=None, its joints to given coordinates."""

    example, effort, duration, goals = "planar-3r", 3.0, 4.0, 3

    def __init__(self, m: Mechanism, effort: float | None = None, frame: str | None = "") -> None:
        super().__init__(m, effort)
        if m.nq != m.nv:
            raise InputError(
                f"{m.name}: the task reacher takes joints of one degree; load it with a fixed base"
            )
        names = [x.name for x in m.model.description.frames]
        self.frame = frame if frame != "" else (names[-1] if names else m.model.names[-1])
        limits = m.model.joints
        self._low = np.where(np.isfinite(limits.lower), np.maximum(limits.lower, -np.pi), -np.pi)
        self._high = np.where(np.isfinite(limits.upper), np.minimum(limits.upper, np.pi), np.pi)

    def bounds(self) -> np.ndarray:
        n = self.m.nv
        if self.frame is None:
            return np.concatenate([np.full(n, FAR), np.full(n, FAST), np.full(n, FAR)])
        return np.concatenate([np.ones(2 * n), np.full(n, FAST), np.full(3, FAR)])

    def start(self, rng: np.random.Generator) -> Start:
        q, there = rng.uniform(self._low, self._high, (2, self.m.nq))
        goal = there if self.frame is None else self.m.pose(there, self.frame).position
        return Start(q, np.zeros(self.m.nv), goal)

    def _error(self, q: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return goal - (q if self.frame is None else self.m.pose(q, self.frame).position)

    def observe(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        angles = (q,) if self.frame is None else (np.cos(q), np.sin(q))
        return np.concatenate([*angles, qd, self._error(q, goal)], axis=-1)

    def reward(self, q: np.ndarray, qd: np.ndarray, action: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return -np.sqrt((self._error(q, goal) ** 2).sum(axis=-1)) - 1e-3 * (action**2).sum(axis=-1)


@final
class FiveBar(Task):
    """Bring the tip of a five-bar linkage to a point by its two cranks."""

    example, rates, effort, duration, goals = "five-bar", ("left-crank", "right-crank"), 1.0, 4.0, 2

    def bounds(self) -> np.ndarray:
        return np.concatenate([np.ones(4), np.full(2, FAST), np.full(2, FAR)])

    def _drawn(self, rng: np.random.Generator) -> np.ndarray:
        """A position near the start, closed."""
        q = self.m.start()
        cranks = dict(zip(self.rates, np.pi / 2 + rng.uniform(-0.5, 0.5, 2), strict=True))
        for name, angle in cranks.items():
            q[self.m.q_names.index(name)] = angle
        return self.m.assemble(q, fixed=list(self.rates))

    def start(self, rng: np.random.Generator) -> Start:
        q, there = self._drawn(rng), self._drawn(rng)
        return Start(q, np.zeros(self.m.nv), self.m.pose(there, "tip").position[:2])

    def observe(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        cranks = q[:, self.driven]
        parts = [np.cos(cranks), np.sin(cranks), qd[:, self.driven], self._error(q, goal)]
        return np.concatenate(parts, axis=-1)

    def _error(self, q: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return goal - self.m.pose(q, "tip").position[:, :2]

    def reward(self, q: np.ndarray, qd: np.ndarray, action: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return -np.sqrt((self._error(q, goal) ** 2).sum(axis=-1)) - 1e-3 * (action**2).sum(axis=-1)


@final
class DiffDrive(Task):
    """Drive a vehicle on two wheels to a point in the plane; it ends 0.1 m from there with a reward of 10."""

    example, rates, effort, duration, goals = "diff-drive", ("left-wheel", "right-wheel"), 0.5, 10.0, 2
    near = 0.1  # [m]

    def bounds(self) -> np.ndarray:
        return np.concatenate([np.full(2, FAR), np.full(2 + self.actions, FAST)])

    def start(self, rng: np.random.Generator) -> Start:
        q = self.m.start()
        q[2] = rng.uniform(-np.pi, np.pi)
        angle, distance = rng.uniform(-np.pi, np.pi), rng.uniform(0.5, 2.0)
        goal = q[:2] + distance * np.array([np.cos(angle), np.sin(angle)])
        return Start(q, np.zeros(self.m.nv), goal)

    def observe(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        """The goal in axes of the vehicle, its speed and turning rate, and the speeds of its wheels."""
        c, s = np.cos(q[:, 2]), np.sin(q[:, 2])
        x, y = (goal - q[:, :2]).T
        speed = c * qd[:, 0] + s * qd[:, 1]
        wheels = qd[:, self.driven]
        return np.concatenate(
            [np.stack([c * x + s * y, c * y - s * x, speed, qd[:, 2]], axis=-1), wheels], axis=-1
        )

    def _distance(self, q: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return np.sqrt(((goal - q[:, :2]) ** 2).sum(axis=-1))

    def reward(self, q: np.ndarray, qd: np.ndarray, action: np.ndarray, goal: np.ndarray) -> np.ndarray:
        distance = self._distance(q, goal)
        return 10.0 * (distance < self.near) - 0.1 * distance - 1e-3 * (action**2).sum(axis=-1)

    def ended(self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray) -> np.ndarray:
        return self._distance(q, goal) < self.near


TASKS: dict[str, type[Task]] = {
    "cart-pole": CartPole,
    "double-pendulum": DoublePendulum,
    "reacher": Reacher,
    "five-bar": FiveBar,
    "diff-drive": DiffDrive,
}


def task_of(name: str, m: Mechanism | None, options: dict[str, Any]) -> Task:
    """Return the task of a name for a mechanism, by default that of the task."""
    from kinpair.loading import example

    if name not in TASKS:
        raise InputError(f"no task {name!r}; {nearest(str(name), TASKS)}Tasks: {listed(TASKS)}", task=name)
    kind = TASKS[name]
    mechanism = example(kind.example) if m is None else m
    if not isinstance(mechanism, Mechanism):  # type: ignore[redundant-expr]
        raise InputError(f"m is {m!r}; give a Mechanism, or None for {kind.example!r}", argument="m")
    return kind(mechanism, **options)


def names(tasks: Sequence[str] = tuple(TASKS)) -> tuple[str, ...]:
    """Names under which the tasks are registered with Gymnasium."""
    return tuple(f"kinpair/{''.join(word.capitalize() for word in name.split('-'))}-v0" for name in tasks)


DT, STEPS = 5e-3, 4  # length of a step [s], steps that an action is held
BYTES = 8 * 64  # of a number of the state with all that is computed from it, generously


class Motions:
    """Motions of one task: arrays with a row for each."""

    def __init__(
        self,
        task: Task,
        count: int,
        dt: float = DT,
        steps: int = STEPS,
        integrator: str = "rk4",
        **options: Any,
    ) -> None:
        from kinpair.simulation.resident import stepper

        m = task.m
        needed, room = float(count) * (m.nq + m.nv) * BYTES, available_memory()
        if needed > room:
            raise InputError(
                f"{m.name}: num_envs is {count}, which needs about {needed / 1e9:.3g} GB of memory; "
                f"{room / 1e9:.3g} GB are available",
                argument="num_envs",
            )
        self.task, self.count, self.steps = task, count, steps
        self.stepper = stepper(m, dt, batch=count, integrator=integrator, **options)
        self.longest = max(1, round(task.duration / (dt * steps)))  # actions of an episode
        self.taken = np.zeros(count, dtype=int)
        self.goal = np.zeros((count, 0))
        self._u = np.zeros((count, self.stepper.u.shape[-1]))
        self.high = task.bounds()

    def begin(self, rows: Sequence[int], generators: Sequence[np.random.Generator]) -> None:
        """Begin motions anew, each drawn by its generator."""
        if not len(rows):
            return
        starts = [self.task.start(generators[k]) for k in rows]
        if self.goal.shape[1] != starts[0].goal.size:
            self.goal = np.zeros((self.count, starts[0].goal.size))
        every = len(rows) == self.count
        q, qd = np.array([x.q for x in starts]), np.array([x.qd for x in starts])
        self.stepper.reset(q, qd, rows=None if every else np.asarray(rows))
        self.goal[rows] = [x.goal for x in starts]
        self.taken[rows] = 0

    def advance(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take one action (n, a) each; return rewards, and where motions ended and where their time is over."""
        clipped = np.clip(actions, -1.0, 1.0)
        self._u[:, self.task.driven] = clipped * self.task.efforts
        q, qd = self.stepper.step(self._u, self.steps)
        self.taken += 1
        rewards = self.task.reward(q, qd, clipped, self.goal)
        lost = np.asarray(self.stepper.failed)
        ended = self.task.ended(q, qd, self.goal) | lost
        return np.where(lost, 0.0, rewards), ended, (self.taken >= self.longest) & ~ended

    def observed(self) -> np.ndarray:
        """Observations (n, k), within their bounds; a motion that was lost is observed as zeros."""
        seen = self.task.observe(self.stepper.q, self.stepper.qd, self.goal)
        return np.clip(np.nan_to_num(seen, nan=0.0), -self.high, self.high)

    def image(self, row: int, width: int, height: int) -> np.ndarray:
        """Return a picture of a motion as bytes (height, width, 3)."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from kinpair.viewer.still import DPI

        figure = self.task.m.picture(None, self.stepper.q[row].copy(), width=width, height=height)
        figure.set_dpi(DPI)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].copy()
