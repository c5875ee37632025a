"""One motion of a task as an environment of Gymnasium."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Box

from kinpair.errors import InputError, listed
from kinpair.learning.motions import DT, STEPS, Motions
from kinpair.learning.tasks import task_of
from kinpair.mechanism import Mechanism

RENDERED = ("rgb_array",)
WIDTH, HEIGHT = 480, 360


def spaces(motions: Motions) -> tuple[Box, Box]:
    """Return the spaces of observations and of actions of one motion."""
    high = motions.high
    return Box(-high, high, dtype=np.float64), Box(-1.0, 1.0, (motions.task.actions,), dtype=np.float64)


def checked_mode(render_mode: str | None) -> str | None:
    """Return a render mode; raise InputError if there is none of that name."""
    if render_mode not in (None, *RENDERED):
        raise InputError(f"render_mode is {render_mode!r}; modes: {listed(RENDERED)}", argument="render_mode")
    return render_mode


class Environment(Env[np.ndarray, np.ndarray]):
    """A task for one motion, see docs/learning.md: the same motion as a row of `Vector`."""

    metadata = {  # noqa: RUF012  (Gymnasium declares it as an attribute of objects)
        "render_modes": list(RENDERED),
        "render_fps": round(1.0 / (DT * STEPS)),
    }

    def __init__(
        self,
        task: str,
        m: Mechanism | None = None,
        *,
        render_mode: str | None = None,
        dt: float = DT,
        steps: int = STEPS,
        integrator: str = "rk4",
        **options: Any,
    ) -> None:
        self.render_mode = checked_mode(render_mode)
        self.motions = Motions(task_of(task, m, options), 1, dt, steps, integrator)
        self.observation_space, self.action_space = spaces(self.motions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin anew; return the observation (k,) and an empty dict."""
        super().reset(seed=seed)
        self.motions.begin([0], [self.np_random])
        return self.motions.observed()[0], {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Take an action (a,) between -1 and 1."""
        rewards, ended, over = self.motions.advance(np.asarray(action)[None])
        return self.motions.observed()[0], float(rewards[0]), bool(ended[0]), bool(over[0]), {}

    def render(self) -> Any:
        """Return a picture as bytes (height, width, 3) where render_mode is "rgb_array"."""
        return self.motions.image(0, WIDTH, HEIGHT) if self.render_mode else None
