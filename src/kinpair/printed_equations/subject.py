"""Recording of a mechanism or a system for its equations.

Of a tree: parallel axes, H and g, the efforts of springs, dampers and friction

    d = k (q − q_rest) + b q̇ + f sign q̇

Under constraints the subject of the equations has its symbols and the recorded M, F, A and b.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Vector, array
from kinpair.algebra.choice import sign
from kinpair.compiler.program import Program, Shape, needed
from kinpair.compiler.trace import trace
from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.quantities.equations import free_terms
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.constraint import Constraint
from kinpair.errors import InputError, KinpairError
from kinpair.evaluation.calls import Calls
from kinpair.evaluation.quantities.request import request_of
from kinpair.formulations import composite, denoc, kinematics, lagrange, newton_euler, rotors
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.printed_equations.closed_form.formula import (
    ZERO,
    Alphabet,
    Call,
    Formula,
    Letter,
    Number,
    Product,
    Sum,
    Symbol,
)
from kinpair.printed_equations.closed_form.sheet import calculated
from kinpair.printed_equations.constant import SHARING, Constant, Parameters, directions, letters, symbols_of
from kinpair.printed_equations.parameters import (
    constants,
    constraint_constants,
    constraints_with_letters,
    is_of_a_constraint,
    passive_constants,
    with_letters,
)
from kinpair.system import System

PARALLEL = 1e-9  # sine of the angle between two axes that count as parallel


class _Turning(NamedTuple):
    """A coordinate that turns: its axis in the neutral position, and the last body before it that does not turn about
    the same axis."""

    name: str
    axis: np.ndarray
    frame: int


def groups(model: Model, names: tuple[str, ...]) -> dict[str, int]:
    """A number for each coordinate, the same for those whose axes stay parallel: they follow each other in the tree,
    or their chains start on one body."""
    where = kinematics.poses(model, model.neutral())
    group = {name: k for k, name in enumerate(names)}
    turning: dict[int, _Turning] = {}
    for i in model.moving:
        direction = _axis(model, i)
        if direction is None:
            continue
        name, axis = (
            names[model.q_span[i].start + direction[0]],
            np.asarray(where[i].R, dtype=float) @ direction[1],
        )
        before = next((j for j in model.path_to_ground(model.parent[i]) if _turns(model, j)), 0)
        follows = before in turning and _parallel(turning[before].axis, axis)
        frame = turning[before].frame if follows else before
        like = [x for x in turning.values() if x.frame == frame and _parallel(x.axis, axis)]
        turning[i] = _Turning(name, axis, frame)
        group[name] = group[like[0].name] if like else group[name]
    return group


def _parallel(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.abs(np.cross(a, b)).max() < PARALLEL)


def _axis(model: Model, i: int) -> tuple[int, np.ndarray] | None:
    """Find the one coordinate that turns the body and its axis in the body; None if there are several or none."""
    pair = model.body[i].pair
    columns = np.asarray(pair.p(np.asarray(pair.neutral(), dtype=float)), dtype=float)[:3]
    turning = np.flatnonzero(np.abs(columns).max(0)) if columns.size else []
    if len(turning) != 1 or pair.nq != pair.nv:
        return None
    return int(turning[0]), columns[:, turning[0]]


def _turns(model: Model, i: int) -> bool:
    pair = model.body[i].pair
    columns = np.asarray(pair.p(np.asarray(pair.neutral(), dtype=float)), dtype=float)[:3]
    return bool(np.abs(columns).max(initial=0.0) > 0)


def passive_efforts(
    model: Model, known: Mapping[str, Formula], q: Sequence[str], qd: Sequence[str]
) -> np.ndarray:
    """d (nv,): what springs, dampers and friction ask for; `known` are their constants, see `passive_constants`."""
    efforts = np.empty(model.nv, dtype=object)
    for k, rate in enumerate(qd):
        motions: dict[str, Formula] = {
            f"k[{k}]": _stretch(Symbol(q[int(model.joints.spring_q[k])]), known.get(f"rest[{k}]")),
            f"b[{k}]": Symbol(rate),
            f"f[{k}]": Call("sign", (Symbol(rate),)),
        }
        terms = [Product((known[key], motion)) for key, motion in motions.items() if key in known]
        efforts[k] = Sum(tuple(terms)) if len(terms) > 1 else terms[0] if terms else ZERO
    return efforts


def _stretch(at: Symbol, rest: Formula | None) -> Formula:
    return at if rest is None else Sum((at, Product((Number(-1.0), rest))))


MOST = 12  # degrees of freedom for which Christoffel's symbols are written out
Recorded = Callable[[Model, Vector, Vector], dict[str, Any]]


def energies(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """H and the potential: what the closed form starts from."""
    return {"H": composite.mass_matrix(model, q), "V": kinematics.potential_energy(model, q)}


def kinetic_energy(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """T (1,) [J]."""
    return {"T": array([kinematics.kinetic_energy(model, q, qd)])}


def potential_energy(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """V (1,) of gravity [J], zero at the origin of the world."""
    return {"V": array([kinematics.potential_energy(model, q)])}


ENERGIES: dict[str, Recorded] = {"T": kinetic_energy, "V": potential_energy}


def matrices(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """H, C and g; C of the complement."""
    return _matrices(model, q, denoc.coriolis_matrix(model, q, qd) + rotors.convective_matrix(model, qd))


def christoffel_matrices(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """H, C and g; C of Christoffel's symbols."""
    return _matrices(model, q, lagrange.coriolis_matrix(model, q, qd))


def _matrices(model: Model, q: Vector, C: Any) -> dict[str, Any]:
    still = np.zeros(model.nv)
    g = newton_euler.inverse_dynamics(model, q, still, still, kinematics.no_wrenches(model))
    return {"H": composite.mass_matrix(model, q), "C": C, "g": g}


def recorded(model: Model, every: Sequence[Constant], equations: Recorded) -> Program:
    """The equations of a model as a program of q, q̇ and the constants that are to be symbols."""
    kept = symbols_of(every)

    def f(q: Vector, qd: Vector, *values: Any) -> dict[str, Any]:
        symbols = dict(zip(kept, values, strict=True))
        return equations(with_letters(model, symbols, list(every)) if every else model, q, qd)

    shapes: dict[str, Shape] = {"q": (model.nq,), "qd": (model.nv,)}
    with np.errstate(all="ignore"):
        return trace(f, shapes | dict.fromkeys(kept, ()), name=model.name)


def rates_are_derivatives(model: Model) -> bool:
    """True if q̇ is the derivative of q: not with quaternions."""
    if model.nq != model.nv:
        return False
    program = trace(lambda q, qd: kinematics.dq_dt(model, q, qd), {"q": (model.nq,), "qd": (model.nv,)})
    return program.outputs[0].entries == program.inputs[1].entries


def has_christoffel(model: Model) -> bool:
    """True if C is made of Christoffel's symbols. Rates must be derivatives, and their work grows as n³."""
    return model.nv <= MOST and rates_are_derivatives(model)


TAKEN = re.compile(
    r"(q|qd|qdd|tau|c|s|Y|alpha|p|x|F|b|f|[MAZEGSXW]\d|R[1-4]_|D)\d+|t"
)  # used by the equations
TOLD_APART = {"b": "beta", "f": "eta"}  # damping and friction from the b and f of the rows
More = Callable[[Any, Any, Any, Any], dict[str, Any]]  # of M, F, A, b


def _as_described(model: Model, values: Mapping[str, Any]) -> tuple[Constraint, ...]:
    """The constraints with their numbers."""
    return constraints_of(model)


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, the symbols of its constants, how to put them in, and what they are called."""

    model: Model
    keys: Sequence[str]
    with_values: Callable[[Mapping[str, Any]], Model]
    spelled: Callable[[set[str]], dict[str, Letter]]
    start: np.ndarray
    passive: Sequence[Constant] = ()
    symbolic: bool = True
    constrained: Callable[[Model, Mapping[str, Any]], tuple[Constraint, ...]] = _as_described
    directions: frozenset[float] = frozenset()

    @property
    def variables(self) -> dict[str, list[str]]:
        """Symbols of q, q̇, τ and t."""
        sizes = {"q": self.model.nq, "qd": self.model.nv, "tau": self.model.nv, "time": 1}
        return {what: [f"{what}[{k}]" for k in range(n)] for what, n in sizes.items()}

    def alphabet(self, used: set[str]) -> Alphabet:
        """The symbols, given which constants are used."""
        all_letters, model, names = self.spelled(used), self.model, self.variables
        masses = [key for key, letter in all_letters.items() if letter.base == "m"]
        for k, name in enumerate(names["q"]):
            all_letters[name] = Letter("q", str(k + 1), f"coordinate {model.q_names[k]!r}")
        for k, name in enumerate(names["qd"]):
            meaning = f"rate {model.v_names[k]!r}" if model.nq > model.nv else ""
            all_letters[name] = Letter("q", str(k + 1), meaning, accent="\\dot")
        all_letters |= {name: Letter("tau", str(k + 1)) for k, name in enumerate(names["tau"])}
        all_letters |= {name: Letter("t") for name in names["time"]}
        return Alphabet(all_letters, {name: k + 1 for k, name in enumerate(names["q"])}, names["qd"], masses)

    def passive_values(self) -> dict[str, Formula]:
        """Springs, dampers and friction as symbols or numbers."""
        return {c.key: Symbol(c.letter) if self.symbolic else Number(c.value) for c in self.passive}

    def recorded(self, kept: Sequence[int], *, passive: bool, more: More | None = None) -> Program:
        """M, F, A and b with the rows kept, and what `more` makes of them."""
        springs = symbols_of(self.passive) if passive and self.symbolic else []
        keys, request = [*self.keys, *springs], request_of("forward_dynamics", passive=False)

        def f(q: Any, qd: Any, tau: Any, time: Any, *values: Any) -> dict[str, Any]:
            letters = dict(zip(keys, values, strict=True))
            model = self.with_values(letters)
            M, F = free_terms(model, request, State(q, qd, tau=tau, time=time[0]), {})
            F = F - self._pull(q, qd, letters) if passive else F
            constraint_rows = all_rows.rows(model, self.constrained(model, letters), q, qd, time[0], kept)
            known = {"M": M, "F": F, "A": constraint_rows.A, "b": constraint_rows.b}
            return known | (more(M, F, constraint_rows.A, constraint_rows.b) if more is not None else {})

        shapes: dict[str, Shape] = {what: (len(names),) for what, names in self.variables.items()}
        with np.errstate(all="ignore"):
            return trace(f, shapes | dict.fromkeys(keys, ()), name=self.model.name)

    def _pull(self, q: Any, qd: Any, letters: Mapping[str, Any]) -> Any:
        """Forces of springs, dampers and friction."""
        names = self.variables
        known = {
            **dict(zip(names["q"], q, strict=True)),
            **dict(zip(names["qd"], qd, strict=True)),
            **letters,
        }
        efforts = passive_efforts(self.model, self.passive_values(), names["q"], names["qd"])
        return array([calculated(x, known, float, {"sign": sign}) for x in efforts])

    def groups(self, program: Program) -> dict[str, int]:
        """Groups of coordinates that add in angles."""
        if self.model.terms is None:
            return groups(self.model, tuple(self.variables["q"]))
        return _met(program, [*self.variables["q"], *self.variables["time"]])

    def closure(self) -> Closure:
        """The constraints in numbers."""
        return Closure(self.model, Calls(self.model, compiled=False))


def subject_of(mechanism: Mechanism | System, parameters: Parameters, *, passive: bool) -> Subject:
    """The subject of what a user holds."""
    symbolic = parameters != "numbers"
    if isinstance(mechanism, System):
        return _of_system(mechanism, symbolic)
    model, share = mechanism.model, SHARING[parameters]
    every = share([*constants(model), *constraint_constants(model)]) if symbolic else []
    of_model = [c for c in every if not is_of_a_constraint(c)]
    of_constraints = [c for c in every if is_of_a_constraint(c)]
    springs = (
        share([replace(c, base=TOLD_APART.get(c.base, c.base)) for c in passive_constants(model)])
        if passive
        else []
    )

    def spelled(used: set[str]) -> dict[str, Letter]:
        kept = springs if symbolic else []
        return letters(every, used) | letters(kept, set(symbols_of(kept)))

    def with_values(values: Mapping[str, Any]) -> Model:
        return with_letters(model, values, of_model) if of_model else model

    def constrained(model: Model, values: Mapping[str, Any]) -> tuple[Constraint, ...]:
        return constraints_with_letters(model, of_constraints, values)

    return Subject(
        model,
        symbols_of(every),
        with_values,
        spelled,
        mechanism.start(),
        springs,
        symbolic,
        constrained,
        frozenset(directions(every)),
    )


def _of_system(system: System, symbolic: bool) -> Subject:
    known = system.parameters if symbolic else {}
    for name in known:
        if TAKEN.fullmatch(name):
            raise InputError(
                f"{system.name}: parameter {name!r} is what the printed equations call a term of their own; "
                "give it another name"
            )

    def spelled(used: set[str]) -> dict[str, Letter]:
        return {name: _letter(name, value) for name, value in known.items() if name in used}

    def with_values(values: Mapping[str, Any]) -> Model:
        return system.model_with(values) if values else system.model

    guess = 0.3 + 0.4 * np.cos(np.arange(system.nq))
    try:
        start = system.assemble(guess)
    except KinpairError:
        start = guess
    return Subject(system.model, list(known), with_values, spelled, start)


def _letter(name: str, value: float) -> Letter:
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*)", name)
    base, index = match.groups() if match else (name, "")
    return Letter(base, index, "parameter", value)


def _met(program: Program, names: Sequence[str]) -> dict[str, int]:
    """A number for each symbol, the same for those that meet in one angle."""
    group = {name: k for k, name in enumerate(names)}
    called = program.graph.names
    for x in program.nodes:
        if x.op in ("sin", "cos"):
            inside = {called[y.id] for y in needed([x]) if y.op == "symbol"} & group.keys()
            together = {group[name] for name in inside}
            group = {name: min(together) if k in together else k for name, k in group.items()}
    return group
