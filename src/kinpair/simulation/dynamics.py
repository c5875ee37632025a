"""What moves, as functions of time, state y and inputs u that a time loop can be made of.

The state is y = [q, q̇, work, loss, trace, memory]: coordinates, rates, and, where there are such, the work done by
drives and applied wrenches and what dampers and friction have taken, integrated along; how near the constraints came to
dependence, and when; and what a method carries from step to step. The inputs are u = [τ, wrenches].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair import quantities
from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, sign, where
from kinpair.forces.applied import applied_wrenches
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.model.symbols import with_symbols
from kinpair.quantities import Ask, asked
from kinpair.simulation.events.bumpers import Bumpers
from kinpair.simulation.held import Held

WRENCH = 6
Loads = dict[str, Vector]
LEAST = 1e-200  # pivots below this are zero


def on_the_sphere(model: Model, time: Scalar, q: Vector, qd: Vector) -> tuple[Vector, Vector]:
    """Quaternions of unit length."""
    return kinematics.normalised(model, q), qd


def with_quaternion(model: Model) -> list[int]:
    """Numbers of the bodies whose pair has one."""
    return [i for i in model.moving if model.body[i].pair.nq > model.body[i].pair.nv]


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A model and all that acts on it.

    `torque` and the functions of `external` are (time, q, qd) → efforts (nv,), wrench (6,), recorded with the rest;
    None takes them from u. `driven` is False where there is no torque at all. `parameters` names constants that are
    arguments p. `held` is how constraints are held; None where there are none. `bumpers` are springs at the limits of
    joints. A `tallied` one has work and loss in its state even if nothing does or takes any. `memory` counts the
    entries that a method carries along.
    """

    model: Model
    passive: bool = True
    driven: bool = True
    torque: Callable[..., Any] | None = None
    external: Mapping[str, Callable[..., Any] | None] | None = None
    parameters: tuple[str, ...] = ()
    held: Held | None = None
    bumpers: Bumpers | None = None
    tallied: bool = False
    memory: int = 0

    @cached_property
    def ask(self) -> Ask:
        """How forward dynamics is wanted."""
        return asked("forward_dynamics", passive=self.passive, external=self._external)

    @property
    def inverse(self) -> Ask:
        """How inverse dynamics is wanted."""
        return asked("inverse_dynamics", passive=self.passive, external=self._external)

    @property
    def _external(self) -> dict[str, Any]:
        return dict(self.external or {})

    # sizes

    @property
    def loaded(self) -> tuple[str, ...]:
        """Links and frames whose wrench is in u."""
        return tuple(name for name, f in self._external.items() if f is None)

    @property
    def torque_in_u(self) -> bool:
        """Are the efforts among the inputs?"""
        return self.driven and self.torque is None

    @property
    def nu(self) -> int:
        """Inputs."""
        return self.model.nv * self.torque_in_u + WRENCH * len(self.loaded)

    @property
    def has_work(self) -> bool:
        """Can anything do work on it?"""
        return self.driven or bool(self._external) or self.constraints_work or self.tallied

    @property
    def constraints_work(self) -> bool:
        """Do constraints move, so that their forces do work?"""
        return self.held is not None and self.held.moves

    @property
    def has_loss(self) -> bool:
        """Does anything dissipate?"""
        return self._drags or self.bumpers is not None or self.tallied

    @property
    def _drags(self) -> bool:
        """Do dampers or friction act?"""
        joints = self.model.joints
        return self.passive and bool(joints.damping.any() or joints.friction.any())

    @property
    def rubs(self) -> bool:
        """Does friction act, whose efforts jump where a joint turns back?"""
        return self.passive and bool(self.model.joints.friction.any())

    @property
    def ny(self) -> int:
        """Entries of the state."""
        return self.trace_at + 2 * self.traced + self.memory

    @property
    def trace_at(self) -> int:
        """Where the trace is in the state: one over the smallest pivot of the constraints so far, and its time."""
        return self.model.nq + self.model.nv + self.has_work + self.has_loss

    @property
    def traced(self) -> bool:
        """Is it known after every step how near the constraints are to dependence?"""
        return self.held is not None and self.held.way == "project"

    @property
    def nw(self) -> int:
        """Entries of what is watched: kinetic and potential energy, efforts, residuals of constraints."""
        return 2 + self.model.nv + 2 * (self.held is not None)

    # pieces of the state

    def concrete(self, p: Vector) -> Dynamics:
        """With the parameters in their places."""
        if not self.parameters:
            return self
        return replace(
            self, model=with_symbols(self.model, dict(zip(self.parameters, p, strict=True))), parameters=()
        )

    def parts(self, y: Vector) -> tuple[Vector, Vector, Vector]:
        """q, q̇, and the integrals."""
        nq, nv = self.model.nq, self.model.nv
        return y[:nq], y[nq : nq + nv], y[nq + nv :]

    def efforts(self, time: Scalar, q: Vector, qd: Vector, u: Vector) -> Vector:
        """τ."""
        if self.torque is not None:
            return np.asarray(self.torque(time, q, qd))
        return u[: self.model.nv] if self.driven else np.zeros(self.model.nv)

    def loads(self, time: Scalar, q: Vector, qd: Vector, u: Vector) -> Loads:
        """Wrenches by name."""
        start = self.model.nv * self.torque_in_u
        found: Loads = {}
        for name, f in self._external.items():
            if f is not None:
                found[name] = np.asarray(f(time, q, qd))
            else:
                found[name] = u[start : start + WRENCH]
                start += WRENCH
        return found

    # what happens

    def powers(self, q: Vector, qd: Vector, tau: Vector, loads: Loads) -> list[Scalar]:
        """Rates of the integrals: of work, of loss."""
        found: list[Scalar] = []
        if self.has_work:
            found.append(tau @ qd + self._applied_power(q, qd, loads))
        if self.has_loss:
            in_bumpers = self.bumpers.loss(q, qd) if self.bumpers is not None else 0.0
            found.append(in_bumpers - self.drag(qd) @ qd)
        return found

    def _applied_power(self, q: Vector, qd: Vector, loads: Loads) -> Scalar:
        """Σ wrench · twist of what it acts on."""
        if not loads:
            return 0.0
        w, state = applied_wrenches(self.model, q, loads), kinematics.states(self.model, q, qd)
        bodies = {self.model.place(name).body for name in loads} - {0}
        return sum((w[i][:3] @ state[i].omega + w[i][3:] @ state[i].v for i in sorted(bodies)), 0.0)

    def drag(self, qd: Vector) -> Vector:
        """Efforts of dampers and friction (nv,)."""
        if not self._drags:
            return np.zeros(self.model.nv)
        joints = self.model.joints
        return array(
            [-c * x - f * sign(x) for c, f, x in zip(joints.damping, joints.friction, qd, strict=True)]
        )

    def rate(self, time: Scalar, y: Vector, u: Vector) -> Vector:
        """ẏ."""
        q, qd, _ = self.parts(y)
        tau, loads = self.efforts(time, q, qd, u), self.loads(time, q, qd, u)
        qdd, of_constraints = self.accelerations(time, q, qd, tau, loads)
        powers = self.powers(q, qd, tau, loads)
        if self.constraints_work:
            powers[0] = powers[0] + of_constraints
        still = np.zeros(self.ny - self.trace_at)
        return array([*kinematics.dq_dt(self.model, q, qd), *qdd, *powers, *still])

    def accelerations(
        self, time: Scalar, q: Vector, qd: Vector, tau: Vector, loads: Loads
    ) -> tuple[Vector, Scalar]:
        """q̈, and the power of constraint forces."""
        if self.bumpers is not None:
            tau = tau + self.bumpers.efforts(q, qd)
        if self.held is not None:
            return self.held.accelerations(self.model, self.ask, time, q, qd, tau, loads)
        return quantities.forward_dynamics(self.model, self.ask, q, qd, tau, loads)[0], 0.0

    def settled(self, time: Scalar, y: Vector) -> Vector:
        """The state where it belongs."""
        q, qd, rest = self.parts(y)
        if with_quaternion(self.model):
            q, qd = on_the_sphere(self.model, time, q, qd)
        if self.held is None or not self.traced:
            return array([*q, *qd, *rest])
        q, qd, pivot = self.held.settle(self.model, time, q, qd)
        k = self.trace_at - self.model.nq - self.model.nv
        over = 1.0 / maximum(np.abs(pivot), LEAST)
        worse = less(rest[k], over)
        trace = [where(worse, over, rest[k]), where(worse, time, rest[k + 1])]
        return array([*q, *qd, *rest[:k], *trace, *rest[k + 2 :]])

    @property
    def settles(self) -> bool:
        """Is there anything to be done to a state reached?"""
        return bool(with_quaternion(self.model)) or self.traced

    def watched(self, time: Scalar, y: Vector, u: Vector) -> Vector:
        """Kinetic and potential energy, and the efforts."""
        q, qd, _ = self.parts(y)
        residuals = [] if self.held is None else self.held.watched(self.model, time, q, qd)
        return array([*self.energies(time, q, qd), *self.efforts(time, q, qd, u), *residuals])

    def energies(self, time: Scalar, q: Vector, qd: Vector) -> tuple[Scalar, Scalar]:
        """Kinetic and potential; NaN where forces are all that is known."""
        if self.model.terms is not None:
            return 0.5 * qd @ (self.model.terms(q, qd, time)[0] @ qd), np.nan
        potential = kinematics.potential_energy(self.model, q)
        if self.passive:
            potential = potential + quantities.spring_energy(self.model, q)
        if self.bumpers is not None:
            potential = potential + self.bumpers.energy(q)
        return kinematics.kinetic_energy(self.model, q, qd), potential
