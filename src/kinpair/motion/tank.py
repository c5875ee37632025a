"""A liquid in an upright cylinder, as a mass at rest and masses that slosh: potential flow, small waves.

Of a tank of radius R, filled to a height h, with ξ_n the zeros of J₁′ and T_n = tanh(ξ_n h/R):

    ω_n² = g ξ_n T_n/R                                     the frequency of a mode                      (VS3)
    m_n = m 2 R T_n/(ξ_n (ξ_n² − 1) h)                     the mass that takes part in it               (VS4)
    z_n = h − 2 R tanh(ξ_n h/2R)/ξ_n                       its height above the bottom                  (VS5)
    η_n = 2 ξ_n T_n/(ξ_n² − 1) x_n                         how high the wave is at the wall             (VS6)

(H. N. Abramson, *The Dynamic Behavior of Liquids in Moving Containers*, NASA SP-106, 1966.) x_n is the displacement of
the mass; as a pendulum its length is g/ω_n².
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from kinpair.errors import InputError

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
