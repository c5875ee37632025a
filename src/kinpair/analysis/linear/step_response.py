"""Responses of the outputs to a step of each input, and units of in- and outputs by their names.

y(t) = C ∫₀ᵗ exp(A s) ds B + D,   from the exponential of [A B; 0 0] t                                   (LI22)

From one sample to the next while the inputs stay constant:

[Φ Γ; 0 1] = exp([A B; 0 0] T),   x_{k+1} = Φ x_k + Γ u_k                                    (LI11)
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.analysis.linear import pictures
from kinpair.errors import InputError
from kinpair.model.model import Model
from kinpair.model.units import units

if TYPE_CHECKING:
    from matplotlib.figure import Figure


SQUARED = {"rad/s": "rad/s²", "m/s": "m/s²"}
ENDINGS = {
    **dict.fromkeys(("x", "y", "z"), "m"),
    **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
    **dict.fromkeys(("wx", "wy", "wz"), "rad/s"),
    "energy": "J",
}


def unit_of(model: Model, name: str) -> str:
    """Return the unit of a signal such as "q.elbow", "tau.elbow" or "hand.x"; empty where it is not known."""
    kind, _, entry = name.partition(".")
    known = units(model)
    if entry in model.v_names:
        k = model.v_names.index(entry)
        rate = known["qd"][k]
        by_kind = {
            "q": rate.removesuffix("/s"),
            "qd": rate,
            "qdd": SQUARED.get(rate, ""),
            "tau": known["tau"][k],
        }
        if kind in by_kind:
            return by_kind[kind]
    if kind == "q" and entry in model.q_names:
        return known["q"][model.q_names.index(entry)]
    return ENDINGS.get(name.rpartition(".")[2], "")


def ratio(above: str, below: str) -> str:
    """Return the unit of an output by an input, in brackets; empty where one of them is not known.

    >>> ratio("rad", "N m")
    ' [rad/(N m)]'
    """
    if not (above and below):
        return ""
    top, bottom = (f"({x})" if " " in x or "/" in x else x for x in (above, below))
    return f" [{top}/{bottom}]"


def held(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Φ (..., n, n) and Γ (..., n, m) of A (..., n, n), B (..., n, m) and the sample time [s].    (LI11)"""
    from scipy.linalg import expm

    n, m = B.shape[-2:]
    whole = np.zeros((*A.shape[:-2], n + m, n + m))
    whole[..., :n, :n], whole[..., :n, n:] = A, B
    found = expm(whole * dt)
    return found[..., :n, :n], found[..., :n, n:]


POINTS = 401
BAND = 0.02  # of the final value: a response that stays closer has settled
RISE = 0.1, 0.9  # parts of the final value
LONG = 6.0  # time constants of the slowest pole
GROWTH = 3.0  # time constants of the fastest growth
SLOW = 1e-9  # of the largest eigenvalue: a slower one counts as zero
PERIODS = 8.0  # where nothing decays
FEWEST = 60  # samples of a discrete model


@final
@dataclass(frozen=True, slots=True, eq=False)
class StepResponse:
    """Responses y (points, outputs, inputs) of the outputs at times (points,) [s] to a step of size one of each input.

    `final` (outputs, inputs): the values they tend to; infinite or NaN where they do not settle. `units`: of each
    output by each input.
    """

    name: str
    time: np.ndarray
    y: np.ndarray
    final: np.ndarray
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def rise_time(self) -> np.ndarray:
        """Time from 10 % to 90 % of the final value (outputs, inputs) [s]; NaN where it is not reached."""
        first, last = (self._first(self._part >= part) for part in RISE)
        return last - first

    @property
    def settling_time(self) -> np.ndarray:
        """Time after which the response stays within 2 % of the final value (outputs, inputs) [s]; NaN if never."""
        outside = ~(np.abs(self._part - 1.0) <= BAND)
        last = np.where(outside.any(0), len(self.time) - 1 - outside[::-1].argmax(0), -1)
        return np.append(self.time, np.nan)[last + 1]

    @property
    def overshoot(self) -> np.ndarray:
        """Overshoot: amount by which the response passes the final value (outputs, inputs) [%]; NaN where there is
        no final value."""
        return np.maximum(100.0 * (self._part.max(0) - 1.0), 0.0)

    @property
    def _part(self) -> np.ndarray:
        """Return responses relative to the final value [no unit]; NaN without a final value."""
        settled = np.isfinite(self.final) & (self.final != 0.0)
        return self.y / np.where(settled, self.final, np.nan)

    def _first(self, reached: np.ndarray) -> np.ndarray:
        return np.where(reached.any(0), self.time[reached.argmax(0)], np.nan)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw the responses over time [s], one panel for each unit; written to the path if given."""
        pairs = [(y, u) for y in range(len(self.outputs)) for u in range(len(self.inputs))]
        curves = {f"{self.outputs[y]} / {self.inputs[u]}": self.y[:, y, u] for y, u in pairs}
        return pictures.step(self.name, self.time, curves, self.units, path)

    def __repr__(self) -> str:
        return (
            f"<StepResponse of {self.name!r}: {len(self.outputs)} outputs, {len(self.inputs)} inputs, "
            f"{self.time[-1]:.4g} s>"
        )


def responses(
    A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, time: np.ndarray, dt: float | None
) -> np.ndarray:
    """Return y (points, outputs, inputs) at the times (points,), of a discrete model at its samples.    (LI22)"""
    if dt is not None:
        return _samples(A, B, C, D, np.round(time / dt).astype(int))
    n, t = len(time), time[:, None, None]
    _, gamma = held(np.broadcast_to(A, (n, *A.shape)) * t, np.broadcast_to(B, (n, *B.shape)), 1.0)
    return C @ (gamma * t) + D


def _samples(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return y (points, outputs, inputs) of a discrete model at these samples."""
    count = int(places.max(initial=0)) + 1
    x, y = np.zeros(B.shape), np.empty((count, *D.shape))
    for k in range(count):
        y[k] = C @ x + D
        x = A @ x + B
    return y[places]


def times_for(owner: str, eigenvalues: np.ndarray, dt: float | None, time: Any) -> np.ndarray:
    """Return times (points,) [s] of a response: as given, up to a time given, or until the response is seen."""
    if time is not None and np.ndim(time) == 1:
        times = np.asarray(time, dtype=float)
        if not (len(times) and (times >= 0.0).all() and np.isfinite(times).all()):
            raise InputError(
                f"{owner}: time is {time!r}; give finite times (n,) [s], none below zero", argument="time"
            )
        return times
    if time is not None and not (np.ndim(time) == 0 and 0.0 < float(time) < np.inf):
        raise InputError(
            f"{owner}: time is {time!r}; give seconds above zero, or times (n,)", argument="time"
        )
    if dt is None:
        return np.linspace(0.0, duration_for(eigenvalues) if time is None else float(time), POINTS)
    rates = np.log(eigenvalues[eigenvalues != 0.0] + 0j) / dt
    last = max(duration_for(rates), FEWEST * dt) if time is None else float(time)
    return dt * np.arange(round(last / dt) + 1)


def duration_for(eigenvalues: np.ndarray) -> float:
    """Return a time [s] after which the response of a continuous model is seen."""
    size = np.abs(eigenvalues).max(initial=0.0)
    real = np.real(eigenvalues)
    if (real > SLOW * size).any():
        return GROWTH / float(real.max())
    decays = -real[real < -SLOW * size]
    if decays.size:
        return LONG / float(decays.min())
    return PERIODS * 2.0 * np.pi / size if size else 1.0
