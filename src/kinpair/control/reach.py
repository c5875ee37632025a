"""Modes that inputs of a linear model move and its outputs show: Hautus' test.

wᵀ A = λ wᵀ,   wᵀ B = 0          a mode that no input moves                                           (RG5)
A v = λ v,     C v = 0           a mode that no output shows                                          (RG5a)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.errors import InputError, SingularError, listed

REACHED = 1e-9  # of the size of B: an input that moves a mode less than this does not


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
