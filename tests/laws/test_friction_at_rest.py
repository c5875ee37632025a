"""Forward and inverse dynamics of joints with dry friction at rest, and friction that never adds energy."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp


@cache
def two_masses() -> kp.Mechanism:
    """Two blocks side by side on a floor with a spring between them."""
    b = kp.Builder("two", gravity=[0, 0, 0])
    b.link("a", mass=2.0, inertia=[0.1, 0.1, 0.1]).link("b", mass=1.0, inertia=[0.1, 0.1, 0.1])
    b.joint(
        "x",
        "prismatic",
        "ground",
        "a",
        axis="x",
        friction={"law": "coulomb", "level": 3.0, "level_static": 5.0},
    )
    b.joint(
        "y", "prismatic", "ground", "b", axis="x",
        friction={
            "law": "stribeck", "level": 1.0, "level_static": 2.0, "stribeck_speed": 0.1, "exponent": 2, "viscous": 0.5,
        },
    )  # fmt: skip
    return kp.build(b.spring("s", "a", "b", child_xyz=[1, 0, 0], stiffness=100.0, rest_length=1.0))


@pytest.mark.parametrize(
    ("tau", "qdd", "sticks"),
    [
        ((4.0, 0.0), (0.0, 0.0), (True, True)),
        ((6.0, 0.0), (1.5, 0.0), (False, True)),
        ((-6.0, 3.0), (-1.5, 1.0), (False, False)),
        ((4.0, -2.5), (0.0, -0.5), (True, False)),
    ],
)
def test_joints_at_rest_hold_up_to_the_static_level_and_leave_by_that_of_sliding(tau, qdd, sticks):
    m, rest = two_masses(), np.zeros(2)
    assert m.forward_dynamics(rest, rest, np.array(tau)) == pytest.approx(qdd, abs=1e-12)
    assert m.reference.forward_dynamics(rest, rest, np.array(tau)) == pytest.approx(qdd, abs=1e-12)
    found = m.friction(rest, rest, tau)
    assert tuple(x.sticks for x in found.values()) == sticks
    efforts = np.array([x.effort for x in found.values()])
    assert efforts == pytest.approx(np.array([2.0, 1.0]) * qdd - tau, abs=1e-12)
    for x in found.values():
        assert abs(x.effort) <= x.level * (1 + 1e-12)


def test_a_batch_has_states_at_rest_beside_others():
    m, rng = two_masses(), np.random.default_rng(3)
    q, qd, tau = rng.uniform(-0.1, 0.1, (40, 2)), rng.uniform(-1, 1, (40, 2)), rng.uniform(-8, 8, (40, 2))
    qd[rng.uniform(size=qd.shape) < 0.4] = 0.0
    every = m.forward_dynamics(q, qd, tau)
    assert every == pytest.approx(np.array([m.forward_dynamics(*x) for x in zip(q, qd, tau, strict=True)]))
    assert m.reference.forward_dynamics(q, qd, tau) == pytest.approx(every)


def test_inverse_dynamics_undoes_forward_dynamics_where_a_joint_leaves_rest():
    m, rng = two_masses(), np.random.default_rng(4)
    for _ in range(50):
        q, qd, tau = rng.uniform(-0.1, 0.1, 2), np.array([0.0, 0.3]), rng.uniform(-20, 20, 2)
        qdd = m.forward_dynamics(q, qd, tau)
        if qdd[0]:
            level = 3.0  # of sliding: the static one has been overcome
            assert m.inverse_dynamics(q, qd, qdd)[1] == pytest.approx(tau[1], abs=1e-9)
            assert m.inverse_dynamics(q, qd, qdd)[0] == pytest.approx(tau[0], abs=1e-9)
            assert abs(m.friction(q, qd, tau)["x"].effort) == pytest.approx(level)


def test_signs_of_sliding_may_be_given():
    m, rest = two_masses(), np.zeros(2)
    assert m.inverse_dynamics(rest, rest, rest) == pytest.approx([0.0, 0.0])
    assert m.inverse_dynamics(rest, rest, rest, slip=[1, -1]) == pytest.approx([3.0, -2.0])
    assert m.inverse_dynamics(rest, rest, rest, slip={"y": 1}) == pytest.approx([0.0, 2.0])
    with pytest.raises(kp.InputError, match=r"two: slip is \[0.5, 0.0\]; its entries are -1, 0 or 1"):
        m.inverse_dynamics(rest, rest, rest, slip=[0.5, 0.0])


LAWS = [
    {"law": "viscous", "viscous": 0.7},
    {"law": "coulomb", "level": 1.5, "level_static": 2.0, "level_negative": 0.5, "viscous": 0.1},
    {
        "law": "stribeck", "level": 1.0, "level_static": 4.0, "stribeck_speed": 0.2, "exponent": 1.3,
        "level_negative": 2.0,
    },
]  # fmt: skip


@cache
def chain(k: int) -> kp.Mechanism:
    b = kp.Builder("chain")
    for n, parent in enumerate(("ground", "l0", "l1")):
        friction = [LAWS[(n + k) % 3], LAWS[(n + 1) % 3]] if k else LAWS[n]
        b.link(f"l{n}", mass=1.0 + n, com=[0.3, 0, 0], inertia=[0.1, 0.2, 0.3])
        b.joint(
            f"j{n}", "revolute", parent, f"l{n}", axis="xyz"[n], xyz=[0.5 * (n > 0), 0, 0], friction=friction
        )
    return kp.build(b)


@pytest.mark.parametrize("k", [0, 1, 2])
def test_friction_never_adds_energy_and_the_regressor_has_it_all(k):
    m, rng = chain(k), np.random.default_rng(k)
    for _ in range(100):
        q, qd, qdd = rng.uniform(-2, 2, 3), rng.uniform(-1, 1, 3), rng.uniform(-9, 9, 3)
        qd[rng.uniform(size=3) < 0.3] = 0.0
        tau = m.inverse_dynamics(q, qd, qdd)
        share = tau - m.inverse_dynamics(q, qd, qdd, passive=False)
        assert share @ qd >= 0.0
        assert (share * np.where(qd, qd, qdd) >= 0.0).all()
        assert m.regressor(q, qd, qdd) @ m.regressor_parameters() == pytest.approx(tau, abs=1e-10)
    assert len(m.regressor_names) == len(m.regressor_parameters())


def test_friction_of_a_joint_that_slides_alone_is_known():
    found = kp.example("stick-slip").friction([0.0], [0.3], [0.0])["belt"]
    assert (found.effort, found.level, found.sticks) == (-4.0, 4.0, False)
