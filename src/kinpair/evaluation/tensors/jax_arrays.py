"""Dynamics as functions of JAX arrays: `m.jax.forward_dynamics(q, qd, tau)`."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinpair.errors import InputError
from kinpair.evaluation.tensors.functions import Function, TensorFunctions

WIDE = 'jax.config.update("jax_enable_x64", True)'


@final
class JaxFunctions(TensorFunctions):
    """Forward and inverse dynamics, a step and a rollout of JAX arrays (..., nv) in float64 on the CPU.

    They can be differentiated, compiled and mapped; `jax.vmap` becomes one batch.
    """

    library = "jax"

    def _check_library(self) -> None:
        if not self._library.config.jax_enable_x64:
            raise InputError(
                f"m.jax computes in float64, and JAX is set to float32; write {WIDE} before", write=WIDE
            )

    def _differentiable(self, function: Function) -> Any:
        return _differentiable(self._library, function, self._m.nv)

    def rollout(self, q: Any, qd: Any, tau: Any, dt: float = 1e-3) -> tuple[Any, Any]:
        """States (steps, ..., nv) after each of the steps with efforts tau (steps, ..., nv).

        Units: [rad] or [m], and their rates.
        """

        def one(state: tuple[Any, Any], effort: Any) -> tuple[Any, Any]:
            following = self.step(*state, effort, dt)
            return following, following

        return self._library.lax.scan(one, (q, qd), tau)[1]


def _differentiable(jax: Any, function: Function, nv: int) -> Any:
    def called(compute: Any, shapes: tuple[tuple[int, ...], ...], *arguments: Any) -> Any:
        front = arguments[0].shape[:-1]
        results = tuple(jax.ShapeDtypeStruct((*front, *shape), np.float64) for shape in shapes)
        return jax.pure_callback(compute, results, *arguments, vmap_method="broadcast_all")

    def value(*arguments: Any) -> tuple[np.ndarray]:
        return (np.asarray(function.value(*map(_flat, arguments))).reshape(arguments[0].shape),)

    def value_and_derivatives(*arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        stacked = np.stack(function.derivatives(*map(_flat, arguments)), axis=-3)
        return *value(*arguments), stacked.reshape(*arguments[0].shape[:-1], 3, nv, nv)

    @jax.custom_jvp
    def call(q: Any, qd: Any, x: Any) -> Any:
        return called(value, ((nv,),), q, qd, x)[0]

    @call.defjvp
    def slope(primals: Any, tangents: Any) -> tuple[Any, Any]:
        result, J = called(value_and_derivatives, ((nv,), (3, nv, nv)), *primals)
        return result, jax.numpy.einsum("...kij,k...j->...i", J, jax.numpy.stack(tangents))

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
