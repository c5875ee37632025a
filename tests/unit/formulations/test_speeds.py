"""Motion in velocities of the user's choice, by Appell and by Kane."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.algebra.arrays import array
from kinpair.formulations import appell, kane, newton_euler
from kinpair.formulations.linear_forms import assembled
from kinpair.spatial.rotation import cross, from_quaternion, skew

ROADS = {"appell": appell.in_quasi_velocities, "kane": kane.in_generalised_speeds}
TREES = [zoo.tree(3, 12), zoo.tree(4, 12, floating=True)]
PAGES = Path(__file__).parents[3] / "docs" / "equations"


@pytest.fixture(params=ROADS)
def road(request):
    return ROADS[request.param]


def brick(d: list[float]) -> kp.Mechanism:
    parts = kp.Builder("brick").link("brick", mass=2.0, com=d, inertia=[0.4, 0.5, 0.3])
    return kp.build(parts.joint("floats", "free", "ground", "brick"))


def test_free_body_by_its_angular_velocity_in_world_axes(road):
    """Euler: I ω̇ + ω × I ω = n and m v̇ = m g + f, all in world axes; Q = (n, f)."""
    body, rng = brick([0, 0, 0]), np.random.default_rng(3)
    q, u, Q = rng.normal(size=7), rng.normal(size=6), rng.normal(size=6)
    RT = from_quaternion(q[3:]).T
    turning = -skew(RT @ u[:3]) @ RT
    equations = road(body.model, q, u, np.kron(np.eye(2), RT), np.kron(np.eye(2), turning))
    I = RT.T @ np.diag([0.4, 0.5, 0.3]) @ RT
    alpha = np.linalg.solve(I, Q[:3] - cross(u[:3], I @ u[:3]))
    expected = [*alpha, *(Q[3:] / 2.0 + (0, 0, -9.81))]
    assert equations.accelerations(Q) == pytest.approx(expected, rel=1e-12)


def test_momentum_as_velocities(road):
    """u = H q̇ of a free body about its mass centre: u̇ = τ + what the turning axes add, Kirchhoff's equations."""
    body, rng = brick([0, 0, 0]), np.random.default_rng(4)
    q, u = rng.normal(size=7), rng.normal(size=6)
    H = body.mass_matrix(q)
    W = np.linalg.inv(H)
    equations = road(body.model, q, u, W, np.zeros((6, 6)))
    omega = (W @ u)[:3]
    gravity = 2.0 * from_quaternion(q[3:]).T @ (0, 0, -9.81)
    expected = [*cross(u[:3], omega), *(cross(u[3:], omega) + gravity)]
    assert equations.accelerations(np.zeros(6)) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("turn", [0.0, -1.5])
def test_unicycle(road, turn):
    """m v̇ − m d Ω² = F and (I + m d²) Ω̇ + m d v Ω = N, mass centre d ahead of the axle."""
    m, d, I, v, angle = 3.0, 0.2, 0.5, 2.0, 0.7
    parts = kp.Builder("cart").link("cart", mass=m, com=[d, 0, 0], inertia=[I, I, I])
    cart = kp.build(parts.joint("rolls", "planar", "ground", "cart", axis="z"))
    c, s = np.cos(angle), np.sin(angle)
    W, Wd = np.array([[c, 0], [s, 0], [0, 1]]), turn * np.array([[-s, 0], [c, 0], [0, 0]])
    H, h = road(cart.model, np.array([4.0, 5.0, angle]), np.array([v, turn]), W, Wd)
    assert np.abs(H - np.diag([m, I + m * d**2])).max() < 1e-14
    assert h == pytest.approx((-m * d * turn**2, m * d * v * turn), abs=1e-14)


@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
@pytest.mark.parametrize("fewer", [0, 4])
def test_equations_are_those_of_the_rates_projected(road, mechanism, fewer):
    """Wᵀ(H W u̇ + H Ẇ u + h), W and Ẇ at random, wrenches applied."""
    model, s, rng = mechanism.model, zoo.motion(mechanism, seed=2), np.random.default_rng(5)
    nu = mechanism.nv - fewer
    W, Wd, u, ud = (rng.normal(size=n) for n in ((mechanism.nv, nu), (mechanism.nv, nu), nu, nu))
    w = [rng.normal(size=6) for _ in model.parent]
    H, h = road(model, s.q, u, W, Wd, w)
    tau = newton_euler.inverse_dynamics(model, s.q, W @ u, W @ ud + Wd @ u, w)
    assert zoo.relative_error(H @ ud + h, W.T @ tau) < 1e-12
    assert zoo.relative_error(H, W.T @ mechanism.mass_matrix(s.q) @ W) < 1e-12


@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
def test_partial_velocities_give_the_velocities(mechanism):
    """ω_i = Σ ω_ir u_r and v_i = Σ v_ir u_r, whatever the speeds."""
    model, s, rng = mechanism.model, zoo.motion(mechanism, seed=2), np.random.default_rng(5)
    W, u = rng.normal(size=(mechanism.nv, mechanism.nv)), rng.normal(size=mechanism.nv)
    placed = assembled(model, s.q)
    by_rates, by_speeds = kane.partial_velocities(model, placed), kane.partial_velocities_by(model, placed, W)
    for i in model.moving:
        (one,) = by_speeds[i]
        omega = sum(x.omega @ (W @ u)[x.at] for x in by_rates[i])
        v = sum(x.v @ (W @ u)[x.at] for x in by_rates[i])
        assert zoo.relative_error(one.omega @ u, omega) < 1e-13
        assert zoo.relative_error(one.v @ u, v) < 1e-13


def test_wrong_shapes_are_refused(road):
    body, q = brick([0, 0, 0]), np.array([0, 0, 0, 0, 0, 0, 1.0])
    with pytest.raises(kp.InputError, match=re.escape("brick: u has the shape (2, 1); give a vector (nu,)")):
        road(body.model, q, np.zeros((2, 1)), np.zeros((6, 2)), np.zeros((6, 2)))
    message = (
        "brick: W has the shape (2, 6); q̇ = W u needs (6, 2): a row for each of the 6 rates, "
        "a column for each of the 2 entries of u"
    )
    with pytest.raises(kp.InputError, match=re.escape(message)) as refused:
        road(body.model, q, np.zeros(2), np.zeros((2, 6)), np.zeros((6, 2)))
    assert refused.value.parts == {"W": (2, 6)}
    with pytest.raises(kp.InputError, match=re.escape("brick: Wd has the shape (6, 3); ")):
        road(body.model, q, np.zeros(2), np.zeros((6, 2)), np.zeros((6, 3)))


def test_speeds_that_are_not_independent_are_refused(road):
    body, q = brick([0.1, 0, 0]), np.array([0, 0, 0, 0, 0, 0, 1.0])
    W = np.random.default_rng(1).normal(size=(6, 3))
    W[:, 2] = W[:, 0] - 2 * W[:, 1]
    equations = road(body.model, q, np.ones(3), W, 0 * W)
    message = (
        "entry 2 of u moves no inertia that the entries before it do not move too; the columns of W must be "
        "independent, and every one must move a body with mass"
    )
    with pytest.raises(kp.SingularError, match=re.escape(message)) as refused:
        equations.accelerations(np.zeros(3))
    assert refused.value.parts == {"entry": 2}


def test_equations_compile(road):
    """W of the state inside the compiled function: the unicycle's accelerations."""
    parts = kp.Builder("cart").link("cart", mass=3.0, com=[0.2, 0, 0], inertia=[0.5, 0.5, 0.5])
    cart = kp.build(parts.joint("rolls", "planar", "ground", "cart", axis="z"))

    def accelerations(q, u):
        c, s = np.cos(q[2]), np.sin(q[2])
        W = array([[c, 0.0], [s, 0.0], [0.0, 1.0]])
        Wd = array([[-s * u[1], 0.0], [c * u[1], 0.0], [0.0, 0.0]])
        return road(cart.model, q, u, W, Wd).accelerations(np.zeros(2))

    q, u = np.array([4.0, 5.0, 0.7]), np.array([2.0, -1.5])
    expected = (0.2 * 1.5**2, 3.0 * 0.2 * 2.0 * 1.5 / (0.5 + 3.0 * 0.2**2))
    assert kp.compile(accelerations, q, u)(q, u) == pytest.approx(expected, rel=1e-13)
    assert accelerations(q, u) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("page", ["appell", "kane"])
def test_programs_of_the_pages_run(page, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (PAGES / f"{page}.md").read_text("utf-8"), re.DOTALL)
    for block in blocks:
        exec(compile(block, f"{page}.md", "exec"), {})
    assert capsys.readouterr().out.split() == ["True", "True"]
