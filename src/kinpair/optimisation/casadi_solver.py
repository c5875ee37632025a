"""Programs solved by CasADi's `nlpsol` with callbacks, where the library of IPOPT cannot be loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinpair.errors import MissingExtraError, installs
from kinpair.optimisation.ipopt import INFINITE, OPTIONS, Report
from kinpair.optimisation.nonlinear_program import NonlinearProgram, Outcome

STATUS = {
    "Solve_Succeeded": "solved",
    "Solved_To_Acceptable_Level": "acceptable",
    "Infeasible_Problem_Detected": "infeasible",
    "Maximum_Iterations_Exceeded": "iterations",
    "Restoration_Failed": "restoration failed",
    "Invalid_Number_Detected": "not finite",
    "User_Requested_Stop": "stopped",
}


def solve(
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
        str(STATUS.get(stats["return_status"], stats["return_status"])),
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
