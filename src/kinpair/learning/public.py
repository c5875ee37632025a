"""Environments for learning and control loops: `kp.gymnasium.make` and `make_vec`.

Importing this module needs Gymnasium (extra `learning`) and registers the tasks as `kinpair/CartPole-v0`,
`kinpair/DoublePendulum-v0`, `kinpair/Reacher-v0`, `kinpair/FiveBar-v0`, `kinpair/DiffDrive-v0`.
"""

from __future__ import annotations

from typing import Any

from kinpair.errors import InputError, MissingExtraError, installs, listed, nearest
from kinpair.learning.tasks import TASKS, names
from kinpair.mechanism import Mechanism

try:
    import gymnasium
except ImportError:
    raise MissingExtraError(
        f"environments for learning need gymnasium; {installs('learning')}", extra="learning"
    ) from None

IDS = dict(zip(TASKS, names(), strict=True))

for _task, _id in IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="kinpair.learning.environment:Environment",
            vector_entry_point="kinpair.learning.environment:Vector",
            kwargs={"task": _task},
        )


def _id_of(task: str) -> str:
    if task not in IDS:
        raise InputError(f"no task {task!r}; {nearest(str(task), IDS)}Tasks: {listed(IDS)}", task=task)
    return IDS[task]


def make(task: str, m: Mechanism | None = None, **options: Any) -> gymnasium.Env[Any, Any]:
    """Make an environment of one motion: `cart-pole`, `double-pendulum`, `reacher`, `five-bar` or `diff-drive`.

    m: the mechanism, by default that of the task. Options: render_mode ("rgb_array"), dt [s] and steps that an action
    is constant, integrator, effort of an action of 1 [N m] or [N], and frame of `reacher` (None: joints).

    Units: observations and actions as in docs/learning.md.
    """
    from kinpair.learning.environment import checked_mode

    checked_mode(options.get("render_mode"))
    return gymnasium.make(_id_of(task), m=m, disable_env_checker=True, **options).unwrapped


def make_vec(
    task: str, num_envs: int, m: Mechanism | None = None, **options: Any
) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """Make an environment of `num_envs` motions on the batched stepper.

    Options as for `make`, and autoreset_mode: "NextStep" (default), "SameStep" or "Disabled".

    Units: observations and actions as in docs/learning.md.
    """
    from kinpair.learning.environment import Vector

    _id_of(task)
    return Vector(task, num_envs, m, **options)


__all__ = ["make", "make_vec"]
