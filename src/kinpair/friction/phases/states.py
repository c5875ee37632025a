"""Friction in floats, of a level and from load: where surfaces are at rest, and where compiled sweeps do not end well.

Each state is one of these: every surface slides, and the loads continue from μ = 0; some are at rest, and stick or
begin to slide; or there is no solution, and the message says at which part of the given coefficients that begins.

The file is long because it is one class: each kind of state is tried when the one before has no solution.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from kinpair.constraints.rounding import STILL_RATE as STILL
from kinpair.errors import FrictionWarning, SingularError, caller_level, listed
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.quantities.request import Request
from kinpair.forces.elements import is_timed
from kinpair.friction.loads import closer
from kinpair.friction.loads.system import Response, Slip, System
from kinpair.friction.phases import classes
from kinpair.friction.phases import resting as rest
from kinpair.friction.phases.classes import Classified
from kinpair.friction.phases.dry import (
    JointFriction,
    each_state,
    held_slopes,
    level_efforts,
    level_surfaces,
)
from kinpair.friction.phases.resting import (
    NO_LIMITS,
    Affine,
    Found,
    Resting,
    Terms,
    affine,
    resting_system,
    sliding_system,
)
from kinpair.friction.surfaces.surface import Carried, Surface
from kinpair.friction.surfaces.table import check_coefficients, surfaces_of
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.results import FrictionSolutions


class Several(NamedTuple):
    """A state with several motions: its system, and all of them."""

    system: Resting
    verdict: Classified


class Rubbed(NamedTuple):
    """Solution of one state: q̈ (nv,), of each surface its friction force, its load, and whether it sticks; and the
    other motions, if there are any."""

    qdd: np.ndarray
    forces: list[np.ndarray]
    loads: np.ndarray
    sticks: list[bool]
    several: Several | None = None


class Numbers(NamedTuple):
    """(FA1) and (FA2) as compiled code gives them: H, F, all rows A and b, forms c, Q and L of all surfaces one after
    the other, the efforts next to those of motors; and the rows of A whose multipliers L is of."""

    H: Any
    F: Any
    A: Any
    b: Any
    c: Any
    Q: Any
    L: Any
    beside: Any
    kept: Sequence[int] = ()


class RestingStates:
    """Solves in floats for a model whose joints have friction: surfaces under load, and levels as surfaces.

    Arguments of a state are q, qd, tau, its time where something depends on it, and external wrenches. A surface whose
    velocity of sliding is at most `still` of the rates is at rest. `inputs`: u (nu,) of levels that inputs operate;
    None: these do not act.
    """

    def __init__(
        self,
        model: Model,
        calls: Calls | None,
        quantity: str = "load_terms",
        still: float = STILL,
        inputs: np.ndarray | None = None,
        *,
        passive: bool = True,
    ) -> None:
        self.model, self._calls, self.quantity, self.still = model, calls, quantity, still
        self.inputs, self.passive = inputs, passive

    @cached_property
    def surfaces(self) -> tuple[Surface, ...]:
        """Surfaces under load, then levels, which are at rest together with them."""
        model, passive = self.model, self.passive
        levels = level_surfaces(model, float(model.time), self.inputs, passive=passive)
        return (*(surfaces_of(model) if passive else ()), *levels)

    def at(self, time: float, inputs: np.ndarray | None = None) -> RestingStates:
        """Return the solves with coefficients and levels of a time [s] and of inputs u (nu,)."""
        inputs = self.inputs if inputs is None else inputs
        if inputs is self.inputs and (not is_timed(self.model) or time == self.model.time):
            return self
        model = replace(self.model, time=time)
        return RestingStates(model, self._calls, self.quantity, self.still, inputs, passive=self.passive)

    def _of(self, arguments: tuple[np.ndarray, ...]) -> RestingStates:
        """Return the solves at the time that is behind q, qd and tau, where something depends on it."""
        if not is_timed(self.model):
            return self
        here = self.at(float(arguments[3][0]))
        check_coefficients(here.model)
        return here

    @cached_property
    def rates(self) -> np.ndarray:
        """Numbers of the rates with friction."""
        return np.flatnonzero(
            np.any([np.abs(G).max(0) > 0.0 for G in self.G] or [np.zeros(self.model.nv)], axis=0)
        )

    @cached_property
    def G(self) -> list[np.ndarray]:
        """Velocities of sliding by all rates (numbers, nv)."""
        found: list[np.ndarray] = []
        for x in self.surfaces:
            G = np.zeros((len(x.sliding()), self.model.nv))
            G[:, self.model.v_span[x.body]] = np.asarray(x.sliding(), dtype=float)
            found.append(G)
        return found

    def needed(self, qd: np.ndarray, sound: np.ndarray) -> np.ndarray:
        """Flags of the states (…,) in which the compiled solve is not enough."""
        return np.asarray(self.rests(qd) | (sound != 1.0))

    def rests(self, qd: np.ndarray) -> np.ndarray:
        """Flags of the states (…,) in which a surface is at rest."""
        large = self.still * (1.0 + np.abs(qd).max(-1))
        rest = [np.linalg.norm(qd @ G.T, axis=-1) <= large * np.abs(G).max() for G in self.G]
        return np.any(rest, axis=0) if rest else np.zeros(qd.shape[:-1], dtype=bool)

    def forward(
        self,
        request: Request,
        arguments: tuple[np.ndarray, ...],
        qdd: np.ndarray,
        where: np.ndarray,
    ) -> np.ndarray:
        """q̈ with the states of `where` solved again; arguments q, qd, tau and further ones, one state or a batch.

        States with several motions are reported by one warning.
        """
        solved = qdd.copy()
        for k, found in self.each(request, arguments, where):
            solved[k] = found.qdd
        return solved

    def each(
        self, request: Request, arguments: tuple[np.ndarray, ...], where: np.ndarray, *, warn: bool = True
    ) -> list[tuple[tuple[int, ...], Rubbed]]:
        """Places and solutions of the states of `where`; one warning where some have several, unless it was given."""
        solutions, several = list[tuple[tuple[int, ...], Rubbed]](), list[tuple[str, Several]]()
        for k, own in each_state(where, arguments):
            which = f" (state {k[0]} of the batch)" if k else ""
            found = self.one(request, own, which)
            solutions.append((k, found))
            if found.several is not None:
                several.append((which, found.several))
        if several and warn:
            warnings.warn(self.told(several), FrictionWarning, stacklevel=caller_level())
        return solutions

    def held_slopes(
        self, request: Request, arguments: tuple[np.ndarray, ...], by: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Derivatives (…, nv, nv) of accelerations without what sticks: those of the mode in force, see (FD3)."""
        slopes = [np.array(x) for x in by]
        rests = np.broadcast_to(self.rests(arguments[1]), slopes[0].shape[:-2])
        for k, found in self.each(request, arguments, rests, warn=False):
            own = held_slopes([x[k] for x in slopes], self.sticking(found))
            for whole, part in zip(slopes, own, strict=True):
                whole[k] = part
        return slopes

    def sticking(self, found: Rubbed) -> np.ndarray:
        """Numbers of the rates that stick; a surface without load, or with μ = 0, holds nothing."""
        pairs = zip(self.surfaces, found.loads, strict=True)
        levels = [float(x.grip.mu_static) * n + x.surplus for x, n in pairs]
        held = [
            np.flatnonzero(np.abs(G).max(0))
            for G, sticks, level in zip(self.G, found.sticks, levels, strict=True)
            if sticks and level > 0.0
        ]
        return np.unique(np.concatenate([np.zeros(0, dtype=int), *held]))

    def efforts(self, found: Rubbed) -> np.ndarray:
        """Efforts of friction in a solution (nv,); of a constant level at rest only."""
        pairs = zip(self.G, found.forces, strict=True)
        return sum((G.T @ f for G, f in pairs), np.zeros(self.model.nv))

    def without_rounding(self, qd: np.ndarray) -> np.ndarray:
        """Rates, or accelerations (nv,), with zeros for joints with friction from load where they are rounding."""
        slow = np.abs(qd) <= self.still * (1.0 + np.abs(qd).max())
        return np.where(slow & np.isin(np.arange(len(qd)), self.rates), 0.0, qd)

    def told(self, several: list[tuple[str, Several]]) -> str:
        """Warning about states with several motions."""
        which, (x, verdict) = several[0]
        joints = self._joints_of(x, verdict)
        more = f" ({len(several)} such states)" if len(several) > 1 else ""
        taken = "in which most joints stick" if any(x.at_rest) else "that continues from mu = 0"
        return (
            f"{self.model.name}: friction has {len(verdict.solutions)} solutions{which}{more}, which differ at "
            f"{'joint' if len(joints) == 1 else 'joints'} {listed(map(repr, joints))}: {self._begins(x, joints[0])}. "
            f"Taken is the one {taken}; friction_solutions lists all, and a lower mu leaves one"
        )

    def _begins(self, x: Resting, joint: str) -> str:
        """Find the coefficients from which several solutions begin; it takes a search."""
        part = classes.begins(x)
        k = next(k for k in range(len(self.surfaces)) if self._joint_name(k) == joint)
        mu = part * float(x.mu_static[k] if x.at_rest[k] else x.mu[k])
        return f"from mu = {mu:.6g} of {joint!r} on, {part:.6g} of what is given"

    def _joint_name(self, k: int) -> str:
        return self.model.joint_names[self.surfaces[k].body]

    def _joints_of(self, x: Resting, verdict: Classified) -> list[str]:
        """Names of the joints whose friction differs between solutions."""
        differ = set(verdict.differ)
        every = (
            self._joint_name(k) for k, own in enumerate(x.where) if differ & set(range(own.start, own.stop))
        )
        return list(dict.fromkeys(every))

    def solutions(self, request: Request, arguments: tuple[np.ndarray, ...]) -> FrictionSolutions:
        """Every solution of one state, as far as trying every choice finds them."""
        if (own := self._of(arguments)) is not self:
            return own.solutions(request, arguments)
        answer, joints = self.terms(request, arguments)
        x = self._system(answer, joints, *self._now(arguments[1]))
        verdict = classes.classified(x)
        every = np.concatenate([G.T for G in self.G], axis=1)
        qdd = [answer.qdd + answer.P @ (every @ own.f) for own in verdict.solutions]
        sticks = [
            tuple(dict.fromkeys(self._joint_name(k) for k in classes.sticking(x, own)))
            for own in verdict.solutions
        ]
        part = classes.begins(x) if verdict.kind == classes.SEVERAL else np.nan
        return FrictionSolutions(
            verdict.kind,
            verdict.proved,
            np.array(qdd).reshape(-1, self.model.nv),
            tuple(sticks),
            tuple(self._joints_of(x, verdict)),
            part,
        )

    def terms(self, request: Request, arguments: tuple[np.ndarray, ...]) -> tuple[Affine, list[Carried]]:
        """The affine answer at one state, and what the joints are in."""
        return self._of(arguments).affine_of(self.numbers(request, arguments), *arguments[:3])

    def numbers(self, request: Request, arguments: tuple[np.ndarray, ...]) -> Numbers:
        """The terms of one state, see `friction/phases/resting.py`."""
        assert self._calls is not None
        terms = self._calls(replace(request, quantity=self.quantity), arguments)
        return Numbers(*terms)._replace(kept=request.kept)

    def affine_of(
        self, numbers: Numbers, q: np.ndarray, qd: np.ndarray, tau: np.ndarray
    ) -> tuple[Affine, list[Carried]]:
        """Return the affine answer from the terms of one state, and what the joints are in."""
        H, F, A, b, c, Q, L, beside = (np.asarray(x, dtype=float) for x in numbers[:8])
        nv = self.model.nv
        joints = self._joints(q, qd, tau, beside)
        parts = self._parts(joints)
        kept = numbers[8]
        forms = c, Q.reshape(-1, nv), L.reshape(len(c), len(kept))
        c, Q, L = ([x[k] for k in parts] for x in forms)
        return affine(Terms(H, F, A.reshape(-1, nv), b.reshape(-1), c, Q, L, kept)), joints

    def one(self, request: Request, arguments: tuple[np.ndarray, ...], which: str = "") -> Rubbed:
        """The solution at one state; SingularError where there is none."""
        here = self._of(arguments)
        return here.of_numbers(self.numbers(request, arguments), *arguments[:3], which=which)

    def of_numbers(
        self,
        numbers: Numbers,
        q: np.ndarray,
        qd: np.ndarray,
        tau: np.ndarray,
        which: str = "",
    ) -> Rubbed:
        """Solve one state from the terms of the state, see `friction/phases/resting.py`, and the efforts of motors."""
        x, joints = self.affine_of(numbers, q, qd, tau)
        slips, at_rest = self._now(qd)
        if not any(at_rest):
            return self._sliding(x, joints, slips, which)
        return self._resting(x, joints, slips, at_rest, which)

    def system_of(
        self,
        x: Affine,
        joints: list[Carried],
        qd: np.ndarray,
        limits: Mapping[str, np.ndarray] = NO_LIMITS,
    ) -> Resting:
        """Return the system for all friction forces and those of closed limits; `limits`: rates of gaps by name."""
        return self._system(x, joints, *self._now(qd), limits)

    def resting(self, request: Request, arguments: tuple[np.ndarray, ...]) -> Resting:
        """The system of one state for all friction forces, whether surfaces are at rest or slide."""
        x, joints = self.terms(request, arguments)
        here = self._of(arguments)
        return here._system(x, joints, *here._now(arguments[1]))

    def _now(self, qd: np.ndarray) -> tuple[list[Slip], list[bool]]:
        """State of surfaces: how they slide, and which are at rest."""
        slips, at_rest = list[Slip](), list[bool]()
        for x, G in zip(self.surfaces, self.G, strict=True):
            s = G @ qd
            speed, moves = float(np.linalg.norm(s)), self._moves(s, G, qd)
            mu = (
                0.0 if x.kind == "level" and moves else float(x.grip.coefficient(speed))
            )  # its sliding is in F
            slips.append(Slip(s / speed if moves else np.zeros(len(s)), mu))
            at_rest.append(not moves)
        return slips, at_rest

    def _system(
        self,
        x: Affine,
        joints: list[Carried],
        slips: list[Slip],
        at_rest: list[bool],
        limits: Mapping[str, np.ndarray] = NO_LIMITS,
    ) -> Resting:
        u, mu = [slip.u for slip in slips], [float(slip.mu) for slip in slips]
        return resting_system(x, self.surfaces, joints, self.G, at_rest, u, mu, limits)

    def by_rate(self, request: Request, arguments: tuple[np.ndarray, ...]) -> dict[str, JointFriction]:
        """Friction at one state, by name of the rate; laws of constant level at rest with it."""
        if (own := self._of(arguments)) is not self:
            return own.by_rate(request, arguments)
        found: dict[str, JointFriction] = {}
        solved, (q, qd) = self.one(request, arguments), arguments[:2]
        moving = level_efforts(self.model, State(q, qd, time=self.model.time))
        for k, x in enumerate(self.surfaces):
            G, sticks, load = self.G[k], solved.sticks[k], float(solved.loads[k])
            speed = float(np.linalg.norm(G @ qd))
            mu = float(x.grip.mu_static if sticks else x.grip.coefficient(speed))
            efforts, constant = G.T @ solved.forces[k], x.kind == "level"
            if constant and speed:
                efforts, load, mu = moving, float(np.abs(moving[np.abs(G[0]) > 0.0]).max()), 1.0
            for v in np.flatnonzero(np.abs(G).max(0)).tolist():
                level = (mu * load + (x.surplus if sticks else 0.0)) * float(np.abs(G[:, v]).max())
                name = self.model.v_names[v]
                found[name] = JointFriction(float(efforts[v]), level, sticks, np.nan if constant else load)
        return found

    def of_motion(
        self,
        request: Request,
        arguments: tuple[np.ndarray, ...],
        qdd: np.ndarray,
        first: np.ndarray,
        multipliers: Callable[[np.ndarray], np.ndarray],
        own: np.ndarray,
        which: str = "",
    ) -> np.ndarray:
        """Efforts of friction (nv,) in a motion that is given.

        `multipliers` of the rows follow linearly from the efforts that the motion asks for beyond what friction gives,
        which are `first` where that is nothing; `own` are further ones, by the motion alone.
        """
        if (here := self._of(arguments)) is not self:
            return here.of_motion(request, arguments, qdd, first, multipliers, own, which)
        q, qd = arguments[:2]
        rotors = np.concatenate([np.zeros(0), *(self.model.body[i].rotor for i in self.model.in_order)])
        _, _, _, _, c, Q, L, beside, _ = self.numbers(request, arguments)
        joints = [x._replace(yields=1.0) for x in self._joints(q, qd, rotors * qdd, beside)]
        slips = self._slips(qd, qdd)
        joints = _directed(joints, slips)
        D = [G.T @ (slip.mu * slip.u) for G, slip in zip(self.G, slips, strict=True)]
        parts = self._parts(joints)
        now = c + Q @ qdd + L @ (multipliers(first) + own)
        by_load = [L @ multipliers(d) for d in D]
        forms = [list(now[k]) for k in parts]
        response = Response(
            qdd, [np.zeros(len(qd)) for _ in D], forms, [[list(x[k]) for x in by_load] for k in parts]
        )
        path = closer.follow(System(self.surfaces, slips, joints, response))
        if not path.arrives:
            raise self._jammed(path, slips, which)
        return -sum((d * n for d, n in zip(D, path.N, strict=True)), np.zeros(len(qd)))

    def _slips(self, qd: np.ndarray, qdd: np.ndarray) -> list[Slip]:
        """Signs by the direction of q̇, where that is zero of q̈, and none where both are."""
        found: list[Slip] = []
        for x, G in zip(self.surfaces, self.G, strict=True):
            s = G @ qd
            way, rates = (s, qd) if self._moves(s, G, qd) else (G @ qdd, qdd)
            u = way / np.linalg.norm(way) if self._moves(way, G, rates) else np.zeros(len(way))
            level = x.kind == "level"  # inverse dynamics has its friction already
            found.append(Slip(u, 0.0 if level else float(x.grip.coefficient(float(np.linalg.norm(s))))))
        return found

    def _joints(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, beside: np.ndarray) -> list[Carried]:
        model = self.model
        pairs = [(x.body, model.v_span[x.body]) for x in self.surfaces]
        return [Carried(q[model.q_span[i]], qd[k], tau[k], beside[k]) for i, k in pairs]

    def _parts(self, joints: list[Carried]) -> list[slice]:
        """Places of the forms of each surface among all."""
        counts = [len(x.forms(np.zeros(6), joint.q)) for x, joint in zip(self.surfaces, joints, strict=True)]
        return [slice(*ends) for ends in pairwise(np.cumsum([0, *counts]).tolist())]

    def _moves(self, s: np.ndarray, G: np.ndarray, rates: np.ndarray) -> bool:
        """True if a velocity of sliding is more than rounding."""
        return bool(np.linalg.norm(s) > self.still * (1.0 + np.abs(rates).max()) * np.abs(G).max())

    def _sliding(self, x: Affine, joints: list[Carried], slips: list[Slip], which: str) -> Rubbed:
        D = np.array([G.T @ (slip.mu * slip.u) for G, slip in zip(self.G, slips, strict=True)])
        joints = _directed(joints, slips)
        path = closer.follow(sliding_system(x, self.surfaces, slips, joints, D))
        resting = self._system(x, joints, slips, [False] * len(slips))
        forces = [-(slip.mu * n) * slip.u for slip, n in zip(slips, path.N, strict=True)]
        start = rest.with_jumps(resting, np.concatenate(forces))
        found = rest.from_start(resting, start) if path.arrives or not resting.jumps else rest.solve(resting)
        if not path.arrives and not (resting.jumps and found.met):
            raise self._jammed(path, slips, which)
        verdict = classes.classified(resting, found)
        several = Several(resting, verdict) if verdict.kind == classes.SEVERAL else None
        return self._rubbed(x, resting, found, several)

    def _rubbed(self, x: Affine, resting: Resting, found: Found, several: Several | None) -> Rubbed:
        """Return what a solution is; rates that stick have no acceleration."""
        every = np.concatenate([G.T for G in self.G], axis=1)
        held = classes.sticking(resting, found)
        sticks = [k in held for k in range(len(self.surfaces))]
        qdd = x.qdd + x.P @ (every @ found.f)
        for G, stuck in zip(self.G, sticks, strict=True):
            if stuck:
                qdd[np.abs(G).max(0) > 0.0] = 0.0
        return Rubbed(qdd, [found.f[k] for k in resting.where], found.N, sticks, several)

    def _jammed(self, path: closer.Path, slips: list[Slip], which: str) -> SingularError:
        k = int(np.argmax(path.N))
        surface, mu = self.surfaces[k], float(slips[k].mu)
        joint = self.model.joint_names[surface.body]
        return SingularError(
            f"{self.model.name}: friction has no solution at joint {joint!r}{which}: from mu = {path.t * mu:.9g} on, "
            f"{path.t:.6g} of what is given, its load grows without bound: the joint jams, or only an impact goes on "
            "(Painlevé); lower mu, or give it longer guidance",
            joint=joint,
            mu=path.t * mu,
        )

    def _resting(
        self,
        x: Affine,
        joints: list[Carried],
        slips: list[Slip],
        at_rest: list[bool],
        which: str,
    ) -> Rubbed:
        resting = self._system(x, joints, slips, at_rest)
        verdict = classes.found_one(resting)
        found = rest.settled(resting, verdict.solutions[0]) if verdict.solutions else None
        if found is None or not found.met:
            raise self.unsettled(resting, which)
        several = Several(resting, verdict) if verdict.kind == classes.SEVERAL else None
        return self._rubbed(x, resting, found, several)

    def unsettled(self, x: Resting, which: str = "") -> SingularError:
        """The error where there is no solution: it names the joint, and the coefficient at which that begins."""
        if not len(x.surfaces):
            return SingularError(
                f"{self.model.name}: no force at {listed(map(repr, x.limits), 4)} satisfies the constraints{which}; "
                "change the constraints, or the limits"
            )
        part, last = classes.ends(x)
        k = int(np.argmax(last.N))
        joint, mu = self._joint_name(k), part * float(x.mu_static[k] if x.at_rest[k] else x.mu[k])
        return SingularError(
            f"{self.model.name}: friction has no solution at joint {joint!r}{which}: from mu = {mu:.9g} on, {part:.6g} "
            "of what is given, no choice of what sticks and what slides fits; lower mu, or give it longer guidance",
            joint=joint,
            mu=mu,
        )


def _directed(joints: Sequence[Carried], slips: Sequence[Slip]) -> list[Carried]:
    """State of the joints, with the directions in which they slide."""
    return [
        at._replace(toward=float(slip.u[0]) if len(slip.u) == 1 else 0.0)
        for at, slip in zip(joints, slips, strict=True)
    ]
