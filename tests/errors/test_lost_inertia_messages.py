"""A motion that nothing with inertia and no constraint resists: every solver refuses it, and names all its rates."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

SOLVERS = ("multipliers", "udwadia-kalaba", "rosenberg-extended", "maggi", "partition", "screw")
CURE = "; give mass or inertia there, or a constraint"


def rod_by_a_loop(axial: float) -> kp.Mechanism:
    """Two arms and a rod between their tips: a ball joint at one end, a ball that closes the loop at the other."""
    builder = kp.Builder("rod").link("arm", mass=1.0, com=[0.5, 0, 0], inertia=[0.1, 0.1, 0.1])
    builder = builder.link("rod", mass=2.0, com=[0, 0, -0.5], inertia=[0.2, 0.2, axial])
    builder = builder.link("other", mass=1.0, com=[0.5, 0, 0], inertia=[0.1, 0.1, 0.1])
    builder = builder.joint("shoulder", "revolute", "ground", "arm", axis="y")
    builder = builder.joint("ball", "spherical", "arm", "rod", xyz=[1.0, 0, 0])
    builder = builder.joint("hinge", "revolute", "ground", "other", axis="x", xyz=[0, 0.3, -1.1])
    return kp.build(builder.loop("end", "spherical", "other", "rod", xyz=[1, 0.4, 0], child_xyz=[0, 0, -1.0]))


def rod_in_the_tree(axial: float) -> kp.Mechanism:
    """The same with both balls in the tree: the rod spins one way, the next link the other way on it, and so stands."""
    builder = kp.Builder("chain").link("arm", mass=1.0, com=[0.5, 0, 0], inertia=[0.1, 0.1, 0.1])
    builder = builder.link("rod", mass=2.0, com=[0, 0, -0.5], inertia=[0.2, 0.2, axial])
    builder = builder.link("other", mass=1.0, com=[0.5, 0, 0], inertia=[0.1, 0.12, 0.13])
    builder = builder.joint("shoulder", "revolute", "ground", "arm", axis="y")
    builder = builder.joint("ball", "spherical", "arm", "rod", xyz=[1.0, 0, 0])
    builder = builder.joint("ball2", "spherical", "rod", "other", xyz=[0, 0, -1.0])
    frame = {"axis": "x", "xyz": [1.0, 0.3, -1.1], "child_xyz": [0.2, 0.3, 0]}
    return kp.build(builder.loop("end", "revolute", "ground", "other", **frame))


CASES = {
    "loop": (rod_by_a_loop, "rod", ("ball.wz",)),
    "tree": (rod_in_the_tree, "chain", ("ball.wz", "ball2.wx", "ball2.wy", "ball2.wz")),
}


def states(m: kp.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    q = [m.assemble(m.start() + 0.1 * rng.normal(size=m.nq)) for _ in range(3)]
    return np.array(q), np.array([m.velocities(x, guess=0.3 * rng.normal(size=m.nv)) for x in q])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("way", ["compiled", "reference"])
def test_a_rod_that_spins_freely_between_two_balls_is_refused_by_every_solver(case, way):
    make, name, rates = CASES[case]
    m = make(0.0)
    q, qd = states(m)
    own = m if way == "compiled" else m.reference
    for solver in SOLVERS:
        for k in range(len(q)):
            with pytest.raises(kp.SingularError) as refused:
                own.forward_dynamics(q[k], qd[k], np.zeros(m.nv), solver=solver)
            assert str(refused.value) == (
                f"{name}: forward dynamics is singular: nothing with inertia and no constraint resists the motion of "
                f"{', '.join(rates)}{CURE}"
            )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_batch_names_its_first_state(case, solver):
    make, name, rates = CASES[case]
    m = make(0.0)
    q, qd = states(m)
    with pytest.raises(kp.SingularError) as refused:
        m.forward_dynamics(q, qd, np.zeros(m.nv), solver=solver)
    assert str(refused.value) == (
        f"{name}: forward dynamics is singular (state 0 of the batch): nothing with inertia and no constraint resists "
        f"the motion of {', '.join(rates)}{CURE}"
    )


@pytest.mark.parametrize("case", CASES)
def test_a_thin_rod_spins_and_every_solver_agrees(case):
    """A wire of 1e-6 of the other inertias is no case to refuse; six digits of the spin are lost by cancellation."""
    m = CASES[case][0](2e-7)
    q, qd = states(m)
    results = [m.forward_dynamics(q, qd, np.zeros(m.nv), solver=x) for x in SOLVERS]
    size = np.abs(results[0]).max()
    for one in results[1:]:
        assert np.abs(one - results[0]).max() < 1e-7 * (1.0 + size)


@pytest.mark.parametrize("case", CASES)
def test_a_run_is_refused_at_its_start(case):
    make, name, _ = CASES[case]
    m = make(0.0)
    with pytest.raises(kp.SingularError, match=f"{name}: forward dynamics is singular: nothing with inertia"):
        kp.simulate(m, m.start(), np.zeros(m.nv), duration=0.01, integrator="rk4", dt=1e-3)


def test_two_rods_are_both_named():
    builder = kp.Builder("pair").link("arm", mass=1.0, com=[0.5, 0, 0], inertia=[0.1, 0.1, 0.1])
    builder = builder.joint("shoulder", "revolute", "ground", "arm", axis="y")
    for k, y in enumerate((-1.0, 1.0)):
        builder = builder.link(f"rod{k}", mass=2.0, com=[0, 0, -0.5], inertia=[0.2, 0.2, 0.0])
        builder = builder.joint(f"ball{k}", "spherical", "arm", f"rod{k}", xyz=[1.0, y, 0])
    m = kp.build(builder.loop("end", "spherical", "ground", "rod0", xyz=[1, -1, -1], child_xyz=[0, 0, -1.0]))
    for solver in SOLVERS:
        with pytest.raises(kp.SingularError, match=r"motion of ball0\.wz, ball1\.wz; give"):
            m.forward_dynamics(m.start(), np.zeros(m.nv), np.zeros(m.nv), solver=solver)
