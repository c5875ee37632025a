"""Ways to solve for accelerations under constraints, beside each other and beside a dense pseudo-inverse.

Each closed and rolling example in a hundred states that obey its constraints, found by moving along the rates they
allow and closing the loops again.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import closed
import kinpair as kp
import zoo
from families import family
from kinpair.constraints.solvers import EVERY_SOLVER, SOLVERS, Problem
from kinpair.constraints.solvers.problem import full
from kinpair.formulations import kinematics

EXAMPLES = tuple(closed.STARTS)
STATES = 100
SOUND = 0.02  # closer to a fold, 1/σ² magnifies rounding beyond the 1e-10 asked for
REDUNDANT = {"four-bar-3d": 3, "bennett": 3, "diff-drive": 1}  # rows that say nothing new
UNIVERSAL = ("multipliers", "udwadia-kalaba", "rosenberg-extended", "maggi", "partition", "screw")
SPECIAL = {  # the examples that fulfil the conditions of a solver
    "zhao-gu": set(EXAMPLES) - {"space-robot"},
    "voronets": set(EXAMPLES) - {"stewart", "delta", "rolling-disk", "space-robot", "bicycle"},
    "chaplygin": {"omni-robot", "diff-drive"},
}


@cache
def example(name: str) -> kp.Mechanism:
    return kp.example(name)


@cache
def states(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇ and τ, a row each."""
    m = example(name)
    rng = np.random.default_rng(len(name))
    q = m.assemble(closed.start(name))
    results = []
    while len(results) < STATES:
        step = m.velocities(q, guess=rng.normal(size=m.nv))
        q = m.assemble(kinematics.moved(m.model, q, 0.25 * step / np.abs(step).max()))
        if soundness(m, q) < SOUND:
            q = m.assemble(closed.start(name))
            continue
        results.append((q, m.velocities(q, guess=rng.normal(size=m.nv)), rng.normal(size=m.nv)))
    return tuple(np.array(x) for x in zip(*results, strict=True))  # type: ignore[return-value]


def soundness(m: kp.Mechanism, q: np.ndarray) -> float:
    """Smallest singular value that counts of the rows scaled to length one: small where a linkage folds."""
    A = m.constraint_matrix(q)
    sizes = np.linalg.norm(A, axis=1, keepdims=True)
    sigma = np.linalg.svd(A / np.where(sizes > 1e-12, sizes, 1.0), compute_uv=False)
    return float(sigma[sigma > 1e-9].min())


def expected(name: str) -> np.ndarray:
    """By M^{-1/2}(A M^{-1/2})⁺: Udwadia and Kalaba's formula as it is printed, singular values by LAPACK.

    In coordinates scaled so that M has a diagonal of ones: the roots of a matrix with entries of very different
    size lose digits otherwise.
    """
    q, qd, tau = states(name)
    M, F, A, b = example(name)._closed.terms((q, qd, tau), 0.0, {}, {})
    scale = 1.0 / np.sqrt(np.diagonal(M, axis1=1, axis2=2))
    w, V = np.linalg.eigh(M * scale[:, :, None] * scale[:, None, :])
    over_half = (V / np.sqrt(w)[:, None]) @ V.swapaxes(1, 2)
    free = over_half @ over_half @ (F * scale)[..., None]
    A = A * scale[:, None, :]
    qdd = free + over_half @ np.linalg.pinv(A @ over_half, rcond=1e-10) @ (b[..., None] - A @ free)
    return scale * qdd[..., 0]


def solvers_of(name: str) -> list[str]:
    return [*UNIVERSAL, *(x for x, where in SPECIAL.items() if name in where)]


def test_every_solver_takes_part():
    assert {*UNIVERSAL, *SPECIAL} == set(EVERY_SOLVER)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_a_solver_alone_solves_a_sound_problem(solver, seed):
    """Without the rank-revealing solve that a mechanism falls back on; the reference is the dense bordered matrix."""
    rng = np.random.default_rng(seed)
    n, rows = 6, 3
    root, A = rng.normal(size=(n, n)), rng.normal(size=(rows, n))
    M, F, b = root @ root.T + n * np.eye(n), rng.normal(size=n), rng.normal(size=rows)
    found = SOLVERS[solver](Problem(M, F, A, b, *full(n), range(rows), range(rows)))
    both = np.linalg.solve(np.block([[M, -A.T], [A, np.zeros((rows, rows))]]), [*F, *b])
    assert zoo.relative_error(np.array([*found.qdd, *found.lam]), both) < 1e-11
    assert min(found.soundness) > 1e-3


@pytest.mark.parametrize("name", EXAMPLES)
def test_states_obey_the_constraints_and_differ(name):
    m = example(name)
    q, qd, _ = states(name)
    assert np.abs(m.constraint_residual(q)).max(initial=0.0) < 1e-9
    for k in range(0, STATES, 20):
        assert np.abs(closed.constraints(m, q[k], qd[k])[1]).max() < 1e-9
    assert np.ptp(q, axis=0).max() > 0.3


@pytest.mark.parametrize(
    "name",
    family(
        EXAMPLES,
        {*EXAMPLES} - {"stewart", "gripper", "three-rrr", "bicycle", "delta"},
        reason="more of many rows",
    ),
)
def test_solvers_agree_in_a_hundred_states(name):
    m = example(name)
    reference = expected(name)
    size = np.maximum(1.0, np.abs(reference).max(1))
    for solver in solvers_of(name):
        result = m.forward_dynamics(*states(name), solver=solver)
        off = np.abs(result - reference).max(1) / size
        assert off.max() < 1e-10, (solver, int(off.argmax()))


@pytest.mark.parametrize(
    "name",
    family(
        ["four-bar", "bennett", "diff-drive", "omni-robot", "delta"],
        ["four-bar", "bennett", "diff-drive"],
        reason="mechanisms of more joints",
    ),
)
def test_compiled_solvers_are_those_of_the_reference(name):
    m = example(name)
    q, qd, tau = (x[7] for x in states(name))
    for solver in solvers_of(name):
        reference = m.reference.forward_dynamics(q, qd, tau, solver=solver)
        assert zoo.relative_error(m.forward_dynamics(q, qd, tau, solver=solver), reference) < 1e-11, solver


@pytest.mark.parametrize("name", EXAMPLES)
def test_multipliers_balance_what_the_accelerations_need(name):
    m = example(name)
    for k in (0, 50):
        q, qd, tau = (x[k] for x in states(name))
        M, F, A, b = m._closed.terms((q, qd, tau), 0.0, {}, {})
        forces = m.constraint_forces(q, qd, tau)
        lam = np.array([forces.multipliers[row] for row in m.constraint_rows])
        assert zoo.relative_error(M @ forces.qdd, F + A.T @ lam) < 1e-10
        assert zoo.relative_error(A @ forces.qdd, b) < 1e-10
        assert forces.unique == (name not in REDUNDANT and name not in ALSO_REDUNDANT)


ALSO_REDUNDANT = {
    "four-bar",
    "slider-crank",
    "five-bar",
    "three-rrr",
    "gripper",
}  # the row across their plane


@pytest.mark.parametrize(("name", "count"), REDUNDANT.items())
def test_redundant_rows_are_counted_named_and_share_the_load(name, count):
    m = example(name)
    q, qd, tau = (x[3] for x in states(name))
    mobility = m.mobility(q)
    assert len(mobility.redundant) == count
    assert mobility.freedom == mobility.counted + count
    assert not m.constraint_forces(q, qd, tau).unique


@pytest.mark.parametrize("name", ["bennett", "diff-drive"])
def test_multipliers_of_redundant_rows_are_the_shortest(name):
    """Any change that leaves the motion alone lies in the null space of Aᵀ, scaled to rows of length one."""
    m = example(name)
    q, qd, tau = (x[5] for x in states(name))
    A = m._closed.terms((q, qd, tau), 0.0, {}, {})[2]
    sizes = np.linalg.norm(A, axis=1)
    lam = np.array([*m.constraint_forces(q, qd, tau).multipliers.values()]) * sizes
    U, sigma, _ = np.linalg.svd(A / sizes[:, None])
    spare = U[:, (sigma > 1e-8).sum() :]
    assert spare.shape[1] > 0
    assert np.abs(spare.T @ lam).max() < 1e-10 * np.abs(lam).max()


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk"])
def test_derivatives_are_differences_of_the_accelerations(name):
    m = example(name)
    q, qd, tau = (x[2] for x in states(name))
    slopes = m.forward_dynamics_derivatives(q, qd, tau)
    step, turn = 1e-5, np.cos(np.arange(m.nv))

    def change(f) -> np.ndarray:
        return (f(step) - f(-step)) / (2 * step)

    along_q = change(lambda h: m.forward_dynamics(kinematics.moved(m.model, q, h * turn), qd, tau))
    along_qd = change(lambda h: m.forward_dynamics(q, qd + h * turn, tau))
    along_tau = change(lambda h: m.forward_dynamics(q, qd, tau + h * turn))
    for slope, seen in zip(slopes, (along_q, along_qd, along_tau), strict=True):
        assert zoo.relative_error(slope @ turn, seen) < 1e-6
