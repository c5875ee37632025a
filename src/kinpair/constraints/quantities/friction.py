"""Friction from load under constraints: multipliers load the joints, and friction changes the multipliers.

Efforts of friction −D_l N_l are answered by accelerations and multipliers, both linear in N. Each answer is one more
solve with the same M and rows; the wrenches of its motion and its multipliers are the C_kl of (FS2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, maximum, where
from kinpair.constraints.quantities.multipliers import Sharing, sharing
from kinpair.constraints.rounding import STILL_RATE
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loads import with_rows, wrench_rows
from kinpair.constraints.solvers import Accelerations, Problem, Solver
from kinpair.evaluation.quantities.request import External, Request, request_of
from kinpair.forces.elements import Loads, loads_on
from kinpair.formulations import newton_euler
from kinpair.formulations.kinematics import no_wrenches
from kinpair.friction.loads import contraction, dynamics, system, tree
from kinpair.friction.loads.system import Response, System, times
from kinpair.friction.surfaces.surface import Carried, length
from kinpair.friction.surfaces.table import at_moment, surfaces_of
from kinpair.model.model import Model
from kinpair.model.recursion import ByBody, coordinates, each, joined
from kinpair.model.state import State

SWEEPS = 6  # loops answer more strongly than trees


class Loaded(NamedTuple):
    """State of surfaces: how they slide, what their joints are in, their forms and loads."""

    own: dynamics.Sliding
    joints: list[Carried]
    forms: list[list[Scalar]]
    N: Vector


class Rubbed(NamedTuple):
    """q̈ and λ with friction, its efforts (nv,), one where the loads are found, else zero, and how they came about."""

    solved: Accelerations
    efforts: Vector
    sound: Scalar
    loaded: Loaded
    alone: Scalar  # one where it is proved that no other loads fit


def with_friction(
    model: Model,
    request: Request,
    state: State,
    external: External,
    problem: Problem,
    first: Accelerations,
    answer: Solver,
    *,
    changing: bool = False,
) -> Rubbed:
    """Add friction to the solution without friction; `answer` solves for the answers to it; `changing`: rows of any
    rank."""
    model = at_moment(model, state.time)
    acting = loads_on(model, state, external, passive=request.passive)
    own = dynamics.sliding(model, state.qd)
    none = np.zeros(len(problem.b))
    answers = [answer(problem._replace(F=-column, b=none)) for column in own.D]
    carry = _Carrying.of(model, request, state, changing=changing)
    still, at_rest = np.zeros(model.nv), _without_gravity(model)
    of_motion = carry.wrenches(model, state.qd, first.qdd, acting.wrenches, first.lam)
    of_loads = [carry.wrenches(at_rest, still, x.qdd, no_wrenches(model), x.lam) for x in answers]
    forms = tree.formed(model, state.q, own.surfaces, of_motion, of_loads)
    joints = dynamics.carried(model, own, state.q, state.qd, state.tau, acting)
    both = System(own.surfaces, own.slips, joints, Response(first.qdd, [x.qdd for x in answers], *forms))
    jumps = any(x.jumps for x in own.surfaces)
    loads = system.solve(both, None, dynamics.JUMPS.number if jumps else SWEEPS)
    lam = sum((times(n, x.lam) for x, n in zip(answers, loads.N, strict=True)), first.lam)
    solved = first._replace(qdd=both.accelerations(loads.N), lam=lam)
    loaded = Loaded(own, joints, both.forms(loads.N), loads.N)
    alone = contraction.proved(both) if contraction.is_bounded(own.surfaces) else 1.0
    return Rubbed(solved, own.efforts(loads.N, model.nv), loads.sound * carry.sound, loaded, alone)


def of_motion(
    model: Model, request: Request, state: State, qdd: Vector, lam: Vector, acting: Loads
) -> Vector:
    """Efforts of friction (nv,) while the rows kept have the multipliers `lam`, and motors the efforts of the state."""
    carry = _Carrying.of(model, request, state)
    every = carry.multipliers(model, state.qd, qdd, acting.wrenches, lam)
    on = acting._replace(wrenches=with_rows(acting.wrenches, carry.unit, every))
    method = request_of("inverse_dynamics").method
    return dynamics.friction_of_motion(model, method, state.q, state.qd, qdd, on, state.tau).efforts


class Driven(NamedTuple):
    """Efforts of friction (nv,) in a motion that is given; one where its loads are proved to be the only ones."""

    efforts: Vector
    sound: Scalar


def of_driven_motion(
    model: Model,
    request: Request,
    state: State,
    external: External,
    qdd: Vector,
    r: Vector,
    multipliers: Callable[[Vector], Vector],
) -> Driven:
    """Compute the friction of a motion that actuators make.

    `multipliers` of the rows kept are linear in the efforts that the motion requires: r without friction.    (CE2)
    """
    model = at_moment(model, state.time)
    acting = loads_on(model, state, external, passive=request.passive)
    own = dynamics.sliding(model, state.qd)
    carry = _Carrying.of(model, request, state)
    still, at_rest = np.zeros(model.nv), _without_gravity(model)
    first = carry.wrenches(model, state.qd, qdd, acting.wrenches, multipliers(r))
    of_loads = [
        carry.wrenches(at_rest, still, still, no_wrenches(model), multipliers(column)) for column in own.D
    ]
    rotors = joined(model, each(model, lambda body: body.rotor)) * qdd
    joints = dynamics.carried(model, own, state.q, state.qd, rotors, acting)
    joints = [x._replace(yields=1.0) for x in joints]
    forms = tree.formed(model, state.q, own.surfaces, first, of_loads)
    both = System(own.surfaces, own.slips, joints, Response(qdd, [still] * len(own.D), *forms))
    loads = system.solve(both, None, SWEEPS)
    sound = loads.sound * carry.sound * contraction.proved(both) * _slides(own, state.qd)
    return Driven(own.efforts(loads.N, model.nv), sound)


def _slides(own: dynamics.Sliding, qd: Vector) -> Scalar:
    """Return one where every surface slides faster than rounding, zero elsewhere."""
    large = 1.0 + reduce(maximum, [np.abs(v) for v in qd], 0.0)
    sizes = [(s.sliding(), qd[k]) for s, k in zip(own.surfaces, own.spans, strict=True)]
    rests = [less(STILL_RATE * large * np.abs(G).max(), length(*(G @ v))) for G, v in sizes]
    return reduce(mul, [where(x, 1.0, 0.0) for x in rests], 1.0)


class _Carrying(NamedTuple):
    """Loads that the joints carry at one position: unit wrenches of all rows, those kept, and who shares what."""

    q: Vector
    kept: Sequence[int]
    unit: list[dict[int, Vector] | None]
    shares: Sharing | None

    @staticmethod
    def of(model: Model, request: Request, state: State, *, changing: bool = False) -> _Carrying:
        """Compute loads at the position of a state; `changing`: the rank of the rows kept may be lower than their
        number."""
        unit = wrench_rows(model, constraints_of(model), state.q, state.time)
        shares = sharing(model, request.kept, state, changing=changing)
        return _Carrying(state.q, request.kept, unit, shares)

    def wrenches(self, model: Model, qd: Vector, qdd: Vector, w_ext: Sequence[Any], lam: Vector) -> ByBody:
        """Wrenches by body, in its axes, in a motion with multipliers λ of the rows kept."""
        return self._shared(model, qd, qdd, w_ext, lam)[0]

    def multipliers(self, model: Model, qd: Vector, qdd: Vector, w_ext: Sequence[Any], lam: Vector) -> Vector:
        """Multipliers of all rows."""
        return self._shared(model, qd, qdd, w_ext, lam)[1]

    def _shared(
        self, model: Model, qd: Vector, qdd: Vector, w_ext: Sequence[Any], lam: Vector
    ) -> tuple[ByBody, Vector]:
        by_row = dict(zip(self.kept, lam, strict=True))
        full = array([by_row.get(k, 0.0) for k in range(len(self.unit))]) if self.unit else np.zeros(0)
        w = newton_euler.wrenches(model, self.q, qd, qdd, with_rows(w_ext, self.unit, full))
        return (w, full) if self.shares is None else self.shares.shared(w, full)

    @property
    def sound(self) -> Scalar:
        """Return one where the compliances determine every share, or there are none; zero elsewhere."""
        return 1.0 if self.shares is None else where(less(*self.shares.sound), 1.0, 0.0)


class LoadForms(NamedTuple):
    """Numbers of `friction/phases/resting.py`: forms of all surfaces at rest, by rate and by multiplier of the rows
    kept; efforts next to those of motors."""

    c: Vector
    Q: Matrix
    L: Matrix
    beside: Vector


def load_forms(model: Model, request: Request, state: State, external: External) -> LoadForms:
    """Compute the forms of loads at a state."""
    acting: Loads = loads_on(model, state, external, passive=request.passive)
    if not len(model.surfaces):
        return LoadForms(
            np.zeros(0), np.zeros((0, model.nv)), np.zeros((0, len(request.kept))), acting.beside
        )
    carry = _Carrying.of(model, request, state)
    L = load_columns(model, request, state)
    if carry.shares is None:
        forced = tree.Forced(model, state.q, state.qd, state.tau + acting.efforts, acting.wrenches)
        x = tree.composite(forced, surfaces_of(model))
        c, Q = [form for row in x.forms for form in row], [row for rows in x.Q for row in rows]
        return LoadForms(array(c), array(Q), L, acting.beside)
    still, none, at_rest = np.zeros(model.nv), np.zeros(len(request.kept)), _without_gravity(model)
    first = carry.wrenches(model, state.qd, still, acting.wrenches, none)
    moved = [carry.wrenches(at_rest, still, e, no_wrenches(model), none) for e in np.eye(model.nv)]
    c, Q = _forms(model, state, first), array([_forms(model, state, w) for w in moved]).T
    return LoadForms(array(c), Q, L, acting.beside)


def load_columns(model: Model, request: Request, state: State) -> Matrix:
    """Forms of all surfaces, one after the other, by unit multipliers of the rows kept (forms, rows)."""
    carry, still, at_rest = _Carrying.of(model, request, state), np.zeros(model.nv), _without_gravity(model)
    columns = [
        _forms(model, state, carry.wrenches(at_rest, still, still, no_wrenches(model), e))
        for e in np.eye(len(request.kept))
    ]
    count = len(_forms(model, state, no_wrenches(model)))
    return array(columns).T if columns else np.zeros((count, 0))


def _forms(model: Model, state: State, w: Sequence[Any]) -> list[Scalar]:
    """Forms of all surfaces, one after the other, at wrenches by body."""
    qs = coordinates(model, state.q)
    return [form for s in surfaces_of(model) for form in s.forms(w[s.body], qs[s.body])]


def _without_gravity(model: Model) -> Model:
    return replace(model, gravity=np.zeros(3))
