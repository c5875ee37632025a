"""Recording of a mechanism for its equations: parallel axes, springs, dampers, friction, H and g.

Springs, dampers and dry friction as formulas.

d = k (q − q_rest) + b q̇ + f sign q̇
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Vector, array
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.trace import trace
from kinpair.formulations import composite, denoc, kinematics, lagrange, newton_euler, rotors
from kinpair.model.model import Model
from kinpair.printed_equations.closed_form.formula import ZERO, Call, Formula, Number, Product, Sum, Symbol
from kinpair.printed_equations.constant import Constant, symbols_of
from kinpair.printed_equations.parameters import with_letters

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
Equations = Callable[[Model, Vector, Vector], dict[str, Any]]


def energies(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """H and the potential: what the closed form starts from."""
    return {"H": composite.mass_matrix(model, q), "V": kinematics.potential_energy(model, q)}


def kinetic_energy(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """T (1,) [J]."""
    return {"T": array([kinematics.kinetic_energy(model, q, qd)])}


def potential_energy(model: Model, q: Vector, qd: Vector) -> dict[str, Any]:
    """V (1,) of gravity [J], zero at the origin of the world."""
    return {"V": array([kinematics.potential_energy(model, q)])}


ENERGIES: dict[str, Equations] = {"T": kinetic_energy, "V": potential_energy}


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


def recorded(model: Model, every: Sequence[Constant], equations: Equations) -> Program:
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
