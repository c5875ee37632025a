"""Efforts of a motion of loops with friction from load: compiled, and by continuation from mu = 0 in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinpair as kp
from load_friction_family import CLOSED, LOOPS, mechanism, states

AGREES = 1e-11  # of the largest effort: both solve for loads to 1e-13, and the loops amplify that


def motions(m: kp.Mechanism, name: str, kind: str, count: int) -> tuple[np.ndarray, ...]:
    """q, q̇ and q̈ of a loop, seeded; those of which Python finds no loads are left out."""
    q, qd, _ = states(m, name, 3, kind, count)
    rng, own = np.random.default_rng(4), CLOSED[name].drives
    qdd = np.array(
        [
            m.accelerations(*x, dict(zip(own, rng.normal(size=len(own)), strict=True)))
            for x in zip(q, qd, strict=True)
        ]
    )
    kept = [k for k in range(count) if _has_efforts(m.reference, own, q[k], qd[k], qdd[k])]
    assert len(kept) > count // 2
    return q[kept], qd[kept], qdd[kept]


def _has_efforts(m: kp.Mechanism, actuators: Any, *motion: np.ndarray) -> bool:
    try:
        m.inverse_dynamics(*motion, actuators=actuators)
    except kp.SingularError:
        return False
    return True


def agree(m: kp.Mechanism, motion: tuple[np.ndarray, ...], **options: Any) -> None:
    expected = m.reference.inverse_dynamics(*motion, **options)
    size = AGREES * max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(m.inverse_dynamics(*motion, **options), expected, rtol=0, atol=size)
    for one, tau in list(zip(zip(*motion, strict=True), expected, strict=True))[:4]:
        np.testing.assert_allclose(m.inverse_dynamics(*one, **options), tau, rtol=0, atol=size)


def compiled(m: kp.Mechanism) -> tuple[str, ...]:
    """Which quantities gave efforts so far."""
    return tuple(x.quantity for x in m.closure.drives._usual.values() if x is not None)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", LOOPS)
def test_compiled_efforts_of_sliding_loops_are_those_of_python(name, seed):
    m = mechanism(name, seed)
    agree(m, motions(m, name, "sliding", 12), actuators=CLOSED[name].drives)
    assert compiled(m) == ("efforts_under_load",)


def test_states_at_rest_and_without_numbers_keep_to_their_rows():
    """A surface at rest has the friction of the motion that begins; only those states leave compiled code."""
    m, own = mechanism("five-bar", 0), CLOSED["five-bar"].drives
    q, qd, qdd = motions(m, "five-bar", "mixed", 12)
    assert 0 < (qd[:, 0] == 0.0).sum() < len(qd)
    agree(m, (q, qd, qdd), actuators=own)
    broken = qdd.copy()
    broken[1] = np.nan
    tau = m.inverse_dynamics(q, qd, broken, actuators=own)
    assert np.isnan(tau[1]).all()
    np.testing.assert_array_equal(
        np.delete(tau, 1, 0), np.delete(m.inverse_dynamics(q, qd, qdd, actuators=own), 1, 0)
    )


def test_forward_dynamics_of_the_efforts_is_the_motion():
    m = mechanism("slider-crank", 1)
    q, qd, qdd = motions(m, "slider-crank", "sliding", 12)
    tau = m.inverse_dynamics(q, qd, qdd, actuators=["a"])
    size = 1e-9 * max(1.0, float(np.abs(qdd).max()))
    np.testing.assert_allclose(m.forward_dynamics(q, qd, tau), qdd, rtol=0, atol=size)


def four_bar(kind: str, **friction: Any) -> kp.Mechanism:
    """A plane four-bar; hinges all round make redundant rows, which compliances share."""
    law = {"law": "bearing", "mu": 0.1, "radius": 0.02, "thrust_radius": 0.03, "length": 0.1, **friction}
    own: dict[str, Any] = {"compliance": 1e-6} if kind == "revolute" else {}
    b = kp.Builder("four-bar")
    for name, length in (("a", 0.1), ("b", 0.3), ("c", 0.2)):
        b.link(name, mass=1.0, com=(length / 2, 0, 0.01), inertia=(1e-4, 1e-3, 1e-3))
    b.joint("p", "revolute", "ground", "a", axis="y", friction=law, actuated=True, **own)
    b.joint("q", "revolute", "a", "b", xyz=(0.1, 0, 0), axis="y", friction=law, actuated=False, **own)
    b.joint("r", "revolute", "ground", "c", xyz=(0.3, 0, 0), axis="y", friction=law, actuated=False, **own)
    return kp.build(b.loop("s", kind, "c", "b", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0), axis="y", **own))


def of_crank(m: kp.Mechanism, count: int = 6) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(6)
    q = np.array([m.assemble({"p": x}, fixed=["p"]) for x in rng.uniform(0.3, 2.0, count)])
    qd = np.array([m.velocities(x, {"p": rate}) for x, rate in zip(q, rng.normal(size=count), strict=True)])
    moves = zip(q, qd, rng.normal(size=count), strict=True)
    return q, qd, np.array([m.accelerations(x, v, {"p": a}) for x, v, a in moves])


@pytest.mark.parametrize("kind", ["pin", "revolute"])
def test_loads_of_redundant_hinges_are_shared_as_in_python(kind):
    """With the actuators of the description, so that the next call goes straight to machine code."""
    m = four_bar(kind)
    motion = of_crank(m)
    agree(m, motion)
    agree(m, motion, external={"b": np.array([0.3, 0.1, -0.2, 4.0, 2.0, -9.0])})
    assert set(compiled(m)) == {"efforts_under_load"}
    bare = m.inverse_dynamics(*motion, passive=False)
    assert np.abs(bare - m.inverse_dynamics(*motion))[:, 0].min() > 1e-4


@pytest.mark.parametrize("time", [0.0, 0.7, np.linspace(0.0, 1.0, 6)], ids=str)
def test_coefficients_that_change_with_time(time):
    m = four_bar("pin", mu="0.1 + 0.05*sin(3*t)")
    motion = of_crank(m)
    expected = m.reference.inverse_dynamics(*motion, time=time)
    np.testing.assert_allclose(m.inverse_dynamics(*motion, time=time), expected, rtol=0, atol=1e-11)


def test_a_state_that_jams_is_named_by_its_place_in_the_batch():
    """Forward the guide jams from mu = 0.125 on, back from 0.1388 on: with 0.13 the others have their efforts."""
    b = kp.Builder("press")
    for name, length in (("crank", 0.1), ("rod", 0.3), ("slider", 0.0)):
        b.link(name, mass=1.0, com=(length / 2, 0, 0), inertia=(1e-4, 1e-3, 1e-3))
    guide = {"law": "guide", "mu": 0.13, "length": 0.05, "width": 0.2}
    b.joint("a", "revolute", "ground", "crank", axis="y")
    b.joint("b", "revolute", "crank", "rod", xyz=(0.1, 0, 0), axis="y")
    b.joint("c", "prismatic", "ground", "slider", axis="x", friction=guide)
    m = kp.build(b.loop("d", "pin", "slider", "rod", xyz=(0, 0, 0.2), child_xyz=(0.3, 0, 0), axis="y"))
    q = m.assemble({"a": 0.5, "c": 0.35})
    qd = np.array([m.velocities(q, {"a": rate}) for rate in (-1.0, -1.0, 1.0)])
    qdd = np.array([m.accelerations(q, x, {"a": 0.3}) for x in qd])
    many = np.tile(q, (3, 1))
    agree(m, (many[:2], qd[:2], qdd[:2]), actuators=["a"])
    for x in (m, m.reference):
        with pytest.raises(kp.SingularError, match=r"no solution at joint 'c' \(state 2 of the batch\)"):
            x.inverse_dynamics(many, qd, qdd, actuators=["a"])
