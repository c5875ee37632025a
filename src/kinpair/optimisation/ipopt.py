"""IPOPT, the solver of nonlinear programs: through its C interface, and as CasADi calls it.

IPOPT through its C interface, in the library that comes with CasADi's wheel.

The functions of the program are called back from C. What they raise, and Ctrl-C, end the iteration after the present
step; the last iterate is returned.

Programs solved by CasADi's `nlpsol` with callbacks, where the library of IPOPT cannot be loaded.
"""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.optimisation.nonlinear_program import NonlinearProgram, Outcome

NAMES = {"linux": "libipopt.so", "darwin": "libipopt.dylib", "win32": "libipopt-3.dll"}
BLAS = {
    "linux": "libcasadi-tp-openblas.so.0",
    "darwin": "libcasadi-tp-openblas.dylib",
    "win32": "libcasadi-tp-openblas.dll",
}
STATUS = {
    0: "solved",
    1: "acceptable",
    2: "infeasible",
    3: "tiny steps",
    4: "diverging",
    5: "stopped",
    6: "feasible",
    -1: "iterations",
    -2: "restoration failed",
    -3: "step failed",
    -4: "time",
    -10: "too few degrees of freedom",
    -13: "not finite",
}
OPTIONS: Mapping[str, Any] = {
    "print_level": 0,
    "sb": "yes",
    "tol": 1e-8,
    "mu_strategy": "adaptive",
    "max_iter": 1000,
    "nlp_lower_bound_inf": -1e19,
    "nlp_upper_bound_inf": 1e19,
}
INFINITE = 1e20
Report = Callable[[int, float, float, float], None]  # iteration, cost, violation, dual infeasibility

_N, _I, _B, _P = ctypes.c_double, ctypes.c_int, ctypes.c_bool, ctypes.c_void_p
_COST = ctypes.CFUNCTYPE(_B, _I, _P, _B, _P, _P)
_ROWS = ctypes.CFUNCTYPE(_B, _I, _P, _B, _I, _P, _P)
_JACOBIAN = ctypes.CFUNCTYPE(_B, _I, _P, _B, _I, _I, _P, _P, _P, _P)
_HESSIAN = ctypes.CFUNCTYPE(_B, _I, _P, _B, _N, _I, _P, _B, _I, _P, _P, _P, _P)
_STEP = ctypes.CFUNCTYPE(_B, _I, _I, _N, _N, _N, _N, _N, _N, _N, _N, _I, _P)


@cache
def library() -> ctypes.CDLL:
    """IPOPT's library; MissingExtraError where CasADi is not installed."""
    spec = importlib.util.find_spec("casadi")
    if spec is None or spec.origin is None:
        raise MissingExtraError(
            f"optimal motions are found by IPOPT, which comes with CasADi and is not installed; {installs('optimise')}"
        )
    folder = Path(spec.origin).parent
    path = folder / NAMES.get(sys.platform, NAMES["linux"])
    try:
        ipopt = ctypes.CDLL(str(path))
    except OSError as problem:
        raise MissingExtraError(
            f"IPOPT's library {path.name} of CasADi cannot be loaded ({problem}); use solver='casadi'"
        ) from problem
    ipopt.CreateIpoptProblem.restype = _P
    ipopt.CreateIpoptProblem.argtypes = [
        _I,
        _P,
        _P,
        _I,
        _P,
        _P,
        _I,
        _I,
        _I,
        _COST,
        _ROWS,
        _COST,
        _JACOBIAN,
        _HESSIAN,
    ]
    ipopt.IpoptSolve.argtypes = [_P] * 8
    ipopt.FreeIpoptProblem.argtypes = [_P]
    ipopt.SetIntermediateCallback.argtypes = [_P, _STEP]
    ipopt.AddIpoptStrOption.argtypes = [_P, ctypes.c_char_p, ctypes.c_char_p]
    ipopt.AddIpoptNumOption.argtypes = [_P, ctypes.c_char_p, _N]
    ipopt.AddIpoptIntOption.argtypes = [_P, ctypes.c_char_p, _I]
    for name in ("AddIpoptStrOption", "AddIpoptNumOption", "AddIpoptIntOption"):
        getattr(ipopt, name).restype = _B
    _one_thread(folder)
    return ipopt


def _one_thread(folder: Path) -> None:
    """Let its BLAS use one thread: the matrices of one front are small."""
    try:
        blas = ctypes.CDLL(str(folder / BLAS.get(sys.platform, BLAS["linux"])))
        blas.openblas_set_num_threads(1)
    except (OSError, AttributeError):
        return


class _Callbacks:
    """The functions of a program as C calls them; `problem` is what one of them raised."""

    def __init__(self, program: NonlinearProgram, report: Report | None) -> None:
        self.program, self.report = program, report
        self.problem: BaseException | None = None
        self.iterations, self.violation, self.optimality = 0, np.inf, np.inf
        self.functions = (
            _COST(self._guarded(self.cost)),
            _ROWS(self._guarded(self.rows)),
            _COST(self._guarded(self.gradient)),
            _JACOBIAN(self._guarded(self.jacobian)),
            _HESSIAN(self._guarded(self.hessian)),
        )
        self.step = _STEP(self._guarded(self.stepped))

    def _guarded(self, function: Callable[..., bool]) -> Callable[..., bool]:
        def call(*arguments: Any) -> bool:
            if self.problem is not None:
                return False
            try:
                return function(*arguments)
            except BaseException as problem:  # nothing may pass through C
                self.problem = problem
                return False

        return call

    def cost(self, n: int, x: int, new: bool, value: int, _: Any) -> bool:
        cost = self.program.cost(_seen(x, n))
        _seen(value, 1)[0] = cost
        return bool(np.isfinite(cost))

    def gradient(self, n: int, x: int, new: bool, values: int, _: Any) -> bool:
        return _written(values, self.program.gradient(_seen(x, n)))

    def rows(self, n: int, x: int, new: bool, m: int, values: int, _: Any) -> bool:
        return _written(values, self.program.rows(_seen(x, n)))

    def jacobian(
        self, n: int, x: int, new: bool, m: int, k: int, rows: int, columns: int, values: int, _: Any
    ) -> bool:
        if not values:
            return _placed(rows, columns, self.program.J_rows, self.program.J_columns)
        return _written(values, self.program.jacobian(_seen(x, n)))

    def hessian(self, n: int, x: int, new: bool, sigma: float, m: int, y: int, *rest: Any) -> bool:
        _, _, rows, columns, values, _ = rest
        if not values:
            return _placed(rows, columns, self.program.L_rows, self.program.L_columns)
        return _written(values, self.program.hessian(_seen(x, n), sigma, _seen(y, m)))

    def stepped(
        self, mode: int, iteration: int, cost: float, violation: float, optimality: float, *_: Any
    ) -> bool:
        self.iterations, self.violation, self.optimality = iteration, violation, optimality
        if self.report is not None:
            self.report(iteration, cost, violation, optimality)
        return True


def _seen(address: int, n: int) -> np.ndarray:
    """The n numbers at an address."""
    if n == 0:
        return np.zeros(0)
    return np.ctypeslib.as_array((ctypes.c_double * n).from_address(address))


def _written(address: int, values: np.ndarray) -> bool:
    if len(values):
        _seen(address, len(values))[:] = values
    return bool(np.isfinite(values).all())


def _placed(rows: int, columns: int, i: np.ndarray, j: np.ndarray) -> bool:
    for address, numbers in ((rows, i), (columns, j)):
        if len(numbers):
            np.ctypeslib.as_array((ctypes.c_int * len(numbers)).from_address(address))[:] = numbers
    return True


def solve(
    program: NonlinearProgram,
    w: np.ndarray,
    *,
    multipliers: Outcome | None = None,
    options: Mapping[str, Any] | None = None,
    report: Report | None = None,
) -> Outcome:
    """Solve a program from w (n,). With `multipliers` of an earlier solution it is a warm start.

    Raises what a function of the program raised; after Ctrl-C the status is `stopped`.
    """
    ipopt, calls = library(), _Callbacks(program, report)
    lower, upper, row_lower, row_upper = (_bounded(x) for x in (*program.bounds, *program.row_bounds))
    handle = ipopt.CreateIpoptProblem(
        program.n, _address(lower), _address(upper), program.m, _address(row_lower), _address(row_upper),
        len(program.J_rows), len(program.L_rows), 0, *calls.functions,
    )  # fmt: skip
    try:
        warm = {"warm_start_init_point": "yes", "mu_init": 1e-4} if multipliers is not None else {}
        for name, value in {**OPTIONS, **warm, **(options or {})}.items():
            _set(ipopt, handle, name, value)
        ipopt.SetIntermediateCallback(handle, calls.step)
        x, y = np.array(w, dtype=float), np.zeros(max(program.m, 1))
        z = np.zeros((2, program.n))
        if multipliers is not None:
            y[: program.m], z[0], z[1] = multipliers.rows, multipliers.lower, multipliers.upper
        status = ipopt.IpoptSolve(
            handle, _address(x), None, None, _address(y), _address(z[0]), _address(z[1]), None
        )
    finally:
        ipopt.FreeIpoptProblem(handle)
    if calls.problem is not None and not isinstance(calls.problem, KeyboardInterrupt):
        raise calls.problem
    word = "stopped" if calls.problem is not None else STATUS.get(status, f"IPOPT status {status}")
    return Outcome(x, y[: program.m], z[0], z[1], word, calls.iterations, calls.optimality, calls.violation)


def _bounded(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.clip(x, -INFINITE, INFINITE))


def _address(x: np.ndarray) -> int:
    return x.ctypes.data


def _set(ipopt: ctypes.CDLL, handle: int, name: str, value: Any) -> None:
    """Set an option of IPOPT; InputError where it has no such option or value."""
    kinds: dict[type, tuple[Any, Callable[[Any], Any]]] = {
        str: (ipopt.AddIpoptStrOption, str.encode),
        int: (ipopt.AddIpoptIntOption, int),
        float: (ipopt.AddIpoptNumOption, float),
    }
    add, convert = kinds[type(value)]
    if not add(handle, name.encode(), convert(value)):
        raise InputError(f"optimise: IPOPT rejects option {name!r} = {value!r}; see IPOPT's list of options")


STATUS_OF_CASADI = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "acceptable",
    "Infeasible_Problem_Detected": "infeasible",
    "Maximum_Iterations_Exceeded": "iterations",
    "Restoration_Failed": "restoration failed",
    "Invalid_Number_Detected": "not finite",
    "User_Requested_Stop": "stopped",
}


def solve_by_casadi(
    program: NonlinearProgram,
    w: np.ndarray,
    *,
    multipliers: Outcome | None = None,
    options: Mapping[str, Any] | None = None,
    report: Report | None = None,
) -> Outcome:
    """Solve a program from w (n,) by IPOPT as CasADi calls it; arguments as those of `ipopt.solve`."""
    try:
        import casadi as ca
    except ImportError as problem:
        raise MissingExtraError(
            f"solver='casadi' needs CasADi, which is not installed; {installs('optimise')}"
        ) from problem
    n, m = program.n, program.m
    J = _sparsity(ca, m, n, program.J_rows, program.J_columns)
    L = _sparsity(ca, n, n, program.L_columns, program.L_rows)  # upper triangle
    vector, rows, one = ca.Sparsity.dense(n, 1), ca.Sparsity.dense(m, 1), ca.Sparsity.dense(1, 1)
    none = ca.Sparsity(0, 0)
    J_order, L_order = (
        np.lexsort(x) for x in ((program.J_rows, program.J_columns), (program.L_columns, program.L_rows))
    )

    def flat(x: Any) -> np.ndarray:
        return np.asarray(x, dtype=float).ravel()

    functions = [
        _callback(ca, "nlp_fg", [vector, none], [one, rows],
                  lambda x, p: [program.cost(flat(x)), program.rows(flat(x))]),
        _callback(ca, "nlp_grad_f", [vector, none], [one, vector],
                  lambda x, p: [program.cost(flat(x)), program.gradient(flat(x))]),
        _callback(ca, "nlp_jac_g", [vector, none], [rows, J],
                  lambda x, p: [program.rows(flat(x)), ca.DM(J, program.jacobian(flat(x))[J_order])]),
        _callback(ca, "nlp_hess_l", [vector, none, one, rows], [L],
                  lambda x, p, s, y: [ca.DM(L, program.hessian(flat(x), float(s), flat(y))[L_order])]),
    ]  # fmt: skip
    fg = functions[0]
    x = ca.MX.sym("x", n)
    cost, values = fg(x, ca.MX(0, 0))
    own = {**OPTIONS, **(options or {})}
    chosen = {
        "ipopt": own, "print_time": False, "error_on_fail": False, "no_nlp_grad": True,
        "grad_f": functions[1], "jac_g": functions[2], "hess_lag": functions[3],
    }  # fmt: skip
    nlp = ca.nlpsol("kinpair", "ipopt", {"x": x, "f": cost, "g": values}, chosen)
    lower, upper, row_lower, row_upper = (
        np.clip(b, -INFINITE, INFINITE) for b in (*program.bounds, *program.row_bounds)
    )
    found = nlp(x0=w, lbx=lower, ubx=upper, lbg=row_lower, ubg=row_upper)
    stats = nlp.stats()
    z = flat(found["lam_x"])
    solution = flat(found["x"])
    last = stats.get("iterations", {})
    return Outcome(
        solution,
        flat(found["lam_g"]),
        np.maximum(-z, 0.0),
        np.maximum(z, 0.0),
        str(STATUS_OF_CASADI.get(stats["return_status"], stats["return_status"])),
        int(stats["iter_count"]),
        float((last.get("inf_du") or [np.inf])[-1]),
        float(program.violation(solution).max(initial=0.0)),
    )


def _sparsity(ca: Any, m: int, n: int, rows: np.ndarray, columns: np.ndarray) -> Any:
    return ca.Sparsity.triplet(m, n, rows.tolist(), columns.tolist())


def _callback(
    ca: Any, name: str, inputs: list[Any], outputs: list[Any], function: Callable[..., list[Any]]
) -> Any:
    """A function of CasADi that calls one of ours."""

    class Called(ca.Callback):
        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(inputs)

        def get_n_out(self) -> int:
            return len(outputs)

        def get_sparsity_in(self, k: int) -> Any:
            return inputs[k]

        def get_sparsity_out(self, k: int) -> Any:
            return outputs[k]

        def eval(self, arguments: list[Any]) -> list[Any]:
            return function(*arguments)

    return Called()
