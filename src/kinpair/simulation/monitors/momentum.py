"""Momentum that nothing outside can change, and how well a run keeps it.

A rigid motion s = [ω; v] of the whole mechanism, which its joints to the ground allow wherever it stands, meets no
reaction of the ground. Along it momentum stays what it was while nothing else acts from outside:

    ṡ·h = 0        h = [angular about the world's origin; linear], of all that moves              (MO1)
    g·v = 0, g × ω = 0                                     gravity does no work along s           (MO2)
    |s·h| ≤ √(2T · sᵀMs)                                   M: inertia of all that moves as one body (MO3)

A constraint with the ground takes momentum up along s unless its rows allow s wherever the mechanism stands. Samples
alone cannot decide: a knife edge allows a push along it, and looks as if it always did where its heading is the same at
every sample. So the rows must allow s at the samples and at other positions and times too, loops open or closed. Where
they do so by their structure, they do so there; what they allow on closed loops only is not spoken of.

    A(q, t) X(q) s = 0                                     at the samples and elsewhere           (MO4)

The bound (MO3) is what a change of s·h is measured with: momentum itself may be zero throughout. A rotor at a joint to
the ground turns with its rate and is no part of h; where there is one, or where a drive may act there, nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from kinpair.algebra.arrays import is_nothing
from kinpair.constraints.rows.loads import by_constraint
from kinpair.constraints.solvers.rank_revealing import lengths
from kinpair.forces.elements import elements_of
from kinpair.forces.states import has_actuators
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.simulation.events.events import Event
from kinpair.simulation.given import Missing
from kinpair.simulation.rounding import MOMENTUM_KNOWN, SAME_DIRECTION
from kinpair.simulation.torques import torque_of

SAMPLES, ROWS = 256, 2_048  # of a motion, and of all together, at which momentum is looked at; two at least
MOMENTUM = "momentum"  # kind of a constraint that keeps it
TRIES, APART = (
    3,
    1.0,
)  # positions at which joints and rows are asked what they allow, and how far away [m], [rad], [s]

State = tuple[np.ndarray, float]  # q, time


@dataclass(frozen=True, eq=False)
class Momentum:
    """Momentum that a run kept: `directions` (k, 6) [ω; v], how many of them are linear, and of each motion (rows,
    k) the largest change [kg m²/s, kg m/s], alone and `relative` to the largest that it could have been.

    `size` is the largest entry of h, `kinetic` the largest kinetic energy of each motion (rows,) [J].
    """

    directions: np.ndarray
    linear: int
    drift: np.ndarray
    size: float
    kinetic: np.ndarray
    model: Model
    q: np.ndarray

    @property
    def is_rounding(self) -> bool:
        """True if the change is no more than rounding."""
        return bool(self.drift.max(initial=0.0) <= MOMENTUM_KNOWN * self.size)

    @cached_property
    def relative(self) -> np.ndarray:
        """The change as a part of the bound (MO3), with the inertia at the start."""
        S, M = self.directions, np.asarray(kinematics.rigid_inertia(self.model, self.q), dtype=float)
        bound = np.sqrt(2.0 * self.kinetic[:, None] * np.einsum("kn,nm,km->k", S, M, S))  # (MO3)
        return np.divide(self.drift, bound, out=np.zeros_like(self.drift), where=bound > 0.0)

    @property
    def words(self) -> str:
        """Name the components of the momentum."""
        counts = {"linear": self.linear, "angular": len(self.directions) - self.linear}
        named = [f"{kind} momentum ({n} of 3 components)" for kind, n in counts.items() if n]
        return " and ".join(named)


def momentum_of(
    mechanism: Mechanism, options: Mapping[str, Any], time: np.ndarray, samples: Mapping[str, np.ndarray]
) -> Momentum | None:
    """Momentum of samples q, qd, tau (..., n, k) and kinetic (..., n); None where the ground can take momentum up."""
    touches = mechanism.model.contacts is not None
    if not len(time) or touches or not _alone(mechanism, options):
        return None
    if _is_held(mechanism.model, options) or not _allowed(mechanism.model).size:
        return None
    q, qd, tau = (np.reshape(samples[name], (-1, *samples[name].shape[-2:])) for name in ("q", "qd", "tau"))
    T = np.reshape(samples["kinetic"], (len(q), -1))
    chosen = _evenly(len(time), max(2, min(SAMPLES, ROWS // len(q))))
    if len(chosen) < len(time):
        q, qd, tau, T = (np.asarray(x[:, chosen]) for x in (q, qd, tau, T))
    states = _extremes(q, time[chosen]) if mechanism.closure is not None else [(q[0, 0], float(time[0]))]
    if not states or not np.isfinite(states[0][0]).all() or _driven(mechanism, options, states[0], tau):
        return None
    plain = _plain(mechanism.model)
    S = _directions(mechanism, plain, states)
    if not len(S):
        return None
    with np.errstate(all="ignore"):
        h = mechanism.momentum(*(np.ascontiguousarray(x.reshape(-1, x.shape[-1])) for x in (q, qd)))
        along = (h @ S.T).reshape(*q.shape[:2], len(S))
        drift = np.fmax.reduce(np.abs(along - along[:, :1]), axis=1)
        size, kinetic = float(np.fmax.reduce(np.abs(h), axis=None)), np.fmax.reduce(T, axis=1)
    linear = int((np.abs(S[:, :3]).max(axis=1) < SAME_DIRECTION).sum())
    return Momentum(S, linear, drift, size, kinetic, mechanism.model, states[0][0])


def _alone(mechanism: Mechanism, options: Mapping[str, Any]) -> bool:
    """True if nothing but gravity and drives acts, all through the run."""
    events: Any = options.get("events") or ()
    every = (events,) if isinstance(events, Event) else events
    acts = any(not isinstance(getattr(x, "action", None), str) for x in every)
    acted_on = any(options.get(name) for name in ("external", "parameters"))
    return not (acts or acted_on or mechanism.model.terms is not None)


@lru_cache(maxsize=64)
def _evenly(samples: int, count: int) -> np.ndarray:
    """Numbers of at most so many samples, the first and the last among them."""
    return np.unique(np.linspace(0, samples - 1, count).astype(int))


@lru_cache(maxsize=64)
def _plain(model: Model) -> Mechanism:
    """A mechanism for a few numbers, for which nothing is compiled."""
    return Mechanism(model, compiled=False)


@lru_cache(maxsize=64)
def _allowed(model: Model) -> np.ndarray:
    """Motions (6, k) that the roots allow wherever they stand, and gravity does not mind."""
    rng = np.random.default_rng(0)
    U, at = _without_gravity(np.asarray(model.gravity, dtype=float)), model.neutral()
    for _ in range(TRIES):
        for i in _roots(model):
            if U.size:
                U = _within(U, _motions(model, i, at))
        step = rng.uniform(-APART, APART, model.nv)
        at = kinematics.normalised(model, kinematics.moved(model, at, step))
    return U


def _roots(model: Model) -> list[int]:
    return [i for i in model.moving if model.parent[i] == 0]


def _extremes(q: np.ndarray, time: np.ndarray) -> list[State]:
    """Extremes of all motions (rows, n, nq) where they begin, and where each coordinate is at its least and its
    largest."""
    every = np.reshape(q, (-1, q.shape[-1]))
    whole = np.flatnonzero(np.isfinite(every).all(axis=1))
    if not len(whole):
        return []
    extremes = [0, *every[whole].argmin(axis=0).tolist(), *every[whole].argmax(axis=0).tolist()]
    return [(every[k], float(time[k % len(time)])) for k in whole[list(dict.fromkeys(extremes))]]


def _elsewhere(model: Model, state: State) -> list[State]:
    """Positions and times around a state, whether constraints hold there or not."""
    rng, (q, time) = np.random.default_rng(0), state
    steps = rng.uniform(-APART, APART, (TRIES, model.nv))
    moments = time + rng.uniform(0.0, APART, TRIES)
    moved = [kinematics.normalised(model, kinematics.moved(model, q, step)) for step in steps]
    return list(zip(moved, moments.tolist(), strict=True))


def _directions(mechanism: Mechanism, plain: Mechanism, states: list[State]) -> np.ndarray:
    """S (k, 6), those that are linear first."""
    if mechanism.closure is None:
        return _ordered(mechanism.model)
    U, roots = _allowed(mechanism.model), _roots(mechanism.model)
    for q, time in [*states, *_elsewhere(mechanism.model, states[0])]:
        U = (
            U @ _kernel(_ground_rows(mechanism, q, time) @ _rates(plain, roots, U, q)) if U.size else U
        )  # (MO4)
    return _linear_first(U)


@lru_cache(maxsize=64)
def _ordered(model: Model) -> np.ndarray:
    return _linear_first(_allowed(model))


def _linear_first(U: np.ndarray) -> np.ndarray:
    if not U.size:
        return np.zeros((0, 6))
    linear = _kernel(U[:3])
    turning = _kernel(linear.T)
    return np.concatenate([U @ linear, U @ turning], axis=1).T


def _driven(mechanism: Mechanism, options: Mapping[str, Any], state: State, tau: np.ndarray) -> bool:
    """True if there is an effort between a root and the ground, or could be."""
    model = mechanism.model
    roots = _roots(model)
    if any(tau[..., model.v_span[i]].any() for i in roots):
        return True
    own = [k for i in roots for k in range(model.nv)[model.v_span[i]]]
    return _may_drive(mechanism, options.get("torque"), own, state)


def _is_held(model: Model, options: Mapping[str, Any]) -> bool:
    """True if an element acts on the ground, or a limit or rotor between a root and the ground."""
    limits = options.get("limits", "ignore")
    return _acts_on_ground(model, options.get("passive", True), getattr(limits, "way", limits) != "ignore")


@lru_cache(maxsize=64)
def _acts_on_ground(model: Model, passive: bool, with_limits: bool) -> bool:
    if any(0 in x.bodies for x in elements_of(model, passive=passive, driven=has_actuators(model))):
        return True
    joints, roots = model.joints, _roots(model)
    ends = [x[model.q_span[i]] for i in roots for x in (joints.lower, joints.upper)] if with_limits else []
    return any(np.any(model.body[i].rotor) for i in roots) or any(np.isfinite(x).any() for x in ends)


def _may_drive(mechanism: Mechanism, efforts: Any, own: list[int], state: State) -> bool:
    """True if the torque could be anything but zero for these rates, at some time. A function must be seen to be
    zero."""
    if efforts is None:
        return False
    if isinstance(efforts, Missing):
        return True
    q, time = state
    torque = torque_of(mechanism, efforts, q, np.zeros(mechanism.nv), time)
    if torque.kind in ("constant", "table"):
        return bool(torque.values[..., own].any())
    if torque.kind != "recorded":
        return torque.kind != "none"
    return not all(is_nothing(torque.function.program.outputs[0].entries[k]) for k in own)


def _kernel(A: np.ndarray) -> np.ndarray:
    """Orthonormal columns x with A x = 0, in units of the largest entry; none where A is not all numbers."""
    if not len(A):
        return np.eye(A.shape[1])
    if not np.isfinite(A).all():
        return np.zeros((A.shape[1], 0))
    _, sigma, Vt = np.linalg.svd(A / max(1.0, np.abs(A).max(initial=0.0)))
    return Vt[int((sigma > SAME_DIRECTION).sum()) :].T


def _without_gravity(g: np.ndarray) -> np.ndarray:
    """Motions along which it does no work, as columns.    (MO2)"""
    across = np.array([[0, -g[2], g[1]], [g[2], 0, -g[0]], [-g[1], g[0], 0]])
    return _kernel(np.block([[across, np.zeros((3, 3))], [np.zeros((1, 3)), g[None]]]))


def _motions(model: Model, i: int, q: np.ndarray) -> np.ndarray:
    """Twists (6, k) at the world's origin that the joint of a root allows."""
    own = q[model.q_span[i]]
    R, a = (np.asarray(x, dtype=float) for x in kinematics.placement(model.body[i], own))
    p = np.asarray(model.body[i].pair.p(own), dtype=float)
    e, u = R @ p[:3], R @ p[3:]
    return np.concatenate([e, u + np.cross(a, e, axisb=0, axisc=0)])


def _within(U: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Select of the motions U those that are among B."""
    if not U.size:
        return U
    return U @ _kernel(U - B @ np.linalg.lstsq(B, U, rcond=None)[0])


def _rates(plain: Mechanism, roots: list[int], U: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Rates (nv, k) of the motions U."""
    X = np.zeros((plain.nv, U.shape[1]))
    for i in roots:
        X[plain.model.v_span[i]] = np.linalg.lstsq(_motions(plain.model, i, q), U, rcond=None)[0]
    return X


def _ground_rows(mechanism: Mechanism, q: np.ndarray, time: float) -> np.ndarray:
    """Rows (rows, nv), each of length one, of the constraints but those that say themselves that momentum is kept."""
    closure = mechanism.closure
    if closure is None:
        return np.zeros((0, mechanism.nv))
    numbers = np.arange(len(closure.row_names))
    pairs = by_constraint(closure.constraints, numbers)
    kept = [int(k) for _, x, own in pairs if x.kind != MOMENTUM for k in own]
    A = closure.matrix(q, time)[kept]
    return A / lengths(A)[:, None]
