"""Long mechanisms: the same recursions as loops, for every kind of pair."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from kinpair import rolling
from kinpair.compiler.kernel import Kernel
from kinpair.mechanism import Mechanism

TREES = [zoo.tree(3, 6), zoo.tree(4, 30), zoo.tree(5, 12, floating=True), zoo.tree(6, 1)]


@pytest.mark.parametrize("mechanism", TREES, ids=lambda m: m.name)
def test_loops_give_what_the_recursion_gives(mechanism):
    kernel = Kernel(rolling.inverse_dynamics(mechanism.model))
    s = zoo.motions(mechanism, 11)
    expected = mechanism.inverse_dynamics(s.q, s.qd, s.qdd)
    assert zoo.relative_error(kernel(s.q, s.qd, s.qdd), expected) < 1e-13
    assert zoo.relative_error(kernel(s.q[0], s.qd[0], s.qdd[0]), expected[0]) < 1e-13


def test_a_thousand_links_agree():
    chain = zoo.tree(7, 1000, kinds=zoo.ONE_DEGREE, reach=1)
    mechanism = Mechanism(chain.model)
    s = zoo.motion(chain, 1)
    state = s.q, 0.01 * s.qd, s.qdd
    tau = mechanism.inverse_dynamics(*state)
    assert zoo.relative_error(tau, chain.inverse_dynamics(*state)) < 1e-10
    assert np.abs(tau).max() > 1


def test_code_does_not_grow_with_the_links():
    lines = [
        Kernel(rolling.inverse_dynamics(zoo.tree(7, n, kinds=zoo.ONE_DEGREE, reach=1).model)).llvm.count("\n")
        for n in (50, 500)
    ]
    assert lines[1] < 1.05 * lines[0]


def test_what_has_no_loops_yet_is_evaluated_by_the_reference():
    chain = zoo.tree(8, 130, kinds=("revolute",), reach=2)
    mechanism = Mechanism(chain.model)
    s = zoo.motion(chain, 1)
    assert (mechanism.gravity_forces(s.q) == chain.gravity_forces(s.q)).all()
