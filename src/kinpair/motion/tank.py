"""A liquid in an upright cylinder, as a mass at rest and masses that slosh: potential flow, small waves.

Of a tank of radius R, filled to a height h, with ξ_n the zeros of J₁′ and T_n = tanh(ξ_n h/R):

    ω_n² = g ξ_n T_n/R                                     the frequency of a mode                      (VS3)
    m_n = m 2 R T_n/(ξ_n (ξ_n² − 1) h)                     the mass that takes part in it               (VS4)
    z_n = h − 2 R tanh(ξ_n h/2R)/ξ_n                       its height above the bottom                  (VS5)
    η_n = 2 ξ_n T_n/(ξ_n² − 1) x_n                         how high the wave is at the wall             (VS6)

(H. N. Abramson, *The Dynamic Behavior of Liquids in Moving Containers*, NASA SP-106, 1966.) x_n is the displacement of
the mass; as a pendulum its length is g/ω_n².

Waves in a tank that moves as given: the masses of its modes, in axes of the tank.

    ρ̈ = −(a_n − g) − 2 ζ ω_n ρ̇ − ω_n² κ ρ − 2 Ω×ρ̇ − Ω̇×ρ − Ω×(Ω×ρ),   across the axis                    (VS7)

a_n: acceleration of the place of the mass on the axis. κ = 1 for springs; for pendulums it is the apparent weight along
the axis, e·(a_n − g)/g. The wave at the wall is the sum of both modes, and of all others as they would stand still:

    η = |Σ η_n + (1 − Σ 2/(ξ_n² − 1)) R (a − g)_⊥/(e·(a − g))|                                          (VS8)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from kinpair.errors import InputError
from kinpair.motion.frame_motion import FrameMotion, FrameTrajectory, crossed

XI = np.array([1.8411837813406593, 5.3314427735250325])  # zeros of J₁′
STANDARD = 9.81  # [m/s²]


@final
@dataclass(frozen=True)
class Tank:
    """An open cylinder: radius and height of its wall [m], fill [m], density [kg/m³], damping ratio of the waves."""

    radius: float
    fill: float
    height: float = np.inf
    density: float = 1000.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        for name in ("radius", "fill", "height", "density"):
            if not getattr(self, name) > 0.0:
                raise InputError(f"Tank: {name} is {getattr(self, name)!r}; give a positive number")
        if not 0.0 <= self.damping < 1.0:
            raise InputError(f"Tank: damping is {self.damping!r}; give a ratio from 0 to less than 1")
        if self.height <= self.fill:
            raise InputError(
                f"Tank: height is {self.height:g} m and fill {self.fill:g} m; the wall must be higher than the liquid"
            )

    @property
    def mass(self) -> float:
        """Mass of the liquid [kg]."""
        return float(self.density * np.pi * self.radius**2 * self.fill)

    @property
    def freeboard(self) -> float:
        """Height from the level of the liquid at rest to the edge [m]."""
        return self.height - self.fill

    def frequencies(self, gravity: float = STANDARD) -> np.ndarray:
        """Angular frequencies of the first two modes [rad/s]."""
        return np.sqrt(gravity * XI * self._depth / self.radius)  # (VS3)

    @cached_property
    def masses(self) -> np.ndarray:
        """Masses of the first two modes [kg]."""
        return self.mass * 2 * self.radius * self._depth / (XI * (XI**2 - 1) * self.fill)  # (VS4)

    @cached_property
    def heights(self) -> np.ndarray:
        """Heights of these masses above the bottom [m]."""
        return self.fill - 2 * self.radius / XI * np.tanh(XI * self.fill / (2 * self.radius))  # (VS5)

    @cached_property
    def waves(self) -> np.ndarray:
        """Height of the wave at the wall for a unit displacement of each mass."""
        return 2 * XI * self._depth / (XI**2 - 1)  # (VS6)

    @property
    def rest_mass(self) -> float:
        """Mass of the liquid that takes no part in the first two modes [kg]."""
        return float(self.mass - self.masses.sum())

    @property
    def rest_height(self) -> float:
        """Height of its centre above the bottom [m]: together they have the centre of the liquid."""
        return float((self.mass * self.fill / 2 - self.masses @ self.heights) / self.rest_mass)

    @property
    def _depth(self) -> np.ndarray:
        return np.tanh(XI * self.fill / self.radius)


STEPS = 150  # in a period of the fastest mode: a Runge–Kutta step is off by 1e-7 of the wave
MODELS = ("pendulum", "springs")


class Waves(NamedTuple):
    """Displacement of each mode's mass across the axis (n, modes, 2) [m], height at the wall (n,) [m], and at each
    mass the acceleration across the axis that drives it (n, modes, 2) [m/s²]."""

    time: np.ndarray
    displacement: np.ndarray
    wall: np.ndarray
    excitation: np.ndarray


class _Forcing(NamedTuple):
    excitation: np.ndarray  # (n, modes, 2)
    axial: np.ndarray  # (n, modes)
    Omega: np.ndarray  # (n, 3)
    Omegad: np.ndarray


def waves(
    tank: Tank, motion: FrameTrajectory, gravity: np.ndarray, *, settle: float = 0.0, model: str = "pendulum"
) -> Waves:
    """Compute waves from rest, over the motion of the tank and some time after it."""
    length = float(np.sqrt(gravity @ gravity))
    omega = tank.frequencies(length)
    total = motion.duration + settle
    count = 2 * int(np.ceil(total * omega.max() * STEPS / (2 * np.pi)))
    time = np.linspace(0.0, total, 2 * count + 1)  # every second one is the middle of a step
    force = _forcing(tank, motion.at(time), gravity)
    stiff = omega**2 * (force.axial / length if model == "pendulum" else np.ones_like(force.axial))
    states = np.stack(
        [_moved(force, k, stiff[:, k], 2 * tank.damping * omega[k], time[2]) for k in range(len(omega))],
        axis=1,
    )
    every = slice(0, None, 2)
    x = states[..., :2]
    a, axial = force.excitation[every], force.axial[every]
    others = (1 - (2 / (XI**2 - 1)).sum()) * tank.radius * a[:, 0] / axial[:, :1]
    wall = np.sqrt((((tank.waves[:, None] * x).sum(1) - others) ** 2).sum(-1))  # (VS8)
    return Waves(time[every], x, wall, a)


def _forcing(tank: Tank, x: FrameMotion, gravity: np.ndarray) -> _Forcing:
    """Acceleration of the tank in its own axes."""
    R = x.rotation
    n, omega, omegad = R[..., :, 2], x.twist[..., :3], x.acceleration[..., :3]
    swing = crossed(omegad, n) + crossed(omega, crossed(omega, n))
    felt = (x.acceleration[:, None, 3:] - gravity) + tank.heights[:, None] * swing[:, None]
    own = np.einsum("tij,tmi->tmj", R, felt)
    turned = [np.einsum("tij,ti->tj", R, w) for w in (omega, omegad)]
    return _Forcing(own[..., :2], own[..., 2], *turned)


def _moved(force: _Forcing, mode: int, stiffness: np.ndarray, damping: float, h: float) -> np.ndarray:
    """States (n + 1, 4) of one mass by Runge–Kutta steps; the equation is linear, so a step is a matrix."""
    A, b = _linear(force, mode, stiffness, damping)
    first, middle, last = (slice(0, -1, 2), slice(1, None, 2), slice(2, None, 2))
    one = np.eye(4)
    B1 = A[first]
    B2 = A[middle] @ (one + h / 2 * B1)
    B3 = A[middle] @ (one + h / 2 * B2)
    B4 = A[last] @ (one + h * B3)
    M = one + h / 6 * (B1 + 2 * B2 + 2 * B3 + B4)
    v1 = b[first]
    v2 = _applied(A[middle], h / 2 * v1) + b[middle]
    v3 = _applied(A[middle], h / 2 * v2) + b[middle]
    v4 = _applied(A[last], h * v3) + b[last]
    v = h / 6 * (v1 + 2 * v2 + 2 * v3 + v4)
    y = np.zeros((len(M) + 1, 4))
    for k, (step, push) in enumerate(zip(M, v, strict=True)):
        y[k + 1] = step @ y[k] + push
    return y


def _linear(
    force: _Forcing, mode: int, stiffness: np.ndarray, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """(VS7) as ẏ = A y + b of y = (ρ, ρ̇)."""
    W, Wd = force.Omega, force.Omegad
    square = (W * W).sum(1)
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    A = np.zeros((len(W), 4, 4))
    A[:, 0, 2] = A[:, 1, 3] = 1.0
    A[:, 2:, :2] = (square - stiffness)[:, None, None] * np.eye(2) - W[:, :2, None] * W[:, None, :2]  # (VS7)
    A[:, 2:, :2] -= Wd[:, 2, None, None] * turn
    A[:, 2:, 2:] = -2 * W[:, 2, None, None] * turn - damping * np.eye(2)
    b = np.zeros((len(W), 4))
    b[:, 2:] = -force.excitation[:, mode]
    return A, b


def _applied(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    return (A @ x[..., None])[..., 0]
