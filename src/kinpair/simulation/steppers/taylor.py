"""Taylor series of high order, by heyoka (Biscani & Izzo 2021), from the recorded right-hand side."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinpair.compiler.export.names import smooth_forms
from kinpair.compiler.program import Program
from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.steppers.solver import Task


def import_heyoka() -> Any:
    """The library, or which extra to install."""
    try:
        import heyoka
    except ImportError as missing:
        raise MissingExtraError(f"integrator 'taylor' needs heyoka; {installs('stiff')}") from missing
    return heyoka


def to_heyoka(program: Program, values: dict[str, list[Any]]) -> list[Any]:
    """Expressions of the results of a program, given those of its inputs by name."""
    hy = import_heyoka()
    forms = smooth_forms(hy)
    value: dict[int, Any] = {}
    for leaf in program.inputs:
        for x, expression in zip(leaf.entries, values[leaf.name], strict=True):
            value[x.id] = expression
    for x in program.nodes:
        if x.op == "const":
            value[x.id] = hy.expression(float(x.value))
        elif x.op != "symbol":
            if x.op not in forms:
                raise InputError(
                    f"integrator 'taylor' needs a motion without kinks, and this one contains {x.op!r} (friction, "
                    "limits, or a choice in a torque); 'dop853' and 'cvode' take it",
                    operation=x.op,
                )
            value[x.id] = forms[x.op](*[value[y.id] for y in x.args])
    return [value[x.id] for leaf in program.outputs for x in leaf.entries]


COMPACT = 300  # operations: beyond that it writes loops instead of formulas, which compile in reasonable time
FINEST = 1e-16
TERMS = 8
SLACK = (
    2.5  # of what the last terms say against those a few orders before: 2 where a series converges everywhere
)


def reach(series: np.ndarray) -> float:
    """Length for which a Taylor series (ny, order + 1) may be followed, by its last terms that are not zero (Jorba &
    Zou 2005):

        h = min_k (|x| / |x_k|)^(1/k) / e²          k: the last `TERMS` orders; |x| is at least 1       (TS1)

    heyoka looks at the last two. From rest, where a motion is a series in t⁴, both may vanish.
    """
    sizes = np.abs(series).max(axis=0)
    order = len(sizes) - 1
    for orders in (np.arange(max(2, order - TERMS + 1), order + 1), np.arange(2, order + 1)):
        known = orders[sizes[orders] > 0.0]
        if len(known):
            return float(((max(1.0, sizes[0]) / sizes[known]) ** (1.0 / known)).min() / np.e**2)  # (TS1)
    return np.inf


class Taylor:
    """Steps as long as the series converges."""

    def __init__(self, task: Task) -> None:
        hy, d = import_heyoka(), task.d
        if not task.steady:
            task.u(task.time, task.y)  # efforts that fail at once say so themselves
            raise InputError(
                f"{d.model.name}: integrator 'taylor' takes efforts that are constant, sampled, or "
                "recorded; write torque= in NumPy terms (docs/compiler.md), or give it a sample_time",
                integrator="taylor",
            )
        program = task.recorded(Dynamics.rate, time=(), y=(d.ny,), u=(d.nu,))
        names = [f"y{k}" for k in range(d.ny)]
        state = hy.make_vars(*names) if d.ny > 1 else [hy.make_vars(*names)]
        inputs = [hy.par[k] for k in range(d.nu + len(task.p))]
        values = {"time": [hy.time], "y": list(state), "u": inputs[: d.nu], "p": inputs[d.nu :]}
        rates = to_heyoka(program, values)
        self.task = task
        self.integrator = hy.taylor_adaptive(
            list(zip(state, rates, strict=True)),
            task.y.tolist(),
            time=task.time,
            tol=max(task.rtol, FINEST),
            compact_mode=program.count["total"] > COMPACT,
        )
        self._hold(task.time, task.y)
        self.steps, self.rejected, self.dt = 0, 0, 0.0
        self._failed = hy.taylor_outcome.err_nf_state

    @property
    def time(self) -> float:
        """The end of the last step."""
        return float(self.integrator.time)

    def _hold(self, time: float, y: np.ndarray) -> None:
        """The inputs that the motion depends on; what a regulator remembers is behind them."""
        inputs, own = [*self.task.u(time, y).tolist(), *self.task.p.tolist()], self.integrator.pars
        own[:] = inputs[: len(own)]

    def step(self) -> str:
        """Take one step, as long as the whole series allows; `more`, or what ended it."""
        before, y = self.time, self.integrator.state.copy()
        longest = min(self.task.longest, self.task.stop - before)  # the series of a polynomial has no bound
        outcome, taken = self.integrator.step(max_delta_t=longest, write_tc=True)
        bound = reach(self.integrator.tc)
        if taken > SLACK * bound:
            self.rejected += 1
            self.integrator.time, self.integrator.state[:] = before, y
            outcome, taken = self.integrator.step(max_delta_t=bound, write_tc=True)
        if outcome == self._failed:
            return "not finite"
        self.steps, self.dt = self.steps + 1, float(taken)
        return "more"

    def at(self, time: float) -> np.ndarray:
        """The state (ny,) at a time within the last step."""
        return (self.integrator.state if time == self.time else self.integrator.update_d_output(time)).copy()

    def restart(self, time: float, y: np.ndarray) -> None:
        """Restart from a state, with the efforts that are constant from now on."""
        self.integrator.time = time
        self.integrator.state[:] = y
        self._hold(time, y)
