"""Lagrange and Uicker against Newton–Euler, DeNOC and derivatives of their own mass matrix.

Relative error: max|Δ| / max(1, max|reference|) ≤ 1e-9; what solves with H is allowed 100·eps·cond(H) where that
is larger. All three C are different roads to C q̇; those of Lagrange and Uicker are both Christoffel's.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations import kinematics, lagrange, uicker
from opaque import hide, reveal
from robots import urdf

TOLERANCE = 1e-9
EPS = np.finfo(float).eps
STEP = 1e-200  # of the complex step
BY_COORDINATES = ("revolute", "prismatic", "helical", "cylindrical", "universal", "planar")
WHOLE = [
    *zoo.random_trees(seed=21, sizes=(1, 3, 7, 20)),
    *zoo.random_trees(seed=22, sizes=(1, 5, 12), floating=True),
]
OF_COORDINATES = [
    *zoo.random_trees(seed=23, sizes=(1, 3, 6), kinds=BY_COORDINATES),
    zoo.tree(24, 8, kinds=zoo.ONE_DEGREE, reach=1),
    *(zoo.tree(25 + k, 3, kinds=("revolute", kind)) for k, kind in enumerate(BY_COORDINATES[3:])),
]
EVERY = [*((m, "lagrange") for m in (*WHOLE, *OF_COORDINATES)), *((m, "uicker") for m in OF_COORDINATES)]
BOTH = [(m, way) for m in OF_COORDINATES for way in ("lagrange", "uicker")]
ROBOTS = {
    "ur5_robot": ("lagrange", "uicker"),
    "xarm7": ("lagrange", "uicker"),
    "solo12": ("lagrange", "uicker"),
}
WAYS = {"lagrange": lagrange, "uicker": uicker}


def of(cases):
    return pytest.mark.parametrize(("m", "method"), cases, ids=[f"{m.name}, {way}" for m, way in cases])


def robot(name: str, base: str = "fixed") -> kp.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf(name), base=base, constraints=False)


def check_dynamics(m: kp.Mechanism, method: str) -> None:
    """H, h, gravity, inverse and forward dynamics with a wrench on a link."""
    s = zoo.motion(m, seed=len(m.name))
    external = {m.frames[-1]: np.array([0.3, -1.0, 2.0, 5.0, -4.0, 1.0])}
    how = {"method": method, "external": external}
    tau = m.inverse_dynamics(s.q, s.qd, s.qdd, external=external)
    H = m.mass_matrix(s.q)
    assert zoo.relative_error(m.inverse_dynamics(s.q, s.qd, s.qdd, **how), tau) <= TOLERANCE
    assert zoo.relative_error(m.mass_matrix(s.q, method=method), H) <= TOLERANCE
    h = m.bias_forces(s.q, s.qd, method=method)
    assert zoo.relative_error(h, m.bias_forces(s.q, s.qd)) <= TOLERANCE
    assert zoo.relative_error(m.gravity_forces(s.q, method=method), m.gravity_forces(s.q)) <= TOLERANCE
    result = m.forward_dynamics(s.q, s.qd, tau, **how)
    assert zoo.relative_error(result, s.qdd) <= max(TOLERANCE, 100 * EPS * np.linalg.cond(H))


def test_every_kind_of_pair_takes_part():
    kinds = {body.pair.kind for m in WHOLE for body in m.model.body[1:]}
    assert kinds == set(zoo.KINDS) - {"fixed"}
    assert {body.pair.kind for m in OF_COORDINATES for body in m.model.body[1:]} == set(BY_COORDINATES)


@of(EVERY)
def test_dynamics_of_random_trees(m, method):
    check_dynamics(m, method)


@pytest.mark.parametrize(("name", "method"), [(name, way) for name, ways in ROBOTS.items() for way in ways])
def test_dynamics_of_robots(name, method):
    check_dynamics(robot(name).reference, method)


@pytest.mark.parametrize("name", ["xarm7", "solo12", "talos_reduced"])
def test_dynamics_of_floating_robots(name):
    check_dynamics(robot(name, "free").reference, "lagrange")


@pytest.mark.parametrize("name", ["solo12", "talos_reduced"])
def test_long_work_is_done_on_demand(name):
    """Christoffel's matrix and Uicker's equations beyond their limit of degrees of freedom."""
    m = robot(name).reference
    s = zoo.motion(m, 4)
    expected = m.coriolis_matrix(s.q, s.qd) @ s.qd
    assert (
        zoo.relative_error(m.coriolis_matrix(s.q, s.qd, method="lagrange", force=True) @ s.qd, expected)
        <= TOLERANCE
    )
    tau = m.inverse_dynamics(s.q, s.qd, s.qdd, method="uicker", force=True)
    assert zoo.relative_error(tau, m.inverse_dynamics(s.q, s.qd, s.qdd)) <= TOLERANCE


@of(BOTH)
def test_convective_matrix_gives_the_forces_of_the_rates(m, method):
    s = zoo.motion(m, 1)
    C = m.coriolis_matrix(s.q, s.qd, method=method, force=True)
    assert zoo.relative_error(C @ s.qd, m.coriolis_matrix(s.q, s.qd) @ s.qd) <= TOLERANCE


def slopes(m: kp.Mechanism, way, q: np.ndarray) -> np.ndarray:
    """∂H/∂q_k of a formulation's own H, by complex steps (nv, nv, nv)."""
    return np.array([np.imag(way.mass_matrix(m.model, q + 1j * STEP * unit)) / STEP for unit in np.eye(m.nv)])


@of(BOTH)
def test_convective_matrix_is_that_of_christoffel(m, method):
    """C_kl = ½ Σ_m (∂H_kl/∂q_m + ∂H_km/∂q_l − ∂H_lm/∂q_k) q̇_m, and so Ḣ − 2C is skew."""
    s = zoo.motion(m, 2)
    D = slopes(m, WAYS[method], s.q)
    C = m.coriolis_matrix(s.q, s.qd, method=method, force=True)
    Hd = np.einsum("mkl,m->kl", D, s.qd)
    half = np.einsum("lkm,m->kl", D, s.qd)
    assert zoo.relative_error(C, 0.5 * (Hd + half - half.T)) <= 1e-12
    skew = Hd - 2 * C
    assert np.abs(skew + skew.T).max() <= 1e-12 * max(1.0, np.abs(C).max())


def test_convective_matrices_of_christoffel_and_denoc_differ_in_space():
    """Same forces, other matrix: no check above compares a thing with itself."""
    m = OF_COORDINATES[3]
    s = zoo.motion(m, 2)
    by_denoc = m.coriolis_matrix(s.q, s.qd)
    assert zoo.relative_error(m.coriolis_matrix(s.q, s.qd, method="lagrange"), by_denoc) > 1e-3


@pytest.mark.parametrize("m", [*WHOLE, *OF_COORDINATES], ids=lambda m: m.name)
def test_energies_of_the_vectors_of_lagrange(m):
    s = zoo.motion(m, 5)
    T, V = lagrange.energies(m.model, s.q, s.qd)
    assert pytest.approx(kinematics.kinetic_energy(m.model, s.q, s.qd), rel=1e-12) == T
    assert pytest.approx(kinematics.potential_energy(m.model, s.q), rel=1e-12, abs=1e-12) == V


@pytest.mark.parametrize("m", WHOLE[:3] + WHOLE[4:6], ids=lambda m: m.name)
def test_rates_of_bodies_and_internal_euler_angles_give_the_same(m):
    """Boltzmann–Hamel with quaternions against Lagrange in the angles of `split()` (2.2.4)."""
    split, maps = m.split()
    s = zoo.motion(m, 6)
    x, xd, xdd = maps.to_split(s.q, s.qd, s.qdd)
    tau = maps.efforts_to_split(x, m.inverse_dynamics(s.q, s.qd, s.qdd, method="lagrange"))
    assert zoo.relative_error(split.inverse_dynamics(x, xd, xdd, method="lagrange"), tau) <= TOLERANCE


def sprung() -> kp.Mechanism:
    b = kp.Builder("sprung")
    for k, name in enumerate("abc"):
        b.link(name, mass=1.0 + k, com=(0.1, 0.2 * k, -0.1), inertia=(0.02, 0.03, 0.04, 0.001, 0.002, -0.001))
    b.joint("slide", "prismatic", "ground", "a", stiffness=30.0, rest=0.1, friction=2.0, damping=0.5)
    b.joint(
        "hinge",
        "revolute",
        "a",
        "b",
        axis=(1, 0, 0),
        damping=0.3,
        friction=0.2,
        rotor_inertia=1e-4,
        gear_ratio=50.0,
    )
    b.joint("screw", "helical", "b", "c", axis=(0, 1, 0), pitch=0.02, stiffness=1.5)
    return kp.build(b)


@pytest.mark.parametrize("method", WAYS)
def test_springs_dampers_friction_and_rotors_act_by_every_method(method):
    m = sprung().reference
    s = zoo.motion(m, 7)
    for passive in (True, False):
        tau = m.inverse_dynamics(s.q, s.qd, s.qdd, passive=passive)
        assert (
            zoo.relative_error(m.inverse_dynamics(s.q, s.qd, s.qdd, passive=passive, method=method), tau)
            <= TOLERANCE
        )
        assert (
            zoo.relative_error(m.forward_dynamics(s.q, s.qd, tau, passive=passive, method=method), s.qdd)
            <= TOLERANCE
        )
    assert zoo.relative_error(m.inverse_dynamics(s.q, s.qd, s.qdd), tau) > 1e-3


@of([case for case in BOTH if case[0].nv <= 12])
def test_batch_gives_what_single_states_give(m, method):
    s = zoo.motions(m, 3)
    C = m.coriolis_matrix(s.q, s.qd, method=method)
    tau = m.inverse_dynamics(s.q, s.qd, s.qdd, method=method)
    for k in range(3):
        assert zoo.relative_error(C[k], m.coriolis_matrix(s.q[k], s.qd[k], method=method)) <= 1e-13
        assert (
            zoo.relative_error(tau[k], m.inverse_dynamics(s.q[k], s.qd[k], s.qdd[k], method=method)) <= 1e-13
        )


COMPILED = [
    ("sprung", "lagrange"),
    ("sprung", "uicker"),
    ("floating-arm", "lagrange"),
    ("stanford-arm", "uicker"),
]


@pytest.mark.parametrize(("name", "method"), COMPILED)
def test_compiled_and_reference_agree(name, method):
    """One state and a batch; all quantities the two give."""
    m = sprung() if name == "sprung" else kp.example(name)
    s = zoo.motions(m, 5)
    H = m.reference.mass_matrix(s.q)
    bound = max(1e-12, 100 * EPS * np.linalg.cond(H).max())
    for q, qd, qdd in [(s.q, s.qd, s.qdd), (s.q[0], s.qd[0], s.qdd[0])]:
        for call in (
            lambda m, q=q, qd=qd, qdd=qdd: m.inverse_dynamics(q, qd, qdd, method=method),
            lambda m, q=q, qd=qd, qdd=qdd: m.forward_dynamics(q, qd, qdd, method=method),
            lambda m, q=q: m.mass_matrix(q, method=method),
        ):
            assert zoo.relative_error(call(m), call(m.reference)) <= bound
    if name != "floating-arm":
        C = m.coriolis_matrix(s.q, s.qd, method=method)
        assert zoo.relative_error(C, m.reference.coriolis_matrix(s.q, s.qd, method=method)) <= 1e-12


@pytest.mark.parametrize(
    ("m", "method"),
    [(WHOLE[2], "lagrange"), (OF_COORDINATES[2], "uicker")],
    ids=lambda x: getattr(x, "name", x),
)
def test_no_equation_looks_at_a_value(m, method):
    way, s = WAYS[method], zoo.motion(m, 8)
    w = kinematics.no_wrenches(m.model)
    for f, state in (
        (lambda *x: way.inverse_dynamics(m.model, *x, w), (s.q, s.qd, s.qdd)),
        (lambda *x: way.forward_dynamics(m.model, *x, w).qdd, (s.q, s.qd, s.qdd)),
        (lambda q: way.mass_matrix(m.model, q), (s.q,)),
    ):
        assert zoo.relative_error(reveal(f(*(hide(x) for x in state))), f(*state)) < 1e-11
