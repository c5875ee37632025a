"""`kp.linearise`: exact derivatives of the motion, on the independent coordinates and rates.

Changes of the state obey (LI1) to (LI4). In axes that turn by Ω (LI5), with T the bracket of the rates
(`Pair.bracket`) and q̈ = f(q, q̇, τ) the accelerations with all constraints in force:

    ξ̇ = [ (Z η + Y Z_h ξ) − (T + Ω) Z_h ξ ]_J                                                  (LI15)
    η̇ = [ f_q Z_h ξ + (f_q̇ − Ω)(Z η + Y Z_h ξ) + f_τ (B_u u + Jᵀ w) ]_I                         (LI16)

and of internal states, ẋ = g(q, q̇, x, u),

    δẋ = g_q Z_h ξ + g_q̇ (Z η + Y Z_h ξ) + g_x δx + g_u δu                                     (LI19)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.analysis.linear.independence import Independence, Variations, independence_of
from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.analysis.linear.partials import (
    ROUNDING,
    AtRest,
    Output,
    Partials,
    cleaned,
    outputs_of,
    partials,
    phases_at,
)
from kinpair.analysis.linear.point import (
    OperatingPoint,
    Point,
    brackets,
    check_obeys,
    has_ports,
    movable,
    point_of,
    steady_axes,
    turned,
    turning_joints,
    unspun,
)
from kinpair.errors import InputError, listed, nearest
from kinpair.mechanism import Mechanism
from kinpair.system import System

WRENCH = ("nx", "ny", "nz", "fx", "fy", "fz")


def linearise(
    mechanism: Mechanism | System,
    q: Any,
    qd: Any = None,
    x: Any = None,
    u: Any = None,
    *,
    inputs: Sequence[str] | None = None,
    outputs: Any = None,
    disturbances: Sequence[str] = (),
    independent: Sequence[str] | None = None,
    axes: Mapping[str, Any] | None = None,
    passive: bool = True,
    time: Any = 0.0,
) -> LinearModel:
    """The linear model of small changes about a state, or along a motion; see docs/linear.md.

    * `q`, `qd`, internal states `x`, those of the start by default, and inputs `u`, zero by default and efforts where
      there are no actuators: arrays, or entries by name. With an axis of states in front the model is that along a
      motion;
    * `inputs`: names of the inputs, or of the rates whose efforts are inputs, all by default; `outputs`: names, frames
      or functions, by default the states; `disturbances`: links and frames at which a wrench may act;
    * `independent`: names of the independent rates; by default those from which the others follow best;
    * `axes`: angular velocity of the axes of measurement against the child (3,), by joint with a quaternion; by default
      those in which a steady motion stands still.

    Joints with dry friction at rest keep their phase: one that sticks stays where it is. `model.sticking` names them;
    `model.at_boundary` is true where one is at its level, and the derivatives hold on one side only.

    Units: q [rad] or [m], rates [rad/s] or [m/s], inputs [N m] or [N] where there are no actuators.
    """
    m = movable("linearise", mechanism)
    at = point_of(m, q, qd, u, time, x)
    check_obeys(m, at)
    phases = phases_at(m, at) if passive else AtRest()
    f = partials(m, at, passive)
    chosen, v = independence_of(m, at, f.qdd, independent)
    turning = _axes(m, at, f.qdd, axes)
    A, felt = state_matrix(m, at, f, chosen, v, turned(m.model, turning))
    efforts, names = input_efforts(m, inputs)
    B = felt @ (efforts if f.ports is None else f.ports.effort[3] @ efforts)
    if f.ports is not None:
        A, B, felt = _with_ports(A, B, felt, f, v, chosen, efforts)
    wrenches, acting = _wrench_efforts(m, at, disturbances)
    states = state_names(m, chosen)
    A, back = _along_axes(m, at, A, chosen, v, turning)
    model = LinearModel(
        mechanism=m,
        A=A,
        B=B,
        C=np.broadcast_to(np.eye(len(states)), A.shape),
        D=np.zeros((*A.shape[:-1], len(names))),
        E=felt @ wrenches,
        F=np.zeros((*A.shape[:-1], len(acting))),
        states=states,
        inputs=names,
        outputs=states,
        disturbances=acting,
        at=_operating_point(at, f, chosen, turning),
        displacements=v.Z_h,
        sticking=phases.sticking,
        at_boundary=phases.at_boundary,
    )
    if outputs is None:
        return model
    looked = _looked_at(model, at, f, v, outputs_of(m, outputs), efforts, wrenches)
    return looked if back is None else replace(looked, C=looked.C @ back)


def state_names(m: Mechanism | System, x: Independence) -> tuple[str, ...]:
    """Displacements, then rates."""
    names = m.v_names
    internal = m.x_names if isinstance(m, Mechanism) else ()
    motion = (*(f"q.{names[k]}" for k in x.coordinates), *(f"qd.{names[k]}" for k in x.rates))
    return (*motion, *(f"x.{name}" for name in internal))


def _operating_point(
    at: Point, f: Partials, x: Independence, turning: Mapping[str, np.ndarray]
) -> OperatingPoint:
    own = {"x": at.x, "u": at.u, "x_rate": f.ports.x_rate} if f.ports is not None else {}
    return OperatingPoint(at.q, at.qd, at.tau, f.qdd, at.time, x.coordinates, x.rates, turning, **own)


def _with_ports(
    A: np.ndarray,
    B: np.ndarray,
    felt: np.ndarray,
    f: Partials,
    v: Variations,
    x: Independence,
    inputs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the model with internal states behind the others; their rates do not feel efforts.    (LI19)"""
    assert f.ports is not None
    g_q, g_qd, g_x, g_u = f.ports.rate
    own = np.concatenate([g_q @ v.Z_h + g_qd @ (v.Y @ v.Z_h), g_qd @ v.Z, g_x], axis=-1)
    whole = np.concatenate([np.concatenate([A, felt @ f.ports.effort[2]], axis=-1), own], axis=-2)
    none = np.zeros((*felt.shape[:-2], g_q.shape[-2], felt.shape[-1]))
    return whole, np.concatenate([B, g_u @ inputs], axis=-2), np.concatenate([felt, none], axis=-2)


def state_matrix(
    m: Mechanism | System, at: Point, f: Partials, x: Independence, v: Variations, Omega: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A (..., n, n), and what efforts add to ẋ (..., n, nv).    (LI15), (LI16)"""
    J, I = list(x.coordinates), list(x.rates)
    nq, rounding = len(J), f.rounding[..., I, None]
    rates = v.Y @ v.Z_h
    by_xi = rates - (brackets(m.model, at.qd) + Omega) @ v.Z_h
    turning = f.qd - Omega
    reach = np.abs(v.Z_h).sum(-2, keepdims=True) + np.abs(rates).sum(-2, keepdims=True)
    speed = np.abs(at.qd).max(-1, initial=0.0)[..., None, None]
    A = np.zeros((*at.batch, nq + len(I), nq + len(I)))
    A[..., :nq, :nq] = cleaned(by_xi[..., J, :], ROUNDING * speed)
    A[..., :nq, nq:] = v.Z[..., J, :]
    A[..., nq:, :nq] = cleaned((f.q @ v.Z_h + turning @ rates)[..., I, :], rounding * reach)
    A[..., nq:, nq:] = cleaned((turning @ v.Z)[..., I, :], rounding * np.abs(v.Z).sum(-2, keepdims=True))
    felt = np.zeros((*at.batch, nq + len(I), m.nv))
    felt[..., nq:, :] = f.tau[..., I, :]
    return A, felt


def _along_axes(
    m: Mechanism | System,
    at: Point,
    A: np.ndarray,
    x: Independence,
    v: Variations,
    turning: Mapping[str, np.ndarray],
) -> tuple[np.ndarray, np.ndarray | None]:
    """A with changes of the rates measured along the axes that turn, (LI6a), and what takes such states back."""
    if not turning:
        return A, None
    nq, n = len(x.coordinates), A.shape[-1]
    S, back = np.eye(n), np.eye(n)
    rates = slice(nq, nq + len(x.rates))
    S[rates, :nq] = (unspun(m.model, at.q, at.qd, turning) @ v.Z_h)[list(x.rates)]
    back[rates, :nq] = -S[rates, :nq]
    found = S @ A @ back
    return cleaned(found, ROUNDING * (np.abs(S) @ np.abs(A) @ np.abs(back))), back


def input_efforts(m: Mechanism | System, inputs: Sequence[str] | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """The efforts, or inputs of actuators, (nv or nu, inputs) of unit inputs, and their names."""
    if isinstance(inputs, str):
        raise InputError(f"{m.name}: inputs is {inputs!r}; give a tuple of names, ({inputs!r},)")
    known, word = (m.u_names, "u") if isinstance(m, Mechanism) and has_ports(m) else (m.v_names, "tau")
    numbers = list(range(len(known)))
    if inputs is not None:
        entries = [str(name).removeprefix(f"{word}.") for name in inputs]
        for name in entries:
            if name not in known:
                raise InputError(
                    f"{m.name}: no input {name!r}; {nearest(name, known)}Inputs: {listed(known)}", input=name
                )
        numbers = [known.index(name) for name in entries]
    return np.eye(len(known))[:, numbers], tuple(f"{word}.{known[k]}" for k in numbers)


def _axes(
    m: Mechanism | System, at: Point, qdd: np.ndarray, given: Mapping[str, Any] | None
) -> Mapping[str, np.ndarray]:
    if given is None:
        return {} if at.batch else steady_axes(m.model, at.q, at.qd, qdd)
    known = [m.model.joint_names[i] for i in turning_joints(m.model)]
    for name, nu in given.items():
        if name not in known or np.shape(nu) != (3,):
            raise InputError(
                f"{m.name}: axes of {name!r} are {nu!r}; give three numbers [rad/s] by name of a joint with a "
                f"quaternion: {listed(known) or 'there is none'}",
                joint=name,
            )
    return {name: np.asarray(nu, dtype=float) for name, nu in given.items()}


def _wrench_efforts(
    m: Mechanism | System, at: Point, frames: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Jᵀ (..., nv, 6 frames) of unit wrenches in world axes at the origins of frames, and their names."""
    names = (frames,) if isinstance(frames, str) else tuple(frames)
    if not names:
        return np.zeros((*at.batch, m.nv, 0)), ()
    if isinstance(m, System):
        raise InputError(
            f"{m.name}: is given by its energy and has no links, so there is nothing for disturbances= to act on"
        )
    columns = [np.swapaxes(m.jacobian(at.q, frame), -1, -2) for frame in names]
    return np.concatenate(columns, axis=-1), tuple(f"{frame}.{x}" for frame in names for x in WRENCH)


def _looked_at(
    model: LinearModel,
    at: Point,
    f: Partials,
    v: Variations,
    outputs: Sequence[Output],
    efforts: np.ndarray,
    wrenches: np.ndarray,
) -> LinearModel:
    """C, D and F of (LI14): δq = Z_h ξ, δq̇ = Z η + Y Z_h ξ, and δq̈ and δτ that follow."""
    internal = np.zeros((*v.Z.shape[:-1], f.ports.x_rate.shape[-1] if f.ports is not None else 0))
    q_x = np.concatenate([v.Z_h, np.zeros(v.Z.shape), internal], axis=-1)
    qd_x = np.concatenate([v.Y @ v.Z_h, v.Z, internal], axis=-1)
    tau_x, tau_u = np.zeros(q_x.shape), efforts
    qdd_x = f.q @ q_x + f.qd @ qd_x
    if f.ports is not None:
        by_q, by_qd, by_x, by_u = f.ports.effort
        own = np.concatenate([np.zeros((*v.Z_h.shape[:-1], q_x.shape[-1] - by_x.shape[-1])), by_x], axis=-1)
        tau_x, tau_u = by_q @ q_x + by_qd @ qd_x + own, by_u @ efforts
        qdd_x = qdd_x + f.tau @ own
    C, D, F = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
    for output in outputs:
        g_q, g_qd, g_qdd, g_tau = output.gradients(at)
        C.append(g_q @ q_x + g_qd @ qd_x + g_qdd @ qdd_x + g_tau @ tau_x)
        D.append((g_qdd @ f.tau + g_tau) @ tau_u)
        F.append(g_qdd @ f.tau @ wrenches)
    names = tuple(name for output in outputs for name in output.names)
    whole = {key: np.concatenate(part, axis=-2) for key, part in (("C", C), ("D", D), ("F", F))}
    return replace(model, outputs=names, **whole)
