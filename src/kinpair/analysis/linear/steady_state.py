"""Residual of an equilibrium or a steady motion, and its derivatives.

A steady motion stands still in axes that turn about the vertical e with the rate c. A body on the ground with a
quaternion turns with these axes, and it may spin against them about an axis s of its symmetry, as a disk that rolls:

    ω = c e + s,   r = [ q̈ − Ω(−s) q̇ ]_I = 0         c = 0, s = 0: an equilibrium, or constant rates      (EQ1)

Its change for displacements ξ, independent rates η and efforts τ, as (LI16), and that of the rates which are given:

    δr = [f_q Z_h + (f_q̇ − Ω) Y Z_h]_I ξ + [(f_q̇ − Ω) Z]_I η + [f_τ]_I τ + [Ω(δs) q̇]_I                     (EQ2)
    δω = e δc + δs + c e × δq                                                                             (EQ3)

Internal states x stand still as well, and inputs u take the place of τ, which is what the actuators make of them:

    ẋ = g(q, q̇, x, u) = 0,   δẋ = (g_q + g_q̇ Y) Z_h ξ + g_q̇ Z η + g_x δx + g_u δu,   δτ = τ_x δx + τ_u δu      (EQ4)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinpair.analysis.linear.point import turned, turning_joints
from kinpair.formulations import kinematics
from kinpair.spatial.rotation import skew

if TYPE_CHECKING:
    from kinpair.analysis.linear.independence import Independence, Variations
    from kinpair.analysis.linear.partials import Partials
    from kinpair.model.model import Model

Spins = Mapping[str, np.ndarray]  # s by joint, in axes of the child


def grounded(model: Model) -> dict[str, int]:
    """Numbers of the bodies that a joint with a quaternion connects to the ground, by its name."""
    return {model.joint_names[i]: i for i in turning_joints(model) if model.parent[i] == 0}


def vertical(model: Model, i: int, q: np.ndarray) -> np.ndarray:
    """e in axes of body i on the ground; z is up where there is no gravity."""
    size = float(np.linalg.norm(model.gravity))
    up = -np.asarray(model.gravity, dtype=float) / size if size else np.array([0.0, 0.0, 1.0])
    return np.asarray(kinematics.placement(model.body[i], q[model.q_span[i]]).R.T @ up, dtype=float)


def turning_rates(model: Model, q: np.ndarray, c: float, spins: Spins) -> dict[int, float]:
    """ω = c e + s by number of the rate, of the joints that turn.    (EQ1)"""
    found: dict[int, float] = {}
    for name, i in grounded(model).items():
        if c or name in spins:
            omega = c * vertical(model, i, q) + spins.get(name, np.zeros(3))
            found |= {model.v_span[i].start + k: float(x) for k, x in enumerate(omega)}
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Residual:
    """r (nI + nx,), ẋ at its end, and its derivatives by ξ, η and τ, by internal states x and what is controlled (u, or
    τ itself), and by the size of each spin at constant rates."""

    r: np.ndarray
    xi: np.ndarray
    eta: np.ndarray
    tau: np.ndarray
    x: np.ndarray
    control: np.ndarray
    spins: Mapping[str, np.ndarray]

    @classmethod
    def joined(cls, motion: Residual, rates: Residual) -> Residual:
        """The rows of both."""
        spins = {name: np.concatenate([s, np.zeros(len(rates.r))]) for name, s in motion.spins.items()}
        parts = ("r", "xi", "eta", "tau", "x", "control")
        both = {p: np.concatenate([getattr(motion, p), getattr(rates, p)]) for p in parts}
        return cls(**both, spins=spins)


def residual(
    model: Model,
    qd: np.ndarray,
    spins: Spins,
    f: Partials,
    x: Independence,
    v: Variations,
    x_size: np.ndarray | float = 1.0,
) -> Residual:
    """Compute the residual at a state; rows of ẋ are divided by its sizes.    (EQ1), (EQ2), (EQ4)"""
    I = list(x.rates)
    Omega = turned(model, {name: -s for name, s in spins.items()})
    rates = f.qd - Omega
    by_xi = f.q @ v.Z_h + rates @ (v.Y @ v.Z_h)
    by_spin = {name: (turned(model, {name: s / np.linalg.norm(s)}) @ qd)[I] for name, s in spins.items()}
    r, eta, tau = (f.qdd - Omega @ qd)[I], (rates @ v.Z)[I], f.tau[I]
    if f.ports is None:
        return Residual(r, by_xi[I], eta, tau, np.zeros((len(I), 0)), tau, by_spin)
    by_x, by_u = f.ports.effort[2:]
    motion = Residual(r, by_xi[I], eta, tau, tau @ by_x, tau @ by_u, by_spin)
    g_q, g_qd, g_x, g_u = (part / np.reshape(x_size, (-1, 1)) for part in f.ports.rate)
    none = np.zeros((len(g_x), tau.shape[-1]))
    xi = (g_q + g_qd @ v.Y) @ v.Z_h
    return Residual.joined(
        motion, Residual(f.ports.x_rate / x_size, xi, g_qd @ v.Z, none, g_x, g_u, {})
    )  # (EQ4)


@dataclass(frozen=True, slots=True, eq=False)
class RateChange:
    """Change of the rates that are given: by displacements (n, nv), by c (n,), and by the size of each spin (n,)."""

    q: np.ndarray
    c: np.ndarray
    spins: Mapping[str, np.ndarray]


def rate_change(model: Model, q: np.ndarray, c: float, spins: Spins, given: list[int]) -> RateChange:
    """Compute the change of the rates with these numbers.    (EQ3)"""
    by_q, by_c = np.zeros((len(given), model.nv)), np.zeros(len(given))
    by_spin = {name: np.zeros(len(given)) for name in spins}
    for name, i in grounded(model).items():
        start = model.v_span[i].start
        e = vertical(model, i, q)
        for n, k in enumerate(given):
            if start <= k < start + 3:
                by_q[n, start : start + 3] = c * skew(e)[k - start]
                by_c[n] = e[k - start]
                if name in spins:
                    by_spin[name][n] = (spins[name] / np.linalg.norm(spins[name]))[k - start]
    return RateChange(by_q, by_c, by_spin)
