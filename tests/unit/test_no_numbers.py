"""States without numbers, rows without a value, batches without a state."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description import constraint_parts as c
from kinpair.errors import InputError, SingularError

STILL = np.zeros(3)


@pytest.fixture(scope="module")
def linkage() -> kp.Mechanism:
    return kp.example("four-bar")


@pytest.fixture(scope="module")
def disk() -> kp.Mechanism:
    b = kp.Builder("disk").link("d", mass=1, inertia=[1, 1, 2]).joint("f", "free", "ground", "d")
    return kp.build(b.rolling("r", "d", "disk", radius=0.1, axis="z"))


CALLS = {
    "forward_dynamics": lambda m, q, v: m.forward_dynamics(q, v, v),
    "forward_dynamics_derivatives": lambda m, q, v: m.forward_dynamics_derivatives(q, v, v),
    "reduced_equations": lambda m, q, v: m.reduced_equations(q, v, v),
    "inverse_dynamics": lambda m, q, v: m.inverse_dynamics(q, v, v),
    "reactions": lambda m, q, v: m.reactions(q, v, v),
    "constraint_forces": lambda m, q, v: m.constraint_forces(q, v, v),
    "velocities": lambda m, q, v: m.velocities(q),
    "accelerations": lambda m, q, v: m.accelerations(q, v),
    "mobility": lambda m, q, v: m.mobility(q),
}


@pytest.mark.parametrize("name", CALLS)
def test_coordinates_without_numbers_are_refused(linkage, name):
    with pytest.raises(InputError) as refused:
        CALLS[name](linkage, np.array([np.nan, 0.0, 0.0]), STILL)
    assert str(refused.value) == "four-bar: q holds NaN or infinity"


@pytest.mark.parametrize("name", CALLS)
def test_rows_without_a_value_are_named(disk, name):
    with pytest.raises(SingularError) as refused:
        CALLS[name](disk, disk.neutral(), np.zeros(6))
    assert str(refused.value).startswith(
        "disk: the rows r.height, r.slip x, r.slip y are not defined at this q "
    )


def test_rows_without_a_value_are_named_however_the_rows_were_chosen(disk):
    q = disk.assemble([0.0, 0.0, 0.1, np.sin(0.6), 0.0, 0.0, np.cos(0.6)])
    disk.forward_dynamics(q, np.zeros(6), np.zeros(6))
    with pytest.raises(SingularError, match=r"the rows r\.height, r\.slip x, r\.slip y are not defined"):
        disk.forward_dynamics(disk.neutral(), np.zeros(6), np.zeros(6))


@pytest.mark.parametrize("compiled", [True, False])
def test_one_row_without_numbers_spoils_no_other(linkage, compiled):
    m = linkage if compiled else linkage.reference
    q = m.assemble([0.3, 2.0, 2.0])
    rows, qd = np.array([q, np.full(3, np.nan), q]), m.velocities(q, {"crank": 1.0})
    qdd = m.accelerations(q, qd, {"crank": 0.5})
    result = m.inverse_dynamics(rows, qd, qdd)
    assert np.isnan(result[1]).all()
    assert result[[0, 2]] == pytest.approx(np.tile(m.inverse_dynamics(q, qd, qdd), (2, 1)))


def test_rates_without_numbers_give_efforts_without(linkage):
    q = linkage.assemble([0.3, 2.0, 2.0])
    for bad in np.diag(np.full(3, np.nan)) + np.where(np.eye(3), np.nan, 0.0):
        assert np.isnan(linkage.inverse_dynamics(q, bad, STILL)).all()
        assert np.isnan(linkage.inverse_dynamics(q, STILL, bad)).all()
        assert np.isnan(linkage.forward_dynamics(q, bad, STILL)).all()


@pytest.mark.parametrize("compiled", [True, False])
def test_a_batch_of_no_states_gives_no_results(linkage, compiled):
    m = kp.example("four-bar") if compiled else linkage.reference
    none = np.zeros((0, 3))
    assert m.forward_dynamics(none, none, none).shape == (0, 3)
    assert m.inverse_dynamics(none, none, none).shape == (0, 3)
    assert m.constraint_residual(none).shape == (0, 3)
    assert m.constraint_matrix(none).shape == (0, 3, 3)
    assert [x.shape for x in m.forward_dynamics_derivatives(none, none, none)] == [(0, 3, 3)] * 3
    assert [x.shape for x in m.reduced_equations(none, none, none)] == [(0, 1, 3), (0, 1)]


def slide(constraint: c.ConstraintPart) -> kp.Mechanism:
    b = kp.Builder("slide").link("a", mass=1.0).joint("x", "prismatic", "ground", "a", axis="x")
    return kp.build(b).with_constraints(constraint)


def test_a_drive_without_an_acceleration_is_named():
    m = slide(c.Drive("jump", "x", "sqrt(t)"))
    with pytest.raises(SingularError, match="the rows jump are not defined at this motion"):
        m.forward_dynamics([0.0], [0.0], [0.0])


def test_a_function_without_a_value_is_named():
    m = slide(c.Custom("void", phi=lambda q, t: q[0] * 0.0 + np.nan))
    with pytest.raises(SingularError, match="the rows void are not defined"):
        m.forward_dynamics([0.0], [0.0], [0.0])


@pytest.mark.parametrize("time", [None, np.nan, np.inf, "now"])
def test_time_is_a_number(linkage, time):
    for request in (linkage.assemble, linkage.velocities, linkage.mobility, linkage.constraint_residual):
        with pytest.raises(InputError) as refused:
            request(linkage.start(), time=time)
        assert str(refused.value) == f"time is {time!r}; give a number of seconds"


OPEN = {
    "reactions": lambda m, q: m.reactions(q, STILL, STILL),
    "accelerations": lambda m, q: m.accelerations(q, STILL),
}


@pytest.mark.parametrize("name", OPEN)
def test_open_coordinates_are_refused(linkage, name):
    with pytest.raises(InputError, match=r"'pin' stays open by 0\.33; assemble"):
        OPEN[name](linkage, STILL)


def test_the_mobility_of_an_open_position_says_so(linkage):
    result = linkage.mobility(STILL)
    assert result.open == "'pin' stays open by 0.33"
    assert str(result).endswith(
        "not closed: 'pin' stays open by 0.33; assemble(q) gives coordinates that are"
    )
    assert not linkage.mobility(linkage.start()).open


@pytest.mark.parametrize("solver", ["voronets", "chaplygin", "maggi"])
def test_open_coordinates_are_refused_before_an_order_is_chosen(solver):
    arm = kp.example("double-pendulum").with_constraints(
        c.Custom("tip", phi=lambda q, t: [q[0] - 1.0, q[1] + 1.0])
    )
    with pytest.raises(InputError, match="'tip' stays open by 1"):
        arm.forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0], solver=solver)
