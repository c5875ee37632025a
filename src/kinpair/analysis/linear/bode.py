"""Frequency responses and transfer functions, their curves by frequency, and margins of a loop.

What an output does when an input swings: frequency responses and transfer functions.

G(s) = C (s − A)⁻¹ B + D,   s = i ω, or z = exp(i ω T) between samples                       (LI12)
zeros of one output and one input: s for which [A − s, b; c, d] loses rank                   (LI13)

Frequency responses by frequency, and the margins of a loop that they show.

L(iω) = |L| e^{iφ};   gain margin 1/|L| where φ = −180°,   phase margin φ + 180° where |L| = 1          (LI20)
delay margin: phase margin / ω                                                                          (LI21)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.analysis.linear import pictures
from kinpair.analysis.linear.modes import core_of, eigenvalues
from kinpair.errors import InputError, MissingExtraError, installs

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
        """Value of the transfer function."""
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
    """States that feel the input b, one through the other."""
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
    """Number of derivatives of the output that do not feel the input."""
    if d:
        return 0
    x, size = b, np.abs(b)
    for k in range(1, len(A) + 1):
        if abs(c @ x) > NOTHING * (np.abs(c) @ size):
            return k
        x, size = A @ x, np.abs(A) @ size
    return len(A)


DAMPING = 1e-7  # by which the branch of a phase is chosen
QUARTER = 90.0 + 1e-3  # [deg]
POINTS = 4000  # of the grid on which crossings are searched; poles and zeros are added to it
SLOWEST, FASTEST = 1e-4, 1e4  # of the slowest and of the fastest pole or zero
APART = 1e-6  # of a frequency: points on either side of a pole


@final
@dataclass(frozen=True, slots=True, eq=False)
class Bode:
    """Frequency response G (points, outputs, inputs) at frequencies omega (points,) [rad/s].

    `phase` (points, outputs, inputs) [deg] is continuous over the frequency; at an undamped pole it falls by 180°.
    `units`: of each output by each input, by its name "output / input"; empty where it is not known.
    """

    name: str
    omega: np.ndarray
    response: np.ndarray
    phase: np.ndarray
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def gain(self) -> np.ndarray:
        """|G| (points, outputs, inputs), in units of output by input."""
        return np.abs(self.response)

    @property
    def decibels(self) -> np.ndarray:
        """20 log₁₀ |G| (points, outputs, inputs) [dB]."""
        with np.errstate(divide="ignore"):
            return 20.0 * np.log10(self.gain)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw gain [dB] and phase [deg] over the frequency [rad/s]; written to the path if given."""
        pairs = [(y, u) for y in range(len(self.outputs)) for u in range(len(self.inputs))]
        names = [
            f"{self.outputs[y]} / {self.inputs[u]}{unit}"
            for (y, u), unit in zip(pairs, self.units, strict=True)
        ]
        gain, phase = (
            {name: x[:, y, u] for name, (y, u) in zip(names, pairs, strict=True)}
            for x in (self.decibels, self.phase)
        )
        return pictures.response(self.name, self.omega, gain, phase, path)

    def __repr__(self) -> str:
        span = f"{self.omega[0]:.3g} to {self.omega[-1]:.3g} rad/s"
        return f"<Bode of {self.name!r}: {len(self.outputs)} outputs, {len(self.inputs)} inputs, {span}>"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """Distance of the loop with feedback −1 around an output and an input from instability.

    `gain`: factor of the loop gain, below one where it may shrink; `phase` [deg]; `delay` [s]; each the nearest to the
    loop as it is, infinite where no crossing exists. `gain_frequency` and `phase_frequency` [rad/s]: where they are
    found, NaN where they are not. `stable`: True if the closed loop is stable.
    """

    gain: float
    phase: float
    delay: float
    gain_frequency: float
    phase_frequency: float
    stable: bool

    @property
    def decibels(self) -> float:
        """Gain margin [dB]."""
        return float(20.0 * np.log10(self.gain))

    def __str__(self) -> str:
        gain = f"gain margin {self.gain:.4g} ({self.decibels:.3g} dB) at {self.gain_frequency:.4g} rad/s"
        phase = f"phase margin {self.phase:.4g} deg at {self.phase_frequency:.4g} rad/s"
        lines = [
            gain if np.isfinite(self.gain) else "gain margin infinite",
            phase if np.isfinite(self.phase) else "phase margin infinite",
            f"delay margin {self.delay:.4g} s" if np.isfinite(self.delay) else "delay margin infinite",
        ]
        return "; ".join([*lines, f"closed loop {'stable' if self.stable else 'unstable'}"])


def phases(response: np.ndarray, damped: np.ndarray, lag: np.ndarray) -> np.ndarray:
    """Return the phases [deg] of a response (points, ...), continuous over the points as those of the `damped` model,
    and between −270° and 90° at the first point. `lag` (points,) [rad]: phase lost between samples."""
    late = lag[:, None, None]
    branch = np.degrees(np.unwrap(np.angle(damped * np.exp(1j * late)), axis=0) - late)
    branch = branch - 360.0 * (branch[:1] > QUARTER)
    angle = np.degrees(np.angle(response))
    return angle + 360.0 * np.round((branch - angle) / 360.0)


def frequencies_of(owner: str, omega: Any) -> np.ndarray:
    """Return frequencies (points,) [rad/s], checked."""
    try:
        points = np.atleast_1d(np.asarray(omega, dtype=float))
    except (TypeError, ValueError):
        points = np.zeros(0)
    if points.ndim != 1 or not points.size or not (np.isfinite(points) & (points > 0.0)).all():
        raise InputError(
            f"{owner}: omega is {omega!r}; give frequencies (n,) [rad/s] above zero", argument="omega"
        )
    return points


def margins(
    matrices: tuple[np.ndarray, np.ndarray, np.ndarray, float], dt: float | None, corners: np.ndarray
) -> Margins:
    """Return the margins of the loop c (s − A)⁻¹ b + d of matrices (A, b, c, d) with a sample time, if any; `corners`:
    frequencies of its poles and zeros [rad/s]."""
    A, b, c, d = matrices
    values = np.linalg.eigvals(A - np.outer(b, c) / (1.0 + d))
    stable = bool((values.real < 0.0).all() if dt is None else (np.abs(values) < 1.0).all())

    def L(omega: np.ndarray) -> np.ndarray:
        return frequency_response(A, b[:, None], c[None], np.array([[d]]), laplace(1j * omega, dt))[:, 0, 0]

    return _margins(L, _grid(corners, np.inf if dt is None else np.pi / dt), stable)


def _margins(L: Callable[[np.ndarray], np.ndarray], omega: np.ndarray, stable: bool) -> Margins:
    """Return the margins from the crossings of L between neighbours of the frequencies omega."""
    value = L(omega)
    turned = _crossings(L, omega, value, np.imag)
    turned = turned[np.real(L(turned)) < 0.0]
    passed = _crossings(L, omega, value, lambda x: np.abs(x) - 1.0)
    gains = 1.0 / np.abs(L(turned))
    phases = (np.degrees(np.angle(L(passed))) + 360.0) % 360.0 - 180.0  # (LI20)
    delays = np.radians(phases % 360.0) / passed  # (LI21)
    k = int(np.abs(np.log(gains)).argmin()) if len(gains) else -1
    j = int(np.abs(phases).argmin()) if len(phases) else -1
    return Margins(
        float(gains[k]) if k >= 0 else np.inf,
        float(phases[j]) if j >= 0 else np.inf,
        float(delays.min(initial=np.inf)),
        float(turned[k]) if k >= 0 else np.nan,
        float(passed[j]) if j >= 0 else np.nan,
        stable,
    )


def _grid(corners: np.ndarray, highest: float) -> np.ndarray:
    """Return increasing frequencies, on both sides of every pole and zero among them."""
    own = corners[(corners > 0.0) & (corners < highest)]
    low, high = (own.min(), own.max()) if own.size else (1.0, 1.0)
    start, stop = SLOWEST * low, min(FASTEST * high, highest)
    near = np.concatenate([own * (1.0 - APART), own * (1.0 + APART)])
    return np.unique(np.concatenate([np.geomspace(start, stop, POINTS), near[near < stop]]))


def _crossings(
    L: Callable[[np.ndarray], np.ndarray],
    omega: np.ndarray,
    value: np.ndarray,
    f: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return the frequencies at which f(L) changes its sign, by bisection on a logarithmic scale."""
    from scipy.optimize import brentq

    def at(x: float) -> float:
        return float(f(L(np.array([np.exp(x)])))[0])

    signs = np.sign(f(value))
    places = np.flatnonzero(signs[1:] * signs[:-1] < 0.0)
    roots = [brentq(at, np.log(omega[k]), np.log(omega[k + 1]), xtol=1e-15) for k in places]
    return np.exp(np.array(roots, dtype=float))


def state_space(
    name: str, matrices: Sequence[np.ndarray], dt: float | None, names: Mapping[str, Sequence[str]]
) -> Any:
    """The `StateSpace` of (A, B, C, D), with the names of states, inputs and outputs."""
    try:
        import control
    except ImportError:
        raise MissingExtraError(
            f"a StateSpace needs python-control; {installs('control')}",
            extra="control",
        ) from None
    own: dict[str, Any] = {what: [_word(x) for x in every] for what, every in names.items()}
    return control.ss(*matrices, 0 if dt is None else dt, name=_word(name), **own)


def _word(name: str) -> str:
    """A name that python-control takes: it has a meaning for dots."""
    return name.replace(".", "_")
