"""What both libraries are compared with: derivatives of a rollout in NumPy, propagated step by step."""

from __future__ import annotations

import numpy as np

import kinpair as kp

DT, STEPS = 1e-3, 100


def arm() -> kp.Mechanism:
    """Seven joints with the numbers of a Panda: lengths [m], masses [kg], axes in turn."""
    b = kp.Builder("arm")
    lengths, masses = (
        (0.333, 0.316, 0.0825, 0.384, 0.088, 0.107, 0.1),
        (4.97, 0.65, 3.23, 3.59, 1.23, 1.67, 0.74),
    )
    parent, reach = "ground", 0.0
    for k, (length, mass) in enumerate(zip(lengths, masses, strict=True), start=1):
        tensor = [mass * 0.01 + 0.002, mass * 0.012 + 0.001, mass * 0.008 + 0.003]
        b.link(f"link{k}", mass=mass, com=[0.01 * k, -0.02, length / 2], inertia=tensor)
        b.joint(
            f"joint{k}",
            "revolute",
            parent,
            f"link{k}",
            xyz=[0.02, 0, reach],
            axis="zyzyzyz"[k - 1],
            damping=0.3,
        )
        parent, reach = f"link{k}", length
    return kp.build(b)


def problem(m: kp.Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(7)
    return rng.uniform(-1, 1, m.nq), rng.normal(size=m.nv), rng.normal(size=(STEPS, m.nv))


def slopes(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
    """Derivatives of the sum of q after the steps of rk4 by q, qd and tau, by the chain rule from the end."""
    states, n = [(q, qd)], m.nv
    matrices: list[tuple[np.ndarray, np.ndarray]] = []
    for effort in tau:
        q, qd = states[-1]
        D, E = np.eye(2 * n), np.zeros((2 * n, n))  # of the state by the start of the step and by the effort

        def stage(y, dy, du, effort=effort):
            a = m.forward_dynamics(y[:n], y[n:], effort)
            by_q, by_qd, by_tau = m.forward_dynamics_derivatives(y[:n], y[n:], effort)
            A = np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_qd]])
            return np.concatenate([y[n:], a]), A @ dy, A @ du + np.concatenate([np.zeros((n, n)), by_tau])

        y = np.concatenate([q, qd])
        ks = [stage(y, D, E)]
        for h in (DT / 2, DT / 2, DT):
            k, dk, ek = ks[-1]
            ks.append(stage(y + h * k, D + h * dk, E + h * ek))
        sums = [DT / 6 * (ks[0][i] + 2 * ks[1][i] + 2 * ks[2][i] + ks[3][i]) for i in range(3)]
        y = y + sums[0]
        matrices.append((D + sums[1], E + sums[2]))
        states.append((y[:n], y[n:]))
    slope, by_tau = np.concatenate([np.ones(n), np.zeros(n)]), np.zeros_like(tau)
    for k in range(len(tau) - 1, -1, -1):
        D, E = matrices[k]
        by_tau[k] = slope @ E
        slope = slope @ D
    return slope[:n], slope[n:], by_tau, states[-1][0]
