"""Many motions of a task at a time on the batched stepper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.description.memory import available_memory
from kinpair.errors import InputError
from kinpair.learning.tasks import Task
from kinpair.simulation.resident import stepper

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
