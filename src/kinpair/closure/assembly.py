"""Positions, rates and accelerations that obey the constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constraints import rank_revealing
from kinpair.constraints.assembly import Assembled, Closing, assemble
from kinpair.constraints.rows import holonomic_rows
from kinpair.errors import InputError, SingularError, listed, nearest
from kinpair.formulations import kinematics

if TYPE_CHECKING:
    from kinpair.closure.closure import Closure

RATE_STEPS = 50  # where rows are not linear in the rates
STANDING = 1e-12  # a step of the rates below this part of them is none


class Assembly:
    """Closes the loops of a closure, and moves them."""

    def __init__(self, closed: Closure) -> None:
        self.closed, self.model = closed, closed.model

    def assembled(self, q: np.ndarray, fixed: Sequence[str], time: float) -> Assembled:
        """Coordinates that close the loops, from the guess q, the named ones held."""
        free = [k for k in range(self.model.nv) if k not in self.closed.rates_of(fixed)]
        holonomic, scales = holonomic_rows(self.closed.constraints), self.closed.scales
        closing = Closing(
            lambda x: self.closed.positions(x, time) / scales,
            lambda x: self.closed.matrix(x, time)[holonomic] / scales[:, None],
            lambda x, step: kinematics.normalised(self.model, kinematics.moved(self.model, x, step)),
            self.model.nv,
            free,
        )
        if not np.isfinite(q).all():
            raise InputError(
                f"{self.model.name}: q holds NaN or infinity; a guess is made of numbers", argument="q"
            )
        found = assemble(closing, kinematics.normalised(self.model, np.array(q, dtype=float)))
        return found._replace(phi=found.phi * scales)

    def assemble(self, q: np.ndarray, fixed: Sequence[str], time: float) -> np.ndarray:
        """The same, or an error that says which closure fails and by how much."""
        found = self.assembled(q, fixed, time)
        if not found.closed:
            held, gaps = f" with {listed(fixed)} held" if fixed else "", self.closed.worst(found.phi)
            raise SingularError(
                f"{self.model.name}: cannot be assembled{held}: {gaps} after {found.steps} steps; "
                "give a guess nearer to a closed position, hold fewer coordinates, or check the lengths",
                q=found.q,
                residual=found.phi,
            )
        return found.q

    def velocities(self, q: Any, inputs: Mapping[str, float] | None, guess: Any, time: float) -> np.ndarray:
        """Rates that obey the rows and have the inputs; in one step where the rows are linear in the rates."""
        near = np.zeros(self.model.nv) if guess is None else self.closed.calls.one("qd", guess)
        at = self.closed.calls.one("q", q)
        for _ in range(RATE_STEPS):
            A, psi, _ = self.closed.rows(at, near, time)
            found = self.solved_rates("rates", A, A @ near - psi, inputs or {}, near)
            if np.abs(found - near).max(initial=0.0) <= STANDING * (1.0 + np.abs(found).max(initial=0.0)):
                return found
            near = found
        raise SingularError(
            f"{self.model.name}: no rates found that obey {listed(self.closed.row_names, 6)}; "
            "give a guess nearer to such rates",
            rates=near,
        )

    def accelerations(
        self, q: Any, qd: Any, inputs: Mapping[str, float] | None, guess: Any, time: float
    ) -> np.ndarray:
        """Accelerations that obey the rows and have the inputs."""
        near = np.zeros(self.model.nv) if guess is None else self.closed.calls.one("qdd", guess)
        A, _, b = self.closed.rows(self.closed.calls.one("q", q), self.closed.calls.one("qd", qd), time)
        return self.solved_rates("accelerations", A, b, inputs or {}, near)

    def solved_rates(
        self, what: str, A: np.ndarray, right: np.ndarray, inputs: Mapping[str, float], guess: np.ndarray
    ) -> np.ndarray:
        """x of A x = right with the inputs given, nearest to the guess; says which rows forbid it."""
        x = np.array(guess, dtype=float)
        if not isinstance(inputs, Mapping):  # type: ignore[redundant-expr]
            raise InputError(f"{self.model.name}: inputs is {inputs!r}; give a dict: name of a rate → number")
        for name in inputs:
            if name not in self.model.v_names:
                raise InputError(
                    f"{self.model.name}: no rate {name!r}; {nearest(str(name), self.model.v_names)}"
                    f"Rates: {listed(self.model.v_names)}",
                    rate=name,
                )
            if not isinstance(inputs[name], (int, float, np.number)) or not np.isfinite(inputs[name]):  # type: ignore[redundant-expr]
                raise InputError(
                    f"{self.model.name}: input {name!r} is {inputs[name]!r}; give a finite number",
                    rate=name,
                )
            x[self.model.v_names.index(name)] = inputs[name]
        free = [k for k, name in enumerate(self.model.v_names) if name not in inputs]
        sizes = rank_revealing.lengths(A)
        missing = (right - A @ x) / sizes
        x[free] += np.linalg.lstsq((A / sizes[:, None])[:, free], missing, rcond=rank_revealing.RANK)[0]
        left = np.abs((right - A @ x) / sizes)
        wrong = np.flatnonzero(left > rank_revealing.CONSISTENT * (1.0 + np.abs(x).max(initial=0.0)))
        if len(wrong):
            names = listed([self.closed.row_names[k] for k in wrong], 6)
            wanted = listed(f"{name} = {value:g}" for name, value in inputs.items()) or "these inputs"
            raise SingularError(
                f"{self.model.name}: no {what} with {wanted} obey {names} "
                f"(off by {left.max():.3g}); give fewer inputs, or other values",
                rows=names,
            )
        return x
