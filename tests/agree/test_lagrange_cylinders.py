"""Cylinders on hinges in any position: the written-out equations against the general ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.compiler.program import needed
from kinpair.compiler.trace import trace
from kinpair.formulations import lagrange_cylinders
from kinpair.model.build import build


def round_bodies(seed: int, n: int, reach: int) -> kp.Mechanism:
    """A random tree of hinges whose links have one axis of symmetry, in any direction."""
    rng = np.random.default_rng(seed)
    d = zoo.tree(seed, n, kinds=("revolute",), reach=reach).model.description
    links = []
    for link in d.links:
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        J_N, J_S = rng.uniform(0.5, 1.0), rng.uniform(0.1, 1.0)
        I = J_N * np.eye(3) + (J_S - J_N) * np.outer(axis, axis)
        links.append(replace(link, inertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])))
    joints = tuple(replace(joint, rotor_inertia=0.0) for joint in d.joints)
    return kp.Mechanism(build(replace(d, links=tuple(links), joints=joints)), compiled=False)


CHAIN = round_bodies(1, 4, 1)
TREES = [round_bodies(0, 1, 1), CHAIN, round_bodies(2, 6, 3)]


@pytest.mark.parametrize("m", TREES, ids=lambda m: m.name)
def test_efforts_and_inertia(m):
    s = zoo.motion(m, 3)
    tau = lagrange_cylinders.inverse_dynamics(m.model, s.q, s.qd, s.qdd)
    assert zoo.relative_error(tau, m.inverse_dynamics(s.q, s.qd, s.qdd)) <= 1e-12
    M = sum(lagrange_cylinders.inertia_shares(m.model, s.q))
    assert zoo.relative_error(M, m.mass_matrix(s.q)) <= 1e-12


@pytest.mark.parametrize("m", TREES, ids=lambda m: m.name)
def test_slopes_of_the_inertia_are_its_derivatives(m):
    s, step = zoo.motion(m, 4), 1e-200
    for i in m.model.moving:
        result = lagrange_cylinders.inertia_slopes(m.model, s.q, i)
        for slope, unit in zip(result, np.eye(m.nv), strict=True):
            share = lagrange_cylinders.inertia_shares(m.model, s.q + 1j * step * unit)[i - 1]
            assert zoo.relative_error(slope, np.imag(share) / step) <= 1e-13


@pytest.mark.parametrize("i", range(1, 5))
def test_inertia_depends_on_the_angles_beyond_its_inner_hinge_alone(i):
    """M^{1i}_lm is a function of φ_{min(l,m)+1} … φ_i: the recorded formula holds no other angle, and all of these."""
    model = CHAIN.model
    program = trace(lambda q: lagrange_cylinders.inertia_shares(model, q)[i - 1], {"q": (4,)})
    angles = {x.id: k for k, x in enumerate(program.inputs[0].entries)}
    body_of = {model.v_span[b].start: b for b in model.moving}
    entries = np.array(program.outputs[0].entries, dtype=object).reshape(4, 4)
    for (l, m), entry in np.ndenumerate(entries):
        used = {body_of[angles[x.id]] for x in needed([entry]) if x.id in angles}
        first, last = sorted((body_of[l], body_of[m]))
        assert used == (set(range(first + 1, i + 1)) if last <= i else set())


@pytest.mark.parametrize("method", ["newton-euler", "lagrange", "uicker"])
def test_inertia_of_the_whole_does_not_know_the_angles_before(method):
    """The same of H by every method, in numbers: turning hinges 1 to min(l,m) changes nothing."""
    s = zoo.motion(CHAIN, 5)
    H = CHAIN.mass_matrix(s.q, method=method)
    span = [CHAIN.model.v_span[b].start for b in CHAIN.model.moving]
    for k in range(4):
        moved = s.q.copy()
        moved[span[: k + 1]] += 0.7
        change = np.abs(CHAIN.mass_matrix(moved, method=method) - H)
        outer = np.ix_(span[k:], span[k:])
        assert change[outer].max() <= 1e-12 * np.abs(H).max()
        assert k == 0 or change.max() > 1e-3
