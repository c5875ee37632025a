"""m.jax: values, derivatives, maps and messages."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from arms import DT, STEPS, arm, problem, slopes

import kinpair as kp

M = arm()


def test_float64_must_be_set():
    assert not jax.config.jax_enable_x64  # the first test of this file: kinpair never sets it
    with pytest.raises(kp.InputError) as caught:
        M.jax  # noqa: B018
    assert str(caught.value) == (
        "m.jax computes in float64, and JAX is set to float32; write "
        'jax.config.update("jax_enable_x64", True) before'
    )
    jax.config.update("jax_enable_x64", True)


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
def test_values_derivatives_and_maps(name):
    rng = np.random.default_rng(1)
    states = rng.normal(size=(3, 5, M.nv))
    function, expected = getattr(M.jax, name), getattr(M, name)(*states)
    assert np.abs(np.asarray(function(*states)) - expected).max() < 1e-12
    assert np.abs(np.asarray(jax.jit(jax.vmap(function))(*states)) - expected).max() < 1e-12
    one = states[:, 0]
    for k in range(3):
        J = np.asarray(jax.jacobian(function, argnums=k)(*one))
        for j in range(M.nv):
            e = np.zeros((3, M.nv))
            e[k, j] = 1e-6
            slope = (getattr(M, name)(*(one + e)) - getattr(M, name)(*(one - e))) / 2e-6
            assert np.abs(J[:, j] - slope).max() < 1e-5 * max(1.0, np.abs(slope).max())


def test_the_gradient_of_a_rollout_is_ours():
    q, qd, tau = problem(M)
    *expected, last = slopes(M, q, qd, tau)

    def end(q, qd, tau):
        positions, _ = M.jax.rollout(q, qd, tau, DT)
        return positions[-1].sum(), positions

    gradients, positions = jax.jit(jax.grad(end, argnums=(0, 1, 2), has_aux=True))(q, qd, tau)
    assert positions.shape == (STEPS, M.nv)
    assert np.abs(np.asarray(positions[-1]) - last).max() < 1e-12
    for found, x in zip(gradients, expected, strict=True):
        assert np.abs(np.asarray(found) - x).max() <= 1e-10 * max(1.0, np.abs(x).max())


def test_an_array_of_float32_is_rejected():
    with pytest.raises(kp.InputError, match="got an array of float32; kinpair computes in float64"):
        M.jax.forward_dynamics(*np.zeros((3, M.nv), dtype=np.float32))
