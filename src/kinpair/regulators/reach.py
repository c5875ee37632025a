"""Which motions the inputs of a linear model reach, and which they do not: Hautus' test.

wᵀ A = λ wᵀ,   wᵀ B = 0          a mode that no input moves                                           (RG5)
"""

from __future__ import annotations

import numpy as np

from kinpair.analysis.linear.linear_model import LinearModel
from kinpair.errors import SingularError, listed

REACHED = 1e-9  # of the size of B: an input that moves a mode less than this does not


def check_reached(model: LinearModel, degree: float) -> None:
    """Refuse a model in which a change that dies away no faster than e^{−πt} is reached by no input.    (RG5)"""
    A, B = model.A, model.B
    size = max(float(np.abs(B).max(initial=0.0)), 1e-300)
    scale = max(float(np.abs(A).max(initial=0.0)), 1.0)
    for value in np.linalg.eigvals(A):
        slow = (
            value.real >= -degree - 1e-9 * scale
            if model.dt is None
            else abs(value) >= np.exp(-degree * model.dt)
        )
        if not slow:
            continue
        whole = np.hstack([A - value * np.eye(len(A)), B * (scale / size)])
        U, sigma, _ = np.linalg.svd(whole)
        if sigma[-1] > REACHED * scale:
            continue
        w = np.abs(U[:, -1])
        shape = [f"{model.states[k]} ({w[k]:.2f})" for k in np.argsort(-w) if w[k] > 0.1 * w.max()]
        told = (
            f"{value.real:.4g}"
            if abs(value.imag) < 1e-9 * scale
            else f"{value.real:.4g} ± {abs(value.imag):.4g} i"
        )
        unit = "1/s" if model.dt is None else f"in {model.dt:g} s"
        fast = f"exp(-{degree:g} t)" if degree else "it has to"
        raise SingularError(
            f"{model.name}: the inputs {listed(model.inputs, 6) or 'none'} do not reach the mode {told} {unit} of "
            f"{listed(shape, 4)}, which does not die away as fast as {fast}; add an input that moves it, or leave it "
            "out with model.part([...]) or model.core",
            eigenvalue=complex(value),
        )
