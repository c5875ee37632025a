"""Time per step with contact next to MuJoCo, and what slips: python -m benchmarks.contact [FILE.xml ...].

Both read the same MJCF text, step by 1 ms with Newton's method and elliptic cones in MuJoCo, and are measured in turn,
by CPU time, the least of several. The tower stands; the pinch holds a capsule of 45 g between two fingers that press
with 12 N. Further files are stepped from their start for one second before they are measured.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import mujoco
import numpy as np

import kinpair as kp

DT, STEPS, ROUNDS, BATCH = 1e-3, 500, 7, 256
HEAD = '<mujoco model="{name}"><option timestep="0.001" solver="Newton" cone="elliptic"/><worldbody>'
TAIL = "</worldbody>{more}</mujoco>"


def tower(boxes: int) -> str:
    """Return boxes of 0.1 m and 1 kg on each other on a floor."""
    body = '<body pos="0 0 {z:g}"><freejoint/><geom type="box" size=".05 .05 .05" mass="1" friction=".5 0 0"/></body>'
    floor = '<geom type="plane" size="5 5 .1" friction=".5 0 0"/>'
    bodies = "".join(body.format(z=0.05 + 0.1 * k) for k in range(boxes))
    return HEAD.format(name=f"tower of {boxes}") + floor + bodies + TAIL.format(more="")


def pinch() -> str:
    """Return a capsule between two fingers."""
    finger = (
        '<body pos="{x} 0 .1"><joint name="{name}" type="slide" axis="{axis} 0 0"/>'
        '<geom type="box" size=".01 .03 .03" mass=".1" friction=".7 0 0"/></body>'
    )
    shape = '<geom type="capsule" size=".02 .03" mass=".045" friction=".7 0 0"/>'
    capsule = f'<body pos="0 0 .1"><freejoint/>{shape}</body>'
    fingers = finger.format(x=-0.03, name="left", axis=1) + finger.format(x=0.03, name="right", axis=-1)
    motors = "".join(f'<motor joint="{name}"/>' for name in ("left", "right"))
    return HEAD.format(name="pinch") + capsule + fingers + TAIL.format(more=f"<actuator>{motors}</actuator>")


def least(call: Callable[[], object], count: int) -> float:
    """Return the least CPU time of a call, divided by a count [µs]."""
    times = list[float]()
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times) / count * 1e6


def row(text: str, push: float = 0.0) -> str:
    """Measure a scene given as MJCF text; return a line of the table."""
    with warnings.catch_warnings(), TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        file = Path(text) if not text.startswith("<") else Path(folder, "scene.xml")
        if text.startswith("<"):
            file.write_text(text)
        m = kp.load(file)
    model = (
        mujoco.MjModel.from_xml_path(text)
        if not text.startswith("<")
        else mujoco.MjModel.from_xml_string(text)
    )
    model.opt.timestep, model.opt.solver, model.opt.cone = (
        DT,
        mujoco.mjtSolver.mjSOL_NEWTON,
        mujoco.mjtCone.mjCONE_ELLIPTIC,
    )
    data = mujoco.MjData(model)
    data.ctrl[:] = push
    ours, many = (
        kp.stepper(m, DT, integrator="time-stepping"),
        kp.stepper(m, DT, BATCH, integrator="time-stepping"),
    )
    ours.u[...] = many.u[...] = push
    ours.step(steps=1000)
    many.step(steps=1000)
    mujoco.mj_step(model, data, nstep=1000)
    first, theirs_first = ours.q.copy(), data.qpos.copy()
    one = least(lambda: ours.step(steps=STEPS), STEPS)
    theirs = least(lambda: mujoco.mj_step(model, data, nstep=STEPS), STEPS)
    batch = least(lambda: many.step(steps=STEPS // 5), STEPS // 5 * BATCH)
    seconds = ROUNDS * STEPS * DT
    crept = np.abs(ours.q - first).max() / seconds, np.abs(data.qpos - theirs_first).max() / seconds
    points = int(ours.contacts), int(data.ncon)
    return (
        f"| {m.name} | {m.nv} | {points[0]} / {points[1]} | {one:.2f} | {theirs:.2f} | {one / theirs:.2f} | "
        f"{batch:.2f} | {batch / theirs:.2f} | {crept[0]:.1e} / {crept[1]:.1e} |"
    )


def main() -> None:
    """Print the table."""
    print(
        "| scene | nv | points ours / MuJoCo | µs a step | mj_step | ratio | of a batch of 256 | ratio | creep [1/s] |"
    )
    print("|---" * 9 + "|")
    for text, push in ((tower(1), 0.0), (tower(2), 0.0), (tower(10), 0.0), (pinch(), 12.0)):
        print(row(text, push), flush=True)
    for file in sys.argv[1:]:
        print(row(file), flush=True)


if __name__ == "__main__":
    main()
