"""Taylor series of high order, by heyoka (Biscani & Izzo 2021), from the recorded right-hand side."""

from __future__ import annotations

import numpy as np

from kinpair.compiler.export.heyoka import import_heyoka, to_heyoka
from kinpair.errors import InputError
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.steppers.solver import Task

COMPACT = 300  # operations: beyond that it writes loops instead of formulas, which compile in reasonable time
FINEST = 1e-16
TERMS = 8
SLACK = (
    2.5  # of what the last terms say against those a few orders before: 2 where a series converges everywhere
)


def reach(series: np.ndarray) -> float:
    """How far a Taylor series (ny, order + 1) may be followed, by its last terms that are not zero (Jorba & Zou 2005):

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
                f"{d.model.name}: integrator 'taylor' takes efforts that are constant, held between samples, or "
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
        """One step on, as long as the whole series allows; `more`, or what ended it."""
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
        """From a state, with the efforts that are held from now on."""
        self.integrator.time = time
        self.integrator.state[:] = y
        self._hold(time, y)
