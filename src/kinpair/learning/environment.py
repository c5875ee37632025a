"""Environments of Gymnasium: one motion of a task, and many motions as a vector environment."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.spaces import Box
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from kinpair.errors import InputError, listed
from kinpair.learning.tasks import DT, STEPS, Motions, task_of
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


MODES = {mode.value: mode for mode in AutoresetMode}


class Vector(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """A task for many motions at a time, see docs/learning.md.

    `autoreset_mode` is NEXT_STEP, SAME_STEP or DISABLED of `gymnasium.vector.AutoresetMode`, or its value as a text.
    """

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        m: Mechanism | None = None,
        *,
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        dt: float = DT,
        steps: int = STEPS,
        integrator: str = "rk4",
        **options: Any,
    ) -> None:
        mode = MODES.get(autoreset_mode) if isinstance(autoreset_mode, str) else autoreset_mode
        if not isinstance(mode, AutoresetMode):
            raise InputError(
                f"autoreset_mode is {autoreset_mode!r}; modes: {listed(MODES)}", argument="autoreset_mode"
            )
        self.metadata = {
            "autoreset_mode": mode,
            "render_modes": list(RENDERED),
            "render_fps": round(1.0 / (dt * steps)),
        }
        self.render_mode, self.num_envs, self._mode = checked_mode(render_mode), num_envs, mode
        self.motions = Motions(task_of(task, m, options), num_envs, dt, steps, integrator)
        self.single_observation_space, self.single_action_space = spaces(self.motions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [np.random.default_rng() for _ in range(num_envs)]
        self._done = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin all motions anew, or those of `options={"reset_mask": mask}`; seed + k is that of motion k."""
        mask = self._mask((options or {}).get("reset_mask"))
        rows = np.flatnonzero(mask).tolist()
        if seed is not None:
            own = [seed + k for k in range(self.num_envs)] if isinstance(seed, int) else list(seed)
            if len(own) != self.num_envs:
                raise InputError(f"seed has {len(own)} numbers; expected {self.num_envs}", argument="seed")
            for k in rows:
                if own[k] is not None:
                    self._generators[k] = np_random(own[k])[0]
        self.motions.begin(rows, self._generators)
        self._done[mask] = False
        return self.motions.observed(), {}

    def _mask(self, mask: Any) -> np.ndarray:
        if mask is None:
            return np.ones(self.num_envs, dtype=bool)
        if not (
            isinstance(mask, np.ndarray)
            and mask.dtype == bool
            and mask.shape == (self.num_envs,)
            and mask.any()
        ):
            raise InputError(
                f"reset_mask is {mask!r}; give an array of {self.num_envs} bools, at least one of them True",
                argument="reset_mask",
            )
        return mask

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take an action (n, a) each."""
        again = self._done if self._mode is AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, dtype=bool)
        if self._mode is AutoresetMode.DISABLED and self._done.any():
            raise InputError(
                f"motions {listed(map(str, np.flatnonzero(self._done)))} are at their end; reset them by "
                "reset(options={'reset_mask': mask})",
                argument="actions",
            )
        rewards, ended, over = self.motions.advance(np.asarray(actions))
        if again.any():
            self.motions.begin(np.flatnonzero(again).tolist(), self._generators)
            rewards, ended, over = (np.where(again, 0, x).astype(x.dtype) for x in (rewards, ended, over))
        observed, infos = self.motions.observed(), dict[str, Any]()
        self._done = ended | over
        if self._mode is AutoresetMode.SAME_STEP and self._done.any():
            infos = self._finals(observed)
            self.motions.begin(np.flatnonzero(self._done).tolist(), self._generators)
            observed, self._done = self.motions.observed(), np.zeros(self.num_envs, dtype=bool)
        return observed, rewards, ended, over, infos

    def _finals(self, observed: np.ndarray) -> dict[str, Any]:
        """Return the last observations of motions that begin anew in the same step."""
        final = np.full(self.num_envs, None, dtype=object)
        for k in np.flatnonzero(self._done):
            final[k] = observed[k]
        return {
            "final_obs": final,
            "_final_obs": self._done.copy(),
            "final_info": {},
            "_final_info": self._done.copy(),
        }

    def render(self) -> Any:
        """Return a picture of each motion."""
        if self.render_mode is None:
            return None
        return tuple(self.motions.image(k, WIDTH, HEIGHT) for k in range(self.num_envs))
