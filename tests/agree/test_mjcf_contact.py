"""MJCF scenes with contact, files as they are: they run without penetration and rest where MuJoCo rests.

MuJoCo is soft: contact, limits and dry friction yield. Rest positions are compared with a MuJoCo whose constraints are
made stiff (time constant 4 ms, impedance 0.99 to 0.999, no margins, no slip), from the position at which kinpair rests.
"""

from __future__ import annotations

import warnings
from functools import cache

import mujoco
import numpy as np
import pytest

import kinpair as kp
import mjcf_models
from families import family
from kinpair import conventions

DT = 1e-3  # [s]
DEEP = 1e-4  # [m]
STIFF = (0.004, 1.0), (0.99, 0.999, 0.001, 0.5, 2.0)  # solref, solimp
SCENES = (
    *(f"adroit_hand/adroit_{task}.xml" for task in ("door", "hammer", "pen", "relocate")),
    *(f"fetch/{task}.xml" for task in ("pick_and_place", "push", "reach", "slide")),
    *(f"hand/manipulate_{what}.xml" for what in ("block", "egg", "pen")),
    "hand/reach.xml",
    *("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "pusher_v5", "walker2d", "walker2d_v5"),
)
USUAL = ("ant", "half_cheetah", "hopper", "adroit_hand/adroit_relocate.xml")
RESTING = (  # scenes at rest after 5 s
    *(f"adroit_hand/adroit_{task}.xml" for task in ("door", "hammer", "pen", "relocate")),
    *("hand/reach.xml", "ant", "half_cheetah", "hopper", "pusher_v5"),
)
MOVED = 1e-3  # [rad], [m]: of a stiff MuJoCo in 1 s; as the file says, it yields up to 60 times as far


@cache
def scene(name: str) -> tuple[kp.Mechanism, np.ndarray]:
    """A scene, and its start without overlap and within limits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = kp.load(mjcf_models.robots()[name])
        return m, m.assemble(np.clip(m.start(), m.model.joints.lower, m.model.joints.upper))


@cache
def run(name: str, duration: float) -> kp.Result:
    m, q = scene(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kp.simulate(m, q, np.zeros(m.nv), duration=duration, dt=DT, output=0.02)


def stiff(name: str) -> mujoco.MjModel:
    """MuJoCo's model of a scene with stiff constraints."""
    model = mujoco.MjModel.from_xml_path(str(mjcf_models.robots()[name]))
    model.opt.timestep, model.opt.integrator = DT, mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.cone, model.opt.impratio, model.opt.noslip_iterations = mujoco.mjtCone.mjCONE_ELLIPTIC, 10.0, 20
    model.opt.iterations, model.opt.tolerance = 200, 1e-12
    for part in ("geom", "pair", "jnt", "dof", "eq"):
        getattr(model, f"{part}_solref")[:], getattr(model, f"{part}_solimp")[:] = STIFF
    for part in ("geom_margin", "geom_gap", "pair_margin", "pair_gap", "jnt_margin"):
        getattr(model, part)[:] = 0.0
    return model


def check(result: kp.Result, duration: float) -> None:
    assert result.status.ok, result.status
    assert result.time[-1] == duration
    assert result.contacts.depth.max() < DEEP
    assert result.contacts.residual.max() < 1e-8


@pytest.mark.parametrize("name", family(SCENES, USUAL, "further scenes of MuJoCo"))
def test_a_scene_runs_without_penetration(name):
    check(run(name, 0.5), 0.5)


@pytest.mark.long("five seconds of each scene")
@pytest.mark.parametrize("name", SCENES)
def test_a_scene_runs_for_five_seconds_without_penetration(name):
    check(run(name, 5.0), 5.0)


@pytest.mark.parametrize(
    "name", family(RESTING, ("ant", "half_cheetah", "hopper"), "further scenes of MuJoCo")
)
def test_where_a_scene_rests_mujoco_rests(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    (m, _), result, model = scene(name), run(name, 5.0), stiff(name)
    assert np.abs(result.qd[-1]).max() < 1e-3
    data, c = mujoco.MjData(model), conventions.mujoco(m, conventions.mujoco_layout(model))
    data.qpos[:], data.qvel[:] = c.state(result.q[-1], result.qd[-1])[:2]
    for _ in range(1000):
        mujoco.mj_step(model, data)
    moved = np.abs(c.from_state(data.qpos, data.qvel).q - result.q[-1])
    assert moved.max() < MOVED, m.q_names[moved.argmax()]
