"""Optimal motion next to CasADi with IPOPT: the same nonlinear programs, from the same cold start, in one run.

Times are CPU times, the least of several calls.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import casadi as ca
import numpy as np

import kinpair as kp
from benchmarks.planning import Row
from benchmarks.robots import robot
from kinpair.compiler.export.casadi import to_casadi
from kinpair.optimisation.guesses import guess_on, straight_ends
from kinpair.optimisation.ipopt import INFINITE, OPTIONS, solve
from kinpair.optimisation.nonlinear_program import NonlinearProgram
from kinpair.optimisation.transcription import Transcription

TURNS = 5
SAME = 1e-6  # relative difference of costs of two solvers on one program
VARIANTS = 10
SPREAD = 0.1  # of every number of a problem, in its variants


@dataclass(frozen=True)
class Case:
    """A problem as a function of factors of its data (1: as published), how many they are, and what is demanded."""

    name: str
    problem: Callable[[np.ndarray], dict[str, Any]]
    factors: int
    optimum: float | None = None
    tolerance: float = 0.0
    seconds: float | None = None


def cart_pole(k: np.ndarray) -> dict[str, Any]:
    """Swing-up of M. Kelly, SIAM Review 59 (2017), section 6."""
    M, m, l, g = 1.0 * k[0], 0.3 * k[1], 0.5 * k[2], 9.81

    def f(x: Any, u: Any) -> Any:
        _, angle, v, omega = x
        sn, cs = np.sin(angle), np.cos(angle)
        D = M + m * sn**2
        a = (l * m * sn * omega**2 + u[0] + m * g * cs * sn) / D
        alpha = -(l * m * cs * sn * omega**2 + u[0] * cs + (M + m) * g * sn) / (l * D)
        return np.array([v, omega, a, alpha])

    return {
        "subject": kp.dynamics(f, ("x", "angle", "v", "omega"), ("force",), name="cart-pole"),
        "start": [0, 0, 0, 0],
        "end": [1.0 * k[3], np.pi, 0, 0],
        "duration": 2.0 * k[4],
        "limits": {"force": 20.0, "x": 2.0},
        "cost": "effort",
        "intervals": 40,
        "method": "hermite-simpson",
    }


def robot_arm(k: np.ndarray) -> dict[str, Any]:
    """COPS 3.0 (E. D. Dolan, J. J. Moré, T. S. Munson 2004), robot arm."""
    L = 5.0 * k[0]

    def f(x: Any, u: Any) -> Any:
        rho, _, phi, *rates = x
        inertia = ((L - rho) ** 3 + rho**3) / 3
        return np.array([*rates, u[0] / L, u[1] / (inertia * np.sin(phi) ** 2), u[2] / inertia])

    names = ("rho", "theta", "phi", "rho_rate", "theta_rate", "phi_rate")
    rest = [0.0, 0.0, 0.0]
    return {
        "subject": kp.dynamics(f, names, ("u_rho", "u_theta", "u_phi"), name="robot arm"),
        "start": [4.5 * k[1], 0.0, np.pi / 4 * k[2], *rest],
        "end": [4.5 * k[3], 2 * np.pi / 3 * k[4], np.pi / 4 * k[5], *rest],
        "limits": {"u": 1.0},
        "cost": "time",
        "intervals": 60,
        "method": "radau-5",
    }


MASSES, LENGTHS = np.array([3.2, 6.8, 20.0, 6.8, 3.2]), np.array([0.4, 0.4, 0.625, 0.4, 0.4])
INERTIAS = np.array([0.93, 1.08, 2.22, 1.08, 0.93])
CENTRES = np.array([0.128, 0.163, 0.2, 0.163, 0.128])  # from the knee, the hip, the hip, the hip, the knee
HINGES = ("ankle", "knee1", "hip1", "hip2", "knee2")


def walker_mechanism(k: np.ndarray) -> kp.Mechanism:
    """The five-link walker: tibia and femur of the leg that stands, torso, femur and tibia of the other one."""
    legs = np.array([0, 1, 2, 1, 0])  # both legs are alike
    mass, length, inertia, centre = (
        x * k[n : n + 3][legs] for n, x in enumerate((MASSES, LENGTHS, INERTIAS, CENTRES))
    )
    along = [length[0] - centre[0], length[1] - centre[1], centre[2], -centre[3], -centre[4]]
    b = kp.Builder("five-link walker")
    links = ("tibia1", "femur1", "torso", "femur2", "tibia2")
    for n, m, c, i in zip(links, mass, along, inertia, strict=True):
        b.link(n, mass=float(m), com=[0, 0, float(c)], inertia=[float(i)] * 3)
    above = [0.0, length[0], length[1], 0.0, -length[3]]
    bounds = [{}, {"lower": -3.0, "upper": 0.0}, {}, {}, {"lower": 0.0, "upper": 3.0}]
    for joint, parent, child, z, own in zip(HINGES, ("ground", *links), links, above, bounds, strict=False):
        b.joint(joint, "revolute", parent, child, xyz=[0, 0, float(z)], axis="y", **own)
    b.frame("foot", "tibia2", xyz=[0, 0, -float(length[4])])
    return kp.build(b)


def walker(k: np.ndarray) -> dict[str, Any]:
    """One periodic step of M. Kelly, SIAM Review 59 (2017), section 7, with the data of RABBIT."""
    m = walker_mechanism(k)
    sums = np.tril(np.ones((5, 5)))  # angles from the vertical
    relabel = np.linalg.inv(sums) @ np.eye(5)[::-1] @ sums
    step = 0.5 * k[6]
    return {
        "subject": m,
        "start": {"qd": None},
        "end": {"qd": None},
        "duration": 0.7 * k[7],
        "repeat": kp.walking.heel_strike(m, "foot", relabel),
        "actuators": HINGES[1:],
        "limits": {"u": 100.0},
        "boundary": {
            "step": lambda start, end: end.position("foot")[0] - step,
            "leaves": (0.0, lambda start, end: start.velocity("foot")[2], None),
            "lands": (None, lambda start, end: end.velocity("foot")[2], 0.0),
        },
        "cost": "effort",
        "intervals": 50,
        "method": "hermite-simpson",
    }


CASES = (
    Case("cart-pole swing-up", cart_pole, 5, 58.8077, 1e-3, 0.05),
    Case("robot arm, least time", robot_arm, 6, 9.1409, 5e-4, 0.5),
    Case("five-link walker", walker, 8, None, 0.0, 1.0),
)


def solved(goal: dict[str, Any], **more: Any) -> kp.Optimum:
    """Our solution of a problem on its first mesh."""
    subject, *_ = (goal["subject"],)
    own = {name: value for name, value in goal.items() if name != "subject"}
    return kp.optimise(subject, **{**own, "accuracy": None, **more})


def casadi_program(on_mesh: Transcription) -> Any:
    """The same program as an expression of CasADi, which differentiates it by itself."""
    program: NonlinearProgram = on_mesh.program
    w = ca.MX.sym("w", program.n)
    values = []
    for block in program.blocks:
        f = to_casadi(replace(block.function.program, name="point"))
        V = ca.reshape(w[block.variables.ravel().tolist()], block.variables.shape[1], len(block.variables))
        values.append(ca.vec(f.map(len(block.variables))(V, ca.DM(block.data.T))))
    r = ca.vertcat(*values)
    rows = _matrix(program.A) @ w + _matrix(program.C) @ r
    options = {"ipopt": dict(OPTIONS), "print_time": False}
    return ca.nlpsol("rival", "ipopt", {"x": w, "f": ca.dot(ca.DM(program.c), r), "g": rows}, options)


def _matrix(x: Any) -> Any:
    entries = x.tocoo()
    pattern = ca.Sparsity.triplet(*x.shape, entries.row.tolist(), entries.col.tolist())
    order = np.lexsort((entries.row, entries.col))
    return ca.DM(pattern, entries.data[order])


def rival(on_mesh: Transcription, w: np.ndarray) -> tuple[float, float, float, int]:
    """Cost, seconds to build, seconds to solve and iterations of CasADi with IPOPT."""
    program, start = on_mesh.program, process_time()
    solver = casadi_program(on_mesh)
    built = process_time()
    low, high, row_low, row_high = (
        np.clip(x, -INFINITE, INFINITE) for x in (*program.bounds, *program.row_bounds)
    )
    found = solver(x0=w, lbx=low, ubx=high, lbg=row_low, ubg=row_high)
    return float(found["f"]), built - start, process_time() - built, int(solver.stats()["iter_count"])


def case_rows(case: Case, *, variants: int) -> Iterator[Row]:
    """The published problem, then variants of it."""
    goal = case.problem(np.ones(case.factors))
    first = process_time()
    x = solved(goal)
    first = process_time() - first
    whole = min(_seconds(lambda: solved(goal)) for _ in range(TURNS))
    on_mesh = x.transcription
    w = guess_on(on_mesh, None, lambda _: straight_ends(on_mesh.problem, solve))
    ours = min(_seconds(lambda: solve(on_mesh.program, w)) for _ in range(TURNS))
    cost, built, seconds, iterations = rival(on_mesh, w)
    refined = solved(goal, accuracy=1e-4)
    if case.optimum is not None:
        yield Row(
            f"{case.name}: distance to the published optimum",
            abs(refined.cost - case.optimum),
            "",
            case.tolerance,
        )
    yield Row(f"{case.name}: cost on the first mesh", x.cost, "")
    yield Row(f"{case.name}: first call, with compiling", first, "s")
    yield Row(f"{case.name}: whole call after compiling", whole, "s", case.seconds)
    yield Row(f"{case.name}: solver alone ({x.outcome.iterations} iterations)", ours, "s")
    yield Row(f"{case.name}: CasADi + IPOPT, building", built, "s")
    yield Row(f"{case.name}: CasADi + IPOPT, solving ({iterations} iterations)", seconds, "s")
    yield Row(f"{case.name}: CasADi's time / ours, solving", seconds / ours, "", 1.0, above=True)
    yield Row(f"{case.name}: CasADi's cost − ours, relative", abs(cost - x.cost) / abs(x.cost), "", SAME)
    yield Row(f"{case.name}: error by simulation after refinement", refined.error, "", 1e-4)
    same = sum(_agrees(case, k) for k in _factors(case, variants))
    yield Row(
        f"{case.name}: variants solved to CasADi's optimum, of {variants}", same, "", variants, above=True
    )


def _factors(case: Case, variants: int) -> np.ndarray:
    return np.random.default_rng(30).uniform(1.0 - SPREAD, 1.0 + SPREAD, (variants, case.factors))


def _agrees(case: Case, factors: np.ndarray) -> bool:
    x = solved(case.problem(factors))
    w = guess_on(x.transcription, None, lambda _: straight_ends(x.transcription.problem, solve))
    cost = rival(x.transcription, w)[0]
    return x.solved and abs(cost - x.cost) <= SAME * abs(x.cost)


def two_transcriptions() -> Row:
    """The walker by Hermite–Simpson and by Radau points."""
    goal = walker(np.ones(8))
    costs = [
        solved(goal, method=method, intervals=n).cost
        for method, n in (("hermite-simpson", 50), ("radau-5", 40))
    ]
    return Row(
        "five-link walker: two transcriptions, relative difference", abs(costs[0] / costs[1] - 1.0), "", 1e-4
    )


def arm_rows() -> Iterator[Row]:
    """UR5 from point to point in least time, along a line and freely."""
    m = robot("UR5").load()
    a, b = np.array([0, -1.2, 1.0, -0.8, 0.5, 0.0]), np.array([1.2, -0.6, 0.4, -1.2, 1.2, 0.6])
    d = b - a
    along = {"line": lambda s: (s.q[1:] - a[1:]) * d[0] - (s.q[0] - a[0]) * d[1:]}
    fastest = kp.motion.fastest(m, kp.motion.cycloid(a, b, 1.0)).duration
    line = kp.optimise(m, start=a, end=b, cost="time", path=along)
    free = kp.optimise(m, start=a, end=b, cost="time")
    yield Row(
        "UR5: least time along a line, relative to kp.motion.fastest",
        abs(line.duration / fastest - 1),
        "",
        1e-3,
    )
    yield Row(
        "UR5: time saved without the path", fastest - free.duration, "s", fastest * free.error, above=True
    )
    yield Row("UR5: least time without the path, whole call", free.seconds, "s")


def closed_rows() -> Iterator[Row]:
    """Loops and wheels: five-bar and delta from place to place with least energy, a vehicle that parks sideways."""
    for name, m, goal in (
        ("five-bar, least energy", *five_bar()),
        ("delta, least effort over an obstacle", *delta()),
        ("diff-drive, parking sideways", *parking()),
    ):
        first = process_time()
        x = kp.optimise(m, **goal)
        first = process_time() - first
        q = x.states[:, : m.nq]
        A, qd = m.constraint_matrix(q), x.states[:, m.nq : m.nq + m.nv]
        yield Row(f"{name}: cost", x.cost, "")
        yield Row(f"{name}: first call, with compiling", first, "s")
        yield Row(
            f"{name}: whole call after compiling", _seconds(lambda m=m, g=goal: kp.optimise(m, **g)), "s"
        )
        yield Row(f"{name}: error by simulation", x.error, "", 1e-4)
        yield Row(
            f"{name}: rates against loops and rolling", np.abs(np.einsum("kij,kj->ki", A, qd)).max(), "", 1e-6
        )


def five_bar() -> tuple[kp.Mechanism, dict[str, Any]]:
    """Positive work of the cranks and heat of their motors, 0.6 and 0.3 rad in 0.5 s."""
    m, cranks = kp.example("five-bar"), ["left-crank", "right-crank"]
    start = m.start()
    end = m.assemble(start + np.array([0.6, 0, 0.3, 0]), fixed=cranks)
    cost = {"energy": 1.0, "effort": 0.05}
    return m, {"start": start, "end": end, "duration": 0.5, "actuators": cranks, "cost": cost}


def delta() -> tuple[kp.Mechanism, dict[str, Any]]:
    """Platform 0.3 m in 0.4 s, above a hump of 0.05 m."""
    m = kp.example("delta")
    start, end = (
        m.assemble(np.array([x, 0.0, -0.1, *m.start()[3:]]), fixed=["platform"]) for x in (-0.15, 0.15)
    )
    hump = (0.0, lambda point: point.q[2] + 0.1 - 0.05 * (1.0 - (point.q[0] / 0.15) ** 2), None)
    ends = {"start": start, "end": end, "duration": 0.4, "intervals": 8}
    return m, {**ends, "actuators": ["arm1", "arm2", "arm3"], "path": {"hump": hump}}


def parking() -> tuple[kp.Mechanism, dict[str, Any]]:
    """From rest to rest 0.5 m to the left in 3 s."""
    m = kp.example("diff-drive")
    end = {"q": {"base.x": 0.0, "base.y": 0.5, "base.angle": 0.0}}
    goal = {"start": m.start(), "end": end, "duration": 3.0, "intervals": 16, "limits": {"u": 5.0}}
    return m, {**goal, "actuators": ["left-wheel", "right-wheel"]}


def _seconds(call: Callable[[], Any]) -> float:
    start = process_time()
    call()
    return process_time() - start


def rows(*, quick: bool) -> Iterator[Row]:
    """All figures."""
    for case in CASES:
        yield from case_rows(case, variants=2 if quick else VARIANTS)
    yield two_transcriptions()
    yield from arm_rows()
    yield from closed_rows()


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m benchmarks.optimise [--quick]`."""
    parser = argparse.ArgumentParser(prog="benchmarks.optimise", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two variants of each problem")
    options = parser.parse_args(arguments)
    missed = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for row in rows(quick=options.quick):
            print(row, flush=True)
            missed += not row.met
    return int(missed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
