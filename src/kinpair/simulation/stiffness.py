"""Motions that settle faster than explicit steps can follow: internal states, and rates with dampers.

Internal states are seen from ∂ẋ/∂x at the start. Dampers C of the joints settle with the rates λ of

    det(Zᵀ(C − λ M) Z) = 0                  Z: rates that the constraints leave free                        (SF1)
    R(−x) = 1 − x bᵀ(1 + x A)⁻¹ 1           one step of an explicit method (A, b) on ẏ = −λ y, x = λ dt       (SF2)

and steps are unstable where |R(−x)| > 1.
"""

from __future__ import annotations

import warnings

import numpy as np

from kinpair.algebra.arrays import columns, rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.rows.stacked import rows_at
from kinpair.constraints.solvers.rank_revealing import null_space
from kinpair.errors import InputError, RunWarning, caller_level
from kinpair.forces.states import ports_of, state_rates
from kinpair.formulations import composite
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.integrators import Integrator

REMEDY = "Give a smaller dt, or integrator='time-stepping', which is stable with dampers of joints"
INSTEAD = "'time-stepping' is used, which is stable with dampers of joints and of first order in dt"
STIFF = "cvode"  # the method that stiff motions have where none is given
STABLE = 6.0  # |λ| dt that a method of order eight bears
MOST = 1e8  # steps: some minutes of work
MANY_STEPS = (
    1e5  # explicit steps that take longer than a stiff method, whose steps are some hundred times as slow
)
PART = 1e-6  # of a state's size, by which it is moved
MANY = 100  # rates: of longer mechanisms no dense eigenvalues are computed
COARSE = 0.01  # of λ dt: how finely the limit of stability is found


def check_stiffness(d: Dynamics, start: np.ndarray, duration: float, integrator: str) -> None:
    """Refuse what explicit steps would take hours for, with the name of the fastest state."""
    fastest, name = _fastest_state(d, start)
    steps = fastest * duration / STABLE
    if steps > MOST:
        raise InputError(
            f"{d.model.name}: {_slow(fastest, name, steps, integrator)}; take integrator='cvode', which is made for "
            "stiff motions, or leave out what is so fast",
            integrator=integrator,
            state=name,
        )


def reason_for_implicit(
    d: Dynamics, model: Model, start: np.ndarray, duration: float, integrator: str
) -> str:
    """Return why a stiff method is faster than explicit steps; empty where it is not. `model`: without added limits."""
    if len(start.shape) > 1 or d.parameters:
        return ""
    y, _ = d.parted(start)
    dampers = fastest_damper(model, y[d.layout.q], 0.0) if d.passive else (0.0, "")
    fastest, name = max(_fastest_state(d, start), dampers)
    steps = fastest * duration / STABLE
    return (
        f"Integrator {STIFF!r} was chosen: {_slow(fastest, name, steps, integrator)}."
        if steps > MANY_STEPS
        else ""
    )


def _slow(fastest: float, name: str, steps: float, integrator: str) -> str:
    return f"{name!r} settles within {1.0 / fastest:.1g} s, and {integrator} would take {steps:.0e} steps to follow it"


def _fastest_state(d: Dynamics, start: np.ndarray) -> tuple[float, str]:
    """Return the rate [1/s] of the fastest internal state at the start, and its name; zero where there are none."""
    if not ports_of(d.model).x_names or d.parameters:
        return 0.0, ""
    return _fastest(d, np.atleast_2d(start)[0])


def _fastest(d: Dynamics, start: np.ndarray) -> tuple[float, str]:
    """The largest |∂ẋ_k/∂x_k| [1/s], and of which state."""
    y, u = d.parted(start)
    ports, layout = ports_of(d.model), d.layout
    steps = PART * np.maximum(np.abs(y[layout.x]), ports.x_scale)
    moved = np.tile(y, (1 + len(steps), 1))
    moved[1:, layout.x] += np.diag(steps)
    inputs = u[d.input_layout.control] if d.torque_in_u else np.zeros(len(d.controls))
    own = columns(np.tile(inputs, (len(moved), 1))) if d.actuated else np.zeros(0)
    q, qd, x = (columns(moved[:, part]) for part in (layout.q, layout.qd, layout.x))
    rates = rows(state_rates(d.model, State(q, qd, x, own), passive=d.passive), len(moved))
    slopes = np.abs(np.diagonal(rates[1:] - rates[0]) / steps)
    k = int(np.argmax(slopes))
    return float(slopes[k]), ports.x_names[k]


def unstable(model: Model, q: np.ndarray, time: float, method: Integrator, dt: float, passive: bool) -> str:
    """Return why steps of `dt` [s] are unstable by a damper of a joint; empty where they are not."""
    fastest, name = fastest_damper(model, q, time) if passive else (0.0, "")
    bound = stable_step(method) / fastest if fastest else np.inf
    if dt <= bound:
        return ""
    return (
        f"{model.name}: the damper of joint {name!r} settles within {1.0 / fastest:.2g} s, and steps of {method.name} "
        f"are unstable above dt = {bound:.2g} s; dt is {dt:g} s"
    )


def warn(reason: str, remedy: str) -> None:
    """Warn of unstable steps, if there is a reason."""
    if reason:
        warnings.warn(f"{reason}. {remedy}", RunWarning, stacklevel=caller_level())


def fastest_damper(model: Model, q: np.ndarray, time: float) -> tuple[float, str]:
    """The largest λ [1/s] of (SF1) at the first start of a model, and the joint that has most of it."""
    if not model.joints.damping.any() or model.nv > MANY or model.terms is not None:
        return 0.0, ""
    return model.once("fastest damper", lambda: _fastest_damper(model, q, time))


def _fastest_damper(model: Model, q: np.ndarray, time: float) -> tuple[float, str]:
    M, rows = composite.mass_matrix(model, q), constraints_of(model)
    A = np.asarray(rows_at(rows, Motion(model, q, time, np.zeros(model.nv))).A if rows else (), dtype=float)
    Z = null_space(A) if A.size else np.eye(model.nv)
    damping = np.asarray(model.joints.damping, dtype=float)
    try:
        L = np.linalg.cholesky(Z.T @ np.asarray(M, dtype=float) @ Z)
    except np.linalg.LinAlgError:
        return 0.0, ""
    S = np.linalg.solve(L, Z.T * np.sqrt(np.abs(damping)))
    values, vectors = np.linalg.eigh(S.T @ S)  # (SF1): the values of L⁻¹ Zᵀ C Z L⁻ᵀ
    return float(values[-1]), model.v_names[int(np.abs(vectors[:, -1]).argmax())]


def stable_step(method: Integrator) -> float:
    """The largest λ dt at which a method is stable, by (SF2); infinite of methods that take dampers implicitly."""
    if method.tableau is None:
        return 2.0 if method.direct is not None else np.inf
    a, b = method.tableau.a, np.array(method.tableau.b)
    A = np.zeros((len(b), len(b)))
    for i, row in enumerate(a):
        A[i, : len(row)] = row

    def grows(x: float) -> bool:
        step = 1.0 - x * (b @ np.linalg.solve(np.eye(len(b)) + x * A, np.ones(len(b))))  # (SF2)
        return abs(float(step)) > 1.0

    return float(next(x for x in np.arange(1.0, 20.0, COARSE) if grows(x + COARSE)))
