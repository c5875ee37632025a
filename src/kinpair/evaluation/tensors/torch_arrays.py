"""Dynamics as functions of torch tensors: `m.torch.forward_dynamics(q, qd, tau)`."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from kinpair.errors import InputError
from kinpair.evaluation.tensors.functions import Function, TensorFunctions


@final
class TorchFunctions(TensorFunctions):
    """Forward and inverse dynamics, a step and a rollout of torch tensors (..., nv) in float64 on the CPU.

    Memory is shared with NumPy. Derivatives are exact, of first order.
    """

    library = "torch"

    def _differentiable(self, function: Function) -> Any:
        return _differentiable(self._library, function)

    def rollout(self, q: Any, qd: Any, tau: Any, dt: float = 1e-3) -> tuple[Any, Any]:
        """States (steps, ..., nv) after each of the steps with efforts tau (steps, ..., nv).

        Units: [rad] or [m], and their rates.
        """
        states: list[tuple[Any, Any]] = []
        for effort in tau:
            q, qd = self.step(q, qd, effort, dt)
            states.append((q, qd))
        return self._library.stack([x for x, _ in states]), self._library.stack([x for _, x in states])


def _differentiable(torch: Any, function: Function) -> Any:
    class Call(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, *arguments: Any) -> Any:
            ctx.save_for_backward(*arguments)
            return torch.from_numpy(np.asarray(function.value(*(x.detach().numpy() for x in arguments))))

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, *slopes: Any) -> Any:
            arguments = [x.detach().numpy() for x in ctx.saved_tensors]
            slope = slopes[0].detach().numpy()
            slots = zip(function.derivatives(*arguments), ctx.needs_input_grad, strict=True)
            return tuple(
                torch.from_numpy(np.einsum("...i,...ij->...j", slope, x)) if needed else None
                for x, needed in slots
            )

    def call(*arguments: Any) -> Any:
        return Call.apply(*torch.broadcast_tensors(*(_checked(torch, function.name, x) for x in arguments)))

    return call


def _checked(torch: Any, name: str, x: Any) -> Any:
    """Return a tensor that NumPy can share."""
    if not isinstance(x, torch.Tensor):
        raise InputError(
            f"{name} of m.torch takes tensors, not {type(x).__name__}; torch.as_tensor makes one"
        )
    if x.device.type != "cpu":
        raise InputError(f"{name} got a tensor on {x.device}; kinpair computes on the CPU: x.cpu()")
    if x.dtype is not torch.float64:
        raise InputError(f"{name} got a tensor of {x.dtype}; kinpair computes in float64: x.double()")
    return x
