"""A recursion over a thousand items, as a loop: same numbers as plain Python, code that does not grow."""

from typing import NamedTuple

import numpy as np
import pytest

from kinpair.algebra.arrays import array
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import interpret
from kinpair.compiler.rolled import Rolled, interpret_rolled
from kinpair.compiler.tape import Tape
from kinpair.compiler.trace import trace
from kinpair.errors import TraceError
from kinpair.spatial.rotation import about_z, cross
from traced import chain, links, three


class Motion(NamedTuple):
    omega: object
    alpha: object
    a: object


z = np.array([0.0, 0.0, 1.0])


def move(parent: Motion, body, q, qd, qdd) -> Motion:
    R, p = body["R"], body["p"]
    T = (R @ about_z(q[0])).T
    a = T @ (parent.a + cross(parent.alpha, p) + cross(parent.omega, cross(parent.omega, p)))
    omega = T @ parent.omega
    alpha = T @ parent.alpha + z * qdd[0] + cross(omega, z * qd[0])
    return Motion(omega + z * qd[0], alpha, a)


def load(outer, body, motion, q):
    F, N = outer
    d, I, T = body["d"], body["I"], (body["R"] @ about_z(q[0])).T
    f = body["m"] * (motion.a + cross(motion.alpha, d) + cross(motion.omega, cross(motion.omega, d)))
    n = I @ motion.alpha + cross(motion.omega, I @ motion.omega) + cross(d, f)
    F, N = F + f, N + n
    handed = T.T @ F
    return array([N[2]]), (handed, T.T @ N + cross(body["p"], handed))


def rolled_chain(bodies) -> Rolled:
    n = len(bodies)
    tape = Tape([i - 1 for i in range(n)])
    body = tape.constants([dict(zip(("R", "p", "m", "d", "I"), link, strict=True)) for link in bodies])
    q, qd, qdd = (tape.input(name, n, range(n), [1]) for name in ("q", "qd", "qdd"))
    ground = Motion(np.zeros(3), np.zeros(3), np.array([0.0, 0.0, 9.81]))
    motion = tape.outward(move, ground, body, q, qd, qdd)
    tau = tape.inward(load, (np.zeros(3), np.zeros(3)), body, motion, q)
    tape.output("tau", n, tau, range(n))
    return tape.finish("torques")


def test_rolled_and_straight_are_the_same():
    bodies = links(6)
    rolled, straight = rolled_chain(bodies), trace(chain(bodies), three(6))
    state = np.random.default_rng(1).normal(size=(3, 6))
    expected = interpret(straight, *state)
    assert interpret_rolled(rolled, *state) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    kernel = Kernel(rolled)
    assert kernel(*state) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    batch = np.random.default_rng(2).normal(size=(3, 21, 6))
    assert kernel(*batch) == pytest.approx(Kernel(straight)(*batch), rel=1e-12, abs=1e-12)
    assert (kernel(*batch[:, 3:12]) == kernel(*batch)[3:12]).all()


def test_a_thousand_links_agree():
    bodies = links(1000)
    kernel = Kernel(rolled_chain(bodies)).compile()
    state = 0.1 * np.random.default_rng(1).normal(size=(3, 1000))
    expected = chain(bodies)(*state)
    assert abs(kernel(*state) - expected).max() < 1e-10 * abs(expected).max()
    assert abs(kernel(np.array([state[0]] * 9), *state[1:])[8] - expected).max() < 1e-10 * abs(expected).max()


def test_kinds_take_their_own_steps():
    """Items of kind 0 add their one number, items of kind 1 multiply by the product of their two."""
    parent, kind = [-1, 0, 0, 1, 2, 2], [0, 1, 0, 1, 1, 0]
    starts, widths = [0, 1, 3, 4, 6, 8], [1, 2]
    tape = Tape(parent, kind)
    x = tape.input("x", 9, starts, widths)

    def walk(before, own):
        return before + own[0] if len(own) == 1 else before * own[0] * own[1]

    value = tape.outward(walk, 1.0, x)
    total = tape.inward(lambda outer, own: (outer + own, (outer + own)), 0.0, value)
    tape.output("value", 6, value, range(6))
    tape.output("total", 6, total, range(6))
    rolled = tape.finish()
    arguments = np.random.default_rng(0).normal(size=9)
    values, totals = [], np.zeros(6)
    for i, j in enumerate(parent):
        before = 1.0 if j < 0 else values[j]
        values.append(walk(before, arguments[starts[i] : starts[i] + widths[kind[i]]]))
    for i in reversed(range(6)):
        totals[i] += values[i]
        if parent[i] >= 0:
            totals[parent[i]] += totals[i]
    for result in (interpret_rolled(rolled, arguments), Kernel(rolled)(arguments)):
        assert result[0] == pytest.approx(values)
        assert result[1] == pytest.approx(totals)


def test_a_value_is_handed_on_as_it_was_received():
    tape = Tape([-1, 0])
    with pytest.raises(TraceError, match="kind 0 returns arrays of shapes"):
        tape.outward(lambda before: before[:2], np.zeros(3))


def test_what_all_items_share_is_folded():
    bodies = [(np.eye(3), np.array([0.0, 0.0, float(k)]), 1.0, np.zeros(3), np.eye(3)) for k in range(1, 5)]
    full = [(link[0], link[1] + 1.0, *link[2:]) for link in links(4)]
    assert rolled_chain(bodies).count["total"] < rolled_chain(full).count["total"] / 2
