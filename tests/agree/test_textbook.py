"""Arrays in the symbols of the sources: the equations of each source hold among them, and agree with the mechanism."""

from __future__ import annotations

import pickle
from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.formulations.kinematics import poses
from kinpair.formulations.screw_algebra import point_acceleration
from kinpair.printed_equations.textbook.formulation import ROWS

TREES = ("stanford-arm", "three-cylinders", "cylindrical-arm", "floating-arm", "two-handed-arm", "motor-arm")
LOOPS = ("four-bar", "four-bar-3d", "stewart", "three-rrr", "slider-crank", "bennett")
EXACT = 1e-9  # of the largest number compared


@cache
def mechanism(name: str) -> kp.Mechanism:
    return kp.example(name).reference


def state(m: kp.Mechanism, seed: int = 28):
    """A motion of a tree, or one that obeys the constraints, with efforts."""
    rng = np.random.default_rng(seed)
    q, qd, tau = m.start(), rng.uniform(-1, 1, m.nv), rng.uniform(-1, 1, m.nv)
    if m.closure is not None:
        return q, m.velocities(q, guess=qd), tau
    turned = m.nq == m.nv
    return (q + rng.uniform(0.2, 0.9, m.nq) if turned else q), qd, tau


def near(found, expected) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    assert np.abs(found - expected).max(initial=0.0) <= EXACT * scale


def moved(name: str, of: str):
    m = mechanism(of)
    q, qd, tau = state(m)
    qdd = m.forward_dynamics(q, qd, tau, passive=False)
    return m, qdd, tau, kp.formulation(name).arrays(m, q, qd, tau=tau)


@pytest.mark.parametrize("of", TREES)
def test_saha(of):
    m, qdd, tau, x = moved("denoc", of)
    near(x.N, x.N_l @ x.N_d)
    near(x.t, x.N @ x.theta_dot)
    near(x.M_tilde, x.N_l.T @ x.M @ x.N_l)
    rotors = np.concatenate([np.zeros(0), *(b.rotor for b in m.model.body[1:])])[_order(m)]
    near(x.I, x.N_d.T @ x.M_tilde @ x.N_d + np.diag(rotors))
    near(x.theta_dd, qdd)
    N_dot = x.Nl_dot @ x.N_d + x.N_l @ x.Nd_dot
    near(x.C, x.N.T @ (x.M @ N_dot + x.M_dot @ x.N))
    near(x.w, x.w_E + x.w_I)
    near(x.N.T @ x.w_I, np.zeros(m.nv))
    near(x.tau + rotors * qdd, x.I @ qdd + x.C @ x.theta_dot)
    near(x.w_tilde_E, x.N_l.T @ x.w_E)
    gravity = m.gravity_forces(state(m)[0])
    near(x.tau, tau - rotors * qdd - gravity)


def _order(m: kp.Mechanism) -> list[int]:
    """Entries of the rotors, body by body, in the order of the rates."""
    rates = [k for span in m.model.v_span[1:] for k in range(span.start, span.stop)]
    return np.argsort(rates).tolist()


@pytest.mark.parametrize("of", ["stanford-arm", "three-cylinders"])
def test_saha_blocks(of):
    m = mechanism(of)
    q, qd, _ = state(m)
    x = kp.formulation("denoc").arrays(m, q, qd)
    names = m.model.names[1:]
    near(x.Nd_dot, x.Omega @ x.N_d)  # (26)
    near(x.C, x.N_d.T @ x.M_tilde_prime @ x.N_d)  # (25)
    for i in range(3, len(names) + 1):
        near(x.block("N_l", i, i - 1) @ x.block("N_l", i - 1, i - 2), x.block("N_l", i, i - 2))  # (14)
        composite = x.block("M", i - 1, i - 1) + x.block("N_l", i, i - 1).T @ x.block(
            "M_tilde", i, i
        ) @ x.block("N_l", i, i - 1)
        near(x.block("M_tilde", names[i - 2], names[i - 2]), composite)  # (23b)
        near(x.block("M_tilde", i, 1), x.block("M_tilde", i, i) @ x.block("N_l", i, 1))  # (22)
        near(x.block("mu", i, 1), x.block("mu", i, i))  # (27)
    rate = (_arrays(m, q + 1e-6 * qd, qd).N_l - _arrays(m, q - 1e-6 * qd, qd).N_l) / 2e-6
    assert np.abs(rate - x.Nl_dot).max() < 1e-7 * max(1.0, np.abs(rate).max())  # step² and rounding over step


def _arrays(m, q, qd):
    return kp.formulation("denoc").arrays(m, q, qd)


@pytest.mark.parametrize("ground", [False, True])
@pytest.mark.parametrize("of", [*TREES, *LOOPS])
def test_pan(of, ground):
    m = mechanism(of)
    q, qd, tau = state(m)
    qdd = m.forward_dynamics(q, qd, tau, passive=False)
    x = kp.formulation("screw").arrays(m, q, qd, tau=tau, ground=ground)
    near(x.C.T @ x.v, x.c_v)
    near(x.c_v, np.zeros(len(x.c_v)))
    near(x.c_a, x.c_v_dot - x.C_dot.T @ x.v)
    near(x.C.T @ x.a, x.c_a)
    near(-x.I @ x.a + x.C @ x.eta, x.f_p)
    where, rates, changes = poses(m.model, q), m.twists(q, qd), m.twist_rates(q, qd, qdd)
    for i, name in enumerate(m.model.names[1:], start=1):
        a, v = x.block("a", name), x.block("v", name)
        r = (where[i] @ m.model.places[name].pose).a
        near(v[:3] + np.cross(v[3:], r), rates[name][3:])
        near(point_acceleration(a, v, r), changes[name][3:])
        near(a[3:], changes[name][:3])


@pytest.mark.parametrize("of", ["stanford-arm", "motor-arm"])
def test_pan_with_every_freedom_driven(of):
    """Problem 6: with the ground and all drives C is square, and the multipliers of the drives are the efforts."""
    m = mechanism(of)
    q, qd, qdd = state(m)
    x = kp.formulation("screw").arrays(m, q, qd, qdd, ground=True)
    assert x.C.shape[0] == x.C.shape[1]
    near(np.linalg.solve(x.C.T, x.c_a), x.a)
    efforts = m.inverse_dynamics(q, qd, qdd, passive=False)
    for i in m.model.moving:
        span, rotor = m.model.v_span[i], m.model.body[i].rotor
        near(x.block("eta", f"drive {m.model.joint_names[i]}"), efforts[span] - rotor * qdd[span])
    near(x.block("eta", "ground") + x.C[:6, 6:] @ x.eta[6:], np.zeros(6))


def test_pan_with_the_crank_of_a_four_bar_driven():
    m = mechanism("four-bar")
    q, qd, tau = state(m)
    drive = m.joint_names[0]
    x = kp.formulation("screw").arrays(m, q, qd, tau=tau, ground=True, drives=(drive,))
    assert x.C.shape[0] == x.C.shape[1]
    near(np.linalg.solve(x.C.T, x.c_a), x.a)
    near(x.block("eta", f"drive {drive}"), tau[:1])


@pytest.mark.parametrize(
    "of", ["stanford-arm", "cylindrical-arm", "two-handed-arm", "motor-arm", "four-bar", "stewart"]
)
def test_zhao_and_gu(of):
    m, qdd, _, x = moved("zhao-gu", of)
    q, qd, _ = state(m)
    P = len(m.model.moving)
    near(x.J_bar.T @ x.Q_bar, np.zeros((m.nv, x.Q_bar.shape[1])))  # (6.3)
    near(np.concatenate([*x.J_T, *x.J_R]), x.J_bar)
    near(np.concatenate([*x.F, *x.L]), x.Q_bar)
    near(x.M_bar @ x.J_bar @ qdd + x.q_c, x.q_e + x.Q_bar @ x.g)  # (5.8)
    near(x.N @ x.g + x.q_hat, x.K_hat)  # (6.5)
    near((x.J_bar.T @ x.M_bar @ x.J_bar) @ qdd + x.K, x.q)  # (6.4)
    assert x.Q_bar.shape[1] + m.nv == 6 * P  # (5.9)
    twists, rates = m.twists(q, qd), m.twist_rates(q, qd, qdd)
    for i, name in enumerate(m.model.names[1:], start=1):
        R = poses(m.model, q)[i].R
        near(R @ (x.J_R[i - 1] @ qd), twists[name][:3])
        near(R @ (x.J_R[i - 1] @ qdd + x.K_R[i - 1] @ x.Y_dot2), rates[name][:3])


def test_friction_matrices_of_zhao_and_gu_act_along_the_rates():
    m = mechanism("cylindrical-arm")
    q, qd, _ = state(m)
    x = kp.formulation("zhao-gu").arrays(m, q, qd)
    assert x.F_f.shape == (2, 3, 4)
    Q_f = np.concatenate([*x.F_f, *x.L_f])
    radii = np.array([surface.numbers["radius"] for surface in m.model.surfaces])
    near(np.abs(x.J_bar.T @ Q_f).max(axis=1), np.ravel(np.column_stack([radii, np.ones(2)])))


@pytest.mark.parametrize("of", ["three-cylinders", "planar-3r"])
def test_cylinders(of):
    m, _qdd, tau, x = moved("lagrange/cylinders", of)
    q, qd, _ = state(m)
    near(x.M1.sum(axis=0), m.mass_matrix(q))
    near(x.f.sum(axis=0), m.gravity_forces(q))
    near(x.tau.sum(axis=0), tau)
    near(x.M2, np.einsum("k,iklm->ilm", qd, x.dM1) - 0.5 * np.einsum("m,ilmn->iln", qd, x.dM1))
    energy = m.energy(q, qd)
    near(x.E_k.sum(), energy.kinetic)
    near(x.E_p.sum(), energy.potential)
    near(x.dX, np.cross(x.e_l[None], x.r.transpose(1, 0, 2)).transpose(0, 2, 1))


@pytest.mark.parametrize("of", [*TREES, "four-bar", "stewart"])
def test_popov(of):
    _, qdd, tau, x = moved("popov", of)
    along = x.G.T @ x.lam if "G" in x else 0.0
    near(x.H @ qdd + x.h, tau + along)
    near(x.P, tau)
    near(x.epsilon, x.alpha @ qdd + x.alpha0)
    near(x.w, x.beta @ qdd + x.beta0)


@pytest.mark.parametrize("of", TREES)
def test_other_formulations_of_trees(of):
    m, qdd, tau, x = moved("lagrange", of)
    q, qd, _ = state(m)
    near(x.H @ qdd + x.h, tau)
    near([x.E_k, x.E_p], [m.energy(q, qd).kinetic, m.energy(q, qd).potential])
    near(x.epsilon_ij @ (np.eye(len(x.e)) - x.e), np.eye(len(x.e)))
    _, _, _, x = moved("appell", of)
    near(x.H @ qdd + x.h, tau)
    _, _, _, x = moved("kane", of)
    near(x.F + x.F_star, np.zeros(m.nv))
    _, _, _, x = moved("roberson-wittenburg", of)
    near(x.A @ qdd, x.B)
    near(x.T @ x.S, np.eye(len(x.S)))
    assert (x.a_i == [m.model.parent[i] for i in m.model.moving]).all()
    _, _, _, x = moved("newton-euler", of)
    near(x.tau, tau)


def test_sigma_says_which_rates_slide():
    x = kp.formulation("lagrange").arrays(mechanism("stanford-arm"), np.zeros(6), np.zeros(6))
    assert x.sigma.tolist() == [0, 0, 1, 0, 0, 0]
    x = kp.formulation("lagrange").arrays(mechanism("cylindrical-arm"), np.zeros(4), np.zeros(4))
    assert x.sigma.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("of", ["stanford-arm", "planar-3r", "four-bar", "slider-crank"])
def test_uicker(of):
    m, qdd, tau, x = moved("uicker", of)
    qd = state(m)[1]
    along = x.A.T @ x.lam if "A" in x else 0.0
    near(x.D_ij @ qdd + np.einsum("ijk,j,k->i", x.D_ijk, qd, qd) + x.D_i, tau + along)


@pytest.mark.parametrize("solver", ["rosenberg", "rosenberg-extended", "maggi", "partition"])
@pytest.mark.parametrize("of", ["space-robot", "omni-robot", "four-bar", "diff-drive", "omni-robot-system"])
def test_zhao_2023(of, solver):
    m = kp.example(of).reference
    q = m.start() if isinstance(m, kp.Mechanism) else np.zeros(m.nq)
    qd = m.velocities(q, guess=np.linspace(0.1, 0.6, m.nv))
    tau = np.linspace(-0.2, 0.3, m.nv)
    x = kp.solver(solver).arrays(m, q, qd, tau)
    near(x.A_1 @ x.K, x.A_2)  # (10)
    near(x.A @ x.delta, np.zeros((len(x.A), x.delta.shape[1])))  # (6)
    near(x.X, x.delta.T @ x.M @ x.delta)
    qdd = m.forward_dynamics(q, qd, tau)
    near(x.E @ qdd, x.E_F)  # (16)
    if solver == "rosenberg":
        return
    near(x.q_ddot, qdd)
    near(x.M @ qdd, x.F + x.F_c)  # (19)
    near(x.F_c, x.A.T @ x.lam)
    dependent = [m.v_names.index(name) for name in x.symbol("K").rows.names]
    independent = [m.v_names.index(name) for name in x.symbol("K").columns.names]
    near((x.M @ qdd)[dependent], x.Z)  # (35)
    near((x.M @ qdd)[independent], x.K.T @ x.Z - x.K.T @ x.F_1 + x.F_2)


def test_dependent_rates_are_those_chosen():
    m = kp.example("omni-robot-system").reference
    names = m.v_names[3:]
    x = kp.solver("rosenberg-extended").arrays(m, np.zeros(6), np.zeros(6), dependent=names)
    assert x.symbol("K").rows.names == tuple(names)
    near(x.q_ddot, m.forward_dynamics(np.zeros(6), np.zeros(6)))


@pytest.mark.parametrize("solver", ["multipliers", "udwadia-kalaba", "screw", "zhao-gu"])
def test_other_solvers(solver):
    m = mechanism("four-bar")
    q, qd, tau = state(m)
    x = kp.solver(solver).arrays(m, q, qd, tau, passive=False)
    near(x.q_ddot, m.forward_dynamics(q, qd, tau, passive=False))


@pytest.mark.parametrize("name", ROWS)
def test_every_record_prints(name):
    m = mechanism("double-pendulum")
    if name == "lagrange/euler":
        b = kp.Builder("balls")
        b.link("one", mass=1.0, com=(0, 0, -0.3), inertia=(0.01, 0.02, 0.03))
        b.joint("ball", "spherical", "ground", "one")
        m = kp.build(b).reference
        q, qd = np.array([np.sin(0.3), 0.0, 0.0, np.cos(0.3)]), np.ones(3)
    else:
        q, qd = np.array([0.4, 0.3]), np.array([1.0, -0.5])
    x = kp.formulation(name).arrays(m, q, qd, qd)
    lines = x.table().splitlines()
    assert lines[0].split() == ["symbol", "equation", "shape", "meaning"]
    assert len(lines) == len(x) + 1
    assert all(symbol in x.latex(symbol) or x.symbol(symbol).latex in x.latex(symbol) for symbol in x)
    assert str(x).startswith(f"{m.name}: {name}\n")
    with pytest.raises(ValueError, match="read-only"):
        next(iter(x.values()))[...] = 0.0
    with pytest.raises(AttributeError, match="cannot be changed"):
        x.tau = np.zeros(2)


def test_a_record_travels_between_processes():
    x = kp.formulation("denoc").arrays(mechanism("planar-3r"), [0.1, 0.2, 0.3], [1, 2, 3])
    other = pickle.loads(pickle.dumps(x))
    assert other.table() == x.table()
    assert all(np.array_equal(other[key], x[key]) for key in x)
    assert np.array_equal(other.block("N_l", 2, 1), x.block("N_l", 2, 1))
