"""What an output does when an input swings: frequency responses and transfer functions.

G(s) = C (s − A)⁻¹ B + D,   s = i ω, or z = exp(i ω T) between samples                       (LI12)
zeros of one output and one input: s for which [A − s, b; c, d] loses rank                   (LI13)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.analysis.linear.core import core_of
from kinpair.analysis.linear.modes import eigenvalues

REAL = 1e-9  # an imaginary part below this part of a zero is rounding
NOTHING = 1e-11  # a sum below this part of its terms is rounding


def laplace(s: np.ndarray, dt: float | None) -> np.ndarray:
    """Return s of a continuous model, or z = exp(s T) of one with a sample time T."""
    return s if dt is None else np.exp(s * dt)


def frequency_response(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, s: np.ndarray
) -> np.ndarray:
    """G (points, outputs, inputs) at s (points,).    (LI12)"""
    whole = s[:, None, None] * np.eye(len(A)) - A
    return C @ np.linalg.solve(whole, np.broadcast_to(B + 0j, (len(s), *B.shape))) + D


@dataclass(frozen=True, slots=True, eq=False)
class TransferFunction:
    """gain · Π (s − zeros) / Π (s − poles) of an input and an output; of z where there is a sample time `dt`.

    >>> import kinpair as kp
    >>> g = kp.linearise(kp.example("cart-pole"), [0, 0]).transfer_function("q.slide", "tau.slide")
    >>> g.zeros.real.round(6).tolist()
    [-3.835551, 3.835551]
    """

    output: str
    input: str
    zeros: np.ndarray
    poles: np.ndarray
    gain: float
    dt: float | None = None

    def __call__(self, s: complex | np.ndarray) -> complex | np.ndarray:
        """Its value."""
        at = np.asarray(s, dtype=complex)[..., None]
        found = self.gain * (at - self.zeros).prod(-1) / (at - self.poles).prod(-1)
        return found if np.ndim(s) else complex(found)

    @property
    def final(self) -> float:
        """Final value of the response to a step of size one: infinite where it drifts, NaN where it grows or swings."""
        one, still = (0.0, 1e-9 * np.abs(self.poles).max(initial=1.0)) if self.dt is None else (1.0, 1e-9)
        decay = -np.real(self.poles) if self.dt is None else 1.0 - np.abs(self.poles)
        if (decay > still).all():
            return float(np.real(self(complex(one))))
        drifts = np.abs(self.poles - one) <= still
        return float("inf") if (decay[~drifts] > still).all() else float("nan")

    @property
    def corners(self) -> np.ndarray:
        """Frequencies of zeros and poles [rad/s] that are not zero."""
        values = np.concatenate([self.zeros, self.poles]).astype(complex)
        values = values[values != 0.0]
        sizes = np.abs(values if self.dt is None else np.log(values) / self.dt)
        return sizes[sizes > 0.0]

    @property
    def numerator(self) -> np.ndarray:
        """Coefficients, the highest power first."""
        return self.gain * np.real(np.poly(self.zeros))

    @property
    def denominator(self) -> np.ndarray:
        """Coefficients, the highest power first; the first is one."""
        return np.real(np.poly(self.poles))

    def __str__(self) -> str:
        parts = f"gain {self.gain:.6g}, zeros {_told(self.zeros)}, poles {_told(self.poles)}"
        return f"{self.output} / {self.input}: {parts}"


def _told(x: np.ndarray) -> str:
    return ", ".join(f"{v.real:.6g}" if not v.imag else f"{v:.6g}" for v in x.tolist()) or "none"


def transfer(A: np.ndarray, b: np.ndarray, c: np.ndarray, d: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Zeros, poles and gain of c (s − A)⁻¹ b + d, of the states that the input reaches and the output feels."""
    k = sorted(_reached(A, b) & _reached(A.T, c))
    A, b, c = A[np.ix_(k, k)], b[k], c[k]
    found = list(core_of(A, 0).states)
    rest = eigenvalues(A[np.ix_(found, found)])
    poles = np.concatenate([rest, np.zeros(len(k) - len(found))])
    zeros = _zeros(A, b, c, d)
    s = 1.0 + 2.0 * np.abs(np.concatenate([poles, zeros])).max(initial=1.0)  # away from all of them
    value = c @ np.linalg.solve(s * np.eye(len(k)) - A, b) + d if k else d
    gain = float(np.real(value * (s - poles).prod() / (s - zeros).prod()))
    return zeros, poles, gain


def _reached(A: np.ndarray, b: np.ndarray) -> set[int]:
    """States that feel the input b, one by way of the other."""
    found = set(np.flatnonzero(b).tolist())
    while more := {k for n in found for k in np.flatnonzero(A[:, n]).tolist()} - found:
        found |= more
    return found


def _zeros(A: np.ndarray, b: np.ndarray, c: np.ndarray, d: float) -> np.ndarray:
    """Generalised eigenvalues of (LI13); as many are infinite as d, c b, c A b, ... begin with zeros, and one more."""
    from scipy.linalg import eig

    n = len(A)
    count = n - _delay(A, b, c, d)
    if count <= 0:
        return np.zeros(0, dtype=complex)
    left = np.block([[A, b[:, None]], [c[None, :], np.array([[d]])]])
    right = np.zeros((n + 1, n + 1))
    right[:n, :n] = np.eye(n)
    above, below = np.asarray(eig(left, right, right=False, homogeneous_eigvals=True))
    least = np.argsort(np.arctan2(np.abs(above), np.abs(below)))[:count]
    found = above[least] / below[least]
    return np.where(np.abs(found.imag) <= REAL * (1.0 + np.abs(found)), found.real + 0j, found)


def _delay(A: np.ndarray, b: np.ndarray, c: np.ndarray, d: float) -> int:
    """How many derivatives of the output do not feel the input."""
    if d:
        return 0
    x, size = b, np.abs(b)
    for k in range(1, len(A) + 1):
        if abs(c @ x) > NOTHING * (np.abs(c) @ size):
            return k
        x, size = A @ x, np.abs(A) @ size
    return len(A)
