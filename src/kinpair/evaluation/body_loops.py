"""Long mechanisms: the walks over the bodies as loops of machine code, not one formula for all of them.

`Roller` is the walker of a model: the same steps of the same formulations, taken once for each kind of pair on the
compiler's tape. Values by body are fields of the tape; a vector over the rates or coordinates is a `ByBodyVector`,
which formulations add and subtract as they do arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from operator import add, mul, sub, truediv
from types import MappingProxyType
from typing import Any

import numpy as np

from kinpair.algebra.choice import maximum
from kinpair.compiler.program import flatten
from kinpair.compiler.rolled import Rolled
from kinpair.compiler.tape import ByKind, Field, Tape
from kinpair.constraints.quantities import along_tree
from kinpair.constraints.quantities.table import LOOPS
from kinpair.constraints.rows.build import is_constrained
from kinpair.evaluation.quantities.frames import links_alone
from kinpair.evaluation.quantities.request import Request
from kinpair.forces.elements import elements_of
from kinpair.forces.joint import can_be_walked
from kinpair.forces.states import ports_of
from kinpair.forces.walked_inputs import inputs_are, inputs_of
from kinpair.model.model import Body, Model
from kinpair.model.recursion import Roles
from kinpair.pairs import Pair

CONSTANTS = tuple(field.name for field in fields(Body) if field.name != "pair")


@dataclass(frozen=True, eq=False)
class ByBodyVector:
    """A vector over the rates, or over the coordinates, as a field: a part for each body."""

    roller: Roller
    field: Field
    spans: str  # "v" or "q"
    __array_ufunc__ = None  # NumPy's arrays leave + and − to this class

    def __len__(self) -> int:
        return self.roller.size(self.spans)

    def _with(self, f: Callable[[Any, Any], Any], other: Any) -> ByBodyVector:
        tape = self.roller.tape
        if isinstance(other, int | float):
            return ByBodyVector(self.roller, tape.each(lambda x: f(x, other), self.field), self.spans)
        field = tape.each(f, self.field, self.roller.parts(other, self.spans))
        return ByBodyVector(self.roller, field, self.spans)

    def __add__(self, other: Any) -> ByBodyVector:
        return self._with(add, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> ByBodyVector:
        return self._with(sub, other)

    def __rsub__(self, other: Any) -> ByBodyVector:
        return self._with(lambda x, y: y - x, other)

    def __mul__(self, other: Any) -> ByBodyVector:
        return self._with(mul, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> ByBodyVector:
        return self._with(truediv, other)

    def __neg__(self) -> ByBodyVector:
        return self * -1.0


@dataclass(frozen=True, eq=False)
class ByBodyRows:
    """A matrix as a field: a row for each body, which begins at entry `starts` of body i."""

    field: Field
    starts: np.ndarray
    shape: tuple[int, int]


class Roller:
    """Takes the steps of a recursion on a tape."""

    def __init__(
        self,
        model: Model,
        roles: Sequence[Hashable] | None = None,
        spans: Mapping[str, np.ndarray] = MappingProxyType({}),
    ) -> None:
        """Start a tape. spans: of further vectors, the first entry of each body and how many it has (n + 1, 2)."""
        self.model = model
        numbers = model.numbering
        which, chosen = _moving(model)
        pairs = [model.body[i].pair for i in chosen]
        self._types: dict[type[Pair], int] = {}
        types = np.array([self._types.setdefault(type(pair), len(self._types)) for pair in pairs])[which]
        self._pairs = [next(pair for pair in pairs if type(pair) is kind) for kind in self._types]
        self.tape = Tape(numbers.parent[1:] - 1, types if roles is None else _kinds(types, roles))
        self._starts = {"q": numbers.q_start[1:], "v": numbers.v_start[1:]}
        own = [model.body[i + 1].pair for i in self.tape.first]
        self._widths = {"q": [pair.nq for pair in own], "v": [pair.nv for pair in own]}
        self._sizes = {"q": model.nq, "v": model.nv}
        for name, span in spans.items():
            self._starts[name], self._sizes[name] = span[1:, 0], int(span[:, 1].sum())
            self._widths[name] = [int(span[i + 1, 1]) for i in self.tape.first]
        self._bodies: dict[int, tuple[Any, Field]] = {}
        self._lists: dict[int, tuple[Any, Field | ByKind]] = {}
        self._known: dict[tuple[Any, ...], tuple[list[Any], Field]] = {}

    def size(self, spans: str) -> int:
        """Entries of a vector over the coordinates, the rates, or of another name."""
        return self._sizes[spans]

    # constants of the bodies

    def _constants(self, model: Model) -> Field:
        """The constants of the bodies of a model, which may be regrouped; bodies that are one object share a row."""
        key = id(model.body)
        if key not in self._bodies:
            which, places = _moving(model)
            chosen = np.array(places)
            types = np.array([self._types[type(model.body[i].pair)] for i in places])
            rows = [self._table([model.body[i] for i in chosen[types == k]]) for k in range(len(self._types))]
            table = np.zeros((len(chosen), max(x.shape[1] for x in rows)))
            for k, numbers in enumerate(rows):
                table[types == k, : numbers.shape[1]] = numbers
            examples = [flatten(self._numbers(model.body[i + 1])) for i in self.tape.first]
            self._bodies[key] = model.body, self.tape.rows(examples, table, which)
        return self._bodies[key][1]

    def _numbers(self, body: Body) -> dict[str, Any]:
        """The constants of a body by name, those of its pair and the number of its kind among them."""
        of_pair = {f"pair.{f.name}": getattr(body.pair, f.name) for f in fields(body.pair)}  # type: ignore[arg-type]
        kind = {"kind": float(self._types[type(body.pair)])}
        return {name: getattr(body, name) for name in CONSTANTS} | of_pair | kind

    def _table(self, bodies: Sequence[Body]) -> np.ndarray:
        """The constants of bodies of one kind, a row each."""
        columns = zip(*(self._numbers(body).values() for body in bodies), strict=True)
        return np.concatenate([np.array(x, dtype=float).reshape(len(bodies), -1) for x in columns], axis=1)

    def _body(self, numbers: dict[str, Any]) -> Body:
        """A body whose constants are those of all bodies of its kind, symbols where they differ."""
        own = {name.removeprefix("pair."): x for name, x in numbers.items() if name.startswith("pair.")}
        pair: Pair = replace(self._pairs[int(numbers["kind"])], **own)  # type: ignore[type-var]
        return Body(pair, **{name: numbers[name] for name in CONSTANTS})

    def _fields(self, values: Sequence[Any]) -> list[Field | ByKind]:
        """Fields as they are; roles by kind, and lists of numbers by body as constants."""
        return [x if isinstance(x, Field) else self._once(x) for x in values]

    def _once(self, values: Sequence[Any] | np.ndarray) -> Field | ByKind:
        """Record a list for the tape, kept with the list, so that no other object gets its id."""
        if id(values) not in self._lists:
            self._lists[id(values)] = values, self._given(values)
        return self._lists[id(values)][1]

    def _given(self, values: Sequence[Any] | np.ndarray) -> Field | ByKind:
        if isinstance(values, Roles):
            return ByKind(tuple(values[i + 1] for i in self.tape.first))
        if isinstance(values, np.ndarray):
            return self.tape.rows(
                [flatten(0.0)] * self.tape.kinds, values[1:, None], np.arange(len(self.tape.kind))
            )
        return self.tape.constants(list(values)[1:])

    # walks

    def each(self, model: Model, step: Callable[..., Any], *values: Any) -> Field:
        """x_i = step(body, given_i...); computed once for the same step of the same values."""
        given = [self._constants(model), *self._fields(values)]
        key = (step, *map(id, given))
        if key not in self._known:  # with what was given, so that no other object gets its id
            self._known[key] = given, self.tape.each(lambda body, *x: step(self._body(body), *x), *given)
        return self._known[key][1]

    def outward(self, model: Model, step: Callable[..., Any], ground: Any, *values: Any) -> Field:
        """x_i = step(body, x_parent, given_i...)."""
        given = [self._constants(model), *self._fields(values)]
        return self.tape.outward(lambda parent, body, *x: step(self._body(body), parent, *x), ground, *given)

    def inward(self, model: Model, step: Callable[..., Any], nothing: Any, *values: Any) -> Field:
        """x_i, y_i = step(body, Σ y_child, given_i...)."""
        given = [self._constants(model), *self._fields(values)]
        return self.tape.inward(lambda outer, body, *x: step(self._body(body), outer, *x), nothing, *given)

    def total(
        self, model: Model, step: Callable[..., Any], start: Any, *values: Any, combine: Callable[..., Any]
    ) -> Any:
        """start ∘ step(body, given_i...) ∘ ... of all bodies."""
        given = [self._constants(model), *self._fields(values)]
        return self.tape.total(lambda body, *x: step(self._body(body), *x), start, *given, combine=combine)

    def others(self, values: Field, numbers: Sequence[int]) -> Field:
        """x_i = the value of body numbers[i], of an outward walk."""
        return self.tape.others(values, np.array(numbers[1:]) - 1)

    # vectors

    def vector(self, name: str, *, array: str = "", start: int = 0, size: int = 0) -> ByBodyVector:
        """The coordinates `q`, a further vector, or rates of another name; of a longer input `array`, the entries from
        `start` on."""
        spans = name if name in self._sizes else "v"
        starts = self._starts[spans] + start
        field = self.tape.input(array or name, size or self.size(spans), starts, self._widths[spans])
        return ByBodyVector(self, field, spans)

    def argument(self, name: str) -> Any:
        """An argument of a quantity: a vector, or the time, of which nothing that is walked depends."""
        return self.totals(name, 0, 1, 1) if name == "time" else self.vector(name)

    def parts(self, x: Any, spans: str) -> Field:
        """A vector by body: a part of a field, or numbers (n,)."""
        if isinstance(x, ByBodyVector):
            return x.field
        numbers = np.asarray(x, dtype=float)
        examples = [flatten(np.zeros(width)) for width in self._widths[spans]]
        if not numbers.any():
            nothing = np.zeros((1, max(self._widths[spans], default=0)))
            return self.tape.rows(examples, nothing, np.zeros(len(self.tape.kind), np.int64))
        widths = np.array(self._widths[spans])[self.tape.kind]
        table = np.zeros((len(widths), widths.max(initial=0)))
        for k in range(table.shape[1]):
            table[widths > k, k] = numbers[self._starts[spans][widths > k] + k]
        return self.tape.rows(examples, table, np.arange(len(widths)))

    def coordinates(self, q: Any) -> Field:
        """The coordinates by body."""
        return self.parts(q, "q")

    def rates(self, x: Any) -> Field:
        """Rates, accelerations or efforts by body."""
        return self.parts(x, "v")

    def joined(self, field: Field, spans: str = "v") -> ByBodyVector:
        """Vectors by body as one over the rates, or as a further vector."""
        return ByBodyVector(self, field, spans)

    def joined_coordinates(self, field: Field) -> ByBodyVector:
        """Vectors by body as one over the coordinates."""
        return ByBodyVector(self, field, "q")

    def rows_of(self, field: Field, places: Sequence[int], width: int) -> ByBodyRows:
        """Vectors by body as rows of one matrix."""
        return ByBodyRows(field, width * np.array(places[1:]), (len(self.tape.parent), width))

    def moved(self, x: Any, rate: Any, dt: Field) -> ByBodyVector:
        """x + dt rate, of a step `dt` that is an input."""
        field = self.tape.each(lambda x, rate, h: x + h * rate, x.field, rate.field, dt)
        return ByBodyVector(self, field, x.spans)

    def largest(self, x: Any, start: float = 0.0) -> Any:
        """The largest size of an entry, at least `start`."""
        sizes = self.tape.each(lambda x: reduce(maximum, [np.abs(e) for e in x], start), x.field)
        return self.tape.total(lambda x: x, start, sizes, combine=maximum)

    def totals(self, name: str, start: int, count: int, size: int) -> list[Any]:
        """Entries of an input for results that are made of totals."""
        return [self.tape.at_end(name, start + k, size) for k in range(count)]

    def write(self, name: str, x: ByBodyVector, start: int, size: int) -> None:
        """Make a vector a part of an output, from entry `start` on."""
        self.tape.output(name, size, x.field, self._starts[x.spans] + start)

    def finish(self, name: str, result: Any) -> Rolled:
        """The whole recording, with its results in arrays."""
        structure, leaves = flatten(result)
        for path, x in leaves:
            if isinstance(x, ByBodyVector):
                self.tape.output(path, len(x), x.field, self._starts[x.spans])
            elif isinstance(x, ByBodyRows):
                self.tape.output(path, x.shape, x.field, x.starts)
            else:
                self.tape.result(path, x)
        return self.tape.finish(name, structure)


def _kinds(types: np.ndarray, roles: Sequence[Hashable]) -> np.ndarray:
    """Kinds of bodies by type of their pair and by role (entry 0 of `roles` is the ground's)."""
    numbers: dict[Hashable, int] = {}
    own = np.array([numbers.setdefault(role, len(numbers)) for role in roles[1:]])
    return np.unique(types * len(numbers) + own, return_inverse=True)[1].reshape(-1)


def _moving(model: Model) -> tuple[np.ndarray, list[int]]:
    """Number of each moving body by the object it is (n,), and the first body of each."""
    which, chosen = model.different  # the ground, number 0, is an object of its own
    return which[1:] - 1, list(chosen[1:])


QUANTITIES = (
    "inverse_dynamics",
    "forward_dynamics",
    "bias_forces",
    "gravity_forces",
    "energy",
    "energies",
    "centre_of_mass",
    "momentum",
    "dq_dt",
    "mass_product",
    "mass_solution",
    "pose_rows",
    "wrenches",
    "actuation",
)
OF_MOTION = (
    "gravity_forces",
    "centre_of_mass",
    "momentum",
    "dq_dt",
    "mass_product",
    "mass_solution",
    "pose_rows",
)
METHODS = ("", "newton-euler", "denoc")


def obstacle(model: Model, request: Request, parameters: Sequence[str] = (), *, driven: bool = False) -> str:
    """Reason why a quantity cannot be written as loops over the bodies; empty where it can. `driven`: inputs act."""
    if request.quantity not in QUANTITIES and request.quantity not in LOOPS:
        return f"only these can: {', '.join(QUANTITIES)}"
    if request.method not in METHODS:
        return f"method {request.method!r} has no steps from body to body; 'newton-euler' and 'denoc' have"
    alone = request.quantity in OF_MOTION  # whatever acts, and whatever the constraints are
    driven = request.quantity == "actuation" or driven
    acting = () if alone else elements_of(model, passive=request.passive, driven=driven)
    reasons = {
        "nothing moves": not model.nv,
        "it has external wrenches": bool(request.external),
        "it has named parameters": bool(parameters),
        "the mechanism has constraints": is_constrained(model.description)
        and not (alone or request.quantity in LOOPS),
        "the system is given by its energy": model.terms is not None,
        "the mechanism has friction from load": bool(model.surfaces) and not alone,
        "something other than actuators, and springs, dampers and friction of constant level of joints acts": not all(
            map(can_be_walked, acting)
        ),
        "several elements share an input": driven
        and len(ports_of(model).u_names) != inputs_of(model).spans["u"][:, 1].sum(),
        "loops and dry friction are solved together": request.quantity in LOOPS
        and any(x.sticks for x in acting),
        "bodies are welded to the ground": len(model.carried) < len(model.moving),
        "links are welded to others": request.quantity == "pose_rows" and not links_alone(model),
    }
    found = next((reason for reason, holds in reasons.items() if holds), "")
    return found or (along_tree.obstacle(model) if request.quantity in LOOPS else "")


def walking(model: Model, *, closed: bool, driven: bool = False) -> tuple[Roller, Model]:
    """A roller, and the model that it walks: with the ends of its loops as bodies, where these are `closed`; `driven`
    by inputs."""
    if driven:
        inputs = inputs_of(model)
        roller = Roller(model, inputs.roles, inputs.spans)
        walked = model.walked_by(roller)
        inputs_are(walked, inputs)
        return roller, walked
    if not closed:
        roller = Roller(model)
        return roller, model.walked_by(roller)
    plan = along_tree.plan_of(model)
    roller = Roller(plan.model, plan.roles)
    walked = plan.model.walked_by(roller)
    along_tree.plan_is(walked, plan)
    return roller, walked


def rolled(
    model: Model, name: str, state: Sequence[str], compute: Callable[..., Any], *, closed: bool = False
) -> Rolled:
    """Record compute(*state, model=...) as loops over the bodies; arguments are vectors over coordinates or rates.

    closed: the loops of the mechanism are closed.
    """
    roller, walked = walking(model, closed=closed, driven="u" in state)
    with np.errstate(all="ignore"):
        result = compute(*map(roller.argument, state), model=walked)
    return roller.finish(name, result)
