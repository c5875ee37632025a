"""Subject of equations under constraints: a mechanism or a system, its symbols, its M, F, A, b."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinpair.algebra.arrays import array
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
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.model.state import State
from kinpair.printed_equations.closed_form.formula import Alphabet, Formula, Letter, Number, Symbol
from kinpair.printed_equations.closed_form.sheet import calculated
from kinpair.printed_equations.constant import (
    SHARING,
    Constant,
    Parameters,
    directions,
    letters,
    symbols_of,
)
from kinpair.printed_equations.parameters import (
    constants,
    constraint_constants,
    constraints_with_letters,
    is_of_a_constraint,
    passive_constants,
    with_letters,
)
from kinpair.printed_equations.recording import groups, passive_efforts
from kinpair.system import System

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
