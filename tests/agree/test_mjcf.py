"""MJCF files read by kinpair and by MuJoCo: the same bodies, the same motion, the same numbers.

Relative error: max|Δ| / max(1, max|reference|) ≤ 1e-10.
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
from kinpair import conventions
from kinpair.conventions import Convention, State
from kinpair.description.constraint_parts import Coupling
from kinpair.loading import read

TOLERANCE = 1e-10
BY_HAND = {**mjcf_models.SOLIDS, **mjcf_models.TREES}
# Where MuJoCo computes less exactly. Meshes are turned to principal axes that it finds to 1e-12 kg m² at a density
# of one, so that at 1e3 to 1e5 kg/m³ the tensors of small ones are off by some 1e-8 of themselves. The shell of an
# ellipsoid is what it gains by growing 1e-6 m, which is 5e-6 of its shortest axis here.
MESHED = 1e-7
INEXACT = {
    **{name: MESHED for name in BY_HAND if name.startswith("mesh")},
    "kitchen_franka/kitchen_assets/kitchen_env_model.xml": MESHED,
    "ellipsoid-shell": 1e-5,
}
SEED = 7


@dataclass(frozen=True, eq=False)
class Both:
    """One mechanism in both engines, in one state: `q` and `v` are MuJoCo's, `s` is ours."""

    ours: kp.Mechanism
    model: Any
    data: Any
    c: Convention
    s: State
    within: float
    text: str

    @property
    def description(self):
        return self.ours.model.description

    def body(self, k: int) -> str:
        return self.model.body(k).name or f"body {k}"


def made(path, model, within=TOLERANCE) -> Both:
    """Both engines; constraints are left to the tests below, the tree moves freely."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        ours = kp.build(replace(read(path), constraints=())).reference
    rng = np.random.default_rng(SEED)
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0 + rng.uniform(-1, 1, model.nq)
    data.qvel[:] = rng.uniform(-1, 1, model.nv)
    mujoco.mj_normalizeQuat(model, data.qpos)
    mujoco.mj_forward(model, data)
    c = conventions.mujoco(ours, conventions.mujoco_layout(model))
    return Both(ours, model, data, c, c.from_state(data.qpos, data.qvel), within, path.read_text())


@pytest.fixture(scope="module", params=[*BY_HAND, *mjcf_models.robots()])
def both(request, tmp_path_factory) -> Both:
    folder = tmp_path_factory.mktemp("mjcf")
    path = mjcf_models.robots().get(request.param, folder / "test.xml")
    if request.param in BY_HAND:
        path.write_text(BY_HAND[request.param])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)  # where MuJoCo writes its log
        model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    return made(path, model, INEXACT.get(request.param, TOLERANCE))


def test_there_are_more_than_two_dozen_robots():
    assert len(mjcf_models.robots()) >= 27


def test_coordinates_are_those_of_qpos_in_order(both):
    assert (both.ours.nq, both.ours.nv) == (both.model.nq, both.model.nv)
    assert [j.q.start for j in both.c.joints] == both.model.jnt_qposadr.tolist()
    assert [j.v.start for j in both.c.joints] == both.model.jnt_dofadr.tolist()


def test_gravity(both):
    off = both.model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    assert both.description.gravity == tuple([0.0] * 3 if off else both.model.opt.gravity)


def test_mass_centre_and_inertia_of_every_body(both):
    links = {link.name: link for link in both.description.links}
    for k in range(1, both.model.nbody):
        link, mass = links[both.body(k)], both.model.body_mass[k]
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, both.model.body_iquat[k])
        moments = both.model.body_inertia[k]
        tensor = R.reshape(3, 3) @ np.diag(moments) @ R.reshape(3, 3).T
        assert abs(link.mass - mass) <= TOLERANCE * mass
        assert not mass or zoo.relative_error(np.array(link.com), both.model.body_ipos[k]) <= TOLERANCE
        assert np.abs(link.tensor() - tensor).max() <= both.within * moments.max()


def apart(b: Both, ours: np.ndarray, theirs: np.ndarray) -> float:
    """How far coordinates are apart, k and −k being one rotation."""
    result = b.c.q(ours)
    for j in b.c.joints:
        if j.unit.stop > j.unit.start and result[j.unit] @ theirs[j.unit] < 0.0:
            result[j.unit] *= -1.0
    return zoo.relative_error(result, theirs)


def test_the_start_is_the_pose_of_the_file(both):
    assert apart(both, both.ours.start(), both.model.qpos0) <= TOLERANCE


def test_keyframes_of_the_file(both):
    assert len(both.ours.keyframes) == (both.model.nkey if "<key " in both.text else 0)
    for k, state in enumerate(both.ours.keyframes.values()):
        assert apart(both, state.q, both.model.key_qpos[k]) <= TOLERANCE
        assert zoo.relative_error(both.c.rates(state.q, state.qd), both.model.key_qvel[k]) <= TOLERANCE


KEYED = {  # what stands before the keyframes
    **{
        name: mjcf_models.robots()[name].read_text()
        for name in ("ant", "humanoid", "half_cheetah", "walker2d")
    },
    **{
        name: mjcf_models.TREES[name]
        for name in ("hinge", "ball", "free", "three-of-one-body", "joint-after-child")
    },
}


@pytest.mark.parametrize("name", KEYED)
def test_a_keyframe_by_name_puts_every_body_where_mujoco_does(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    model = mujoco.MjModel.from_xml_string(KEYED[name])
    rng = np.random.default_rng(SEED)
    qpos, qvel, free = (rng.uniform(-1, 1, n) for n in (model.nq, model.nv, model.nv))
    q, v, f = (" ".join(map(repr, x.tolist())) for x in (qpos, qvel, free))
    keys = f"""<keyframe><key qpos="{q}" time="2"/><key name="home" qpos="{q}" qvel="{v}"/>
    <key name="rates" qvel="{f}"/></keyframe></mujoco>"""
    path = tmp_path / "test.xml"
    path.write_text(KEYED[name].replace("</mujoco>", keys))
    b = made(path, mujoco.MjModel.from_xml_path(str(path)))
    assert list(b.ours.keyframes) == ["key 0", "home", "rates"]
    assert np.array_equal(b.ours.start("key 0"), b.ours.start("home"))
    assert np.array_equal(b.ours.keyframes["rates"].q, b.ours.start())
    for k, (q, qd) in enumerate(b.ours.keyframes.values()):
        mujoco.mj_resetDataKeyframe(b.model, b.data, k)
        mujoco.mj_forward(b.model, b.data)
        last = b.model.nbody - 1
        linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBody(b.model, b.data, linear, angular, last)
        twist = np.concatenate([angular @ b.data.qvel, linear @ b.data.qvel])
        assert zoo.relative_error(b.ours.pose(q, b.body(last)).position, b.data.xpos[last]) <= TOLERANCE
        axes = b.data.xmat[last].reshape(3, 3)
        assert zoo.relative_error(b.ours.pose(q, b.body(last)).rotation, axes) <= TOLERANCE
        assert zoo.relative_error(b.ours.jacobian(q, b.body(last)) @ qd, twist) <= TOLERANCE


def test_mass_matrix(both):
    H = np.zeros((both.model.nv, both.model.nv))
    mujoco.mj_fullM(both.model, both.data, H)
    own = both.c.mass_matrix(both.s.q, both.ours.mass_matrix(both.s.q))
    assert zoo.relative_error(own, H) <= both.within


def test_bias_forces(both):
    still = both.c.from_accelerations(both.s.q, both.data.qvel, np.zeros(both.model.nv))
    tau = both.ours.inverse_dynamics(both.s.q, both.s.qd, still, passive=False)
    assert zoo.relative_error(both.c.efforts(both.s.q, tau), both.data.qfrc_bias) <= both.within


def test_pose_of_every_body_and_site(both):
    bodies = {link.name for link in both.description.links} | {"world"}
    places = {both.body(k): (both.data.xpos[k], both.data.xmat[k]) for k in range(1, both.model.nbody)}
    for k in range(both.model.nsite):
        if name := both.model.site(k).name:
            name = f"{name} site" if name in bodies else name
            places[name] = (both.data.site_xpos[k], both.data.site_xmat[k])
    for name, (position, axes) in places.items():
        pose = both.ours.pose(both.s.q, name)
        assert zoo.relative_error(pose.position, position) <= TOLERANCE
        assert zoo.relative_error(pose.rotation, axes.reshape(3, 3)) <= TOLERANCE


def test_jacobian_of_the_last_body(both):
    linear, angular = np.zeros((3, both.model.nv)), np.zeros((3, both.model.nv))
    last = both.model.nbody - 1
    mujoco.mj_jacBody(both.model, both.data, linear, angular, last)
    J = both.c.jacobian(both.s.q, both.ours.jacobian(both.s.q, both.body(last)))
    assert zoo.relative_error(J, np.concatenate([linear, angular])) <= TOLERANCE


def test_limits_springs_dampers_friction_and_rotors_of_every_joint(both):
    ours, m = both.ours.model, both.model
    for k, match in enumerate(both.c.joints):
        q, v = match.own_q, match.own_v
        dof = slice(match.v.start, match.v.stop)
        assert ours.joints.damping[v] == pytest.approx(m.dof_damping[dof])
        if match.form.nv == 1:
            assert ours.joints.friction[v] == pytest.approx(m.dof_frictionloss[dof])
            assert ours.joints.stiffness[v] == pytest.approx(m.jnt_stiffness[k])
            assert not m.jnt_stiffness[k] or ours.joints.rest[v] == pytest.approx(m.qpos_spring[match.q])
            limits = m.jnt_range[k] if m.jnt_limited[k] else (-np.inf, np.inf)
            assert (ours.joints.lower[q][0], ours.joints.upper[q][0]) == pytest.approx(limits)
            force = np.abs(m.jnt_actfrcrange[k]).max() if m.jnt_actfrclimited[k] else np.inf
            assert ours.joints.effort[v] == pytest.approx(force)


@pytest.mark.parametrize("name", ["hinge", "passive", "ball", "free-damped", "classes"])
def test_springs_and_dampers_act_as_in_mujoco(name, tmp_path):
    (tmp_path / "test.xml").write_text(mjcf_models.TREES[name])
    b = made(tmp_path / "test.xml", mujoco.MjModel.from_xml_path(str(tmp_path / "test.xml")))
    zero = np.zeros(b.ours.nv)
    acting, not_acting = (b.ours.inverse_dynamics(b.s.q, b.s.qd, zero, passive=x) for x in (True, False))
    friction = b.ours.model.joints.friction * np.sign(b.s.qd)  # a constraint in MuJoCo
    assert (
        zoo.relative_error(b.c.efforts(b.s.q, not_acting - acting + friction), b.data.qfrc_passive)
        <= TOLERANCE
    )


@pytest.mark.parametrize("name", ["hinge", "free", "free-armature", "three-of-one-body"])
def test_accelerations_are_those_of_mujoco(name, tmp_path):
    (tmp_path / "test.xml").write_text(mjcf_models.TREES[name])
    b = made(tmp_path / "test.xml", mujoco.MjModel.from_xml_path(str(tmp_path / "test.xml")))
    own = b.ours.forward_dynamics(b.s.q, b.s.qd, np.zeros(b.ours.nv))
    theirs = b.c.from_accelerations(b.s.q, b.data.qvel, b.data.qacc_smooth)
    assert zoo.relative_error(own, theirs) <= TOLERANCE


def held(tmp_path, constraint) -> Both:
    (tmp_path / "test.xml").write_text(mjcf_models.held(constraint))
    return made(tmp_path / "test.xml", mujoco.MjModel.from_xml_path(str(tmp_path / "test.xml")))


@pytest.mark.parametrize("name", mjcf_models.LOOPS)
def test_a_loop_gapes_as_in_mujoco(name, tmp_path):
    b = held(tmp_path, mjcf_models.LOOPS[name])
    (loop,) = read(tmp_path / "test.xml").constraints
    first, second = (b.ours.pose(b.s.q, link) for link in (loop.parent, loop.child))
    x, y = loop.origin.pose(), loop.child_origin.pose()
    gap = second.position + second.rotation @ y.a - first.position - first.rotation @ x.a
    assert loop.kind == {"connect": "spherical", "weld": "fixed"}[name.partition("-")[0]]
    assert np.linalg.norm(gap) == pytest.approx(np.linalg.norm(b.data.efc_pos[:3]), rel=1e-10)
    if loop.kind == "fixed":
        R = (first.rotation @ x.R).T @ second.rotation @ y.R
        sine = np.sqrt((3.0 - np.trace(R)) / 4.0)  # of half the angle
        assert sine == pytest.approx(np.linalg.norm(b.data.efc_pos[3:6]), rel=1e-8)


@pytest.mark.parametrize("name", mjcf_models.COUPLINGS)
def test_a_coupling_is_off_as_in_mujoco(name, tmp_path):
    b = held(tmp_path, mjcf_models.COUPLINGS[name])
    (coupling,) = read(tmp_path / "test.xml").constraints
    assert isinstance(coupling, Coupling)
    q = dict(zip(b.ours.q_names, b.s.q, strict=True))
    wanted = coupling.offset + sum(
        c * q[x] ** (k + 1) for x, terms in coupling.terms for k, c in enumerate(terms)
    )
    assert q[coupling.joint] - wanted == pytest.approx(b.data.efc_pos[0], rel=1e-12)


FOUR_BAR = """<mujoco><compiler angle="radian"/><option tolerance="0" iterations="200"/>
<default><geom type="capsule" size=".02"/><equality solimp=".9999 .9999 .001 .5 2"/></default>
<option><flag contact="disable"/></option>
  <worldbody>
<body name="crank"><joint name="a" axis="0 1 0" ref=".3"/><geom fromto="0 0 0 .1 0 .2"/>
<body name="coupler" pos=".1 0 .2"><joint name="b" axis="0 1 0"/><geom fromto="0 0 0 .5 0 .3"/></body></body>
<body name="rocker" pos=".5 0 0"><joint name="c" axis="0 1 0"/><geom fromto="0 0 0 .1 0 .5"/></body>
</worldbody><equality>{}</equality></mujoco>"""
CLOSURES = {
    "connect": '<connect body1="coupler" body2="rocker" anchor=".5 0 .3"/>',
    "joint": '<joint joint1="c" joint2="a" polycoef="0 .5 .2"/>',
}


@pytest.mark.parametrize("name", CLOSURES)
def test_a_closed_mechanism_falls_as_in_mujoco(name, tmp_path):
    """From rest at the pose of the file. MuJoCo's stiffest impedance is 0.9999: its forces are off by some 1e-4."""
    (tmp_path / "test.xml").write_text(FOUR_BAR.format(CLOSURES[name]))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "test.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    ours = kp.load(tmp_path / "test.xml")
    qdd = ours.forward_dynamics(model.qpos0, np.zeros(3), np.zeros(3))
    assert np.abs(data.qacc).max() > 1.0
    assert zoo.relative_error(qdd, data.qacc) <= 1e-3
