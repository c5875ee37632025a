"""Weights and noise intensities, Riccati's equations for them, and the modes that inputs move and outputs show.

Riccati's equations, with a prescribed degree of stability π ≥ 0 (Vukobratović, chapter 4; Anderson and Moore 1971).

The cost is that of states which grow with e^{πt}, so that all changes die away at least as fast as e^{−πt}:

    S (A + π) + (A + π)ᵀ S − S B R⁻¹ Bᵀ S + Q = 0,   K = R⁻¹ Bᵀ S                                        (RG1)
    −Ṡ = S (A + π) + (A + π)ᵀ S − S B R⁻¹ Bᵀ S + Q          along a motion, from its end                  (RG2)
    S(t) = P + Eᵀ S(t + h) (1 + W S(t + h))⁻¹ E             exact for constant A and B                    (RG3)
    exp([−A − π, B R⁻¹ Bᵀ; Q, Aᵀ + π] δ) = [E⁻¹, E⁻¹ W; P E⁻¹, ...]                    for a short time δ    (RG3a)
    W ← W + E (1 + W P)⁻¹ W Eᵀ,   P ← P + Eᵀ P (1 + W P)⁻¹ E,   E ← E (1 + W P)⁻¹ E       for twice that     (RG3b)

and from sample to sample, with Φ and Γ multiplied by e^{πT},

    K = (R + Γᵀ S Γ)⁻¹ Γᵀ S Φ,   S ← Q + Φᵀ S (Φ − Γ K)                                                   (RG4)

Hautus' test finds the modes that inputs of a linear model move and its outputs show:

    wᵀ A = λ wᵀ,   wᵀ B = 0          a mode that no input moves                                           (RG5)
    A v = λ v,     C v = 0           a mode that no output shows                                          (RG5a)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.errors import InputError, SingularError, listed

OWNERS = {"Q": "states", "R": "inputs", "W": "states", "V": "outputs"}
SEMIDEFINITE = ("Q", "W")
MISSING = {
    "inputs": "give linearise inputs=[...]",
    "outputs": "give linearise outputs=[...]",
}
SHORT = 0.125  # of |H| δ in the series of one exponential
TERMS = 10  # of that: the next is below 1e-17
REFINEMENTS, DOUBLINGS = 2, 40
REACHED = 1e-9  # of the size of B: an input that moves a mode less than this does not


def weight(model: LinearModel, what: str, given: Any, names: Sequence[str]) -> np.ndarray:
    """A symmetric matrix (n, n) of weights, or (m, n, n): one for each of m states along a motion."""
    n = len(names)
    if not n and OWNERS[what] in MISSING:
        owner = OWNERS[what]
        raise InputError(
            f"{model.name}: {what} is for the {owner} of the linear model, and it has none; {MISSING[owner]}",
            argument=what,
        )
    shapes = ((n, n), (len(model), n, n)) if model.along else ((n, n),)
    if isinstance(given, Mapping):
        diagonal = np.ones(n)
        for name, value in given.items():
            entry = name if name in names else f"tau.{name}"
            diagonal[model.index(OWNERS[what], entry if entry in names else name)] = float(value)
        given = diagonal
    try:
        x = np.asarray(given, dtype=float)
        found = np.diag(np.broadcast_to(x, (n,))) if x.ndim < 2 else x
    except (TypeError, ValueError):
        found = np.full((1, 1), np.nan)
    least = np.linalg.eigvalsh(found).min() if found.shape in shapes and np.isfinite(found).all() else np.nan
    if not (least >= 0.0 if what in SEMIDEFINITE else least > 0.0) or not np.allclose(
        found, np.swapaxes(found, -1, -2)
    ):
        expected = "not negative" if what in SEMIDEFINITE else "positive"
        raise InputError(
            f"{model.name}: {what} must be a number, {n} of them, some by name, or a symmetric matrix ({n}, {n}), "
            f"{expected}",
            argument=what,
        )
    return found


class Gain(NamedTuple):
    """K (inputs, states), S (states, states), and what is left of the equation as a part of its terms."""

    K: np.ndarray
    S: np.ndarray
    residual: float


def continuous(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, degree: float) -> Gain:
    """The solution of (RG1), made better by a step of Newton's method (Kleinman 1968)."""
    from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov

    F = A + degree * np.eye(len(A))
    S = solve_continuous_are(F, B, Q, R)
    K = np.linalg.solve(R, B.T @ S)
    closed = F - B @ K
    S = solve_continuous_lyapunov(closed.T, -(Q + K.T @ R @ K))
    S = 0.5 * (S + S.T)
    terms = S @ F, S @ B @ np.linalg.solve(R, B.T @ S), Q
    left = terms[0] + terms[0].T - terms[1] + Q
    return Gain(np.linalg.solve(R, B.T @ S), S, _part(left, terms))


def sampled(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, growth: float) -> Gain:
    """The steady solution of (RG4) for a discrete model, made better by steps of Newton's method (Hewer 1971), in which
    what is left is summed over all samples: Δ = Σ Fₖᵀ (left) Fₖ with F = Φ − Γ K. `growth`: e^{πT}."""
    from scipy.linalg import solve_discrete_are

    F, G = growth * A, growth * B
    S = solve_discrete_are(F, G, Q, R)
    for _ in range(REFINEMENTS):
        K, again = _back(F, G, Q, R, S)
        change, step = again - S, F - G @ K
        for _ in range(DOUBLINGS):
            change, step = change + step.T @ change @ step, step @ step
        S = S + 0.5 * (change + change.T)
    K, again = _back(F, G, Q, R, S)
    return Gain(K, S, _part(again - S, (S, Q)))


def _part(left: np.ndarray, terms: tuple[np.ndarray, ...]) -> float:
    return float(np.abs(left).max() / max(float(np.abs(x).max()) for x in terms))


def _back(
    F: np.ndarray, G: np.ndarray, Q: np.ndarray, R: np.ndarray, S: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """K, and S one sample before.    (RG4)"""
    K = np.linalg.solve(R + G.T @ S @ G, G.T @ S @ F)
    before = Q + F.T @ S @ (F - G @ K)
    return K, 0.5 * (before + before.T)


def along(
    times: np.ndarray,
    A: np.ndarray,
    B: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    degree: float,
    end: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """K (m, inputs, states) and S at the times, from S at the end, by (RG3) with the mean of A, B, and of the weights
    Q and R⁻¹ where these are of each time, between two times."""
    one, over = np.eye(A.shape[-1]), np.linalg.inv(R)
    F, G = _means(A) + degree * one, _means(B)
    spread = G @ _means(over) @ np.swapaxes(G, -1, -2)
    E, W, P = _intervals(F, spread, _means(Q), np.diff(times)[:, None, None])
    S = np.empty(A.shape)
    S[-1] = end
    for k in range(len(times) - 2, -1, -1):
        now = P[k] + E[k].T @ S[k + 1] @ np.linalg.solve(one + W[k] @ S[k + 1], E[k])  # (RG3)
        S[k] = 0.5 * (now + now.T)
    return over @ np.swapaxes(B, -1, -2) @ S, S


def _means(x: np.ndarray) -> np.ndarray:
    """Means of neighbours in time, where there are such."""
    return 0.5 * (x[:-1] + x[1:]) if x.ndim == 3 else x


def _intervals(
    F: np.ndarray, spread: np.ndarray, Q: np.ndarray, h: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """E, W and P (m, n, n) of intervals of lengths h (m, 1, 1): of a short part by (RG3a), then doubled by (RG3b)."""
    n, Ft = F.shape[-1], np.swapaxes(F, -1, -2)
    weights = np.broadcast_to(Q, F.shape)
    H = np.concatenate([np.concatenate([-F, spread], -1), np.concatenate([weights, Ft], -1)], -2) * h
    doublings = max(0, int(np.ceil(np.log2(np.abs(H).sum(-1).max() / SHORT))))
    X = one = np.broadcast_to(np.eye(2 * n), H.shape)
    for k in range(TERMS, 0, -1):
        X = one + H @ X / (k * 2.0**doublings)
    E = np.linalg.inv(X[..., :n, :n])  # (RG3a)
    W, P = E @ X[..., :n, n:], X[..., n:, :n] @ E
    for _ in range(doublings):
        W, P = (0.5 * (x + np.swapaxes(x, -1, -2)) for x in (W, P))
        both = np.linalg.solve(np.eye(n) + W @ P, np.concatenate([E, W], -1))
        Et = np.swapaxes(E, -1, -2)
        W, P, E = W + E @ both[..., n:] @ Et, P + Et @ P @ both[..., :n], E @ both[..., :n]  # (RG3b)
    return E, W, P


def along_samples(
    A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray, growth: float, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """K and S of discrete models (m, ...) one after the other, from S behind the last.    (RG4)"""
    Q, R = (np.broadcast_to(x, (len(A), *x.shape[-2:])) for x in (Q, R))
    K, S = np.empty((len(A), B.shape[-1], A.shape[-1])), np.empty(A.shape)
    now = end
    for k in range(len(A) - 1, -1, -1):
        K[k], now = _back(growth * A[k], growth * B[k], Q[k], R[k], now)
        S[k] = now
    return K, S


class Mode(NamedTuple):
    """A mode that does not die away by itself: its eigenvalue and the size of each state in it (n,).

    Of several modes with one eigenvalue, it is the size in all of them, which does not depend on a choice of modes.
    """

    eigenvalue: complex
    shape: np.ndarray


def unreached(A: np.ndarray, B: np.ndarray, dt: float | None, degree: float) -> Mode | None:
    """Return a mode that dies away no faster than e^{−πt} and that no column of B moves, if there is one.    (RG5)"""
    size = max(float(np.abs(B).max(initial=0.0)), 1e-300)
    scale = max(float(np.abs(A).max(initial=0.0)), 1.0)
    for value in np.linalg.eigvals(A):
        slow = value.real >= -degree - 1e-9 * scale if dt is None else abs(value) >= np.exp(-degree * dt)
        if not slow:
            continue
        whole = np.hstack([A - value * np.eye(len(A)), B * (scale / size)])
        U, sigma, _ = np.linalg.svd(whole)
        left = U[:, sigma <= REACHED * scale]
        if left.size:
            return Mode(complex(value), np.linalg.norm(left, axis=1))
    return None


def check_states(model: LinearModel) -> None:
    """Reject a model without states, such as the core of a vehicle of which only speeds and displacements matter."""
    if not model.states:
        raise InputError(
            f"{model.name}: the linear model has no states, so there is nothing to hold; give the model before .core, "
            "or model.part([...]) with the states to keep"
        )


def check_reached(model: LinearModel, degree: float) -> None:
    """Reject a model with a mode that dies away no faster than e^{−πt} and that no input moves.    (RG5)"""
    mode = unreached(model.A, model.B, model.dt, degree)
    if mode is None:
        return
    fast = f"exp(-{degree:g} t)" if degree else "it has to"
    raise SingularError(
        f"{model.name}: the inputs {listed(model.inputs, 6) or 'none'} do not reach the mode {_words(model, mode)}, "
        f"which does not die away as fast as {fast}; add an input that moves it{_remedy(model, degree)}",
        eigenvalue=mode.eigenvalue,
    )


def check_seen(model: LinearModel) -> None:
    """Reject a model with a mode that does not die away and that no output shows.    (RG5a)"""
    mode = unreached(model.A.T, model.C.T, model.dt, 0.0)
    if mode is None:
        return
    raise SingularError(
        f"{model.name}: the outputs {listed(model.outputs, 6) or 'none'} do not show the mode "
        f"{_words(model, mode)}, which does not die away; measure it, as in "
        f'linearise(..., outputs=["{model.states[int(mode.shape.argmax())]}", ...]), or leave it out with '
        "model.part([...])",
        eigenvalue=mode.eigenvalue,
    )


def _words(model: LinearModel, mode: Mode) -> str:
    """Return the eigenvalue of a mode and the states in it."""
    w, value = mode.shape, mode.eigenvalue
    order = np.argsort(-w.round(6), kind="stable")  # equal sizes to rounding: in the order of the states
    shape = [f"{model.states[k]} ({w[k]:.2f})" for k in order if w[k] > 0.1 * w.max()]
    scale = max(float(np.abs(model.A).max(initial=0.0)), 1.0)
    swings = abs(value.imag) >= 1e-9 * scale
    number = f"{value.real:.4g} ± {abs(value.imag):.4g} i" if swings else f"{value.real:.4g}"
    return f"{number} {'1/s' if model.dt is None else f'in {model.dt:g} s'} of {listed(shape, 4)}"


def _remedy(model: LinearModel, degree: float) -> str:
    """Return what to leave out, as a call: displacements that nothing depends on, with their speeds kept if the inputs
    reach them."""
    ignorable = model.ignorable
    rates = [x for x in ignorable if x.startswith("qd.")]
    kept = [x for x in model.states if x not in ignorable or x in rates]
    core = [x for x in model.states if x not in ignorable]
    for states, lost in ((kept, []), (core, rates)):
        if states and _stands_alone(model, states) and unreached(*_matrices(model, states), degree) is None:
            note = f"; the design then does not hold {listed(lost, 4)}" if lost else ""
            return f", or leave out what nothing depends on: {part_call(states)}{note}"
    return ", or leave it out with model.part([...])"


def part_call(states: Sequence[str]) -> str:
    """Return the call that designs a regulator for these states of a linear model."""
    return f"lqr(model.part({list(states)}))"


def _stands_alone(model: LinearModel, states: Sequence[str]) -> bool:
    """True if these states do not depend on the others."""
    k = [model.states.index(x) for x in states]
    others = [n for n in range(len(model.states)) if n not in k]
    coupling = np.abs(model.A[np.ix_(k, others)]).max(initial=0.0)
    return bool(coupling <= REACHED * max(float(np.abs(model.A).max(initial=0.0)), 1.0))


def _matrices(model: LinearModel, states: Sequence[str]) -> tuple[np.ndarray, np.ndarray, float | None]:
    part = model.part(states)
    return part.A, part.B, part.dt
