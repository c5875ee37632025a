"""Actuators of MJCF files: with the same ctrl and act, kinpair and MuJoCo have the same efforts, rates and motion.

Efforts are sums and products of few numbers: to 1e-12 of the largest. Accelerations: H has condition numbers up to 1e4
here, so 100 eps cond(H) is some 1e-10; what meshes add is explained in test_mjcf.py.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np
import pytest

import kinpair as kp
import mjcf_models
import zoo
from families import family
from kinpair import conventions
from kinpair.conventions import Convention, State
from kinpair.loading import read

EFFORTS, ACCELERATIONS = 1e-12, 1e-10
SEED = 15
ARM = """<mujoco><compiler angle="radian"/>{extra}<worldbody>
<body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0" range="-.5 2" {joint}/>
<geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/>
<body name="slider" pos=".4 0 0" euler="0 .3 0"><joint name="b" type="slide" axis="1 1 0" ref=".1"/>
<joint name="c" axis="1 0 1" pos=".1 0 0"/><geom type="box" size=".1 .2 .3" pos="0 .1 0"/>
<body name="tip" pos="0 0 .3"><joint name="d" type="ball"/><geom size=".1" pos=".2 0 0"/>
</body></body></body></worldbody><actuator>{actuators}</actuator></mujoco>"""
CASES = {
    "motor": '<motor joint="a"/>',
    "motor-gear": '<motor joint="a" gear="-30" ctrlrange="-.5 .5"/><motor joint="b" gear="4 1 2"/>',
    "motor-uneven": '<motor joint="a" gear="3" ctrlrange="-.2 1"/><motor joint="c" forcerange="-1 .1" gear="-2"/>',
    "in-parent": '<motor jointinparent="b" gear="2"/>',
    "free-ctrl": '<motor joint="a" ctrlrange="-.1 .1" ctrllimited="false"/>',
    "position": '<position joint="a" kp="20" kv="3"/><position joint="b" kp="50" gear="-2" ctrlrange="-1 .3"/>',
    "position-bounded": '<position joint="a" kp="90" forcerange="-2 1" inheritrange=".7"/>',
    "position-filter": '<position joint="a" kp="20" timeconst=".2"/><position joint="c" kp="3" timeconst="0"/>',
    "damping-ratio": '<position joint="a" kp="20" dampratio=".7" gear="3"/><position joint="b" kp="5" dampratio="1"/>'
    '<position joint="c" kp="5" dampratio="1.5" armature=".3"/>',
    "velocity": '<velocity joint="b" kv="7" gear="3"/><velocity joint="a" ctrlrange="-.3 1"/>',
    "integrated": '<intvelocity joint="a" kp="7" kv="2" actrange="-.2 .3"/>'
    '<intvelocity joint="c" kp="7" inheritrange="0"/>',
    "damper": '<damper joint="a" kv="4" ctrlrange="0 .6"/>',
    "cylinder": '<cylinder joint="b" timeconst=".05" area="3" bias="1 2 -3"/><cylinder joint="a" diameter=".7"/>',
    "general": '<general joint="a" gaintype="affine" gainprm="2 .3 -.4" biastype="affine" '
    'biasprm=".5 -2 -.1" gear="1.5"/>',
    "general-filter": '<general joint="a" dyntype="filter" dynprm=".3" gainprm="4"/>'
    '<general joint="c" dyntype="integrator" actlimited="true" actrange="0 .2"/>',
    "joint-force-range": '<motor joint="a" gear="-5" forcerange="-.4 3"/>',
    "armature-damping": '<motor joint="a" gear="4" armature=".02" damping=".3"/><motor joint="b" armature=".5"/>',
    "dcmotor": '<dcmotor joint="a" motorconst=".05" resistance="2" gear="30" armature="1e-4" ctrlrange="-.8 .8"/>',
    "dcmotor-saturated": '<dcmotor joint="a" motorconst=".05 .07" resistance=".1" saturation="0 2"/>'
    '<dcmotor joint="c" nominal="24 1 300" saturation=".02"/>',
    "dcmotor-inductance": '<dcmotor joint="a" motorconst=".05" resistance="2" inductance=".01" gear="-30"/>'
    '<dcmotor joint="b" nominal="24 1 300" motorconst=".1" inductance="0 .02"/>',
    "classes": '<motor joint="a"/><position joint="b" kv="3"/><velocity class="fast" joint="c"/>',
}
EXTRA = {
    "classes": """<default><position kp="7" kv="4" ctrlrange="-1 .5"/><default class="fast"><general gear="3"/>
    <velocity kv="9" forcerange="-2 2"/></default></default>""",
    "free-ctrl": '<option><flag contact="disable"/></option>',
}
JOINT = {
    "joint-force-range": 'actuatorfrcrange="-1 2"',
    "armature-damping": 'armature=".1" damping=".7"',
    "damping-ratio": 'armature=".2"',
}
BY_HAND = {
    name: ARM.format(extra=EXTRA.get(name, ""), joint=JOINT.get(name, ""), actuators=actuators)
    for name, actuators in CASES.items()
}


@dataclass(frozen=True, eq=False)
class Both:
    """One mechanism in both engines, in one state, with one input."""

    ours: kp.Mechanism
    model: Any
    data: Any
    c: Convention
    s: State
    meshed: bool


ROBOTS = [
    name
    for name in mjcf_models.robots()
    if name not in ("fetch/push.xml", "fetch/reach.xml", "fetch/slide.xml")
]
USUAL = (
    "ant",
    "humanoid",
    "half_cheetah",
    "hand/reach.xml",
    "adroit_hand/adroit_door.xml",
    "fetch/pick_and_place.xml",
)


@pytest.fixture(
    scope="module",
    params=[*BY_HAND, *family(ROBOTS, USUAL, "a robot whose actuators are those of another one")],
)
def both(request, tmp_path_factory) -> Both:
    folder = tmp_path_factory.mktemp("actuators")
    path = mjcf_models.robots().get(request.param, folder / "test.xml")
    if request.param in BY_HAND:
        path.write_text(BY_HAND[request.param])
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(folder)  # where MuJoCo writes its log
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        model = mujoco.MjModel.from_xml_path(str(path))
        written = read(path)
    free = tuple(replace(joint, friction=()) for joint in written.joints)  # a constraint in MuJoCo
    ours = kp.build(replace(written, joints=free, constraints=(), warnings=())).reference
    rng, data = np.random.default_rng(SEED), mujoco.MjData(model)
    model.opt.timestep = 1e-18  # motors with inductance take the current at the end of the step
    model.opt.density = model.opt.viscosity = 0.0
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data.qpos[:] = model.qpos0 + rng.uniform(-1, 1, model.nq)
    data.qvel[:], data.ctrl[:] = rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, model.nu)
    data.act[:] = rng.uniform(0.05, 0.1, model.na)
    mujoco.mj_normalizeQuat(model, data.qpos)
    mujoco.mj_forward(model, data)
    c = conventions.mujoco(ours, conventions.mujoco_layout(model))
    return Both(ours, model, data, c, c.from_state(data.qpos, data.qvel), "kitchen" in request.param)


def test_inputs_and_internal_states_are_ctrl_and_act_in_order(both):
    assert (both.ours.nu, both.ours.nx) == (both.model.nu, both.model.na)
    assert [name for name in both.ours.u_names if not name.startswith("actuator ")] == [
        name for k in range(both.model.nu) if (name := both.model.actuator(k).name)
    ]


def test_efforts_and_rates_are_those_of_mujoco(both):
    effort, rate = both.ours.actuation(both.s.q, both.s.qd, both.data.act, both.data.ctrl)
    assert zoo.relative_error(both.c.efforts(both.s.q, effort), both.data.qfrc_actuator) <= EFFORTS
    assert np.abs(rate - both.data.act_dot).max(initial=0.0) <= EFFORTS * np.abs(rate).max(initial=1.0)


def test_accelerations_are_those_of_mujoco(both):
    qdd, _ = both.ours.state_derivative(both.s.q, both.s.qd, both.data.act, both.data.ctrl)
    theirs = both.c.from_accelerations(both.s.q, both.data.qvel, both.data.qacc)
    assert zoo.relative_error(qdd, theirs) <= (1e-5 if both.meshed else ACCELERATIONS)


def test_joint_efforts_mean_what_they_meant(both):
    """forward_dynamics of the file with its actuators, and without them."""
    without = kp.build(both.ours.model.description, actuators=False).reference
    tau = np.random.default_rng(SEED).uniform(-1, 1, both.ours.nv)
    with_actuators = both.ours.forward_dynamics(both.s.q, both.s.qd, tau)
    assert (
        zoo.relative_error(without.forward_dynamics(both.s.q, both.s.qd, tau), with_actuators)
        <= ACCELERATIONS
    )
    assert without.nx == 0
