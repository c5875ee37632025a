"""A mechanical system given by its energy and forces, without bodies: the same solvers, kernels and simulation.

    T = ½ q̇ᵀ M q̇ + Nᵀ q̇ + T₀                          as a function of q, q̇, t
    p = ∂T/∂q̇,   M = ∂p/∂q̇,   F = Q − dp/dt|q̈=0 + ∂T/∂q                                          (SY1)

so that M q̈ = F is Lagrange's equation (Zhao et al. 2023, eqs 1–5, corrected: F contains −Ṁq̇ − Ṅ).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector
from kinpair.algebra.jet import gradient, jacobian, rate
from kinpair.constraints.assembly.actuated import Actuators
from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.assembly.forces import ConstraintForces
from kinpair.constraints.assembly.movable import Movable, actuators_from
from kinpair.constraints.assembly.rank import KERNELS
from kinpair.constraints.solvers import DEFAULT_SOLVER
from kinpair.description.constraint_parts import Custom
from kinpair.description.formula import numbers, with_error
from kinpair.description.parts import GROUND, Description, Joint, Link
from kinpair.errors import DescriptionError, DescriptionWarning, InputError, listed, nearest
from kinpair.evaluation.calls import Calls
from kinpair.model.build import build
from kinpair.model.model import Model, Terms

if TYPE_CHECKING:
    from kinpair.compiler.kernel import Kernel

Function = Callable[..., Any]
TRIED = 2  # states in which a mass matrix is looked at
ROUNDING = 1e-9  # of its largest entry


def from_energy(T: Function, Q: Function | None) -> Terms:
    """M and F of (SY1) as a function of q, q̇, t."""

    def terms(q: Vector, qd: Vector, time: Any) -> tuple[Matrix, Vector]:
        def p(q: Vector, qd: Vector, time: Any) -> Vector:
            return gradient(lambda x: T(q, x, time), qd)

        M = jacobian(lambda x: p(q, x, time), qd, len(qd))
        still = np.zeros(len(qd))
        F = gradient(lambda x: T(x, qd, time), q) - rate(p, (q, qd, time), (qd, still, 1.0))  # (SY1)
        return M, F if Q is None else F + _of_size("Q(q, qd, t)", Q(q, qd, time), len(q))

    return terms


@final
class System(Movable):
    """M q̈ = F under constraints, from functions of q, q̇ and t that are traced.

    >>> import numpy as np
    >>> pendulum = System(["angle"], T=lambda q, qd, t: 0.5 * qd[0] ** 2, Q=lambda q, qd, t: [-9.81 * np.sin(q[0])])
    >>> pendulum.forward_dynamics([0.5], [0.0]).round(6).tolist()
    [-4.703165]

    Give the kinetic energy T(q, qd, t) and forces Q(q, qd, t), or M(q, t) and F(q, qd, t) as they are. `constraints`
    are `kinpair.constraint.custom(...)`, or mappings with phi, psi, or A and a. M may be singular where the constraints
    make up for it.

    With `parameters`, names and values, every function takes one argument more that has them as attributes,
    T(q, qd, t, p) with p.m for the parameter m; they are symbols in `kinpair.equations`.

    >>> falling = System(["y"], lambda q, qd, t, p: 0.5 * p.m * qd[0] ** 2, parameters={"m": 2.0})
    >>> falling.forward_dynamics([0.0], [0.0], [-3.0]).tolist()
    [-1.5]
    """

    def __init__(
        self,
        names: Sequence[str],
        T: Function | None = None,
        Q: Function | None = None,
        constraints: Sequence[Custom | Mapping[str, Any]] = (),
        *,
        M: Function | None = None,
        F: Function | None = None,
        parameters: Mapping[str, float] | None = None,
        name: str = "system",
        compiled: bool = True,
    ) -> None:
        parts = tuple(_custom(name, k, x) for k, x in enumerate(constraints))
        self._parts = (names, T, Q, parts, M, F, name)
        self.parameters = _checked(name, parameters or {})
        self.model = self.model_with(self.parameters)
        self._kinetic = None if T is None else _energy(name, _bound(T, self.parameters))
        self._calls = Calls(self.model, compiled)
        self._closure = Closure(self.model, self._calls)
        _check_constraints(name, self._closure)
        _check_mass(self.model)

    @cached_property
    def reference(self) -> System:
        """Return the system evaluated without a compiler."""
        names, T, Q, constraints, M, F, name = self._parts
        known = self.parameters
        return System(names, T, Q, constraints, M=M, F=F, parameters=known, name=name, compiled=False)

    def model_with(self, values: Mapping[str, Any]) -> Model:
        """The model with these values, or symbols, for the parameters."""
        names, T, Q, parts, M, F, name = self._parts
        terms = _terms(name, *(_bound(f, values) for f in (T, Q, M, F)))
        constraints = [
            replace(x, **{part: _bound(getattr(x, part), values) for part in ("phi", "psi", "A", "a")})
            for x in parts
        ]
        return _model(name, names, tuple(constraints), terms)

    @property
    def closure(self) -> Closure:
        """The constraints with all that can be done with them, none as well."""
        return self._closure

    @property
    def _closed(self) -> Closure:
        return self._closure

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
        """Accelerations q̈ (n,) with constraints active; tau is added to the forces.

        Units: efforts [N m] or [N], accelerations [rad/s²] or [m/s²].
        """
        state = self.by_name(time, q=q, qd=qd, tau=np.zeros(self.nv) if tau is None else tau)
        wanted = DEFAULT_SOLVER if solver is None else solver
        return self._closure.dynamics.forward(state, time, wanted, {}, {}, None, threads)

    def inverse_dynamics(
        self, q: Any, qd: Any, qdd: Any, *, actuators: Actuators = None, time: Any = 0.0
    ) -> np.ndarray:
        """Return the efforts (nv,) that must be added to the forces for the accelerations qdd: the least of the
        `actuators`. A system has no joints, so these are all coordinates by default, "all". SingularError where no
        efforts do, InputError where the accelerations break a constraint.

        Units: [N m] or [N].
        """
        chosen = actuators_from("all" if actuators is None else actuators)
        return self._closure.drives.inverse(self.by_name(time, q=q, qd=qd, qdd=qdd), time, chosen, {}, {})

    def terms(
        self, q: Any, qd: Any, tau: Any = None, *, time: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Terms M (n, n), F (n,), A (rows, n), b (rows,) of M q̈ = F + Aᵀλ, A q̈ = b.

        Units: [kg m²] or [kg] of the matrix, [N m] or [N] of forces.
        """
        state = self.by_name(time, q=q, qd=qd, tau=np.zeros(self.nv) if tau is None else tau)
        return self._closure.terms(state, time, {}, {})

    def mass_matrix(self, q: Any, *, time: Any = 0.0) -> np.ndarray:
        """M (nv, nv).

        Units: entries [kg m²], [kg m] or [kg].
        """
        return self.terms(q, np.zeros(self.nv), time=time)[0]

    def kinetic_energy(self, q: Any, qd: Any, *, time: float = 0.0) -> float:
        """T of one state.

        Units: [J].
        """
        coordinates, speeds = self.by_name(time, q=q, qd=qd)
        at, rates = self._calls.one("q", coordinates), self._calls.one("qd", speeds)
        if self._kinetic is None:
            return float(0.5 * rates @ self.mass_matrix(at, time=time) @ rates)
        return float(self._kinetic(at, rates, time))

    def kernel(self, quantity: str, *, solver: str | None = None, dtype: Any = "float64") -> Kernel:
        """The compiled function of forward_dynamics, terms, constraint_positions, constraint_matrix or
        constraint_rows; what it takes and gives is said at `Mechanism.kernel`."""
        if quantity not in KERNELS:
            raise InputError(
                f"{self.name}: no quantity {quantity!r}; {nearest(str(quantity), KERNELS)}"
                f"Quantities: {listed(KERNELS)}",
                quantity=quantity,
            )
        if solver is not None and quantity != "forward_dynamics":
            raise InputError(f"{quantity} takes no solver", quantity=quantity)
        start = self._closure.assembly.assembled(np.zeros(self.nq), (), 0.0).q
        wanted = DEFAULT_SOLVER if solver is None else solver
        return self._calls.kernels.get(
            self._closure.requests.of_kernel(quantity, start, wanted, {}), dtype=dtype
        )

    def compile(self, *quantities: str, batch: bool = True, **options: Any) -> System:
        """Compile quantities now rather than at their first use; options as for `kernel`."""
        for quantity in quantities or ("forward_dynamics", "terms"):
            self.kernel(quantity, **options).compile("one", *(["batch"] if batch else []))
        return self

    def constraint_forces(self, q: Any, qd: Any, tau: Any = None, *, time: Any = 0.0) -> ConstraintForces:
        """Multipliers by row, of one state or a batch.

        Units: multipliers [N m] or [N].
        """
        state = self.by_name(time, q=q, qd=qd, tau=np.zeros(self.nv) if tau is None else tau)
        return self._closure.forces.forces(state, time, {}, {})

    def reduced_equations(
        self, q: Any, qd: Any, tau: Any = None, *, time: Any = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rosenberg's n − l equations: (E, f) with E q̈ = f.

        Units: forces [N m] or [N].
        """
        state = self.by_name(time, q=q, qd=qd, tau=np.zeros(self.nv) if tau is None else tau)
        return self._closure.derivatives.reduced(state, time, {})


def _terms(
    name: str, T: Function | None, Q: Function | None, M: Function | None, F: Function | None
) -> Terms:
    if (T is None) == (M is None) or (M is None) != (F is None) or (M is not None and Q is not None):
        raise InputError(f"{name}: give T(q, qd, t) with or without Q(q, qd, t), or M(q, t) and F(q, qd, t)")
    functions: dict[str, object] = {"T": T, "Q": Q, "M": M, "F": F}
    for word, x in functions.items():
        if x is not None and not callable(x):
            raise InputError(f"{name}: {word} is {x!r}; give a Python function")
    error = partial(_error, name)
    if M is None or F is None:
        assert T is not None
        return from_energy(_energy(name, T), Q and numbers(Q, "Q(q, qd, t)", error))
    entries = with_error(M, "M(q, t)", error)
    mass = with_error(lambda q, t: np.asarray(entries(q, t)), "M(q, t)", error)
    force = numbers(F, "F(q, qd, t)", error)
    return lambda q, qd, time: (
        _square("M(q, t)", mass(q, time), len(q)),
        _of_size("F(q, qd, t)", force(q, qd, time), len(q)),
    )


def _error(name: str, trouble: str) -> InputError:
    return InputError(f"{name}: {trouble}")


def _energy(name: str, T: Any) -> Function:
    """T as one number."""
    T_of = numbers(T, "T(q, qd, t)", partial(_error, name))

    def energy(*state: Any) -> Any:
        values = T_of(*state)
        if len(values) != 1:
            raise InputError(f"T(q, qd, t) gives {len(values)} numbers; the kinetic energy is one")
        return values[0]

    return energy


def _check_constraints(name: str, closure: Closure) -> None:
    """Every constraint is made once, so that what is wrong with one is said here."""
    try:
        _ = closure.constraints
    except DescriptionError as reason:
        raise InputError(f"{name}: {reason}") from reason


def _check_mass(model: Model) -> None:
    """M is symmetric and not negative, tried in two states; what is not finite there is not judged."""
    assert model.terms is not None
    n, least = model.nv, np.inf
    for k in range(TRIED):
        q = np.cos(1.0 + k + np.arange(n))
        with np.errstate(all="ignore"):
            M = np.asarray(model.terms(q, np.zeros(n), 0.0)[0], dtype=float)
        if not np.isfinite(M).all():
            return
        off, size = np.abs(M - M.T), np.abs(M).max(initial=0.0)
        if off.max(initial=0.0) > ROUNDING * size:
            i, j = np.unravel_index(off.argmax(), off.shape)
            raise InputError(
                f"{model.name}: M(q, t) is not symmetric: M[{i}, {j}] = {M[i, j]:.6g} and M[{j}, {i}] = {M[j, i]:.6g} "
                f"at q = {q.round(6).tolist()}; a mass matrix is, since T = ½ q̇ᵀM q̇"
            )
        lowest = float(np.linalg.eigvalsh(M).min(initial=0.0))
        least = min(least, lowest) if lowest < -ROUNDING * size else 0.0
    if least < 0.0:
        warnings.warn(
            f"{model.name}: the kinetic energy is negative for some rates (an eigenvalue of M is {least:.3g}); "
            "check its signs",
            DescriptionWarning,
            stacklevel=3,
        )


def _square(word: str, value: Any, n: int) -> Matrix:
    """The mass matrix, a row and a column for each coordinate."""
    x = np.asarray(value)
    if x.shape != (n, n):
        raise InputError(f"{word} gives an array of shape {x.shape}; give {(n, n)}")
    return x


def _of_size(word: str, x: Vector, n: int) -> Vector:
    """Forces, one for each coordinate."""
    if len(x) != n:
        raise InputError(f"{word} gives {len(x)} numbers; give {n}, one for each coordinate")
    return x


def _checked(name: str, parameters: Mapping[Any, Any]) -> dict[str, float]:
    for key, value in parameters.items():
        if not (isinstance(key, str) and key.isidentifier()):
            raise InputError(
                f"{name}: parameter {key!r} is not a name; give letters and digits, such as 'm1'"
            )
        if not isinstance(value, int | float) or not np.isfinite(value):
            raise InputError(f"{name}: parameter {key!r} is {value!r}; give a finite number")
    return {key: float(value) for key, value in parameters.items()}


def _bound(f: Function | None, values: Mapping[str, Any]) -> Function | None:
    """A function with the parameters put in, if there are any."""
    if not callable(f) or not values:
        return f
    known = SimpleNamespace(**values)
    return lambda *state: f(*state, known)


def _custom(name: str, k: int, x: Any) -> Custom:
    if isinstance(x, Custom):
        return x
    known = tuple(y.name for y in fields(Custom) if y.name != "where")
    if not isinstance(x, Mapping):
        raise InputError(f"{name}: constraint {k + 1} is {x!r}; give a mapping with phi, psi, or A and a")
    keys: dict[str, Any] = {"name": f"constraint {k + 1}", **x}
    for key in keys:
        if key not in known:
            raise InputError(
                f"{name}: constraint {k + 1} has the key {key!r}; {nearest(str(key), known)}Keys: {listed(known)}"
            )
    keys |= {key: (keys[key],) for key in ("phi", "psi") if isinstance(keys.get(key), str)}
    return Custom(**keys)


def _model(name: str, names: Sequence[Any], constraints: tuple[Custom, ...], terms: Terms) -> Model:
    """A slide for each coordinate, so that rates are dq/dt; M and F are given."""
    if isinstance(names, str) or not names or len(set(names)) < len(names):
        raise InputError(
            f"{name}: the coordinates are {names!r}; give a list with a name of its own for each"
        )
    for x in names:
        if not isinstance(x, str) or not x or x == GROUND:
            raise InputError(f"{name}: a coordinate is called {x!r}; give a text, and not {GROUND!r}")
    links = tuple(Link(x, mass=1.0) for x in names)
    joints = tuple(Joint(x, "prismatic", "ground", x) for x in names)
    description = Description(name, links, joints, gravity=(0.0, 0.0, 0.0), constraints=constraints)
    return replace(build(description), terms=terms)
