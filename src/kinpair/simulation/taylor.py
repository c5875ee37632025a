"""Taylor series of high order, by heyoka (Biscani & Izzo 2021), from the recorded right-hand side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinpair.compiler.export.heyoka import import_heyoka, to_heyoka
from kinpair.errors import InputError
from kinpair.simulation.dynamics import Dynamics

if TYPE_CHECKING:
    from kinpair.simulation.outside import Given

COMPACT = 300  # operations: beyond that it writes loops instead of formulas, which compile in reasonable time
FINEST = 1e-16


class Taylor:
    """Steps as long as the series converges."""

    def __init__(self, given: Given) -> None:
        hy, d = import_heyoka(), given.d
        if given.constant is None:
            given.u(given.time, given.y)  # efforts that fail at once say so themselves
            raise InputError(
                f"{d.model.name}: integrator 'taylor' takes efforts that are constant or can be recorded; write "
                "torque= in NumPy terms (docs/compiler.md)",
                integrator="taylor",
            )
        program = given.recorded(Dynamics.rate, time=(), y=(d.ny,), u=(d.nu,))
        names = [f"y{k}" for k in range(d.ny)]
        state = hy.make_vars(*names) if d.ny > 1 else [hy.make_vars(*names)]
        held = [hy.par[k] for k in range(d.nu + len(given.p))]
        values = {"time": [hy.time], "y": list(state), "u": held[: d.nu], "p": held[d.nu :]}
        rates = to_heyoka(program, values)
        pars = [*given.constant.tolist(), *given.p.tolist()]
        self.d = d
        self.integrator = hy.taylor_adaptive(
            list(zip(state, rates, strict=True)),
            given.y.tolist(),
            time=given.time,
            pars=pars,
            tol=max(given.rtol, FINEST),
            compact_mode=program.count["total"] > COMPACT,
        )
        self.steps, self.rejected, self.dt = 0, 0, 0.0
        self._failed = hy.taylor_outcome.err_nf_state

    def to(self, time: float) -> tuple[np.ndarray, str]:
        """The state at a time, and `more`, or what ended it."""
        while self.integrator.time < time:
            outcome, taken = self.integrator.step(write_tc=True)
            if outcome == self._failed:
                return self.integrator.state.copy(), "not finite"
            self.steps, self.dt = self.steps + 1, float(taken)
        if not self.steps:
            return self.integrator.state.copy(), "more"
        return self.integrator.update_d_output(time).copy(), "more"
