"""CVODE and IDA of SUNDIALS (Hindmarsh et al. 2005): backward differences of variable order, for stiff motions.

CVODE is given ẏ and its Jacobian. IDA is given equations with accelerations and multipliers as unknowns,

    q̇ = N v,   v̇ = a,   M a − F − Aᵀλ = 0,   A a − b + 2αψ + α²φ = 0                              (SU1)

of index one, the rows stabilised: with φ or ψ in their place it would lose its way where multipliers jump.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair import constrained
from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.compiler.derivative import jacobian
from kinpair.constraints import rows as all_rows
from kinpair.constraints.build import constraints_of
from kinpair.constraints.constraint import Motion
from kinpair.errors import InputError, MissingExtraError
from kinpair.formulations import kinematics
from kinpair.simulation.dynamics import Dynamics

if TYPE_CHECKING:
    from kinpair.simulation.outside import Given

STEPS = 500_000  # for a sample
LARGEST = 200_000  # operations of ẏ times its entries: beyond that the library differences the Jacobian
OF_ACCELERATIONS = 1e3  # how much more may be wrong with accelerations and multipliers than with the motion


def library(name: str) -> Any:
    """A part of scikit-sundae, or which extra to install."""
    try:
        return import_module(f"sksundae.{name}")
    except ImportError as missing:
        raise MissingExtraError(
            "integrators 'cvode' and 'ida' need scikit-sundae; pip install 'kinpair[stiff]'"
        ) from missing


class _Sundials:
    """What both have in common: a solver that goes from sample to sample."""

    def __init__(self, given: Given, y: np.ndarray) -> None:
        self.given, self.y, self.time = given, y, given.time
        self.steps, self.rejected, self.dt = 0, 0, 0.0
        self.problem: BaseException | None = None
        self.solver: Any = None

    def to(self, time: float) -> tuple[np.ndarray, str]:
        """The state at a time, and `more`, or what ended it."""
        while self.time < time:
            found = self._step(time)
            if not found.success:
                return self.y[: self.given.d.ny], "collapsed"
            self.steps += 1
            self.dt, self.time = float(found.t) - self.time, float(found.t)
        if time > self.given.time:
            self.y = np.array(self.solver.step(time).y, dtype=float)  # between the ends of the last step
        return self.y[: self.given.d.ny], "more"

    def _step(self, time: float) -> Any:
        """One step; what a function of ours raised, the library may pass on or not."""
        try:
            found = self.solver.step(time, method="onestep")
        except BaseException as problem:
            raise self.problem or problem from None
        if self.problem is not None:
            raise self.problem
        return found

    def inputs(self, time: float, y: np.ndarray) -> np.ndarray:
        """u; a failure is kept, and raised, which ends the step without a word of the library."""
        try:
            return self.given.u(time, y)
        except BaseException as problem:
            self.problem = problem
            raise


class Cvode(_Sundials):
    """Of ẏ = f(t, y)."""

    def __init__(self, given: Given) -> None:
        super().__init__(given, given.y)
        d = given.d
        sizes: dict[str, Any] = {"time": (), "y": (d.ny,), "u": (d.nu,)}
        rate = given.kernel(Dynamics.rate, **sizes)

        def right(time: float, y: np.ndarray, yp: np.ndarray) -> None:
            yp[:] = rate(time, y, self.inputs(time, y))

        options: dict[str, Any] = {"rtol": given.rtol, "atol": given.atol, "max_num_steps": STEPS}
        made = library("cvode").CVODE
        if given.recorded(Dynamics.rate, **sizes).count["total"] * d.ny < LARGEST:
            slope = given.kernel(_slope, **sizes)

            def slopes(time: float, y: np.ndarray, yp: np.ndarray, JJ: np.ndarray) -> None:
                JJ[:, :] = slope(time, y, self.inputs(time, y))

            options["jacfn"] = slopes
        self.solver = made(right, **options)
        self.solver.init_step(given.time, given.y)


def _slope(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Any:
    """∂ẏ/∂y."""
    return jacobian(d.rate(time, y, u), y)


class Ida(_Sundials):
    """Of (SU1); the unknowns are the state, a and λ."""

    def __init__(self, given: Given) -> None:
        d = given.d
        if d.held is not None and d.held.mu:
            raise InputError(
                f"{d.model.name}: integrator 'ida' needs constraint rows of which the same ones are independent "
                "throughout; 'cvode' and 'generalised-alpha' take any",
                integrator="ida",
            )
        rows = len(d.held.ask.kept) if d.held is not None else 0
        n = d.ny + d.model.nv + rows
        x, xp = self._start(given, n)
        super().__init__(given, x)
        sizes: dict[str, Any] = {"time": (), "x": (n,), "xp": (n,), "u": (d.nu,)}
        left = given.kernel(residual, **sizes)
        slope = given.kernel(_residual_slope, **sizes)
        differential = np.zeros(n)
        differential[: d.ny] = 1.0

        def right(time: float, x: np.ndarray, xp: np.ndarray, res: np.ndarray) -> None:
            res[:] = left(time, x, xp, self.inputs(time, x))

        def slopes(
            time: float, x: np.ndarray, xp: np.ndarray, res: np.ndarray, cj: float, JJ: np.ndarray
        ) -> None:
            JJ[:, :] = slope(time, x, xp, self.inputs(time, x))
            JJ[np.diag_indices(n)] += cj * differential

        allowed = np.full(n, OF_ACCELERATIONS * given.atol[: d.model.nq + d.model.nv].max())
        allowed[: d.ny] = given.atol
        self.solver = library("ida").IDA(
            right,
            jacfn=slopes,
            rtol=given.rtol,
            atol=allowed,
            max_num_steps=STEPS,
            algebraic_idx=list(range(d.ny, n)),
        )
        self.solver.init_step(given.time, x, xp)

    @staticmethod
    def _start(given: Given, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Unknowns and their rates that agree with each other."""
        d, nv = given.d, given.d.model.nv
        u = given.u(given.time, given.y)
        terms = given.kernel(_terms, time=(), y=(d.ny,), u=(d.nu,))
        M, F, A, b = terms(given.time, given.y, u)
        saddle = np.block([[M, -A.T], [A, np.zeros((len(b), len(b)))]])
        a_and_lam = np.linalg.solve(saddle, np.concatenate([F, b]))
        x = np.concatenate([given.y, a_and_lam])
        nothing = np.zeros(n)
        xp = np.zeros(n)
        left = given.kernel(residual, time=(), x=(n,), xp=(n,), u=(d.nu,))
        xp[: d.ny] = -left(given.time, x, nothing, u)[: d.ny]
        assert len(a_and_lam) == n - d.ny >= nv
        return x, xp


def _equations(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Any, Any, Any, Any, Vector]:
    """M, F, A, b stabilised, and ψ − what A q̇ is made of."""
    q, qd, _ = d.parts(y)
    tau, loads = d.efforts(time, q, qd, u), d.loads(time, q, qd, u)
    if d.bumpers is not None:
        tau = tau + d.bumpers.efforts(q, qd)
    M, F = constrained.free_terms(d.model, d.ask, q, qd, tau, time, loads)
    if d.held is None:
        return M, F, np.zeros((0, d.model.nv)), np.zeros(0), qd
    constraints, at = constraints_of(d.model), Motion(d.model, q, time, qd)
    found = all_rows.rows_at(constraints, at)
    b = found.b
    if d.held.alpha:
        holonomic = all_rows.holonomic_rows(constraints)
        b = constrained.stabilised(found, holonomic, all_rows.residual_at(constraints, at), d.held.alpha)
    kept = list(d.held.ask.kept)
    return M, F, found.A[kept], b[kept], qd


def _terms(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Any, Any, Any, Any]:
    return _equations(d, time, y, u)[:4]


def residual(d: Dynamics, time: Scalar, x: Vector, xp: Vector, u: Vector) -> Vector:
    """What vanishes by (SU1)."""
    y, a, lam = x[: d.ny], x[d.ny : d.ny + d.model.nv], x[d.ny + d.model.nv :]
    M, F, A, b, qd = _equations(d, time, y, u)
    q = d.parts(y)[0]
    powers = d.powers(q, qd, d.efforts(time, q, qd, u), d.loads(time, q, qd, u))
    if d.constraints_work:
        powers[0] = powers[0] + lam @ (A @ qd)
    still = np.zeros(d.ny - d.trace_at)
    moves = array([*kinematics.dq_dt(d.model, q, qd), *a, *powers, *still])
    balance = M @ a - F - A.T @ lam if len(b) else M @ a - F
    return array([*(xp[: d.ny] - moves), *balance, *(A @ a - b)])  # (SU1)


def _residual_slope(d: Dynamics, time: Scalar, x: Vector, xp: Vector, u: Vector) -> Any:
    """∂residual/∂x."""
    return jacobian(residual(d, time, x, xp, u), x)
