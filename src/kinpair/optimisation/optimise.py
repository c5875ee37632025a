"""`kp.optimise`: from a goal to the motion of least cost that reaches it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from kinpair.compiler.patience import Progress
from kinpair.errors import InputError, RunError, RunWarning, caller_level, listed, nearest
from kinpair.motion.gait import Gait
from kinpair.optimisation.accuracy import Errors, errors, refined, switches
from kinpair.optimisation.gaits import gait_problem
from kinpair.optimisation.guesses import guess_on, straight_ends
from kinpair.optimisation.ipopt import solve, solve_by_casadi
from kinpair.optimisation.nonlinear_program import NonlinearProgram, Outcome
from kinpair.optimisation.optimum import Optimum, as_motion
from kinpair.optimisation.requirements import repeated
from kinpair.optimisation.schemes import Scheme, scheme
from kinpair.optimisation.stages import phase, problem_of
from kinpair.optimisation.transcription import Problem, Transcription, transcribe

SOLVERS: Mapping[str, Callable[..., Outcome]] = {"ipopt": solve, "casadi": solve_by_casadi}
METHOD = "radau-5"
INTERVALS, OF_GAITS = 30, 12
ROUNDS = 10  # of refinement
WARM = {"mu_init": 1e-3, "mu_strategy": "monotone", "max_iter": 150}  # options of IPOPT on a finer mesh
NEARER = {
    **dict.fromkeys(("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac"), 1e-6),
    "mu_init": 1e-5,
}  # where the time is the cost: limits that are active stay so
MONOTONE = {"mu_strategy": "monotone"}  # where the adaptive strategy fails
SOLVED = ("solved", "acceptable")
NEAR = 1e-5  # violation and distance to optimality of an acceptable result
LARGE = 0.01  # error of a first mesh from which free inputs are smoothed
SMOOTHER = (
    1.0,
    1e-2,
    1e-4,
    1e-6,
    1e-8,
)  # parts of the cost that differences of inputs cost, one after the other    (OP17)
POINTS = 5_000  # of a mesh: no finer


def optimise(
    subject: Any,
    *,
    start: Any = None,
    end: Any = None,
    duration: Any = None,
    cost: Any = "effort",
    limits: Any = True,
    path: Mapping[str, Any] | None = None,
    boundary: Mapping[str, Any] | None = None,
    terminal: Any = None,
    repeat: Any = None,
    parameters: Mapping[str, Any] | None = None,
    actuators: Sequence[str] | None = None,
    passive: bool = True,
    method: str = METHOD,
    intervals: int | None = None,
    accuracy: float | None = 1e-4,
    guess: Any = None,
    solver: str = "ipopt",
    options: Mapping[str, Any] | None = None,
    progress: bool | Callable[[float], Any] | None = None,
) -> Optimum:
    """Find the motion of least cost from a start to an end.

    subject: a Mechanism, a System, `kp.dynamics(f, states, inputs)`, a list of `kp.phase(...)`, or a gait of
    `kp.motion.gait`, which is improved at its speed under limits of efforts and friction.
    start, end: states, by name or as an array; of a mechanism its coordinates, at rest. nan, None or a missing name:
    free. duration: [s], (lower, upper), or None where it is free. cost: "effort", "energy", "time", "jerk", a function
    of a point, or a dict cost → weight. limits: by part or name, a largest size or (lower, upper), added to those of
    the file; False: none. path, boundary: constraints by name, a function that is zero or (lower, function, upper), of
    a point or of the ends (start, end). terminal: cost functions of the ends. repeat: the start is what becomes of the
    end. parameters: name → (lower, upper) of variables that are constant in time. actuators: inputs that act.

    method: "trapezoidal", "hermite-simpson", "radau-3", "radau-5" or "shooting". The mesh of `intervals` (30 of a phase
    by default, 12 of a gait) is refined until a simulation of the result differs by less than `accuracy`, relative to
    1 + the size of each state; None: not refined. guess: an earlier result, a motion, a run, or (times, states);
    otherwise the straight line between the ends and no input. solver: "ipopt" or "casadi"; options: of IPOPT.

    Returns an Optimum. RunError where the problem has no solution: the message names the constraint, and its `run` has
    the last iterate. Ctrl-C keeps the last iterate, with status "stopped".
    """
    began = perf_counter()
    stages = list(subject) if isinstance(subject, Sequence) else None
    if isinstance(subject, Gait):
        stages, links, tables = gait_problem(subject, cost, limits, path)
        boundary, guess = links | dict(boundary or {}), tables if guess is None else guess
    elif stages is None:
        own: dict[str, Any] = {
            "start": start,
            "end": end,
            "duration": duration,
            "cost": cost,
            "limits": limits,
            "path": path,
        }
        own |= {"parameters": parameters, "actuators": actuators, "passive": passive}
        only = phase(subject, **own, shooting=method == "shooting")
        stages = [replace(only, repeat=repeated(only.phase.equations, repeat))]
    problem = problem_of(stages, boundary, terminal, parameters)
    schemes = _schemes(problem, method)
    count = (OF_GAITS if isinstance(subject, Gait) else INTERVALS) if intervals is None else intervals
    if type(count) is not int or count < 1:
        raise InputError(f"optimise: intervals is {intervals!r}; give a whole number, 1 or more")
    if solver not in SOLVERS:
        raise InputError(
            f"optimise: solver {solver!r}; {nearest(solver, [*SOLVERS])}Solvers: {listed(SOLVERS)}"
        )
    meshes = [np.linspace(0.0, 1.0, count + 1) for _ in problem.phases]
    with Progress(f"optimising {problem.phases[0].equations.name}", progress) as report:
        search = _Search(problem, schemes, SOLVERS[solver], dict(options or {}), report, began)
        found = search.refine(meshes, accuracy, guess)
    if not found.solved:
        _report_failure(found)
    return found


def _schemes(problem: Problem, method: str) -> list[Scheme]:
    """The scheme of each phase; InputError where constraints need one without the left end of an interval."""
    chosen: list[Scheme] = []
    for x in problem.phases:
        own = scheme(method)
        if own.shoots and x.equations.algebraic:
            raise InputError(
                "optimise: phases for method 'shooting' are made with kp.phase(..., shooting=True)"
            )
        if x.equations.implicit and own.shares:
            raise InputError(
                f"optimise: {x.equations.name} has constraints, for which method {own.name!r} has no unique "
                "multipliers; use method='radau-5' or 'radau-3'",
                method=own.name,
            )
        chosen.append(own)
    return chosen


class _Search:
    """Solves on a mesh and refines it."""

    def __init__(
        self,
        problem: Problem,
        schemes: list[Scheme],
        solve: Callable[..., Outcome],
        options: dict[str, Any],
        report: Callable[[float], None],
        began: float,
    ) -> None:
        self.problem, self.schemes, self.solve, self.options = problem, schemes, solve, options
        self.report, self.began = report, began
        self.rounds: list[dict[str, Any]] = []
        self.weight = 0.0  # of differences of inputs

    def refine(self, meshes: list[np.ndarray], accuracy: float | None, guess: Any) -> Optimum:
        """Solve on finer and finer meshes until the error is below the accuracy."""
        self.accuracy = np.inf if accuracy is None else accuracy
        on_mesh = transcribe(self.problem, self.schemes, meshes)
        best = self._first(on_mesh, guess_on(on_mesh, guess, self.ends))
        while best.solved and accuracy is not None and len(self.rounds) < ROUNDS:
            switching = [switches(grid, best.outcome.w) for grid in best.transcription.grids]
            met = [x.met(accuracy) for x in best.errors]
            if all(met) and (self._settled(accuracy) or not any(x.any() for x in switching)):
                break
            meshes = [
                grid.mesh if fine and not x.any() else refined(grid, own, accuracy, x)
                for grid, own, x, fine in zip(
                    best.transcription.grids, best.errors, switching, met, strict=True
                )
            ]
            if sum(map(len, meshes)) > POINTS:
                break
            on_mesh = transcribe(self.problem, self.schemes, meshes)
            later = self._solved(on_mesh, guess_on(on_mesh, best, self.ends), WARM)
            self.rounds.append(_round(later))
            if later.status == "stopped":
                best = replace(best, status="stopped")
            if not later.solved:
                break
            best = later
        if (
            accuracy is not None
            and best.solved
            and not all(x.met(accuracy) and x.largest <= accuracy for x in best.errors)
        ):
            self._warn(best, accuracy)
        return replace(best, rounds=tuple(self.rounds), seconds=perf_counter() - self.began)

    def _first(self, on_mesh: Transcription, w: np.ndarray) -> Optimum:
        """Solve on the first mesh; where that fails, or free inputs leave large errors, again from smooth inputs."""
        found = self._solved(on_mesh, w)
        local = max(float(x.intervals.max(initial=0.0)) for x in found.errors)
        uneven = local > max(LARGE, self.accuracy) and _free(self.problem)
        if found.status != "stopped" and (not found.solved or uneven):
            weight = max(abs(on_mesh.program.cost(w)), abs(found.cost) if found.solved else 0.0, 1e-3)
            again = self._from_smooth(on_mesh, w, weight)
            dearer = again.cost - found.cost > max(1e-3, found.error) * abs(found.cost)
            better = again.error < found.error and not dearer
            if again.status == "stopped" and found.solved:
                found = replace(found, status="stopped")
            elif again.status == "stopped" or (again.solved and (better or not found.solved)):
                found = again
            else:
                self.weight = 0.0
        self.rounds.append(_round(found))
        return found

    def _from_smooth(self, on_mesh: Transcription, w: np.ndarray, weight: float) -> Optimum:
        """Solve with a cost of differences of inputs that falls, and without it.

        Where there is no solution without it, its last part stays, here and on finer meshes.
        """
        options = MONOTONE
        for part in SMOOTHER:
            smooth = self._outcome(on_mesh.smooth(weight * part), w, options)
            if smooth.status == "stopped":
                return self._judged(on_mesh, smooth)
            if smooth.status not in SOLVED:
                break
            w, options, self.weight = smooth.w, WARM, weight * part
        last, self.weight = self.weight, 0.0
        found = self._solved(on_mesh, w, options)
        if found.solved or found.status == "stopped" or not last:
            return found
        self.weight = last
        return self._solved(on_mesh, w, options)

    def _warn(self, found: Optimum, accuracy: float) -> None:
        """Warn of an accuracy that was not reached."""
        over = max(float(x.exceeded.max(initial=0.0)) for x in found.errors)
        local = max(float(x.intervals.max(initial=0.0)) for x in found.errors)
        if any(x.unstable(accuracy) for x in found.errors) and local <= accuracy:
            what = (
                f"the motion is unstable: errors of intervals up to {local:.1e} grow to {found.error:.1e} under given "
                "inputs; track it with a regulator"
            )
        elif found.error > accuracy:
            what = f"the error by simulation is {found.error:.1e}"
        else:
            what = f"limits of states are exceeded by up to {over:.1e} between the points of the mesh"
        stopped = "" if len(self.rounds) == ROUNDS else "; the solver did not converge on a finer mesh"
        warnings.warn(
            f"optimise: {what} after {len(self.rounds)} meshes{stopped}; accuracy {accuracy:g} was required",
            RunWarning,
            stacklevel=caller_level(),
        )

    def _settled(self, accuracy: float) -> bool:
        """True if the cost of the last two meshes differs by less than a tenth of the accuracy."""
        costs = [x["cost"] for x in self.rounds[-2:]]
        return len(costs) == 2 and abs(costs[1] - costs[0]) <= accuracy / 10 * abs(costs[1])

    def ends(self, on_mesh: Transcription) -> list[tuple[np.ndarray, np.ndarray]]:
        """States at the ends of the phases from which a cold start begins."""
        return straight_ends(self.problem, self.solve)

    def _outcome(
        self, program: NonlinearProgram, w: np.ndarray, options: Mapping[str, Any] | None = None
    ) -> Outcome:
        own = _of_cost(self.problem, program, w) | dict(options or {})
        every = own | (NEARER if options is WARM and _is_time(self.problem) else {}) | self.options
        return self.solve(program, w, options=every, report=self._progress)

    def _solved(
        self, on_mesh: Transcription, w: np.ndarray, options: Mapping[str, Any] | None = None
    ) -> Optimum:
        """The optimum on a mesh from an iterate w, and its errors by simulation."""
        program = on_mesh.smooth(self.weight) if self.weight else on_mesh.program
        outcome = self._outcome(program, w, options)
        near = outcome.violation <= NEAR and outcome.optimality <= NEAR
        if (self.weight and outcome.status == "solved") or (
            near and outcome.status == "iterations" and options is not WARM
        ):
            outcome = outcome._replace(status="acceptable")
        return self._judged(on_mesh, outcome)

    def _judged(self, on_mesh: Transcription, outcome: Outcome) -> Optimum:
        """The motion of an outcome with its errors by simulation."""
        count = len(self.problem.parameters)
        durations = outcome.w[count : count + len(on_mesh.grids)]
        named = dict(zip(self.problem.parameters, outcome.w.tolist(), strict=False))
        found = tuple(
            errors(grid, function, outcome.w, float(T), named, self.accuracy)
            if np.isfinite(outcome.w).all()
            else Errors(np.zeros(1), np.inf, np.zeros(1))
            for grid, function, T in zip(on_mesh.grids, self.problem.functions, durations, strict=False)
        )
        motion = as_motion(on_mesh.grids, outcome.w, durations)
        return Optimum(
            motion.duration, motion.shape, motion.knots, motion, on_mesh.program.cost(outcome.w), outcome.status,
            on_mesh, outcome, found, perf_counter() - self.began,
        )  # fmt: skip

    def _progress(self, iteration: int, cost: float, violation: float, optimality: float) -> None:
        """Report the completed part, by the decades that are left to the tolerance."""
        rest = max(violation, optimality, 1e-9)
        self.report(min(0.99, max(iteration / 1000, (2.0 - np.log10(rest)) / 10.0)))


def _round(found: Optimum) -> dict[str, Any]:
    """Intervals, cost, iterations and error of a mesh."""
    intervals = sum(x.intervals for x in found.transcription.grids)
    return {
        "intervals": intervals,
        "cost": found.cost,
        "iterations": found.outcome.iterations,
        "error": found.error,
    }


def _free(problem: Problem) -> bool:
    """True if an input has no limit on a side: it may then jump from point to point, as angles do by a turn."""
    bounds = [
        (x.lower[span], x.upper[span]) for x in problem.phases for span in [x.equations.spans()["inputs"]]
    ]
    return any(not np.isfinite(side).all() for pair in bounds for side in pair)


def _is_time(problem: Problem) -> bool:
    """True if the cost is the time that mechanisms take."""
    return problem.time_weight > 0.0 and not any(
        x.running or x.equations.subject is None for x in problem.phases
    )


def _of_cost(problem: Problem, program: NonlinearProgram, w: np.ndarray) -> dict[str, Any]:
    """Options of IPOPT for positive work: its cost has a kink wherever a power changes sign.

    The barrier falls only as fast as each of its problems is solved. A cost of work whose derivatives are below 1,
    which fall with the length of an interval, is scaled, so that the same holds in any unit and on any mesh.
    """
    if not any("power" in x.equations.parts for x in problem.phases):
        return {}
    slope = float(np.abs(program.gradient(w)).max(initial=0.0))
    scale = {"obj_scaling_factor": 1.0 / slope} if 0.0 < slope < 1.0 else {}
    return {"mu_strategy": "monotone", **scale}


def _report_failure(found: Optimum) -> None:
    """Warn of a stop; raise RunError with the constraint that is violated most."""
    program: NonlinearProgram = found.transcription.program
    if found.status == "stopped":
        warnings.warn(
            f"optimise: stopped after {found.outcome.iterations} iterations; the result violates constraints by up to "
            f"{program.violation(found.outcome.w).max(initial=0.0):.2g}",
            RunWarning,
            stacklevel=caller_level(),
        )
        return
    violation = program.violation(found.outcome.w)
    worst = int(np.nan_to_num(violation, nan=np.inf).argmax()) if len(violation) else -1
    if worst >= 0 and violation[worst] > 1e-6:
        where = f"the largest violation is {violation[worst]:.3g} in {program.row_name(worst)!r}"
    else:
        where = "all constraints hold, and the cost still falls"
    advice = {
        "infeasible": "the goal cannot be reached under these limits, constraints and this duration",
        "not finite": "a cost or constraint is not a finite number at a point of the iteration",
        "iterations": "give another guess, or more iterations: options={'max_iter': ...}",
    }.get(found.status, "give another guess, duration or limits")
    raise RunError(f"optimise: no solution ({found.status}): {where}; {advice}", run=found)
