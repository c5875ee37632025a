"""Pinocchio: its batch loop on one thread, and its Python calls where it has none."""

from __future__ import annotations

from functools import partial

import numpy as np
import pinocchio as pin

import kinpair as kp
from benchmarks.rival import BATCH, LOOPED, Rival, columns, loop
from benchmarks.robots import Robot, States
from kinpair import conventions

NAME = "Pinocchio"
DROPPED = "Pinocchio, results dropped"


class Pinocchio:
    """A robot in Pinocchio at given states, in Pinocchio's own column-major arrays."""

    def __init__(self, robot: Robot, mechanism: kp.Mechanism, states: States) -> None:
        root = (pin.JointModelFreeFlyer(),) if robot.base == "free" else ()
        self.model = pin.buildModelFromUrdf(str(robot.path), *root)
        self.data, self.pool = self.model.createData(), pin.ModelPool(self.model, 1)
        self.states = states
        self.to = conventions.pinocchio(mechanism, conventions.pinocchio_layout(self.model))
        s = self.to.state(states.q, states.qd, states.x, states.x)
        assert s.v is not None
        assert s.a is not None
        assert s.tau is not None
        self.v = s.v
        self.Q, self.V, self.A, self.T = columns(s.q, s.v, s.a, s.tau)

    def rivals(self, quantity: str) -> list[Rival]:
        """Those that give the quantity."""
        return {
            "inverse dynamics": self._inverse,
            "forward dynamics": self._forward,
            "mass matrix": self._mass,
            "∂τ/∂(q, q̇)": self._derivatives,
        }[quantity]()

    def _inverse(self) -> list[Rival]:
        tau = np.empty_like(self.V)
        call = partial(pin.rneaInParallel, 1, self.pool, self.Q, self.V, self.A, tau)
        return [Rival(NAME, call, BATCH, lambda: self.to.from_efforts(self.states.q, tau.T))]

    def _forward(self) -> list[Rival]:
        a = np.empty_like(self.V)
        call = partial(pin.abaInParallel, 1, self.pool, self.Q, self.V, self.T, a)
        return [Rival(NAME, call, BATCH, lambda: self.to.from_accelerations(self.states.q, self.v, a.T))]

    def _mass(self) -> list[Rival]:
        H = np.empty((LOOPED, self.model.nv, self.model.nv))
        crba, q = partial(pin.crba, self.model, self.data), self.Q.T[:LOOPED]

        def keep(q, row) -> None:
            row[...] = crba(q)

        def found() -> np.ndarray:
            return self.to.from_mass_matrix(self.states.q[:LOOPED], H)

        return [
            Rival(NAME, loop(keep, q, H), LOOPED, found),
            Rival(DROPPED, loop(crba, q), LOOPED, found),
        ]

    def _derivatives(self) -> list[Rival]:
        by_q, by_v = np.empty((2, LOOPED, self.model.nv, self.model.nv))
        rnea_derivatives = partial(pin.computeRNEADerivatives, self.model, self.data)

        def keep(q, v, a, row_q, row_v) -> None:
            row_q[...], row_v[...], _ = rnea_derivatives(q, v, a)

        def found() -> np.ndarray:  # as a mass matrix, whose map may transpose
            transposed = (D.transpose(0, 2, 1) for D in (by_q, by_v))
            return np.array([self.to.from_mass_matrix(self.states.q[:LOOPED], D) for D in transposed])

        state = [x.T[:LOOPED] for x in (self.Q, self.V, self.A)]
        return [
            Rival(NAME, loop(keep, *state, by_q, by_v), LOOPED, found),
            Rival(DROPPED, loop(rnea_derivatives, *state), LOOPED, found),
        ]
