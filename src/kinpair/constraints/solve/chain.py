"""The chain of methods that solves a scaled problem. Loop functions; see docs/equations/nonsmooth.md.

Newton's method from the start solves most problems. Where it does not, sweeps and Newton's method follow. All of this
is done around a centre, which selects one x where several satisfy the problem, and makes Newton's method regular.
"""

from __future__ import annotations

import math

from kinpair.compiler.loops.kinds import Matrix, Vector
from kinpair.constraints.solve.interior import interior
from kinpair.constraints.solve.newton import Memory, newton
from kinpair.constraints.solve.residual import Problem, residual, rounding
from kinpair.constraints.solve.sweeps import sweeps

EPSILON, MOST, GROWTH = 1e-8, 1e-4, 10.0  # least and largest proximal term, against the unit diagonal of D
NEAR, WARM = 0.5, 15  # |F|∞ of a start that is near, and Newton steps from there
HALF = 0.5  # steps within the tolerance go on as long as each halves |F|∞, but not from a start that is near
FAR, FALL = (
    1.0,
    1.2,
)  # of proximal terms of `continued`: before the first one, and by how much their logarithm falls
NEARER, TRIALS = (
    0.4,
    4,
)  # of that where it is not solved; the third and fourth trial are two and four times as far
SOME, MANY = 10, 40  # sweeps and Newton steps of each
ROUNDS, UNSOLVED, IDLE = 80, 10, 50  # at most, of them not solved, and solved without half of |F|∞
ACCURATE, ENOUGH = 1e-10, 3  # |F|∞ below which fewer rounds without half of it are enough
BEST, START, ZERO, INTERIOR = 0.0, 1.0, 2.0, 3.0  # where a method starts; or the interior-point method
PLAN = (  # sweeps, δ of Newton's method, slack of its steps, where it starts, steps at most
    (0.0, 1e-8, 1.0, START, 60.0),
    (0.0, 1e-8, math.inf, START, 60.0),
    (50.0, 1e-6, 1.0, START, 5.0),
    (0.0, 0.0, 1.0, INTERIOR, 0.0),
    (100.0, 1e-6, 1.0, BEST, 8.0),
    (200.0, 1e-6, 1.0, BEST, 8.0),
    (400.0, 1e-6, 1.0, BEST, 15.0),
    (0.0, 1e-6, 1.0, ZERO, 60.0),
    (200.0, 1e-6, math.inf, BEST, 60.0),
    (200.0, 1e-3, 1.0, BEST, 60.0),
    (800.0, 1e-6, 1.0, BEST, 60.0),
)
FROM_START = 2  # lines of the plan that many rows without a start skip: each step of Newton's method is long
LARGE = 100
VECTORS, SMALL = 15, 11  # rows of the working memory: as long as x, and of length 4


def largest(x: Vector) -> float:
    """Compute the norm |x|∞."""
    value = 0.0
    for i in range(len(x)):
        value = max(value, abs(x[i]))
    return value


def methods(
    p: Problem, near: Problem, x: Vector, m: Memory, plan: Matrix, tolerance: float, again: bool
) -> tuple[bool, bool]:
    """Apply method after method until |F|∞ of `near` is within the tolerance or rounding; the best x met replaces x.

    The interior-point method solves p itself, once. Returns whether it did, so that x needs no more rounds, and whether
    `near` is solved.
    """
    start, best = m.vectors[7], m.vectors[8]
    start[:] = x
    least, first, met = math.inf, 0, False
    if len(x) > LARGE and largest(x) == 0.0:
        first = FROM_START
    for turn in range(first, len(plan)):
        count, delta, slack, origin = int(plan[turn, 0]), plan[turn, 1], plan[turn, 2], plan[turn, 3]
        if turn > first:
            x[:] = start if origin == START else best
            if origin == ZERO:
                x[:] = 0.0
        if origin == INTERIOR:
            if not again:
                _, met = interior(p, x, m, tolerance)
            if met:
                return True, True
            continue
        sweeps(near, x, m, count)
        size, met = newton(near, x, m, delta, slack, int(plan[turn, 4]), tolerance, HALF)
        if size < least:
            least = size
            best[:] = x
        if met:
            break
    x[:] = best
    return False, met


def continued(p: Problem, near: Problem, x: Vector, m: Memory, tolerance: float) -> bool:
    """Solve p by problems with D + ε, from a large ε to a small one; each starts from the solution before.    (NS19)

    Where one is not solved, an ε that is nearer to the last one is tried, then smaller ones. Returns whether the last
    problem, p, is solved.
    """
    solution = m.vectors[7]
    near.g[:] = p.g
    x[:] = 0.0
    solution[:] = x
    last, trial = FAR, 0
    while last > EPSILON and trial < TRIALS:
        power = NEARER if trial == 1 else max(1.0, 2.0 * (trial - 1.0))
        epsilon = max(last * math.exp(-FALL * power), EPSILON)
        for i in range(len(x)):
            near.D[i, i] = p.D[i, i] + epsilon
        x[:] = solution
        sweeps(near, x, m, SOME)
        _, met = newton(near, x, m, 1e-6, 1.0, MANY, tolerance, HALF)
        trial += 1
        if met:
            solution[:] = x
            last, trial = epsilon, 0
    if last > EPSILON:
        return False
    x[:] = solution
    _, met = newton(p, x, m, 1e-8, 1.0, MANY, tolerance, HALF)
    return met


def solve_scaled(p: Problem, x: Vector, m: Memory, plan: Matrix, tolerance: float) -> tuple[float, int, bool]:
    """Solve the scaled problem for x by D + ε, g − ε y, with y the x of the round before.    (NS10)

    A start within the tolerance is returned as it is. From a start that is near, a few Newton steps on the problem
    itself are tried first; they keep x near. Where the first round is not solved, `continued` is tried. Where others
    are not, ε grows; where rounds with a larger ε do not halve |F|∞, it falls again. The best x met is returned in x.
    Returns |F|∞, the number of rounds, and whether |F|∞ is within the tolerance or rounding.
    """
    n, regular, right, best = len(x), m.regular, m.vectors[9], m.vectors[14]
    m.counts[:] = 0
    least, floor = residual(p, x, m.vectors[0], m.vectors[1]), rounding(p, x)
    if least <= max(tolerance, floor):
        return least, 0, True
    if least <= NEAR and largest(x) > 0.0:
        m.vectors[7] = x
        least, met = newton(p, x, m, 1e-8, 1.0, WARM, tolerance, 0.0)
        if met:
            return least, 1, True
        x[:] = m.vectors[7]
    regular[:] = p.D
    right[:] = p.g
    near = Problem(
        regular, right, p.table, p.radii, p.bounds, p.parts, p.weights, p.A, p.b, p.starts, p.columns
    )
    least, met, turn, epsilon, unsolved, idle = math.inf, False, 0, EPSILON, 0, 0
    while turn < ROUNDS and unsolved < UNSOLVED and idle < (IDLE if least > ACCURATE else ENOUGH):
        for i in range(n):
            regular[i, i] = p.D[i, i] + epsilon
        ended, solved = methods(p, near, x, m, plan, tolerance, turn > 0)
        if turn == 0 and not solved:
            ended = continued(p, near, x, m, tolerance)
            solved = ended
            if not ended:
                x[:] = m.vectors[8]  # of `methods`
        turn += 1
        size, floor = residual(p, x, m.vectors[0], m.vectors[1]), rounding(p, x)
        halved = size < 0.5 * least
        if size < least:
            least = size
            best[:] = x
            met = size <= max(tolerance, floor)
        if ended or (met and (size <= floor or not halved)):
            break
        if not solved:
            unsolved += 1
            epsilon = min(GROWTH * epsilon, MOST)
        elif not halved:
            idle += 1
            epsilon = max(epsilon / GROWTH, EPSILON)
        for i in range(n):
            right[i] = p.g[i] - epsilon * x[i]
    x[:] = best
    return least, turn, met
