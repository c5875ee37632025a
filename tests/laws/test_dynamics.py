"""Laws of mechanics on seeded random trees of up to 40 bodies with every kind of pair."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.evaluation.kernels import Kernels
from kinpair.formulations import articulated, composite, denoc, kinematics

TREES = [
    *zoo.random_trees(seed=7),
    *zoo.random_trees(seed=8, floating=True),
    *zoo.random_trees(seed=9, sizes=(12, 40), kinds=zoo.ONE_DEGREE, reach=1),
]
EPS = np.finfo(float).eps
STEP = 1e-200  # of the complex step: far below rounding, so that the derivative is exact to it


@pytest.fixture(params=TREES, ids=lambda m: m.name)
def mechanism(request):
    return request.param


@pytest.fixture
def motion(mechanism):
    return zoo.motion(mechanism, seed=len(mechanism.name))


def rate_of(f, mechanism, q, qd, qdd):
    """d/dt f(q, q̇) along the motion, by complex step: q moves by dq/dt, q̇ by q̈."""
    shifted = q + 1j * STEP * mechanism.dq_dt(q, qd)
    return np.imag(f(mechanism.model, shifted, qd + 1j * STEP * qdd)) / STEP


def test_every_kind_of_pair_takes_part():
    assert {body.pair.kind for m in TREES for body in m.model.body[1:]} == set(zoo.KINDS) - {"fixed"}


def test_joint_power_is_the_rate_of_energy(mechanism, motion):
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    power = mechanism.inverse_dynamics(q, qd, qdd) @ qd

    def energy(model, q, qd):
        return kinematics.kinetic_energy(model, q, qd) + kinematics.potential_energy(model, q)

    rate = rate_of(energy, mechanism, q, qd, qdd)
    scale = np.abs(mechanism.inverse_dynamics(q, qd, qdd)) @ np.abs(qd)
    assert abs(power - rate) <= 1e-12 * max(1.0, scale)


def test_mass_matrix_is_symmetric_and_positive(mechanism, motion):
    H = mechanism.mass_matrix(motion.q)
    assert np.abs(H - H.T).max() <= 4 * EPS * np.abs(H).max()
    assert np.linalg.eigvalsh(H).min() > 0


def test_mass_matrix_is_that_of_the_kinetic_energy(mechanism, motion):
    qd = motion.qd
    twice = qd @ mechanism.mass_matrix(motion.q) @ qd
    assert mechanism.energy(motion.q, qd).kinetic == pytest.approx(twice / 2, rel=1e-13)


def test_mass_matrix_is_the_projected_mass_of_the_bodies(mechanism, motion):
    """H = N_dᵀ N_lᵀ M N_l N_d, the complement built in full."""
    N_l, N_d = denoc.complement(mechanism.model, motion.q)
    M = np.zeros((len(N_l), len(N_l)))
    for i in mechanism.model.moving:
        M[6 * i - 6 : 6 * i, 6 * i - 6 : 6 * i] = denoc.body_mass(mechanism.model.body[i])
    N = N_l @ N_d
    rotors = np.zeros(mechanism.nv)
    for i in mechanism.model.moving:
        rotors[mechanism.model.v_span[i]] = mechanism.model.body[i].rotor
    result = mechanism.mass_matrix(motion.q)
    assert zoo.relative_error(result, N.T @ M @ N + np.diag(rotors)) < 1e-13


def test_columns_of_the_mass_matrix_are_efforts_of_unit_accelerations(mechanism, motion):
    """By inverse dynamics at rest, less gravity; all three ways to H."""
    still, g = np.zeros(mechanism.nv), mechanism.gravity_forces(motion.q)
    q = np.tile(motion.q, (mechanism.nv, 1))
    columns = mechanism.inverse_dynamics(q, still, np.eye(mechanism.nv)) - g
    for method in ("newton-euler", "denoc"):
        assert zoo.relative_error(mechanism.mass_matrix(motion.q, method=method), columns.T) < 1e-12


def test_ways_to_solve_for_accelerations_agree(mechanism, motion):
    """H x = φ by composite bodies and tree factors, articulated bodies, U D Uᵀ of DeNOC, and LAPACK."""
    H = mechanism.mass_matrix(motion.q)
    bound = 100 * EPS * np.linalg.cond(H)
    w = kinematics.no_wrenches(mechanism.model)
    phi = mechanism.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    for way in (composite, articulated, denoc):
        x, pivots, scales = way.forward_dynamics(mechanism.model, motion.q, motion.qd, phi, w)
        assert zoo.relative_error(x, motion.qdd) <= bound
        assert (pivots > 0).all()
        assert (pivots <= scales * (1 + 1e-9)).all()
        assert np.sum(np.log(pivots)) == pytest.approx(np.linalg.slogdet(H)[1], abs=1e-8)


def test_twists_are_the_complement_times_the_rates(mechanism, motion):
    N_l, N_d = denoc.complement(mechanism.model, motion.q)
    t = np.concatenate(denoc.twists(mechanism.model, motion.q, motion.qd)[1:])
    assert zoo.relative_error(t, N_l @ (N_d @ motion.qd)) < 1e-13


def test_change_of_inertia_less_twice_the_convective_matrix_is_skew(mechanism, motion):
    q, qd = motion.q, motion.qd
    Hd = rate_of(lambda model, q, qd: denoc.mass_matrix(model, q), mechanism, q, qd, 0 * qd)
    C = mechanism.coriolis_matrix(q, qd)
    S = Hd - 2 * C
    assert np.abs(S + S.T).max() <= 1e-12 * max(1.0, np.abs(C).max())


def test_convective_matrix_gives_the_forces_of_the_rates(mechanism, motion):
    q, qd = motion.q, motion.qd
    h = mechanism.bias_forces(q, qd) - mechanism.gravity_forces(q)
    assert zoo.relative_error(mechanism.coriolis_matrix(q, qd) @ qd, h) < 1e-12


def test_convective_matrix_is_linear_in_the_rates(mechanism, motion):
    q, qd, other = motion.q, motion.qd, motion.qdd
    C = mechanism.coriolis_matrix
    assert zoo.relative_error(C(q, 2 * qd - other), 2 * C(q, qd) - C(q, other)) < 1e-12


@pytest.mark.parametrize("method", ["newton-euler", "denoc"])
def test_forward_undoes_inverse_dynamics(mechanism, motion, method):
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    tau = mechanism.inverse_dynamics(q, qd, qdd, method=method)
    result = mechanism.forward_dynamics(q, qd, tau, method=method)
    assert zoo.relative_error(result, qdd) <= 100 * EPS * np.linalg.cond(mechanism.mass_matrix(q))


def test_gravity_forces_are_the_slope_of_the_potential_energy(mechanism, motion):
    q = motion.q
    slope = [
        rate_of(lambda m, q, qd: kinematics.potential_energy(m, q), mechanism, q, unit, unit)
        for unit in np.eye(mechanism.nv)
    ]
    assert zoo.relative_error(mechanism.gravity_forces(q), np.array(slope)) < 1e-12


def test_jacobian_is_the_change_of_the_pose(mechanism, motion):
    """[ω] = Ṙ Rᵀ and ẋ, by complex step, for both frames."""
    q, qd = motion.q, motion.qd
    for frame in ("tip 0", "tip 1"):
        place = mechanism.model.place(frame)
        R, _ = mechanism.pose(q, frame)
        Rd = rate_of(lambda m, q, qd, at=place: kinematics.pose(m, q, at)[0], mechanism, q, qd, qd)
        xd = rate_of(lambda m, q, qd, at=place: kinematics.pose(m, q, at)[1], mechanism, q, qd, qd)
        W = Rd @ R.T
        twist = np.array([W[2, 1], W[0, 2], W[1, 0], *xd])
        assert zoo.relative_error(mechanism.jacobian(q, frame) @ qd, twist) < 1e-12


def test_jacobian_rate_is_the_derivative_of_the_jacobian(mechanism, motion):
    q, qd = motion.q, motion.qd
    place = mechanism.model.place("tip 0")
    rate = rate_of(lambda m, q, qd: kinematics.jacobian(m, q, place), mechanism, q, qd, qd)
    assert zoo.relative_error(mechanism.jacobian_rate(q, qd, "tip 0"), rate) < 1e-12


def test_poses_of_a_batch_are_those_of_each_state():
    m = kp.example("floating-arm")
    q = np.stack([m.neutral(), m.start()])
    q[1, :3] = 0.1, -0.2, 0.3
    q[1, -1] = 0.7
    batch, reference = m.poses(q), m.reference.poses(q)
    for k in (0, 1):
        for name, one in m.poses(q[k]).items():
            for x, y, z in zip(one, batch[name], reference[name], strict=True):
                assert y.shape == (2, *x.shape)
                assert np.allclose(y[k], x, rtol=0, atol=1e-14)
                assert np.allclose(z[k], x, rtol=0, atol=1e-14)
    assert all(x.rotation.shape == (0, 3, 3) for x in m.poses(q[:0]).values())


def test_poses_of_one_state_ask_once_how_they_are_compiled(monkeypatch):
    asked, m = [], kp.example("scara")
    is_rolled = Kernels.is_rolled
    monkeypatch.setattr(
        Kernels, "is_rolled", lambda self, request: asked.append(request) or is_rolled(self, request)
    )
    for _ in range(5):
        m.poses(m.start())
    asked.clear()
    m.poses(m.start())
    assert asked == []


def test_poses_of_all_links_are_those_one_by_one(mechanism, motion):
    poses = mechanism.poses(motion.q)
    assert list(poses) == [x.name for x in mechanism.model.description.links]
    for link, (R, a) in poses.items():
        alone = mechanism.pose(motion.q, link)
        assert np.abs(R - alone.rotation).max() < 1e-14
        assert zoo.relative_error(a, alone.position) < 1e-14


def test_twists_of_all_links_and_their_rates_are_those_by_jacobians(mechanism, motion):
    """t = J q̇ and ṫ = J q̈ + J̇ q̇ of each link."""
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    twists, rates = mechanism.twists(q, qd), mechanism.twist_rates(q, qd, qdd)
    assert list(twists) == list(rates) == [x.name for x in mechanism.model.description.links]
    for link, t in twists.items():
        J, Jd = mechanism.jacobian(q, link), mechanism.jacobian_rate(q, qd, link)
        assert zoo.relative_error(t, J @ qd) < 1e-13
        assert zoo.relative_error(rates[link], J @ qdd + Jd @ qd) < 1e-12


def test_momentum_changes_by_gravity_and_ground_reaction(mechanism, motion):
    """ṗ = Σ m g + forces of the pairs on the ground, Newton's law for the whole."""
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    rate = rate_of(kinematics.momentum, mechanism, q, qd, qdd)[3:]
    model = mechanism.model
    fixed = np.zeros(3)
    for i in model.moving:
        if model.parent[i] == 0:
            w = mechanism.reactions(q, qd, qdd)[model.joint_names[i]]
            fixed += model.body[i].R_seat @ model.R_joint[i] @ w[3:]
    assert zoo.relative_error(rate, fixed + mechanism.mass * model.gravity) < 1e-12


def test_reactions_of_the_two_formulations_agree(mechanism, motion):
    by_ne = mechanism.reactions(motion.q, motion.qd, motion.qdd)
    by_denoc = mechanism.reactions(motion.q, motion.qd, motion.qdd, method="denoc")
    assert list(by_ne) == list(by_denoc)
    for joint, w in by_ne.items():
        assert zoo.relative_error(by_denoc[joint], w) < 1e-12


def test_applied_wrench_does_the_work_of_its_jacobian(mechanism, motion):
    q, qd, qdd = motion.q, motion.qd, motion.qdd
    w = np.array([0.3, -1.0, 2.0, 5.0, -4.0, 1.0])
    free = mechanism.inverse_dynamics(q, qd, qdd)
    for method in ("newton-euler", "denoc"):
        loaded = mechanism.inverse_dynamics(q, qd, qdd, external={"tip 1": w}, method=method)
        assert zoo.relative_error(free - loaded, mechanism.jacobian(q, "tip 1").T @ w) < 1e-12


def test_batch_gives_what_single_states_give(mechanism):
    S = zoo.motions(mechanism, 4)
    tau = mechanism.inverse_dynamics(S.q, S.qd, S.qdd)
    H = mechanism.mass_matrix(S.q)
    for k in range(4):
        assert zoo.relative_error(tau[k], mechanism.inverse_dynamics(S.q[k], S.qd[k], S.qdd[k])) < 1e-13
        assert zoo.relative_error(H[k], mechanism.mass_matrix(S.q[k])) < 1e-13


@pytest.mark.parametrize("seed", range(5))
def test_momentum_of_a_floating_tree_is_kept(seed):
    """No gravity, no efforts: forward dynamics keeps angular and linear momentum, and the energy."""
    mechanism = zoo.without_gravity(zoo.tree(seed, 8, floating=True))
    s = zoo.motion(mechanism, seed)
    qdd = mechanism.forward_dynamics(s.q, s.qd, np.zeros(mechanism.nv))
    rate = rate_of(kinematics.momentum, mechanism, s.q, s.qd, qdd)
    assert np.abs(rate).max() < 1e-11 * max(1.0, np.abs(mechanism.momentum(s.q, s.qd)).max())
    power = rate_of(kinematics.kinetic_energy, mechanism, s.q, s.qd, qdd)
    assert abs(power) < 1e-11 * mechanism.energy(s.q, s.qd).kinetic


@pytest.mark.parametrize("kind", [*zoo.KINDS[:8], "all"])
@pytest.mark.parametrize("seed", range(3))
def test_splitting_pairs_changes_nothing_after_the_rate_map(kind, seed):
    kinds = zoo.KINDS if kind == "all" else ("revolute", kind)
    mechanism = zoo.tree(seed, 6, kinds=kinds, floating=kind == "free")
    split, maps = mechanism.split()
    assert split.nv == mechanism.nv
    assert all(body.pair.nv <= 1 for body in split.model.body)
    s = zoo.motion(mechanism, seed)
    x, xd, xdd = maps.to_split(s.q, s.qd, s.qdd)

    back = maps.from_split(x, xd, xdd)
    assert zoo.relative_error(mechanism.pose(back[0], "tip 0")[0], mechanism.pose(s.q, "tip 0")[0]) < 1e-12
    assert zoo.relative_error(back[1], s.qd) < 1e-11
    assert zoo.relative_error(back[2], s.qdd) < 1e-10

    for whole, part in zip(mechanism.pose(s.q, "tip 1"), split.pose(x, "tip 1"), strict=True):
        assert zoo.relative_error(part, whole) < 1e-12
    tau = maps.efforts_to_split(x, mechanism.inverse_dynamics(s.q, s.qd, s.qdd))
    assert zoo.relative_error(split.inverse_dynamics(x, xd, xdd), tau) < 1e-10
    assert split.energy(x, xd) == pytest.approx(mechanism.energy(s.q, s.qd), rel=1e-11)


def test_kept_welds_change_nothing_and_show_their_reaction():
    from kinpair.mechanism import Mechanism
    from kinpair.model.build import build

    merged = zoo.tree(5, 9, kinds=("fixed", "revolute", "spherical"))
    kept = Mechanism(build(merged.model.description, merge_fixed=False))
    s = zoo.motion(merged, 1)
    assert (
        zoo.relative_error(kept.inverse_dynamics(s.q, s.qd, s.qdd), merged.inverse_dynamics(s.q, s.qd, s.qdd))
        < 1e-12
    )
    tau = merged.inverse_dynamics(s.q, s.qd, s.qdd)
    assert zoo.relative_error(kept.forward_dynamics(s.q, s.qd, tau), s.qdd) < 1e-10
    welds = {joint.name for joint in merged.model.description.joints if joint.kind == "fixed"}
    assert welds
    assert welds <= set(kept.reactions(s.q, s.qd, s.qdd))
