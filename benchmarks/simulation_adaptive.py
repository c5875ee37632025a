"""An adaptive method on six states, beside SciPy, CyRK and heyoka at equal error: ten turns of an orbit."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import targets
from benchmarks.batches import Row
from benchmarks.timing import race
from kinpair.compiler.time_loop.loop import AdaptiveLoop
from kinpair.compiler.time_loop.parts import Flow
from kinpair.compiler.trace import trace
from kinpair.simulation.methods.tableaux import DOP853

QUANTITY = "adaptive motion, six states, equal error"
ECCENTRICITY, TURNS, TILT = 0.5, 10.25, 0.4
ERROR = 1e-8  # of the position at the end
TOLERANCES = tuple(10.0**-k for k in range(8, 14))
Solver = Callable[[float], np.ndarray]


def row(turns: int) -> Row:
    """Nanoseconds of the whole, at the tolerance at which each has the same error."""
    exact = position(2 * np.pi * TURNS)
    solvers = {name: make() for name, make in MAKERS.items() if _there(name)}
    times = {name: _at_equal_error(solve, exact, turns) for name, solve in solvers.items()}
    ours = {"scalar": times.pop("kinpair")}
    demanded = {peer: x for peer, x in targets.ADAPTIVE.items() if peer in times}
    return Row(QUANTITY, f"orbit, error {ERROR:g}", 3, ours, {}, times, demanded)


def _there(name: str) -> bool:
    needed = {"kinpair": (), "SciPy": ("numba",), "CyRK": ("CyRK", "numba"), "heyoka": ("heyoka",)}[name]
    return all(find_spec(module) for module in needed)


def start() -> np.ndarray:
    """At the nearest point of an orbit of period 2π, its plane tilted."""
    e = ECCENTRICITY
    speed = np.sqrt((1 + e) / (1 - e))
    return np.array([1 - e, 0, 0, 0, speed * np.cos(TILT), speed * np.sin(TILT)])


def position(time: float) -> np.ndarray:
    """Kepler's equation E − e sin E = t by Newton."""
    e, E = ECCENTRICITY, time
    for _ in range(50):
        E -= (E - e * np.sin(E) - time) / (1 - e * np.cos(E))
    x, y = np.cos(E) - e, np.sqrt(1 - e * e) * np.sin(E)
    return np.array([x, y * np.cos(TILT), y * np.sin(TILT)])


def _at_equal_error(solve: Solver, exact: np.ndarray, turns: int) -> float:
    """Time on the line log(error) – log(time) through the measured tolerances."""
    points: list[tuple[float, float]] = []
    for tolerance in TOLERANCES:
        error = max(float(np.abs(solve(tolerance)[:3] - exact).max()), 1e-16)
        seconds = race({0: lambda tolerance=tolerance: solve(tolerance)}, max(2, turns // 4))[0]
        points.append((np.log(error), np.log(seconds)))
    points.sort()
    errors, seconds = zip(*points, strict=True)
    return float(np.exp(np.interp(np.log(ERROR), errors, seconds))) * 1e9


def _kinpair() -> Solver:
    def f(time: Any, y: Any) -> Any:
        x = y[:3]
        r2 = x @ x
        return np.concatenate([y[3:], -x / (r2 * np.sqrt(r2))])

    loop = AdaptiveLoop(Flow(6, rhs=trace(f, {"time": (), "y": (6,)})), DOP853)
    end, wanted, y0 = 2 * np.pi * TURNS, np.array([2 * np.pi * TURNS]), start()

    def solve(tolerance: float) -> np.ndarray:
        at = loop.begin(y0, 0.0, wanted)
        loop.run(at, stop=end, wanted=wanted, rtol=tolerance, atol=np.full(6, tolerance))
        return at.Y[0]

    return solve


def _scipy() -> Solver:
    from numba import njit
    from scipy.integrate import solve_ivp

    @njit
    def f(time, y):  # type: ignore[no-untyped-def]
        r3 = (y[0] * y[0] + y[1] * y[1] + y[2] * y[2]) ** 1.5
        return np.array([y[3], y[4], y[5], -y[0] / r3, -y[1] / r3, -y[2] / r3])

    y0, span = start(), (0.0, 2 * np.pi * TURNS)
    f(0.0, y0)
    return lambda tolerance: solve_ivp(f, span, y0, "DOP853", [span[1]], rtol=tolerance, atol=tolerance).y[
        :, 0
    ]


def _cyrk() -> Solver:
    """Its solver in C++, the right-hand side a compiled callback."""
    from CyRK import nbsolve2_ivp
    from CyRK.nb.numba_solver import nb_diffeq_addr

    def f(dy, time, y, arguments):  # type: ignore[no-untyped-def]
        r2 = y[0] * y[0] + y[1] * y[1] + y[2] * y[2]
        r3 = r2 * np.sqrt(r2)
        for k in range(3):
            dy[k] = y[k + 3]
            dy[k + 3] = -y[k] / r3

    address, y0, span = nb_diffeq_addr(f), start(), (0.0, 2 * np.pi * TURNS)
    wanted = np.array([span[1]])

    def solve(tolerance: float) -> np.ndarray:
        result = nbsolve2_ivp(address, span, y0, "DOP853", wanted, rtol=tolerance, atol=tolerance)
        return np.asarray(result.y).reshape(6, -1)[:, -1]

    return solve


def _heyoka() -> Solver:
    """Taylor series of an order that goes with the tolerance; compiled before the clock starts."""
    import heyoka

    names = heyoka.make_vars("x", "y", "z", "u", "v", "w")
    x, y, z, u, v, w = names
    r3 = (x * x + y * y + z * z) ** 1.5
    system = list(zip(names, [u, v, w, -x / r3, -y / r3, -z / r3], strict=True))
    integrators: dict[float, Any] = {}
    y0, end = start(), 2 * np.pi * TURNS

    def solve(tolerance: float) -> np.ndarray:
        if tolerance not in integrators:
            integrators[tolerance] = heyoka.taylor_adaptive(system, list(y0), tol=tolerance)
        integrator = integrators[tolerance]
        integrator.time = 0.0
        integrator.state[:] = y0
        integrator.propagate_until(end)
        return integrator.state.copy()

    return solve


MAKERS: dict[str, Callable[[], Solver]] = {
    "kinpair": _kinpair,
    "SciPy": _scipy,
    "CyRK": _cyrk,
    "heyoka": _heyoka,
}
