"""m.torch: values, derivatives, batches and messages."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from arms import DT, STEPS, arm, problem, slopes

import kinpair as kp

M = arm()


def tensors(*arrays, grad=True):
    return [torch.tensor(x, dtype=torch.float64, requires_grad=grad) for x in arrays]


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics"])
def test_values_and_derivatives(name):
    rng = np.random.default_rng(1)
    states = tensors(*rng.normal(size=(3, 4, M.nv)))
    function = getattr(M.torch, name)
    assert np.array_equal(
        function(*states).detach().numpy(), getattr(M, name)(*(x.detach().numpy() for x in states))
    )
    assert torch.autograd.gradcheck(function, states, eps=1e-6, atol=1e-5, rtol=1e-6, nondet_tol=1e-12)


def test_a_step_is_that_of_the_stepper():
    q, qd, tau = problem(M)
    s = kp.stepper(M, dt=DT, integrator="rk4")
    s.reset(q, qd)
    expected = s.step(tau[0])
    found = M.torch.step(*tensors(q, qd, tau[0], grad=False), DT)
    for x, y in zip(found, expected, strict=True):
        assert np.abs(x.numpy() - y).max() < 1e-13


def test_the_gradient_of_a_rollout_is_ours():
    q, qd, tau = problem(M)
    *expected, last = slopes(M, q, qd, tau)
    leaves = tensors(q, qd, tau)
    positions, _ = M.torch.rollout(*leaves, DT)
    assert positions.shape == (STEPS, M.nv)
    assert np.abs(positions[-1].detach().numpy() - last).max() < 1e-12
    positions[-1].sum().backward()
    for leaf, x in zip(leaves, expected, strict=True):
        assert np.abs(leaf.grad.numpy() - x).max() <= 1e-10 * max(1.0, np.abs(x).max())


def test_a_batch_costs_what_it_costs_in_numpy():
    rng = np.random.default_rng(2)
    arrays = list(rng.normal(size=(3, 4096, M.nv)))
    shared = [torch.from_numpy(x) for x in arrays]

    calls = (lambda: M.torch.forward_dynamics(*shared), lambda: M.forward_dynamics(*arrays))
    times = np.zeros((40, 2))
    for row in times:  # one after the other, so that other work on the machine meets both
        for k, call in enumerate(calls):
            before = time.process_time()
            call()
            row[k] = time.process_time() - before
    ratio = np.divide(*times.min(axis=0))
    print(f"torch {ratio:.3f} times NumPy")
    assert ratio < 1.3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda x: x.float(),
            "forward_dynamics got a tensor of torch.float32; kinpair computes in float64: x.double()",
        ),
        (
            lambda x: x.to("meta"),
            "forward_dynamics got a tensor on meta; kinpair computes on the CPU: x.cpu()",
        ),
        (
            lambda x: x.numpy(),
            "forward_dynamics of m.torch takes tensors, not ndarray; torch.as_tensor makes one",
        ),
    ],
)
def test_messages(change, message):
    q, qd, tau = tensors(*np.zeros((3, M.nv)), grad=False)
    with pytest.raises(kp.InputError) as caught:
        M.torch.forward_dynamics(change(q), qd, tau)
    assert str(caught.value) == message


def test_quaternions_and_loops_are_rejected():
    with pytest.raises(kp.InputError, match="has quaternions"):
        kp.example("floating-arm").torch  # noqa: B018
    with pytest.raises(kp.InputError, match="does not keep loops closed"):
        kp.example("four-bar").torch.step(*tensors(*np.zeros((3, 3)), grad=False))
