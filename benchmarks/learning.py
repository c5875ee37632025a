"""256 xArm7 in joint space: steps per second of make_vec, of Gymnasium over MuJoCo, and of mujoco.rollout.

    python -m benchmarks.learning XARM7.urdf

All take the same step, Runge–Kutta of fourth order, and an action held for five steps, with the same model: that of
the file with a damper in each joint, without meshes, dry friction and limits. The last states are compared. Ratios of
one run on one core; each the best of several.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

COUNT, DT, HELD, ACTIONS, REPEATS = 256, 2e-3, 5, 20, 5
DAMPING, EFFORT = 0.02, 0.3  # [N m s/rad], [N m]


def best(call: Callable[[], Any]) -> float:
    """Least CPU time of several calls [s]."""
    times: list[float] = []
    for _ in range(REPEATS):
        before = time.process_time()
        call()
        times.append(time.process_time() - before)
    return min(times)


def main(urdf: str) -> dict[str, float]:
    """Steps per second by name."""
    import mujoco
    import mujoco.rollout
    from gymnasium.envs.mujoco import MujocoEnv
    from gymnasium.spaces import Box
    from gymnasium.vector import SyncVectorEnv

    import kinpair as kp

    warnings.simplefilter("ignore")
    arm = kp.load(urdf, actuators=False)
    links = tuple(
        link.__class__(link.name, link.mass, link.com, link.inertia) for link in arm.model.description.links
    )
    arm = kp.build(_replaced(arm.model.description, links), actuators=False)
    folder = tempfile.mkdtemp()
    file = Path(folder, "arm.xml")
    kp.write(arm, file)
    motors = "".join(f'<motor joint="{name}"/>' for name in arm.v_names)
    option = f'<option integrator="RK4" timestep="{DT}" '
    text = (
        file.read_text("utf-8")
        .replace("<option ", option)
        .replace("</mujoco>", f"<actuator>{motors}</actuator></mujoco>")
    )
    file.write_text(text, "utf-8")

    actions = np.random.default_rng(0).uniform(-1, 1, (ACTIONS, COUNT, arm.nv))
    many = kp.gymnasium.make_vec("reacher", COUNT, arm, frame=None, effort=EFFORT, dt=DT, steps=HELD)
    many.reset(seed=1)
    many.step(actions[0])

    class Arm(MujocoEnv):
        metadata = {"render_modes": [], "render_fps": round(1 / (DT * HELD))}  # noqa: RUF012

        def __init__(self) -> None:
            space = Box(-np.inf, np.inf, (3 * arm.nv,), dtype=np.float64)
            super().__init__(str(file), HELD, space)
            self.goal = np.zeros(arm.nv)

        def reset_model(self) -> np.ndarray:
            self.goal = self.np_random.uniform(-1, 1, arm.nv)
            self.set_state(self.np_random.uniform(-1, 1, arm.nv), np.zeros(arm.nv))
            return self.seen()

        def seen(self) -> np.ndarray:
            return np.concatenate([self.data.qpos, self.data.qvel, self.goal - self.data.qpos])

        def step(self, action: np.ndarray) -> Any:
            self.do_simulation(EFFORT * action, self.frame_skip)
            seen = self.seen()
            reward = -np.sqrt((seen[-arm.nv :] ** 2).sum()) - 1e-3 * (action**2).sum()
            return seen, reward, False, False, {}

    single = SyncVectorEnv([Arm for _ in range(COUNT)])
    single.reset(seed=1)
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    start = np.zeros((COUNT, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    control = np.repeat(EFFORT * actions.transpose(1, 0, 2), HELD, axis=1)

    states, _ = mujoco.rollout.rollout(model, data, start, control)
    ours = many.motions.stepper
    ours.reset(np.zeros(arm.nq), np.zeros(arm.nv))
    for a in actions:
        many.motions.advance(a)
    apart = np.abs(states[:, -1, 1 : 1 + arm.nq] - ours.q).max()
    print(f"largest difference of coordinates after {ACTIONS * HELD} steps: {apart:.1e} rad")
    many.reset(seed=1)
    seconds = {
        "kinpair make_vec": best(lambda: [many.step(a) for a in actions]),
        "gymnasium SyncVectorEnv of MujocoEnv": best(lambda: [single.step(a) for a in actions]),
        "mujoco.rollout": best(lambda: mujoco.rollout.rollout(model, data, start, control)),
    }
    return {name: COUNT * ACTIONS * HELD / x for name, x in seconds.items()}


def _replaced(description: Any, links: Any) -> Any:
    """Without meshes, dry friction and limits, which the engines have in different ways."""
    from dataclasses import replace

    joints = tuple(
        replace(joint, damping=(DAMPING,), friction=(), lower=(), upper=()) for joint in description.joints
    )
    return replace(description, links=links, joints=joints)


if __name__ == "__main__":
    rates = main(sys.argv[1])
    ours = rates["kinpair make_vec"]
    for name, rate in rates.items():
        print(f"{name:38} {rate:12.0f} steps/s   {ours / rate:6.1f}")
