"""Forward dynamics of a batch and the gradient of a rollout by JAX: `m.jax`, MJX and brax, in float64, without contact.

    python -m benchmarks.tensors PANDA.urdf

An environment of its own has kinpair, jax, mujoco-mjx and brax. All have the same tree, as MJCF without looks,
limits and dry friction, its slides fixed. Accelerations are compared first. Times are CPU times of the process, each
the least of several; `compile` is the first call.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

BATCH, STEPS, DT, REPEATS = 4096, 100, 1e-3, 5


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds of the first call and the least of several further ones."""
    times: list[float] = []
    for _ in range(REPEATS + 1):
        before = time.process_time()
        _ = np.asarray(call())
        times.append(time.process_time() - before)
    return times[0], min(times[1:])


def bare(urdf: str) -> Any:
    """The tree of a file without looks, limits, damping and dry friction; slides are fixed, as brax has other axes."""
    import kinpair as kp

    description = kp.load(urdf, actuators=False, constraints=False).model.description
    links = tuple(replace(link, shapes=()) for link in description.links)
    cleared = dict.fromkeys(("lower", "upper", "velocity", "effort", "damping", "friction"), ())
    kinds = {"prismatic": "fixed"}
    joints = tuple(
        replace(x, kind=kinds.get(x.kind, x.kind), mimic=None, actuated=None, **cleared)
        for x in description.joints
    )
    return kp.build(replace(description, links=links, joints=joints, constraints=()), actuators=False)


def accelerations(file: Path) -> dict[str, Callable[[Any, Any, Any], Any]]:
    """Forward dynamics of one state by MJX and by brax."""
    import jax.numpy as jnp
    import mujoco
    from brax.generalized import dynamics, mass, pipeline
    from brax.io import mjcf
    from jax.scipy.linalg import cho_factor, cho_solve
    from mujoco import mjx

    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    theirs, empty = mjx.put_model(model), mjx.make_data(model)
    system = mjcf.load_model(model)

    def by_mjx(q: Any, qd: Any, tau: Any) -> Any:
        return mjx.forward(theirs, empty.replace(qpos=q, qvel=qd, qfrc_applied=tau)).qacc_smooth

    def by_brax(q: Any, qd: Any, tau: Any) -> Any:
        state = pipeline.init(system, q, qd)
        H = mass.matrix(system, state)
        return cho_solve(cho_factor(H), dynamics.forward(system, state, jnp.asarray(tau)))

    return {"MJX": by_mjx, "brax": by_brax}


def main(urdf: str) -> None:
    """Print a table."""
    import jax
    import jax.numpy as jnp

    import kinpair as kp
    from kinpair.evaluation.tensors.functions import rk4

    jax.config.update("jax_enable_x64", True)
    warnings.simplefilter("ignore")
    m = bare(urdf)
    file = Path(tempfile.mkdtemp(), "arm.xml")
    kp.write(m, file)
    text = file.read_text("utf-8")  # brax needs a geom, and a joint in each body
    text = text.replace("<worldbody>", '<worldbody><geom size="0.01" contype="0" conaffinity="0"/>', 1)
    file.write_text(text.replace("<compiler ", '<compiler fusestatic="true" ', 1), "utf-8")
    rng = np.random.default_rng(1)
    q, qd, tau = rng.normal(size=(3, BATCH, m.nv))
    efforts = rng.normal(size=(STEPS, m.nv))
    reference = m.forward_dynamics(q, qd, tau)
    one = {"kinpair, m.jax": m.jax.forward_dynamics, **accelerations(file)}
    print(f"{m.name}: {m.nv} coordinates, batch {BATCH}, {STEPS} steps of rk4; seconds of CPU time")
    print(f"{'':16}{'apart':>9}{'compile':>9}{'batch':>9}{'compile':>9}{'gradient':>9}")
    first, again = timed(lambda: m.forward_dynamics(q, qd, tau))
    print(f"{'kinpair, NumPy':16}{0.0:9.0e}{first:9.3g}{again:9.3g}")
    for name, call in one.items():
        batch: Any = jax.jit(jax.vmap(call))
        apart = np.abs(np.asarray(batch(q[:8], qd[:8], tau[:8])) - reference[:8]).max()

        def last(tau: Any, call: Any = call) -> Any:
            def step(state: Any, effort: Any) -> Any:
                following = rk4(call, *state, effort, DT)
                return following, None

            return jax.lax.scan(step, (jnp.asarray(q[0]), jnp.asarray(qd[0])), tau)[0][0].sum()

        gradient: Any = jax.jit(jax.grad(last))
        times = (*timed(partial(batch, q, qd, tau)), *timed(partial(gradient, efforts)))
        columns = "".join(f"{x:9.3g}" for x in times)
        print(f"{name:16}{apart / max(1.0, np.abs(reference[:8]).max()):9.0e}{columns}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
