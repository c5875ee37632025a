"""Values and derivatives of dynamics in NumPy, and the step that is taken in every library of arrays."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from kinpair.errors import InputError, MissingExtraError, installs


class Dynamics(Protocol):
    """A mechanism, as far as functions of tensors need it."""

    @property
    def name(self) -> str: ...
    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def closure(self) -> Any: ...  # None: a tree

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> Any: ...
    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any: ...
    def mass_matrix(self, q: Any) -> Any: ...
    def forward_dynamics_derivatives(self, q: Any, qd: Any, tau: Any) -> Any: ...
    def inverse_dynamics_derivatives(self, q: Any, qd: Any, qdd: Any) -> Any: ...


Jacobians = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of three arrays (..., nv): its value (..., nv) and its derivatives (..., nv, nv) by each of them."""

    name: str
    value: Callable[[Any, Any, Any], np.ndarray]
    derivatives: Callable[[Any, Any, Any], Jacobians]


def functions(m: Dynamics) -> dict[str, Function]:
    """Return the dynamics of a mechanism whose coordinates are those of its rates, by name."""
    if m.nq != m.nv:
        raise InputError(
            f"{m.name}: has quaternions ({m.nq} coordinates, {m.nv} rates); functions of tensors take joints whose "
            "coordinates are their own rates' integrals, m.split()[0] has such joints",
            mechanism=m.name,
        )

    def forward(q: Any, qd: Any, tau: Any) -> Jacobians:
        by_q, by_qd, by_tau = m.forward_dynamics_derivatives(q, qd, tau)
        return by_q, by_qd, by_tau

    def inverse(q: Any, qd: Any, qdd: Any) -> Jacobians:
        by_q, by_qd, *rest = m.inverse_dynamics_derivatives(q, qd, qdd)
        return by_q, by_qd, rest[0] if rest else m.mass_matrix(q)

    return {
        "forward_dynamics": Function("forward_dynamics", m.forward_dynamics, forward),
        "inverse_dynamics": Function("inverse_dynamics", m.inverse_dynamics, inverse),
    }


def rk4(acceleration: Callable[[Any, Any, Any], Any], q: Any, qd: Any, tau: Any, dt: Any) -> tuple[Any, Any]:
    """Take one step of the Runge–Kutta method of fourth order with constant efforts, in any library of arrays."""
    a1 = acceleration(q, qd, tau)
    v2 = qd + dt / 2 * a1
    a2 = acceleration(q + dt / 2 * qd, v2, tau)
    v3 = qd + dt / 2 * a2
    a3 = acceleration(q + dt / 2 * v2, v3, tau)
    v4 = qd + dt * a3
    a4 = acceleration(q + dt * v3, v4, tau)
    return q + dt / 6 * (qd + 2 * v2 + 2 * v3 + v4), qd + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


class TensorFunctions:
    """Forward and inverse dynamics and a step, of arrays (..., nv) of a library in float64 on the CPU."""

    library: ClassVar[str]

    def __init__(self, m: Dynamics) -> None:
        try:
            self._library = importlib.import_module(self.library)
        except ImportError:
            raise MissingExtraError(
                f"m.{self.library} needs {self.library}; {installs(self.library)}", extra=self.library
            ) from None
        self._check_library()
        self._m = m
        self._functions = {name: self._differentiable(x) for name, x in functions(m).items()}

    def _check_library(self) -> None:
        """Raise InputError where settings of the library do not fit."""

    def _differentiable(self, function: Function) -> Callable[..., Any]:
        """Return a function as one of the library."""
        raise NotImplementedError

    def forward_dynamics(self, q: Any, qd: Any, tau: Any) -> Any:
        """Accelerations (..., nv) for efforts tau (..., nv).

        Units: [rad/s²] or [m/s²].
        """
        return self._functions["forward_dynamics"](q, qd, tau)

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Efforts (..., nv) for accelerations qdd (..., nv).

        Units: [N m] or [N].
        """
        return self._functions["inverse_dynamics"](q, qd, qdd)

    def step(self, q: Any, qd: Any, tau: Any, dt: float = 1e-3) -> tuple[Any, Any]:
        """State after one step of dt [s] with constant efforts: rk4, as `kp.stepper(m, dt, integrator="rk4")`.

        Units: [rad] or [m], and their rates.
        """
        if self._m.closure is not None:
            raise InputError(
                f"{self._m.name}: a step of tensors does not keep loops closed; kp.stepper and kp.simulate do",
                mechanism=self._m.name,
            )
        return rk4(self.forward_dynamics, q, qd, tau, dt)
