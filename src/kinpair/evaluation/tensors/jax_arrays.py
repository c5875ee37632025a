"""Dynamics as functions of JAX arrays: `m.jax.forward_dynamics(q, qd, tau)`."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.evaluation.tensors.functions import Dynamics, Function, check_step, functions, rk4

WIDE = 'jax.config.update("jax_enable_x64", True)'


@final
class JaxFunctions:
    """Forward and inverse dynamics, a step and a rollout of JAX arrays (..., nv) in float64 on the CPU.

    They can be differentiated, compiled and mapped; `jax.vmap` becomes one batch.
    """

    def __init__(self, m: Dynamics) -> None:
        try:
            import jax  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise MissingExtraError(f"m.jax needs jax; {installs('jax')}", extra="jax") from None
        if not jax.config.jax_enable_x64:
            raise InputError(
                f"m.jax computes in float64, and JAX is set to float32; write {WIDE} before", write=WIDE
            )
        self._m, self._jax = m, jax
        self._functions = {name: _differentiable(jax, x, m.nv) for name, x in functions(m).items()}

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
        check_step(self._m)
        return rk4(self.forward_dynamics, q, qd, tau, dt)

    def rollout(self, q: Any, qd: Any, tau: Any, dt: float = 1e-3) -> tuple[Any, Any]:
        """States (steps, ..., nv) after each of the steps with efforts tau (steps, ..., nv).

        Units: [rad] or [m], and their rates.
        """

        def one(state: tuple[Any, Any], effort: Any) -> tuple[Any, Any]:
            following = self.step(*state, effort, dt)
            return following, following

        return self._jax.lax.scan(one, (q, qd), tau)[1]


def _differentiable(jax: Any, function: Function, nv: int) -> Any:
    def called(shape: tuple[int, ...], compute: Any, *arguments: Any) -> Any:
        front = arguments[0].shape[:-1]
        result = jax.ShapeDtypeStruct((*front, *shape), np.float64)
        return jax.pure_callback(compute, result, *arguments, vmap_method="broadcast_all")

    def value(*arguments: Any) -> np.ndarray:
        return np.asarray(function.value(*map(_flat, arguments))).reshape(arguments[0].shape)

    def derivatives(*arguments: Any) -> np.ndarray:
        stacked = np.stack(function.derivatives(*map(_flat, arguments)), axis=-3)
        return stacked.reshape(*arguments[0].shape[:-1], 3, nv, nv)

    @jax.custom_jvp
    def call(q: Any, qd: Any, x: Any) -> Any:
        return called((nv,), value, q, qd, x)

    @call.defjvp
    def slope(primals: Any, tangents: Any) -> tuple[Any, Any]:
        J = called((3, nv, nv), derivatives, *primals)
        return call(*primals), jax.numpy.einsum("...kij,k...j->...i", J, jax.numpy.stack(tangents))

    def checked(*arguments: Any) -> Any:
        arrays = [jax.numpy.asarray(x) for x in arguments]
        kinds = [x.dtype for x in arrays if x.dtype != np.float64]
        if kinds:
            raise InputError(f"{function.name} got an array of {kinds[0]}; kinpair computes in float64")
        return call(*jax.numpy.broadcast_arrays(*arrays))

    return checked


def _flat(x: Any) -> np.ndarray:
    """Return an array with at most one axis of a batch."""
    array = np.asarray(x)
    return array if array.ndim <= 2 else array.reshape(-1, array.shape[-1])
