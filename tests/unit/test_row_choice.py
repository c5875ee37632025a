"""Rows chosen for a state: chosen anew where they depend on each other, forgotten where a call was refused."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints.solvers import EVERY_SOLVER, rank_revealing
from kinpair.description import constraint_parts as c
from kinpair.errors import InputError, SingularError

CLOSED = np.array([0.3, 2.0, 2.0])
STILL, IDLE = np.zeros(3), np.zeros(7)
AGREES = 1e-10


def parallelogram() -> kp.Mechanism:
    rod = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    builder = kp.Builder("parallelogram", gravity=(0, -9.81, 0)).link("crank", com=[0.5, 0, 0], **rod)
    builder = builder.link("coupler", com=[1, 0, 0], **rod).link("rocker", com=[0.5, 0, 0], **rod)
    builder = builder.joint("a", "revolute", "ground", "crank", axis="z")
    builder = builder.joint("b", "revolute", "crank", "coupler", axis="z", xyz=[1, 0, 0])
    builder = builder.joint("c", "revolute", "ground", "rocker", axis="z", xyz=[2, 0, 0])
    return kp.build(builder.loop("d", "revolute", "coupler", "rocker", xyz=[2, 0, 0], child_xyz=[1, 0, 0]))


def slides(*constraints: c.ConstraintPart) -> kp.Mechanism:
    b = kp.Builder("slides", gravity=[0, 0, 0])
    for name in ("x", "y"):
        b.link(name, mass=1, inertia=[1, 1, 1]).joint(name, "prismatic", "ground", name, axis=name)
    return kp.build(b).with_constraints(*constraints)


def heading(m: kp.Mechanism, angle: float) -> np.ndarray:
    q = m.start()
    q[m.q_names.index("base.angle")] = angle
    return q


def by_all_rows(m: kp.Mechanism, q, qd, tau) -> np.ndarray:
    return rank_revealing.solve(*m.closure.terms((q, qd, tau), 0.0, {}, {})).qdd


# What a call leaves behind.


@pytest.mark.parametrize("compiled", [True, False])
def test_a_refused_call_leaves_nothing_behind(compiled):
    fresh, refused = (kp.example("four-bar") if compiled else kp.example("four-bar").reference for _ in "ab")
    with pytest.raises(InputError, match="stays open"):
        refused.forward_dynamics(STILL, STILL, STILL)
    q = fresh.assemble(CLOSED, fixed=["crank"])
    for one, other in zip(
        fresh.forward_dynamics_derivatives(q, STILL, STILL),
        refused.forward_dynamics_derivatives(q, STILL, STILL),
        strict=True,
    ):
        assert np.array_equal(one, other)
    assert refused.reduced_equations(q, STILL, STILL)[0].shape == (1, 3)
    assert refused.kernel("forward_dynamics")(q, STILL, STILL, np.zeros(1))[2] == 1.0


# Redundancy that moves from row to row.


@pytest.mark.parametrize("aside", [0.0, 1e-6, 2.27e-5, 1e-3, 2e-2])
@pytest.mark.parametrize("solver", EVERY_SOLVER)
def test_rows_are_chosen_anew_where_those_chosen_before_depend_on_each_other(solver, aside):
    """A cart straight ahead needs the slip across of one wheel, turned by 90° the slip along."""
    m, rng = kp.example("diff-drive"), np.random.default_rng(5)
    m.forward_dynamics(heading(m, 0.0), IDLE, IDLE, solver=solver)
    q = heading(m, np.pi / 2 - aside)
    qd, tau = m.velocities(q, guess=rng.uniform(-1, 1, 7)), rng.uniform(-1, 1, 7)
    expected = by_all_rows(m, q, qd, tau)
    for _ in range(2):  # when found, and when remembered
        result = m.forward_dynamics(q, qd, tau, solver=solver)
        assert np.abs(result - expected).max() < AGREES * np.abs(expected).max()


def test_a_batch_takes_the_rows_that_each_state_needs():
    m, rng = kp.example("diff-drive"), np.random.default_rng(6)
    q = np.array([heading(m, x) for x in (0.0, np.pi / 2, 0.3, np.pi / 2 + 1e-5, np.nan)])
    tau = rng.uniform(-1, 1, (5, 7))
    result, slopes = m.forward_dynamics(q, IDLE, tau), m.forward_dynamics_derivatives(q, IDLE, tau)
    assert np.isnan(result[-1]).all()
    assert np.isnan(slopes.tau[-1]).all()
    for k in range(4):
        expected = by_all_rows(m, q[k], IDLE, tau[k])
        assert np.abs(result[k] - expected).max() < AGREES * np.abs(expected).max()
        alone = kp.example("diff-drive").forward_dynamics_derivatives(q[k], IDLE, tau[k])
        assert slopes.tau[k] == pytest.approx(alone.tau, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("compiled", [True, False])
def test_derivatives_by_rows_chosen_anew_are_differences(compiled):
    m = kp.example("diff-drive") if compiled else kp.example("diff-drive").reference
    m.forward_dynamics(heading(m, 0.0), IDLE, IDLE)
    q, tau = heading(m, np.pi / 2), np.ones(7)
    result = m.forward_dynamics_derivatives(q, IDLE, tau).tau
    for k, unit in enumerate(np.eye(7)):  # q̈ is linear in τ
        change = m.forward_dynamics(q, IDLE, tau + unit) - m.forward_dynamics(q, IDLE, tau)
        assert result[:, k] == pytest.approx(change, abs=1e-10 * np.abs(result).max())


def test_a_massless_link_that_is_held_has_derivatives():
    parts = (
        kp.Builder("rails")
        .link("a", mass=1.0)
        .link("b")
        .joint("x", "prismatic", "ground", "a", axis="x")
        .joint("y", "prismatic", "ground", "b", axis="x")
        .gear("gear", "y", "x", 2.0)
    )
    m = kp.build(parts)
    assert m.warnings == ()  # the gear holds it
    for way in (m, m.reference):
        result = way.forward_dynamics_derivatives([0, 0], [0, 0], [1, 1])
        assert result.tau == pytest.approx(np.array([[1, 2], [2, 4]]))  # (τ₁ + 2 τ₂) / 1 kg, and twice that


# Singular positions, contradictions, open loops.

QUESTIONS = {
    "derivatives": lambda m, *state: m.forward_dynamics_derivatives(*state),
    "reduced equations": lambda m, *state: m.reduced_equations(*state),
}


@pytest.mark.parametrize("what", QUESTIONS)
def test_a_singular_position_is_refused_in_words(what):
    m = parallelogram()
    assert np.isfinite(m.forward_dynamics(STILL, STILL, STILL)).all()
    with pytest.raises(SingularError) as refused:
        QUESTIONS[what](m, STILL, STILL, STILL)
    assert str(refused.value) == (
        f"parallelogram: no {what} in a singular position: the rank of the rows of 'd' is lower than close by; "
        "move it a little"
    )


@pytest.mark.parametrize("what", QUESTIONS)
def test_contradicting_rows_are_named(what):
    m = slides(c.Drive("one", "x", "t**2"), c.Drive("two", "x", "2*t**2"))
    with pytest.raises(SingularError, match="no acceleration obeys one, two together"):
        QUESTIONS[what](m, np.zeros(2), np.zeros(2), np.zeros(2))


@pytest.mark.parametrize("what", QUESTIONS)
def test_open_loops_are_named(what):
    with pytest.raises(InputError, match=r"'pin' stays open by 0\.33"):
        QUESTIONS[what](kp.example("four-bar"), STILL, STILL, STILL)


def test_reduced_equations_of_a_batch_are_those_of_its_states():
    m = kp.example("diff-drive")
    q = np.array([heading(m, x) for x in (0.0, np.pi / 2, 0.7)])
    E, f = m.reduced_equations(q, IDLE, np.ones(7))
    for k in range(3):
        assert E[k] @ m.forward_dynamics(q[k], IDLE, np.ones(7)) == pytest.approx(f[k], abs=1e-9)


# Rates that cannot be.


def test_drives_at_different_speeds_that_meet_are_named():
    m = slides(c.Drive("one", "x", "0.1*t"), c.Drive("two", "x", "0.2*t"))
    message = (
        "slides: the constraints contradict each other: no rates obey one, two together with the others; leave one of "
        "them out, or make them agree"
    )
    zero = np.zeros(2)
    for request in (
        lambda: m.forward_dynamics(zero, zero, zero),
        lambda: m.forward_dynamics_derivatives(zero, zero, zero),
        lambda: kp.simulate(m, zero, zero, duration=1.0),
    ):
        with pytest.raises(SingularError) as refused:
            request()
        assert str(refused.value) == message
    assert m.mobility(zero).contradicting == ("one", "two")
    assert "no rates obey these rows together: one, two" in str(m.mobility(zero))


def test_rows_that_are_not_linear_in_the_rates_are_not_judged_by_them():
    m = slides(c.Custom("speed", psi=lambda q, qd, t: qd[0] ** 2 - 1.0))
    assert m.mobility([0.0, 0.0]).contradicting == ()
    assert m.forward_dynamics([0.0, 0.0], [1.0, 0.0], [3.0, 2.0]) == pytest.approx([0.0, 2.0])


# Voronets and Chaplygin: conditions of the mechanism, not of a state.


@pytest.mark.parametrize("solver", ["voronets", "chaplygin"])
def test_conditions_are_those_of_the_mechanism_not_of_the_state(solver):
    """At the start the fork is straight, where what Chaplygin eliminates is singular."""
    m = kp.example("diff-drive")
    for angle in (0.0, np.pi / 2):
        q, tau = heading(m, angle), np.ones(7)
        expected = by_all_rows(m, q, IDLE, tau)
        result = m.forward_dynamics(q, IDLE, tau, solver=solver)
        assert np.abs(result - expected).max() < AGREES * np.abs(expected).max()


def test_voronets_passes_a_flat_parallelogram():
    m = parallelogram()
    expected = m.forward_dynamics(STILL, STILL, np.ones(3))
    assert m.forward_dynamics(STILL, STILL, np.ones(3), solver="voronets") == pytest.approx(expected)


def test_a_row_without_numbers_stays_in_its_row():
    m = kp.example("four-bar")
    q = np.array([m.assemble(CLOSED), np.full(3, np.nan)])
    for solver in EVERY_SOLVER:
        if solver != "chaplygin":
            result = m.forward_dynamics(q[::-1], STILL, STILL, solver=solver)
            assert np.isnan(result[0]).all()
            assert result[1] == pytest.approx(m.forward_dynamics(q[0], STILL, STILL))


def test_solvers_are_those_that_apply():
    def energetic(name: str) -> list[str]:
        return [x for x in kp.example(name).solvers if x in ("voronets", "chaplygin")]

    assert energetic("four-bar") == ["voronets"]
    assert energetic("omni-robot") == energetic("diff-drive") == ["voronets", "chaplygin"]
    assert energetic("rolling-disk") == energetic("stewart") == []
    assert slides(c.Drive("one", "x", "t")).solvers == (*EVERY_SOLVER[:5], "screw", "zhao-gu")
    assert kp.example("double-pendulum").solvers == EVERY_SOLVER


def folded() -> kp.Mechanism:
    """A slider-crank with crank and rod of one length: folded, the row along its path has no entries."""
    builder = kp.Builder("folded", gravity=(0.0, -9.81, 0.0))
    for link in ("crank", "rod", "slide"):
        builder.link(link, mass=1.0, com=[0.05, 0, 0], inertia=[0.001, 0.001, 0.001])
    builder.joint("crank", "revolute", "ground", "crank")
    builder.joint("rod", "revolute", "crank", "rod", xyz=[0.1, 0, 0])
    builder.joint("slide", "prismatic", "ground", "slide", axis="x")
    builder.loop("pin", "spherical", "slide", "rod", child_xyz=[0.1, 0, 0])
    return kp.build(builder.description())


@pytest.mark.parametrize("solver", EVERY_SOLVER)
def test_a_row_that_fades_to_rounding_is_none(solver):
    m, q, qd, tau = folded(), np.array([np.pi / 2, np.pi, 0.0]), np.zeros(3), np.array([0.1, 0.2, 0.3])
    if solver not in m.solvers:
        with pytest.raises(InputError):
            m.forward_dynamics(q, qd, tau, solver=solver)
        return
    expected = by_all_rows(m, q, qd, tau)
    assert (
        np.abs(m.forward_dynamics(q, qd, tau, solver=solver) - expected).max() < 1e-9 * np.abs(expected).max()
    )


@pytest.mark.parametrize("aside", [1e-2, 1e-4, 1e-6])
def test_solvers_agree_beside_a_position_where_a_row_fades(aside):
    m = parallelogram()
    q, qd, tau = np.array([aside, -aside, aside]), np.array([1.0, -1.0, 1.0]), np.array([0.3, 0.1, 0.2])
    results = {s: m.forward_dynamics(m.assemble(q), qd, tau, solver=s) for s in m.solvers}
    one = results["multipliers"]
    worst = max(np.abs(x - one).max() for x in results.values())
    assert worst < 1e-9 * max(1.0, np.abs(one).max())
