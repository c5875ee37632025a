"""`solver(name).arrays(m, q, qd)`: what a constraint solver computes, in the symbols of Zhao Ruiying et al. 2023."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from kinpair.constraints.quantities.equations import equations
from kinpair.constraints.quantities.solution import solve
from kinpair.constraints.solvers import EVERY_SOLVER, Problem
from kinpair.constraints.solvers.embedding import Parts, parts, rosenberg, virtual
from kinpair.errors import InputError, expect, known_keywords, offered
from kinpair.mechanism import Mechanism
from kinpair.model.state import State
from kinpair.printed_equations.textbook.record import Arrays, Blocks, Symbol, one_state, symbol
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
    X = K.T @ M11 @ K - K.T @ M12 - M12.T @ K + M22
    yield symbol(
        "A_1",
        "(7)",
        "columns of A of the dependent rates",
        x.A[np.ix_(order, p.one)],
        r"\mathbf A_1",
        of_rows,
        one,
    )
    yield symbol(
        "A_2",
        "(7)",
        "columns of A of the independent rates",
        x.A[np.ix_(order, p.two)],
        r"\mathbf A_2",
        of_rows,
        two,
    )
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
    directions = np.asarray(virtual(x, p), dtype=float)
    yield symbol(
        "delta",
        "(8)",
        "virtual displacements δq = [−K; 1] δq₂",
        directions,
        r"\delta\mathbf q",
        _singles(rates),
        two,
    )


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
