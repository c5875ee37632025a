"""Preview control: an output follows a reference that is known ahead (Katayama et al. 1985; Kajita et al. 2003).

    x_{k+1} = A x_k + B u_k,   y_k = C x_k
    u_k = −G_i Σ_{i≤k} (y_i − r_i) − G_x x_k − Σ_{j=1..N} G_d(j) r_{k+j}                                    (PC1)

With Ã = [1 CA; 0 A], B̃ = [CB; B], Q̃ = diag(Q, 0), S the steady solution of (RG4) for them, D = (R + B̃ᵀ S B̃)⁻¹:

    [G_i G_x] = D B̃ᵀ S Ã                                 the first columns are those of the sum              (PC2)
    G_d(1) = −G_i,   G_d(j) = D B̃ᵀ X_{j−1},   X_1 = −(Ã − B̃ [G_i G_x])ᵀ S Ĩ,   X_j = (Ã − B̃ [G_i G_x])ᵀ X_{j−1}    (PC3)

with Ĩ = [1; 0].

A regulator that follows a reference known ahead: `kp.regulator.preview`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from kinpair.algebra.arrays import Vector
from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.point import check_no_ports
from kinpair.control import riccati
from kinpair.control.laws import scattered
from kinpair.control.regulator import Measured, Regulator, Table
from kinpair.errors import InputError, expect
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.motion.trajectory import Trajectory


@final
@dataclass(frozen=True, eq=False, repr=False)
class PreviewLaw(Regulator):
    """u = u⁰ − G_i z − G_x x + f(t),  z ← z + y − y⁰(t),  y = C x: see `preview.py`; f is the sum over the future."""

    coordinates: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()
    inputs: tuple[int, ...] = ()
    outputs: int = 1

    @property
    def memory(self) -> np.ndarray:
        return np.zeros(self.outputs)

    def act(self, at: Measured, row: Vector, memory: Vector) -> tuple[Vector, Vector]:
        t, m = self.table, len(self.inputs)
        x = np.concatenate(
            [
                kinematics.difference(self.model, t.part(row, "q"), at.q)[list(self.coordinates)],
                (at.qd - t.part(row, "qd"))[list(self.rates)],
            ]
        )
        y = t.part(row, "C").reshape(self.outputs, -1) @ x
        z = memory + y - t.part(row, "reference")
        G_i, G_x = (t.part(row, name).reshape(m, -1) for name in ("G_i", "G_x"))
        u = t.part(row, "u") - G_i @ z - G_x @ x + t.part(row, "ahead")
        return scattered(u, self.inputs, self.model.nv), z


class Sampled(NamedTuple):
    """x_{k+1} = A x_k + B u_k, y = C x, from one sample to the next, `dt` [s] later."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    dt: float


def cart_table(height: float, sample_time: float, gravity: float = 9.81) -> Sampled:
    """A cart on a light table: the state is place, speed and acceleration of its mass, the input the jerk, the
    output the point of the floor about which the table does not tip, p = x − (h/g) ẍ.

    Units: height [m], sample time [s].
    """
    T = float(sample_time)
    A = np.array([[1.0, T, T * T / 2], [0.0, 1.0, T], [0.0, 0.0, 1.0]])
    B = np.array([[T**3 / 6], [T * T / 2], [T]])
    return Sampled(A, B, np.array([[1.0, 0.0, -float(height) / float(gravity)]]), T)


@dataclass(frozen=True, slots=True, eq=False)
class PreviewGains:
    """G_i (inputs, outputs), G_x (inputs, states), G_d (steps, inputs, outputs) of (PC1), and the model they are
    for."""

    model: Sampled
    G_i: np.ndarray
    G_x: np.ndarray
    G_d: np.ndarray
    residual: float

    def ahead(self, reference: np.ndarray) -> np.ndarray:
        """−Σ G_d(j) r_{k+j} (n, inputs) for each sample of a reference (n, outputs), which stays at its last value."""
        N, n = len(self.G_d), len(reference)
        longer = np.concatenate([reference, np.repeat(reference[-1:], N, axis=0)])
        return -sum((longer[j + 1 : j + 1 + n] @ self.G_d[j].T for j in range(N)), np.zeros(1))

    def follow(self, reference: Any, start: Any = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """States (n, states), outputs (n, outputs) and inputs (n, inputs) along a reference (n,) or (n, outputs)."""
        A, B, C, _ = self.model
        r = np.asarray(reference, dtype=float).reshape(-1, len(C))
        ahead = self.ahead(r)
        x, z = np.zeros(len(A)) if start is None else np.asarray(start, dtype=float), np.zeros(len(C))
        states, inputs = np.empty((len(r), len(A))), np.empty((len(r), B.shape[1]))
        for k in range(len(r)):
            z = z + C @ x - r[k]
            u = -self.G_i @ z - self.G_x @ x + ahead[k]  # (PC1)
            states[k], inputs[k] = x, u
            x = A @ x + B @ u
        return states, states @ C.T, inputs


def preview_gains(model: Any, *, steps: int, Q: Any = 1.0, R: Any = 1e-6) -> PreviewGains:
    """The gains of (PC1) for a sampled model: `cart_table(...)`, or a LinearModel with a sample time and outputs
    without a direct share of the inputs. Q weighs what is missed of the outputs, R changes of the inputs."""
    A, B, C = (np.asarray(getattr(model, name), dtype=float) for name in "ABC")
    if getattr(model, "dt", None) is None:
        raise InputError("preview needs a model from sample to sample; take model.discrete(sample_time)")
    if np.abs(getattr(model, "D", np.zeros(1))).max(initial=0.0) > 0.0:
        raise InputError(
            "preview needs outputs that do not jump with the inputs; leave out accelerations and efforts"
        )
    if not (isinstance(steps, int) and steps > 0):  # type: ignore[redundant-expr]
        raise InputError(f"preview: steps is {steps!r}; give how many samples are known ahead, 1 or more")
    n, p = len(A), len(C)
    whole = np.block([[np.eye(p), C @ A], [np.zeros((n, p)), A]])
    inputs = np.vstack([C @ B, B])
    weight = np.zeros((n + p, n + p))
    weight[:p, :p] = np.atleast_2d(Q) * np.eye(p) if np.ndim(Q) < 2 else Q
    cost = np.atleast_2d(R) * np.eye(B.shape[1]) if np.ndim(R) < 2 else np.asarray(R, dtype=float)
    K, S, left = riccati.sampled(whole, inputs, weight, cost, 1.0)  # (PC2)
    over = np.linalg.inv(cost + inputs.T @ S @ inputs) @ inputs.T
    closed = (whole - inputs @ K).T
    X = -closed @ S[:, :p]
    G_d = [-K[:, :p]]
    for _ in range(steps - 1):
        G_d.append(over @ X)  # (PC3)
        X = closed @ X
    return PreviewGains(Sampled(A, B, C, float(model.dt)), K[:, :p], K[:, p:], np.array(G_d), left)


def preview(
    model: LinearModel, reference: Trajectory, *, steps: int, Q: Any = 1.0, R: Any = 1e-6
) -> tuple[PreviewLaw, PreviewGains]:
    """A regulator by which the outputs of a mechanism follow a reference that is known `steps` samples ahead: (PC1).

    `model`: about a state, with the outputs that are to follow (`outputs=`) and a sample time, `model.discrete(T)`;
    `reference`: a trajectory of changes of these outputs. Its gains are returned with it.
    """
    expect("preview", model, LinearModel, advice="kp.linearise(m, q).discrete(sample_time) is one")
    if model.along or model.dt is None or model.at.axes or not isinstance(model.mechanism, Mechanism):
        raise InputError(
            f"{model.name}: preview needs the linear model of a mechanism about a state, from sample to sample; "
            "take linearise(...).discrete(sample_time)"
        )
    check_no_ports("preview", model.mechanism)
    gains = preview_gains(model, steps=steps, Q=Q, R=R)
    p, m = len(model.C), model.mechanism
    if np.prod(reference.shape, dtype=int) != p:
        raise InputError(f"{m.name}: the reference has shape {reference.shape}, and the model {p} outputs")
    count = int(np.ceil(reference.duration / model.dt)) + steps + 1
    times = model.dt * np.arange(count)
    r = np.reshape(np.asarray(reference.at(times).q, dtype=float), (count, p))
    numbers = tuple(m.v_names.index(name.removeprefix("tau.")) for name in model.inputs)
    table = Table.of(
        times,
        {"reference": r, "ahead": gains.ahead(r)},
        {
            "G_i": gains.G_i,
            "G_x": gains.G_x,
            "C": model.C,
            "q": model.at.q,
            "qd": model.at.qd,
            "u": model.at.tau[list(numbers)],
        },
    )
    parts = {"coordinates": model.at.coordinates, "rates": model.at.rates, "inputs": numbers}
    return PreviewLaw(m.model, table, outputs=p, sample_time=model.dt, **parts), gains
