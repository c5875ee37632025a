"""Printed equations under constraints are those of the mechanism: every solver, letters or numbers, any form."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.errors import InputError

CLOSED = ("space-robot", "four-bar", "four-bar-3d", "slider-crank", "five-bar", "omni-robot", "rolling-disk")
SOLVERS = ("rosenberg-extended", "rosenberg", "multipliers", "udwadia-kalaba")
TOLERANCE = 1e-10  # closed loops lose some digits beside a solve


def state(m: kp.Mechanism, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, q = np.random.default_rng(seed), m.start()
    return q, m.velocities(q, guess=rng.normal(size=m.nv)), rng.normal(size=m.nv)


def agree(m: kp.Mechanism, printed: kp.ConstrainedEquations, seed: int) -> None:
    q, qd, tau = state(m, seed)
    found, qdd = printed.evaluate(q, qd, tau), m.forward_dynamics(q, qd, tau)
    assert found["A"] @ qdd == pytest.approx(found["b"], rel=TOLERANCE, abs=TOLERANCE)
    if printed.solver == "rosenberg":
        right = found["f"] if "f" in found else found["Z"].T @ found["F"]
        size = np.abs(found["E"]).max() * max(1.0, np.abs(qdd).max())
        assert np.abs(found["E"] @ qdd - right).max() <= TOLERANCE * size
    else:
        assert np.abs(found["qdd"] - qdd).max() <= TOLERANCE * max(1.0, np.abs(qdd).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
@pytest.mark.parametrize("name", CLOSED)
def test_bundled_mechanisms(name, parameters, solver):
    m = kp.example(name).reference
    agree(m, kp.equations(m, parameters, solver=solver), 3)


@pytest.mark.parametrize("form", ["closed", "terms"])
def test_both_forms_of_a_loop(form):
    m = kp.example("slider-crank").reference
    printed = kp.equations(m, solver="rosenberg-extended", form=form)
    assert printed.form == form
    agree(m, printed, 4)


def test_rows_that_others_imply_are_left_out_and_named():
    printed = kp.equations(kp.example("four-bar-3d").reference, solver="multipliers")
    assert len(printed.row_names) == 2
    assert "Left out, since the others imply them" in str(printed)


def test_springs_and_dampers_are_in_the_forces():
    m = kp.build(
        kp.Builder("sprung", gravity=[0, 0, 0])
        .link("cart", mass=1.0)
        .link("other", mass=2.0)
        .joint("x", "prismatic", "ground", "cart", axis="x", stiffness=3.0, damping=0.5)
        .joint("y", "prismatic", "ground", "other", axis="x", friction=0.2)
        .gear("gear", "y", "x", 2.0)
    ).reference
    printed = kp.equations(m, solver="rosenberg-extended")
    found = printed.evaluate([0.3, 0.6], [1.0, 2.0], [0.1, 0.2])
    assert found["qdd"] == pytest.approx(m.forward_dynamics([0.3, 0.6], [1.0, 2.0], [0.1, 0.2]), rel=1e-12)


def test_a_system_that_depends_on_time():
    driven = kp.System(
        ["x", "y"],
        lambda q, qd, t, p: 0.5 * p.m * (qd[0] ** 2 + qd[1] ** 2),
        lambda q, qd, t, p: [0.0, -p.m * p.g],
        [{"name": "lift", "phi": lambda q, t, p: q[1] - p.a * np.sin(t) - q[0] ** 2}],
        parameters={"m": 2.0, "g": 9.81, "a": 0.3},
    ).reference
    printed = kp.equations(driven)
    assert printed.form == "closed"
    q, qd = [0.4, 0.3 * np.sin(0.7) + 0.16], [0.5, 0.3 * np.cos(0.7) + 0.4]
    found = printed.evaluate(q, qd, time=0.7)["qdd"]
    assert found == pytest.approx(driven.forward_dynamics(q, qd, time=0.7), rel=1e-12)


def test_a_singular_mass_is_embedded_and_not_inverted():
    M, F = np.array([[1.0, 0, 0], [0, 2, 2], [0, 2, 2]]), lambda q, qd, t: [-3 * q[0], 0.5, 1.7]
    split = kp.System(
        ["x", "s", "y"], M=lambda q, t: M, F=F, constraints=[{"A": lambda q, t: [[-1.0, 1.0, 0.0]]}]
    )
    found = kp.equations(split.reference, solver="rosenberg-extended").evaluate([0.2, 0.2, -0.3], [0, 0, 0])
    assert found["qdd"] == pytest.approx((-1.8, -1.8, 2.65), rel=1e-12)
    with pytest.raises(InputError, match="the mass matrix is singular"):
        kp.equations(split.reference, solver="udwadia-kalaba")


def test_what_cannot_be_is_refused_by_name():
    m = kp.example("space-robot").reference
    with pytest.raises(InputError, match="solver='maggy' has no printed form"):
        kp.equations(m, solver="maggy")
    with pytest.raises(InputError, match="no coordinate 'tetha' to be dependent; did you mean 'theta'"):
        kp.equations(m, solver="rosenberg", dependent=("tetha",))
    with pytest.raises(InputError, match="1 rows make 1 coordinates dependent"):
        kp.equations(m, solver="rosenberg", dependent=("theta", "psi1"))
    with pytest.raises(InputError, match="parameter 'q1' is what the printed equations call"):
        kp.equations(kp.System(["x"], lambda q, qd, t, p: p.q1 * qd[0] ** 2, parameters={"q1": 1.0}))
    with pytest.raises(InputError, match="parameter 'm' is 'heavy'; give a finite number"):
        kp.System(["x"], lambda q, qd, t, p: p.m * qd[0] ** 2, parameters={"m": "heavy"})
