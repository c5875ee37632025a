"""Overlaps beyond 1e-4 m: reduced by the least displacement, weighted by mass, only where energy falls."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinpair as kp

G, R, DEEP = 9.81, 0.1, 1e-4


def balls(places, masses, plane=None):
    """Balls of 0.1 m on a plane whose normal is z, or turned by `plane`."""
    b = kp.Builder("balls", gravity=[0, 0, -G])
    for k, (place, mass) in enumerate(zip(places, masses, strict=True)):
        b.link(f"ball {k}", mass=mass, inertia=[0.004 * mass] * 3)
        b.joint(f"ball {k}", "free", "ground", f"ball {k}", start=[*place, 0, 0, 0, 1])
        b.contact(f"shell {k}", f"ball {k}", sphere=R)
    b.contact("plane", "ground", plane=True, mu=0.5, **(plane or {}))
    return kp.build(b)


def run(m, duration=0.2, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.LimitWarning)  # geoms overlap at the start
        return kp.simulate(
            m, m.start(), np.zeros(m.nv), duration=duration, integrator="time-stepping", **options
        )


def test_two_balls_move_apart_by_the_inverse_of_their_masses_and_gain_no_speed():
    m = balls([(0, 0, R), (0.15, 0, R)], [1.0, 3.0])
    result = run(m)
    moved = result.q[-1, [0, 7]] - [0.0, 0.15]
    assert_allclose(moved, [-0.75 * (0.05 - DEEP), 0.25 * (0.05 - DEEP)], atol=1e-9)
    assert_allclose(result.q[:, [2, 9]], R, atol=1e-12)
    assert_allclose(result.qd, 0.0, atol=1e-12)
    assert result.contacts.depth[-1] == pytest.approx(DEEP, rel=1e-6)
    assert result.contacts.reduction[-1] == pytest.approx(0.05 - DEEP, rel=1e-6)
    assert result.contacts.separation_loss[-1] == pytest.approx(0.0, abs=1e-12)


def test_a_ball_that_its_weight_presses_into_the_floor_stays():
    """To lift it would need m g times its depth."""
    m = balls([(0, 0, R - 0.01)], [1.0])
    result = run(m)
    assert_allclose(result.q, np.broadcast_to(m.start(), result.q.shape), atol=1e-12)
    assert result.contacts.reduction[-1] == 0.0


def test_an_overlap_up_to_a_tenth_of_a_millimetre_stays():
    m = balls([(0, 0, R), (0.2 - 0.9 * DEEP, 0, R)], [1.0, 3.0])
    result = run(m)
    assert (result.q == result.q[0]).all()


@pytest.mark.parametrize("angle", [np.pi, 2.0])
def test_a_displacement_along_gravity_takes_its_energy_out_of_the_balance(angle):
    """A ball in a ceiling: what it falls by displacement is a loss, what it falls by itself is speed."""
    m = balls([(0, 0, 0)], [2.0], {"rpy": [angle, 0, 0]})
    result = run(m, duration=0.1, output=0.01)
    assert result.status.ok
    lost = result.contacts.separation_loss
    down = -np.cos(angle)  # of a displacement along the normal
    assert_allclose(lost[-1], 2.0 * G * down * result.contacts.reduction[-1], rtol=1e-6)
    E = result.energy.kinetic + result.energy.potential
    assert lost[-1] > 0.05
    assert_allclose(E[0] - E, lost, atol=1e-9)
    assert (np.diff(lost) >= 0.0).all()
    assert "Overlaps were reduced" in str(result)


def test_a_limit_is_not_passed_to_reduce_an_overlap():
    b = kp.Builder("two", gravity=[0, 0, 0])
    for name, limits in (("free", None), ("stopped", {"lower": -1.0, "upper": 0.16})):
        b.link(name, mass=1.0, inertia=[1, 1, 1])
        b.joint(
            name,
            "prismatic",
            "ground",
            name,
            axis="x",
            start=0.0 if limits is None else 0.15,
            **(limits or {}),
        )
        b.contact(name, name, sphere=R)
    result = run(kp.build(b), duration=0.3)
    assert_allclose(result.q[-1], [0.16 - 0.2 + DEEP, 0.16], atol=1e-8)


def test_derivatives_of_a_step_that_reduces_an_overlap_are_marked():
    m = balls([(0, 0, R), (0.15, 0, R)], [1.0, 3.0])
    s = kp.stepper(m, 1e-3, integrator="time-stepping")
    A, _, degenerate = s.derivatives()
    assert degenerate
    assert np.isfinite(A).all()
