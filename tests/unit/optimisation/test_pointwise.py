"""Derivatives of recorded functions compared with complex steps."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.optimisation.mechanism_equations import equations_of
from kinpair.optimisation.nonlinear_program import Pointwise
from kinpair.optimisation.requirements import duration_bounds, end_values, variable_bounds
from kinpair.optimisation.schemes import explicit
from kinpair.optimisation.transcription import Phase, Problem

STEP = 1e-30
COMPLEX = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "exp": np.exp,
}


def evaluated(program, *arguments):
    """The outputs of a recorded program at complex arguments, node by node."""
    value = {
        s.id: x
        for leaf, own in zip(program.inputs, arguments, strict=True)
        for s, x in zip(leaf.entries, own, strict=True)
    }
    for node in program.nodes:
        if node.op == "const":
            value[node.id] = node.value
        elif node.op != "symbol":
            value[node.id] = COMPLEX[node.op](*(value[x.id] for x in node.args))
    return np.array([value[x.id] for x in program.outputs[0].entries])


def dense(shape, rows, columns, values):
    A = np.zeros(shape)
    A[rows, columns] = values
    return A


def check_derivatives(f, v, d, weights):
    """Compare J with complex steps of F, L with complex steps of Jᵀλ; relative to the largest entry."""
    values, slopes, _ = f._programs
    J, L = np.zeros((f.m, f.n)), np.zeros((f.n, f.n))
    for k in range(f.n):
        z = v.astype(complex)
        z[k] += 1j * STEP
        J[:, k] = evaluated(values, z, d).imag / STEP
        at = np.zeros((f.m, f.n), dtype=complex)
        at[f.rows, f.columns] = evaluated(slopes, z, d)
        L[:, k] = (weights @ at).imag / STEP
    ours = dense(J.shape, f.rows, f.columns, f.jacobian(v[None], d[None])[0])
    assert np.abs(ours - J).max() <= 1e-9 * max(1.0, np.abs(J).max())
    lower = dense(L.shape, f.lower, f.upper, f.hessian(v[None], d[None], weights[None])[0])
    assert np.abs(lower - np.tril(L)).max() <= 1e-9 * max(1.0, np.abs(L).max())


def test_derivatives_of_a_function_agree_with_complex_steps():
    def F(v, d):
        return np.array(
            [v[0] * np.sin(v[1]) + d[0], np.exp(v[0] * v[2]) / (1.0 + v[1] * v[1]), v[2]], dtype=object
        )

    rng = np.random.default_rng(3)
    check_derivatives(Pointwise(F, 3, 1, "F"), rng.normal(size=3), np.ones(1), rng.normal(size=3))


@pytest.mark.parametrize("name", ["cart-pole", "five-bar", "diff-drive"])
def test_derivatives_of_a_mechanism_agree_with_complex_steps(name):
    m = kp.example(name)
    q = m.start()
    chosen = {"five-bar": ["left-crank", "right-crank"], "diff-drive": ["left-wheel", "right-wheel"]}.get(
        name
    )
    eq = equations_of(m, guess=q, actuators=chosen, cost={"energy": 0.5})
    start = end_values(eq, q, "start")
    costs = ((eq.costs["effort"], 1.0), (eq.costs["energy"], 0.5))
    phase = Phase(eq, duration_bounds(None), *variable_bounds(eq, False, start, start), start, start, costs)
    f = Problem((phase,)).functions[0]
    rng = np.random.default_rng(5)
    v = np.concatenate([[1.3], q + 0.1 * rng.normal(size=m.nq), rng.normal(size=eq.size - m.nq)])
    check_derivatives(f, v, np.array([0.4]), rng.normal(size=f.m))


def test_entries_that_are_always_zero_are_left_out():
    f = Pointwise(lambda v, d: np.array([v[0] * v[1], 3.0 * v[2]], dtype=object), 3, 1, "F")
    assert list(zip(f.rows.tolist(), f.columns.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 2)]
    assert list(zip(f.lower.tolist(), f.upper.tolist(), strict=True)) == [(1, 0)]


def test_derivatives_of_an_integrated_interval_agree_with_complex_steps():
    eq = explicit(equations_of(kp.example("double-pendulum")))
    start = end_values(eq, [0.1, 0.2], "start")
    phase = Phase(
        eq, (1.0, 1.0), *variable_bounds(eq, False, start, start), start, start, ((eq.costs["effort"], 1.0),)
    )
    f = Problem((phase,)).shots[0]
    rng = np.random.default_rng(8)
    check_derivatives(f, rng.normal(size=f.n), np.array([0.4, 0.1]), rng.normal(size=f.m))
