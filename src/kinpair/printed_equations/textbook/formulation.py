"""Public `formulation` and `solver`: arrays of what each computes in a state, in the symbols of its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, final

import numpy as np

from kinpair.constraints.quantities.equations import equations
from kinpair.constraints.quantities.solution import solve
from kinpair.constraints.solvers import EVERY_SOLVER, Problem
from kinpair.constraints.solvers.embedding import Parts, parts, rosenberg, virtual
from kinpair.errors import InputError, expect, known_keywords, offered
from kinpair.formulations import lagrange_cylinders, roberson_wittenburg_augmented
from kinpair.formulations.catalogue import FORMULATIONS
from kinpair.formulations.kinematics import no_wrenches
from kinpair.formulations.limits import refusal
from kinpair.mechanism import Mechanism
from kinpair.model.state import State
from kinpair.printed_equations.textbook import euler, history, saha, vukobratovic, zhao_gu
from kinpair.printed_equations.textbook.kinpair_walk import Walk, walk
from kinpair.printed_equations.textbook.record import Arrays, Blocks, Symbol, moment_of, one_state, symbol
from kinpair.system import System

NAMES = ("rosenberg", *EVERY_SOLVER)


@final
@dataclass(frozen=True, slots=True)
class NamedSolver:
    """A solver of M q̈ = F + Aᵀλ, A q̈ = b, by name."""

    name: str

    def arrays(
        self,
        m: Mechanism | System,
        q: Any,
        qd: Any,
        tau: Any = None,
        *,
        time: float = 0.0,
        dependent: Sequence[str] | None = None,
        passive: bool = True,
    ) -> Arrays:
        """Compute the arrays of one state: q (nq,), qd (nv,), efforts tau (nv,), zero if not given.

        Embeddings split the rates into dependent ones (index 1) and independent ones (index 2); `dependent` names the
        dependent ones, one for each row, otherwise they are chosen by pivoting. `passive=False` leaves out springs,
        dampers and friction. Redundant rows are left out.

        Units: SI, radians.
        """
        expect("arrays", m, Mechanism, System)
        state = [one_state(m, key, x) for key, x in (("q", q), ("qd", qd))]
        efforts = np.zeros(m.nv) if tau is None else one_state(m, "tau", tau)
        closure = m.closure
        if closure is None or not closure.constraints:
            raise InputError(
                f"{m.name}: no constraints, so there is nothing for solver {self.name!r} to solve"
            )
        by = "rosenberg-extended" if self.name == "rosenberg" else self.name
        request = closure.requests.checked(state[0], time, by, {"passive": passive})
        if dependent is not None:
            request = replace(request, dependent=_numbers(m, dependent, len(request.kept)))
        at = State(*state, tau=efforts, time=time)
        x = equations(m.model, request, at, {})
        problem = x.problem(request)._replace(
            **{name: np.asarray(getattr(x, name), dtype=float) for name in ("M", "F", "A", "b")}
        )
        rows = [m.constraint_rows[k] for k in request.kept]
        qdd = (
            None if self.name == "rosenberg" else np.asarray(solve(m.model, request, at, {}).qdd, dtype=float)
        )
        return Arrays(self.name, m.name, _symbols(self.name, m.v_names, rows, problem, qdd))


def _numbers(m: Mechanism | System, dependent: Sequence[str], rows: int) -> tuple[int, ...]:
    names = [dependent] if isinstance(dependent, str) else list(dependent)
    for name in names:
        if name not in m.v_names:
            raise InputError(
                f"{m.name}: dependent has {name!r}; {offered(str(name), 'rates', m.v_names)}", rate=name
            )
    if len(set(names)) != rows:
        raise InputError(
            f"{m.name}: dependent has {len(set(names))} rates; the {rows} independent rows determine {rows}",
            dependent=names,
        )
    return tuple(m.v_names.index(name) for name in names)


def _symbols(
    name: str, rates: Sequence[str], rows: Sequence[str], x: Problem, qdd: np.ndarray | None
) -> Iterator[Symbol]:
    """The symbols of sections 1 to 3 of the source; `qdd` (nv,) are the accelerations that the solver finds."""
    every, of_rows = _singles(rates), _singles(rows)
    yield symbol("M", "(3)", "mass matrix", x.M, r"\mathbf M", every, every)
    yield symbol("F", "(4)", "forces, −Ṁq̇ + ∂T/∂q in them", x.F, r"\mathbf F", every)
    yield symbol("A", "(5)", "constraint matrix", x.A, r"\mathbf A", of_rows, every)
    yield symbol("b", "(17)", "right side of A q̈ = b", x.b, r"\mathbf b", of_rows)
    if x.dependent:
        yield from _embedding(name, rates, rows, x)
    if qdd is None:
        return
    number = "(33), (34)" if x.dependent else "(19)"
    force = x.M @ qdd - x.F
    lam = np.linalg.lstsq(x.A.T, force, rcond=None)[0]
    yield symbol("q_ddot", number, "accelerations", qdd, r"\ddot{\mathbf q}", every)
    yield symbol("lam", "(38)", "multipliers, F_c = Aᵀ λ", lam, r"\lambda", of_rows)
    yield symbol("F_c", "(20)", "constraint force M q̈ − F", force, r"\mathbf F^c", every)


def _embedding(name: str, rates: Sequence[str], rows: Sequence[str], x: Problem) -> Iterator[Symbol]:
    p = parts(x)
    one, two = _singles([rates[k] for k in p.one]), _singles([rates[k] for k in p.two])
    order = list(x.rows)
    of_rows = _singles([rows[k] for k in order])
    K = np.asarray(p.K, dtype=float)
    M11, M12, M22 = (x.M[np.ix_(a, b)] for a, b in ((p.one, p.one), (p.one, p.two), (p.two, p.two)))
    F1, F2 = x.F[p.one], x.F[p.two]
    A1, A2 = x.A[np.ix_(order, p.one)], x.A[np.ix_(order, p.two)]
    X = K.T @ M11 @ K - K.T @ M12 - M12.T @ K + M22
    yield symbol("A_1", "(7)", "columns of A of the dependent rates", A1, r"\mathbf A_1", of_rows, one)
    yield symbol("A_2", "(7)", "columns of A of the independent rates", A2, r"\mathbf A_2", of_rows, two)
    yield symbol("K", "(10)", "A₁⁻¹ A₂, δq₁ = −K δq₂", K, r"\mathbf K", one, two)
    yield symbol("M_11", "(14)", "block of M: dependent, dependent", M11, r"\mathbf M_{11}", one, one)
    yield symbol("M_12", "(14)", "block of M: dependent, independent", M12, r"\mathbf M_{12}", one, two)
    yield symbol("M_22", "(14)", "block of M: independent, independent", M22, r"\mathbf M_{22}", two, two)
    yield symbol("F_1", "(16)", "forces along the dependent rates", F1, r"\mathbf F_1", one)
    yield symbol("F_2", "(16)", "forces along the independent rates", F2, r"\mathbf F_2", two)
    E, f = (np.asarray(part, dtype=float) for part in rosenberg(x))
    yield symbol("E", "(16)", "Rosenberg's n − l equations E q̈ = E_F", E, r"\mathbf E", two, _singles(rates))
    yield symbol("E_F", "(16)", "their right side, F₂ − Kᵀ F₁", f, r"\mathbf E_F", two)
    yield symbol("X", "(28)", "KᵀM₁₁K − KᵀM₁₂ − M₂₁K + M₂₂", X, r"\mathbf X", two, two)
    if name != "rosenberg":
        Z = _first_block(x, p, K, X)
        yield symbol("Z", "(36)", "first block of M q̈, corrected", Z, r"\mathbf Z", one)
    delta = np.asarray(virtual(x, p), dtype=float)
    said = "virtual displacements δq = [−K; 1] δq₂"
    yield symbol("delta", "(8)", said, delta, r"\delta\mathbf q", _singles(rates), two)


def _first_block(x: Problem, p: Parts, K: np.ndarray, X: np.ndarray) -> np.ndarray:
    """M₁₁A₁⁻¹b − (M₁₂ − M₁₁K) X⁻¹ [(M₂₁ − KᵀM₁₁) A₁⁻¹b + KᵀF₁ − F₂]."""
    M11, M12 = x.M[np.ix_(p.one, p.one)], x.M[np.ix_(p.one, p.two)]
    over, W = np.asarray(p.over_A1_b, dtype=float), M12 - M11 @ K
    bracket = W.T @ over + K.T @ x.F[p.one] - x.F[p.two]
    return M11 @ over - W @ np.linalg.solve(X, bracket)


def _singles(names: Sequence[str]) -> Blocks:
    return Blocks(tuple(names), tuple(slice(k, k + 1) for k in range(len(names))))


@known_keywords
def solver(name: str) -> NamedSolver:
    """Return a constraint solver by name, one of `solver=` in the calls of a mechanism.

    >>> solver("rosenberg-extended").name
    'rosenberg-extended'
    """
    if not isinstance(name, str) or name not in NAMES:  # type: ignore[redundant-expr]
        raise InputError(f"no solver {name!r}; {offered(str(name), 'solvers', NAMES)}", solver=name)
    return NamedSolver(name)


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
