"""A mechanical system given by its energy and forces, without bodies: the same solvers, kernels and simulation.

    T = ½ q̇ᵀ M q̇ + Nᵀ q̇ + T₀                          as a function of q, q̇, t
    p = ∂T/∂q̇,   M = ∂p/∂q̇,   F = Q − dp/dt|q̈=0 + ∂T/∂q                                          (SY1)

so that M q̈ = F is Lagrange's equation (Zhao et al. 2023, eqs 1–5, corrected: F contains −Ṁq̇ − Ṅ).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.algebra.jet import gradient, jacobian, rate
from kinpair.calls import Calls
from kinpair.closure import Closure, ConstraintForces
from kinpair.constraints.coordinates import as_vector
from kinpair.constraints.mobility import Mobility
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.description.conditions import Given
from kinpair.description.parts import Description, Joint, Link
from kinpair.errors import InputError
from kinpair.model.build import build
from kinpair.model.model import Model, Terms

Function = Callable[..., Any]


def from_energy(T: Function, Q: Function | None) -> Terms:
    """M and F of (SY1) as a function of q, q̇, t."""

    def terms(q: Vector, qd: Vector, time: Any) -> tuple[Matrix, Vector]:
        def p(q: Vector, qd: Vector, time: Any) -> Vector:
            return gradient(lambda x: T(q, x, time), qd)

        M = jacobian(lambda x: p(q, x, time), qd, len(qd))
        still = np.zeros(len(qd))
        F = gradient(lambda x: T(x, qd, time), q) - rate(p, (q, qd, time), (qd, still, 1.0))  # (SY1)
        return M, F if Q is None else F + as_vector(Q(q, qd, time))

    return terms


class System:
    """M q̈ = F under constraints, from functions of q, q̇ and t that are traced.

    >>> import numpy as np
    >>> pendulum = System(["angle"], T=lambda q, qd, t: 0.5 * qd[0] ** 2, Q=lambda q, qd, t: [-9.81 * np.sin(q[0])])
    >>> pendulum.forward_dynamics([0.5], [0.0]).round(6).tolist()
    [-4.703165]

    Give the kinetic energy T(q, qd, t) and forces Q(q, qd, t), or M(q, t) and F(q, qd, t) as they are. `constraints`
    are `kinpair.conditions.Given`, or mappings with phi, psi, or A and a. M may be singular where the constraints
    make up for it.
    """

    def __init__(
        self,
        names: Sequence[str],
        T: Function | None = None,
        Q: Function | None = None,
        constraints: Sequence[Given | Mapping[str, Any]] = (),
        *,
        M: Function | None = None,
        F: Function | None = None,
        name: str = "system",
        compiled: bool = True,
    ) -> None:
        terms = _terms(name, T, Q, M, F)
        given = [x if isinstance(x, Given) else _given(k, x) for k, x in enumerate(constraints)]
        self.model = _model(name, names, tuple(given), terms)
        self._made = (tuple(names), T, Q, tuple(given), M, F, name)
        self._kinetic = T
        self._calls = Calls(self.model, compiled)
        self._closure = Closure(self.model, self._calls)

    @cached_property
    def reference(self) -> System:
        """The same evaluated without a compiler."""
        names, T, Q, constraints, M, F, name = self._made
        return System(names, T, Q, constraints, M=M, F=F, name=name, compiled=False)

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of rates, the same."""
        return self.model.nv

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the coordinates."""
        return self.model.q_names

    @property
    def v_names(self) -> tuple[str, ...]:
        """Names of the rates, the same."""
        return self.model.v_names

    @property
    def constraint_rows(self) -> tuple[str, ...]:
        """Names of the constraint rows."""
        return self._closure.row_names

    def __repr__(self) -> str:
        return f"<System {self.name!r}: {self.nq} coordinates, {len(self.constraint_rows)} constraint rows>"

    def forward_dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any = None,
        *,
        solver: str | None = None,
        time: Any = 0.0,
        threads: int = 1,
    ) -> np.ndarray:
        """q̈ with constraints in force; tau is added to the forces."""
        effort = np.zeros(self.nv) if tau is None else tau
        return self._closure.forward((q, qd, effort), time, solver or DEFAULT_SOLVER, {}, {}, None, threads)

    def terms(
        self, q: Any, qd: Any, tau: Any = None, *, time: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """M, F, A, b of M q̈ = F + Aᵀλ, A q̈ = b."""
        return self._closure.terms((q, qd, np.zeros(self.nv) if tau is None else tau), time, {}, {})

    def mass_matrix(self, q: Any, *, time: Any = 0.0) -> np.ndarray:
        """M (nv, nv)."""
        return self.terms(q, np.zeros(self.nv), time=time)[0]

    def kinetic_energy(self, q: Any, qd: Any, *, time: float = 0.0) -> float:
        """T of one state."""
        if self._kinetic is None:
            M = self.mass_matrix(q, time=time)
            return float(0.5 * np.asarray(qd) @ M @ np.asarray(qd))
        return float(self._kinetic(np.asarray(q, dtype=float), np.asarray(qd, dtype=float), time))

    def constraint_forces(self, q: Any, qd: Any, tau: Any = None, *, time: float = 0.0) -> ConstraintForces:
        """Multipliers by row."""
        effort = np.zeros(self.nv) if tau is None else self._calls.one("tau", tau)
        state = (self._calls.one("q", q), self._calls.one("qd", qd), effort)
        return self._closure.forces(state, time, {}, {})

    def reduced_equations(
        self, q: Any, qd: Any, tau: Any = None, *, time: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rosenberg's n − l equations: (E, f) with E q̈ = f."""
        return self._closure.reduced((q, qd, np.zeros(self.nv) if tau is None else tau), time, {})

    def constraint_residual(self, q: Any, *, time: Any = 0.0) -> np.ndarray:
        """φ of every holonomic row."""
        return self._closure.positions(q, time)

    def assemble(self, q: Any, *, fixed: Sequence[str] = (), time: float = 0.0) -> np.ndarray:
        """Coordinates near q that obey the holonomic rows."""
        return self._closure.assemble(self._calls.one("q", q), tuple(fixed), time)

    def velocities(
        self, q: Any, inputs: Mapping[str, float] | None = None, *, guess: Any = None, time: float = 0.0
    ) -> np.ndarray:
        """Rates that obey the constraints, with the inputs given."""
        return self._closure.velocities(q, inputs, guess, time)

    def mobility(self, q: Any, *, time: float = 0.0) -> Mobility:
        """Freedoms at q."""
        return self._closure.mobility(self._calls.one("q", q), time)


def _terms(
    name: str, T: Function | None, Q: Function | None, M: Function | None, F: Function | None
) -> Terms:
    if (T is None) == (M is None) or (M is None) != (F is None) or (M is not None and Q is not None):
        raise InputError(f"{name}: give T(q, qd, t) with or without Q(q, qd, t), or M(q, t) and F(q, qd, t)")
    if M is None or F is None:
        assert T is not None
        return from_energy(T, Q)
    return lambda q, qd, time: (np.asarray(M(q, time)), as_vector(F(q, qd, time)))


def _given(k: int, x: Mapping[str, Any]) -> Given:
    keys: dict[str, Any] = {"name": f"constraint {k + 1}", **x}
    return Given(**keys)


def _model(name: str, names: Sequence[str], conditions: tuple[Given, ...], terms: Terms) -> Model:
    """A slide for each coordinate, so that rates are dq/dt; M and F are given."""
    if not names or len(set(names)) < len(names):
        raise InputError(f"{name}: the coordinates are {list(names)!r}; give each a name of its own")
    links = tuple(Link(x, mass=1.0) for x in names)
    joints = tuple(Joint(x, "prismatic", "ground", x) for x in names)
    description = Description(name, links, joints, gravity=(0.0, 0.0, 0.0), conditions=conditions)
    return replace(build(description), terms=terms)
