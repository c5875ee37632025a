"""`formulation(name).arrays(m, q, qd)`: what a formulation computes, in the symbols of its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, final

import numpy as np

from kinpair.errors import InputError, expect, known_keywords, offered
from kinpair.formulations import lagrange_cylinders, roberson_wittenburg_augmented
from kinpair.formulations.catalogue import FORMULATIONS
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.limits import refusal
from kinpair.mechanism import Mechanism
from kinpair.printed_equations.textbook import euler, history, saha, vukobratovic, zhao_gu
from kinpair.printed_equations.textbook.kinpair_walk import Walk, walk
from kinpair.printed_equations.textbook.record import Arrays, Symbol, moment_of, one_state


@dataclass(frozen=True, slots=True)
class Row:
    """Source of the symbols of a formulation.

    `later`: symbols that depend on accelerations. `trees_only`: why its source does not take closed mechanisms.
    """

    symbols: Callable[..., Iterator[Symbol]]
    source: str
    later: Sequence[str] = ()
    trees_only: str = ""
    options: tuple[str, ...] = ()


CHAIN = "the source derives a chain of links whose joint rates are independent"
ROWS: Mapping[str, Row] = {
    "newton-euler": Row(
        history.of_newton_euler,
        "Luh, Walker & Paul 1980",
        history.LATER_NEWTON_EULER,
        "its inward sweep finds the wrench of a joint from the bodies beyond it, and a loop has none beyond",
    ),
    "denoc": Row(
        saha.symbols,
        "Saha 1999",
        saha.LATER,
        "N_l of the source is the complement of a serial chain, or of a tree",
    ),
    "lagrange": Row(
        vukobratovic.of_lagrange, "Vukobratović, 1.2, 1.3, 2.2", vukobratovic.LATER_LAGRANGE, CHAIN
    ),
    "lagrange/cylinders": Row(
        vukobratovic.of_cylinders, "Vukobratović, (1.1)–(1.25)", vukobratovic.LATER_CYLINDERS, CHAIN
    ),
    "lagrange/euler": Row(euler.of_balls, "Vukobratović, 2.2.3", euler.LATER, CHAIN, euler.OPTIONS),
    "lagrange/links": Row(euler.of_links, "Vukobratović, 2.2.3", euler.LATER, CHAIN, euler.OPTIONS),
    "uicker": Row(history.of_uicker, "Uicker 1968", history.LATER_UICKER),
    "popov": Row(vukobratovic.of_popov, "Vukobratović, 1.5, 2.1.1, 3.10", vukobratovic.LATER_POPOV),
    "popov/euler": Row(euler.of_popov, "Vukobratović, 2.1.2", euler.LATER, CHAIN, euler.OPTIONS),
    "appell": Row(
        vukobratovic.of_appell,
        "Vukobratović, 1.4, 2.3",
        vukobratovic.LATER_APPELL,
        "∂S/∂q̈ is taken by accelerations that are independent",
    ),
    "kane": Row(
        history.of_kane,
        "Kane & Levinson 1983",
        history.LATER_KANE,
        "partial velocities belong to speeds that are independent; kinpair.formulations.kane takes q̇ = W u",
    ),
    "roberson-wittenburg": Row(
        history.of_graph,
        "Roberson & Wittenburg 1966",
        history.LATER_GRAPH,
        "the path matrix T is the inverse of S, which exists for trees",
    ),
    "roberson-wittenburg/augmented": Row(
        history.of_augmented,
        "Hooker & Margulies 1965, Roberson & Wittenburg 1966",
        history.LATER_AUGMENTED,
        "the mass beyond a joint is added to a body as a point, and a loop has no side beyond",
    ),
    "screw": Row(history.symbols, "Pan Yang, lecture 4", history.LATER, options=("ground", "drives")),
    "zhao-gu": Row(zhao_gu.symbols, "Zhao & Gu 1991", zhao_gu.LATER),
}


BY_THEMSELVES: Mapping[str, ModuleType] = {
    "lagrange/cylinders": lagrange_cylinders,
    "roberson-wittenburg/augmented": roberson_wittenburg_augmented,
}


@final
@dataclass(frozen=True, slots=True)
class NamedFormulation:
    """A formulation, or a variant of one, by name; `source` says whose symbols `arrays` has."""

    name: str
    source: str

    def arrays(
        self, m: Mechanism, q: Any, qd: Any, qdd: Any = None, tau: Any = None, **options: Any
    ) -> Arrays:
        """Compute the arrays of one state in the symbols of the source.

        q (nq,), qd (nv,). With qdd (nv,) efforts follow from it, with tau (nv,) accelerations do; without both, symbols
        that depend on them are left out. Gravity acts; springs, dampers, friction and actuator models do not.

        Options: `ground` and `drives` of "screw"; `sequence` and `offset` of Euler angles (docs/arrays.md).

        Units: SI, radians.
        """
        row = ROWS[self.name]
        _check_options(self.name, row, options)
        base = self.name.split("/")[0]
        moment = moment_of(m, self.name, FORMULATIONS[base], q, qd, qdd, tau, trees_only=row.trees_only)
        if reason := refusal(m.model, "inverse_dynamics", base, force=True):
            raise InputError(f"{m.name}: {reason}", formulation=self.name)
        return Arrays(self.name, m.name, row.symbols(moment, **options), row.later)

    def explain(self, m: Mechanism, q: Any, qd: Any, qdd: Any = None, tau: Any = None) -> Walk | Arrays:
        """Return what the formulation computes in one state, for printing: of "popov" the steps of KINPAIR in order.

        q (nq,), qd (nv,); qdd or tau (nv,) as in `arrays`, without both the efforts are zero. Other formulations give
        their `arrays`.

        Units: SI, radians.
        """
        if qdd is None and tau is None:
            tau = np.zeros(m.nv)
        arrays = self.arrays(m, q, qd, qdd, tau)
        if self.name != "popov":
            return arrays
        moment = moment_of(m, self.name, FORMULATIONS["popov"], q, qd, qdd, tau, trees_only="")
        return walk(m, moment, arrays)

    def inverse_dynamics(self, m: Mechanism, q: Any, qd: Any, qdd: Any, **options: Any) -> np.ndarray:
        """Compute the efforts (nv,) of one motion of a tree, without springs, dampers and friction.

        Options of Euler angles: `sequence`, one of the twelve or "auto" (default), and `offset`, a rotation (3, 3) of
        the body axes; "auto" selects for each link those with the largest |det Π| at q.

        Units: SI, radians.
        """
        return self._evaluated("inverse_dynamics", m, q, qd, ("qdd", qdd), options)

    def forward_dynamics(self, m: Mechanism, q: Any, qd: Any, tau: Any, **options: Any) -> np.ndarray:
        """Compute the accelerations (nv,) of one state of a tree, without springs, dampers and friction.

        Options as of `inverse_dynamics`.

        Units: SI, radians.
        """
        return self._evaluated("forward_dynamics", m, q, qd, ("tau", tau), options)

    def compile(
        self,
        m: Mechanism,
        q: Any,
        quantity: str = "inverse_dynamics",
        *,
        sequence: Any = euler.AUTO,
        offset: Any = None,
    ) -> euler.EulerFunction:
        """Compile a quantity of Euler angles, which keeps the angles selected at q (nq,) and checks them in each call.

        Units: q [rad] or [m].
        """
        if self.name not in euler.FUNCTIONS:
            raise InputError(
                f"compile is for Euler angles, {', '.join(euler.FUNCTIONS)}; m.kernel(quantity, method=...) compiles "
                "the others",
                formulation=self.name,
            )
        self._check_tree(m)
        return euler.compiled(self.name, quantity, m.model, one_state(m, "q", q), sequence, offset)

    def _evaluated(
        self, quantity: str, m: Mechanism, q: Any, qd: Any, last: tuple[str, Any], options: Mapping[str, Any]
    ) -> np.ndarray:
        self._check_tree(m)
        _check_options(self.name, ROWS[self.name], options)
        at, rate, x = (one_state(m, key, value) for key, value in (("q", q), ("qd", qd), last))
        if self.name in euler.FUNCTIONS:
            choices = euler.chosen(m.model, at, **options)
            return np.asarray(
                euler.FUNCTIONS[self.name][quantity](m.model, at, rate, x, choices), dtype=float
            )
        if self.name in BY_THEMSELVES:
            found = getattr(BY_THEMSELVES[self.name], quantity)(m.model, at, rate, x)
            return np.asarray(found, dtype=float)
        found = getattr(FORMULATIONS[self.name], quantity)(m.model, at, rate, x, no_wrenches(m.model))
        return found.qdd if quantity == "forward_dynamics" else found

    def _check_tree(self, m: Mechanism) -> None:
        expect("formulation", m, Mechanism)
        if m.closure is not None:
            raise InputError(
                f"{m.name}: this call takes trees; m.inverse_dynamics and m.forward_dynamics take closed mechanisms, "
                "m.without_constraints() is the spanning tree",
                formulation=self.name,
            )
        if reason := refusal(m.model, "inverse_dynamics", self.name.split("/")[0], force=True):
            raise InputError(f"{m.name}: {reason}", formulation=self.name)


def _check_options(name: str, row: Row, options: Mapping[str, Any]) -> None:
    for key in options:
        if key not in row.options:
            known = offered(key, "options", row.options) if row.options else "it has none"
            raise InputError(f"arrays of {name!r} has no option {key!r}; {known}", option=key)


@known_keywords
def formulation(name: str) -> NamedFormulation:
    """Return a formulation by name: one of the ten of `method=`, or a variant such as "popov/euler".

    >>> formulation("denoc").source
    'Saha 1999'
    """
    if not isinstance(name, str) or name not in ROWS:  # type: ignore[redundant-expr]
        raise InputError(
            f"no formulation {name!r}; {offered(str(name), 'formulations', ROWS)}", formulation=name
        )
    return NamedFormulation(name, ROWS[name].source)


__all__ = ["NamedFormulation", "formulation"]
