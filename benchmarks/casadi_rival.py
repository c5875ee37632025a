"""CasADi: the same function, mapped over the states and run by CasADi's own virtual machine, in place."""

from __future__ import annotations

import numpy as np

import kinpair as kp
from benchmarks.ours import KERNELS
from benchmarks.rival import Rival
from benchmarks.robots import States

NAME = "CasADi"
STATES = 256  # its time is proportional too, and long
LARGEST = 20_000  # operations


class Casadi:
    """A robot in CasADi; CasADi's columns are our rows."""

    def __init__(self, mechanism: kp.Mechanism, states: States) -> None:
        self.mechanism, self.states = mechanism, states.first(STATES)
        self.kept = []  # what the calls need and do not keep alive themselves

    def rivals(self, quantity: str) -> list[Rival]:
        """One, unless the function is so long that only its making would be measured."""
        passive = {} if quantity == "mass matrix" else {"passive": False}
        kernel = self.mechanism.kernel(KERNELS[quantity], **passive)
        if kernel.count["total"] > LARGEST:
            return []
        n = len(self.states.q)
        mapped = kernel.casadi().map(n)
        buffer, call = mapped.buffer()
        inputs = [self.states.q, self.states.qd, self.states.x][: len(kernel.signature.inputs)]
        for k, x in enumerate(inputs):
            buffer.set_arg(k, memoryview(x))
        results = [np.zeros((n, int(np.prod(shape)))) for shape in kernel.signature.outputs.values()]
        for k, x in enumerate(results):
            buffer.set_res(k, memoryview(x))
        self.kept += [mapped, buffer]
        return [Rival(NAME, call, n, lambda: self._found(quantity, results))]

    def _found(self, quantity: str, results: list[np.ndarray]) -> np.ndarray:
        n, nv = len(self.states.q), self.mechanism.nv
        if quantity == "mass matrix":
            return results[0].reshape(n, nv, nv)
        if quantity == "∂τ/∂(q, q̇)":
            return np.array([x.reshape(n, nv, nv).transpose(0, 2, 1) for x in results])
        return results[0]
