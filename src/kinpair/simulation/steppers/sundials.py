"""CVODE and IDA of SUNDIALS (Hindmarsh et al. 2005): backward differences of variable order, for stiff motions.

CVODE is given ẏ and its Jacobian. IDA is given equations with accelerations and multipliers as unknowns,

    q̇ = N v,   v̇ = a,   M a − F − Aᵀλ = 0,   A a − b + 2αψ + α²φ = 0                              (SU1)

of index one, the rows stabilised: with φ or ψ in their place it would fail where multipliers jump.

The error of a step is measured as a root mean square over all N unknowns, also those that have no tolerance:

    √(Σ (e_i / w_i)² / N) ≤ 1,   w_i = (atol_i + rtol |x_i|) / √N                                  (SU2)

With these weights no unknown has a larger local error than its tolerance. With w_i = atol_i + rtol |x_i| the error of
one unknown may be √N times as large, and backward differences add up such errors with the same sign, step after step.
Weights are not made smaller than those of rtol = 1e-12, where rounding decides.

SUNDIALS says twice on the standard output what went wrong in a step; a run says it in its status. Errors are
printed by scikit-sundae through `sys.stdout`: they are left out while the library is at work, and what a user's
function prints there is printed. Warnings (steps too short to change the time) are printed in C by a logger that
reads the name of its file from the environment when a solver is set up: they go to no file. Who has named a file gets
them there.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from math import isfinite
from threading import RLock, local
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector, array
from kinpair.compiler.derivative import jacobian
from kinpair.constraints import quantities as constrained
from kinpair.constraints.solvers.problem import with_held
from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.formulations import kinematics
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.steppers.solver import Task

MESSAGE = re.compile(r"\n\[\w+, Error: -?\d+\] ")
WARNINGS = "SUNLOGGER_WARNING_FILENAME"


class _Without:
    """A stream without the messages of the library, which come as one text and the end of its line."""

    def __init__(self, stream: Any) -> None:
        self.stream, self._of_thread = stream, local()

    def write(self, text: str) -> int:
        """All but them."""
        ends_message = text == "\n" and getattr(self._of_thread, "message", False)
        self._of_thread.message = bool(MESSAGE.match(text))
        return len(text) if ends_message or self._of_thread.message else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class Silence:
    """Silence of the library while it is at work in any thread."""

    def __init__(self) -> None:
        self._lock, self._at_work, self._without = RLock(), 0, _Without(None)

    @contextmanager
    def at_work(self) -> Generator[None]:
        """While the library steps; what a torque prints is printed."""
        with self._lock:
            self._at_work += 1
            if self._at_work == 1 and sys.stdout is not None and not isinstance(sys.stdout, _Without):
                self._without = sys.stdout = _Without(sys.stdout)
        try:
            yield
        finally:
            with self._lock:
                self._at_work -= 1
                if not self._at_work and sys.stdout is self._without:
                    sys.stdout = self._without.stream

    @contextmanager
    def set_up(self) -> Generator[None]:
        """While a solver is set up: its warnings go to no file, unless the environment names one."""
        with self._lock:
            named = WARNINGS in os.environ
            if not named:
                os.environ[WARNINGS] = os.devnull
            try:
                yield
            finally:
                if not named:
                    del os.environ[WARNINGS]


SILENCE = Silence()


STEPS = 500_000  # for a sample
FINEST = 1e-12  # rtol below which weights are not reduced
LARGEST = 200_000  # operations of ẏ times its entries: beyond that the Jacobian is made of differences
STEP = 2.0**-26  # of a difference, as a part of the entry or of the size at which atol is rtol of it
OF_ACCELERATIONS = 1e3  # how much more may be wrong with accelerations and multipliers than with the motion
OF_JUMPS = 1e13  # the same where they jump by springs in limits, ropes, friction, tables: no step is short enough then
SHORTEST = 1e-10  # of the time, or of a second: as near as a step goes to where there are no numbers


def library(name: str) -> Any:
    """A part of scikit-sundae, or which extra to install."""
    try:
        return import_module(f"sksundae.{name}")
    except ImportError as missing:
        raise MissingExtraError(
            f"integrators 'cvode' and 'ida' need scikit-sundae; {installs('stiff')}"
        ) from missing


class NoNumberError(Exception):
    """The equations give NaN or infinity at a time that was tried."""

    def __init__(self, time: float) -> None:
        self.time = time
        super().__init__(f"no number at t = {time}")


class _Sundials:
    """Base of both solvers: a solver that goes step by step."""

    def __init__(self, task: Task) -> None:
        self.task, self.y, self.time = task, task.y, task.time
        self.steps, self.rejected, self.dt = 0, 0, 0.0
        self.problem: BaseException | None = None
        self.solver: Any = None

    def step(self) -> str:
        """Take one step, or half a one where the equations have no numbers; `more`, or what ended it."""
        bound = self.task.next_row(self.time)
        while True:
            try:
                reached = self._step(bound)
                break
            except NoNumberError as lost:
                self.rejected += 1
                bound = self.time + 0.5 * (lost.time - self.time)
                if bound - self.time <= SHORTEST * max(1.0, abs(self.time)):
                    return "not finite"
                self.restart(self.time, self.y)
        if not reached.success:
            return "collapsed"
        self.steps += 1
        self.dt, self.time = float(reached.t) - self.time, float(reached.t)
        self.y = self._state(reached)
        return "more"

    def restart(self, time: float, y: np.ndarray) -> None:
        """A fresh start from a state."""
        raise NotImplementedError

    def at(self, time: float) -> np.ndarray:
        """The state (ny,) at a time within the last step."""
        if time == self.time:
            return self.y
        with SILENCE.at_work():
            return self._state(self.solver.step(time))

    def _begin(self, time: float, *start: np.ndarray) -> None:
        """The library begins afresh from its unknowns, and their rates where it takes them."""
        with SILENCE.set_up():
            self.solver.init_step(time, *start)

    def _state(self, step: Any) -> np.ndarray:
        return np.array(step.y[: self.task.d.ny], dtype=float)

    def _step(self, bound: float | None) -> Any:
        """Take one step, not beyond the bound; what a function of ours raised, the library may pass on or not."""
        self.problem = None
        try:
            with SILENCE.at_work():
                reached = self.solver.step(self.task.stop, method="onestep", tstop=bound)
        except BaseException as problem:
            raise self.problem or problem from None
        if self.problem is not None:
            raise self.problem
        return reached

    def numbers(self, time: float, x: np.ndarray) -> np.ndarray:
        """Check numbers; where one is none, the step ends."""
        if not isfinite(x.sum()):
            self.problem = NoNumberError(time)
            raise self.problem
        return x

    def options(self, atol: np.ndarray) -> dict[str, Any]:
        """Collect the options of both solvers; `atol` (unknowns,) are absolute tolerances.    (SU2)"""
        rtol = self.task.rtol
        share = min(1.0, max(1.0 / np.sqrt(len(atol)), FINEST / rtol))
        weights = {"rtol": share * rtol, "atol": share * atol}
        longest = self.task.longest
        bound = {"max_step": longest} if np.isfinite(longest) else {}
        return {**weights, "max_num_steps": STEPS, **bound}

    def inputs(self, time: float, y: np.ndarray) -> np.ndarray:
        """u; a failure is kept, and raised, which ends the step without a word of the library."""
        try:
            return self.task.u(time, y)
        except BaseException as problem:
            self.problem = problem
            raise


class Cvode(_Sundials):
    """Solver of ẏ = f(t, y)."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        d = task.d
        sizes: dict[str, Any] = {"time": (), "y": (d.ny,), "u": (d.nu,)}
        rate = task.kernel(Dynamics.rate, **sizes)

        def right(time: float, y: np.ndarray, yp: np.ndarray) -> None:
            yp[:] = self.numbers(time, rate(time, y, self.inputs(time, y)))

        options = self.options(task.atol)
        solver_class = library("cvode").CVODE
        small = task.compiled(Dynamics.rate, **sizes).count["total"] * d.ny < LARGEST
        slope = task.kernel(_slope, **sizes) if small else None

        def slopes(time: float, y: np.ndarray, yp: np.ndarray, JJ: np.ndarray) -> None:
            if slope is None:
                JJ[:, :] = self._differences(right, time, y, yp)
            else:
                JJ[:, :] = slope(time, y, self.inputs(time, y))

        options["jacfn"] = slopes
        self.solver = solver_class(right, **options)
        self.restart(task.time, task.y)

    def _differences(self, right: Any, time: float, y: np.ndarray, yp: np.ndarray) -> np.ndarray:
        """Compute ∂ẏ/∂y (ny, ny) by differences, for the entries of which ẏ is a function: q, q̇ and x.

        The others have no tolerance. The differences of the library go by tolerances, so that theirs would be endless.
        """
        task, slopes = self.task, np.zeros((len(y), len(y)))
        sizes = np.maximum(np.abs(y), task.atol / task.rtol)
        for k in range(task.d.layout.x.stop):
            moved, changed = y.copy(), np.empty_like(y)
            moved[k] += STEP * sizes[k]
            right(time, moved, changed)
            slopes[:, k] = (changed - yp) / (moved[k] - y[k])
        return slopes

    def restart(self, time: float, y: np.ndarray) -> None:
        """A fresh start from a state."""
        self.time, self.y = time, y
        self._begin(time, y)


def _slope(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Any:
    """Compute the slope ∂ẏ/∂y."""
    return jacobian(d.rate(time, y, u), y)


class Ida(_Sundials):
    """Solver of (SU1); the unknowns are the state, a and λ."""

    def __init__(self, task: Task) -> None:
        d = task.d
        if d.enforcement.mu:
            raise InputError(
                f"{d.model.name}: integrator 'ida' needs constraint rows of which the same ones are independent "
                "throughout; 'cvode' and 'generalised-alpha' take any",
                integrator="ida",
            )
        n = d.ny + d.model.nv + len(d.kept)
        super().__init__(task)
        self._terms = task.kernel(_terms, time=(), y=(d.ny,), u=(d.nu,))
        sizes: dict[str, Any] = {"time": (), "x": (n,), "xp": (n,), "u": (d.nu,)}
        left = self._residual = task.kernel(residual, **sizes)
        slope = task.kernel(_residual_slope, **sizes)
        differential = np.zeros(n)
        differential[: d.ny] = 1.0

        def right(time: float, x: np.ndarray, xp: np.ndarray, res: np.ndarray) -> None:
            res[:] = self.numbers(time, left(time, x, xp, self.inputs(time, x)))

        def slopes(
            time: float, x: np.ndarray, xp: np.ndarray, res: np.ndarray, cj: float, JJ: np.ndarray
        ) -> None:
            JJ[:, :] = slope(time, x, xp, self.inputs(time, x))
            JJ[np.diag_indices(n)] += cj * differential

        jumping = d.jumps or len(task.rows) > 0
        looser = OF_JUMPS if jumping else OF_ACCELERATIONS
        allowed = np.full(n, looser * task.atol[d.layout.motion].max())
        allowed[: d.ny] = task.atol
        self.solver = library("ida").IDA(
            right, jacfn=slopes, algebraic_idx=list(range(d.ny, n)), **self.options(allowed)
        )
        self.restart(task.time, task.y)

    def restart(self, time: float, y: np.ndarray) -> None:
        """A fresh start from a state, with unknowns and rates that agree with it and with each other."""
        self.time, self.y = time, y
        u = self.task.u(time, y)
        unknown = self._accelerations(time, y, u)
        x = np.concatenate([y, unknown])
        xp = np.zeros(len(x))
        xp[: len(y)] = -self._residual(time, x, xp, u)[: len(y)]
        self._begin(time, x, xp)

    def _accelerations(self, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """a and λ at a state."""
        solution = constrained.solve_any_rank(self.task.d.model, self._terms(time, y, u))
        return np.concatenate([solution.qdd, solution.lam])


def _equations(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Any, Any, Any, Any, Vector]:
    """M, F, A, b stabilised, and ψ − what A q̇ is made of."""
    state = d.state(time, y, u)
    loads = d.loads(time, state.q, state.qd, u)
    request = d.enforcement.own(d.request)
    x = constrained.equations(d.model, request, state, loads, d.enforcement.alpha)
    p = x.problem(request)
    if d.model.slip is not None and d.model.slip.held is not None:
        p = with_held(p, d.model.slip.held)
    return p.M, p.F, p.A, p.b, state.qd


def _terms(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Any, Any, Any, Any]:
    return _equations(d, time, y, u)[:4]


def residual(d: Dynamics, time: Scalar, x: Vector, xp: Vector, u: Vector) -> Vector:
    """Residual that vanishes by (SU1)."""
    y, a, lam = x[: d.ny], x[d.ny : d.ny + d.model.nv], x[d.ny + d.model.nv :]
    M, F, A, b, qd = _equations(d, time, y, u)
    state = d.state(time, y, u)
    q = state.q
    powers = d.powers(state, d.loads(time, q, qd, u))
    if d.constraints_work:
        powers[0] = powers[0] + lam @ (A @ qd)
    still = np.zeros(d.ny - d.layout.ledger.stop)
    moves = array([*kinematics.dq_dt(d.model, q, qd), *a, *d.x_rates(state), *powers, *still])
    balance = M @ a - F - A.T @ lam if len(b) else M @ a - F
    return array([*(xp[: d.ny] - moves), *balance, *(A @ a - b)])  # (SU1)


def _residual_slope(d: Dynamics, time: Scalar, x: Vector, xp: Vector, u: Vector) -> Any:
    """Compute the slope ∂residual/∂x."""
    return jacobian(residual(d, time, x, xp, u), x)
