"""Positions, rates and accelerations that obey the constraints."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constraints import rank_revealing
from kinpair.constraints.assembly import Assembled, Box, Closing, assemble, assemble_within
from kinpair.constraints.rows import holonomic_rows
from kinpair.errors import InputError, LimitWarning, SingularError, listed, nearest
from kinpair.formulations import kinematics
from kinpair.model import starts

if TYPE_CHECKING:
    from kinpair.closure.closure import Closure

RATE_STEPS = 50  # where rows are not linear in the rates
DRIVEN = ("drive", "guided frame")  # kinds of conditions that prescribe a motion
STANDING = 1e-12  # a step of the rates below this part of them is none


class Assembly:
    """Closes the loops of a closure, and moves them."""

    def __init__(self, closed: Closure) -> None:
        self.closed, self.model = closed, closed.model

    def assembled(
        self, q: np.ndarray, fixed: Sequence[str], time: float, *, within_limits: bool = False
    ) -> Assembled:
        """Coordinates that close the loops, from the guess q, the named ones held."""
        held = self.closed.rates_of(fixed)
        free = [k for k in range(self.model.nv) if k not in held]
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
        guess = kinematics.normalised(self.model, np.array(q, dtype=float))
        box = self._limits(free) if within_limits else None
        found = assemble(closing, guess) if box is None else assemble_within(closing, box, guess)
        return found._replace(phi=found.phi * scales)

    def start(self) -> np.ndarray:
        """Coordinates to begin with, closed; whatever limits they pass."""
        return self.assemble(starts.start(self.model), (), 0.0, silent=True)

    def assemble(
        self, q: np.ndarray, fixed: Sequence[str], time: float, *, silent: bool = False
    ) -> np.ndarray:
        """The same, within the limits of the joints if there is a way, else with a warning that says which are passed;
        an error says which closure fails and by how much."""
        found = self.assembled(q, fixed, time, within_limits=True)
        if not found.closed:
            held, gaps = f" with {listed(fixed)} held" if fixed else "", self.closed.worst(found.phi)
            raise SingularError(
                f"{self.model.name}: cannot be assembled{held}: {gaps} after {found.steps} steps; "
                f"give a guess nearer to a closed position, hold fewer coordinates, or {self._cure(found.phi)}",
                q=found.q,
                residual=found.phi,
            )
        if found.beyond and not silent:
            warnings.warn(self._passed(found), LimitWarning, stacklevel=3)
        return found.q

    def _cure(self, phi: np.ndarray) -> str:
        """What to look at: drives, where some are among the closures that fail, else lengths."""
        kinds = {x.kind for x in self.closed.constraints if x.name in self.closed.gaps(phi)}
        if kinds.isdisjoint(DRIVEN):
            return "check the lengths"
        return "check the drives: they must agree with each other, and with what the loops allow"

    def _limits(self, free: Sequence[int]) -> Box | None:
        """The limits of coordinates that nobody holds; None if there are none."""
        joints, of = self.model.joints, self.model.joints.spring_q
        if not np.isfinite([joints.lower, joints.upper]).any():
            return None
        return Box(of, joints.lower[of], joints.upper[of]).of_rates([k for k in free if of[k] >= 0])

    def _passed(self, found: Assembled) -> str:
        joints = self.model.joints
        passed = [
            f"{self.model.v_names[k]!r} is {found.q[i]:.4g} ({joints.lower[i]:.4g} to {joints.upper[i]:.4g})"
            for k, i in ((k, joints.spring_q[k]) for k in found.beyond)
        ]
        return (
            f"{self.model.name}: closed beyond limits: {listed(passed, 6)}; "
            "give a guess within the limits, or hold other coordinates"
        )

    def velocities(self, q: Any, inputs: Mapping[str, float] | None, guess: Any, time: float) -> np.ndarray:
        """Rates that obey the rows and have the inputs; in one step where the rows are linear in the rates."""
        near = np.zeros(self.model.nv) if guess is None else self.closed.calls.one("qd", guess)
        at = self.closed.calls.one("q", q)
        for _ in range(RATE_STEPS):
            A, psi, _ = self.closed.defined_rows(at, near, time)
            found = self.solved_rates("rates", A, A @ near - psi, {} if inputs is None else inputs, near)
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
        at, rates = self.closed.calls.one("q", q), self.closed.calls.one("qd", qd)
        A, _, b = self.closed.defined_rows(at, rates, time)
        self.closed.check_closed(at, time)
        return self.solved_rates("accelerations", A, b, {} if inputs is None else inputs, near)

    def solved_rates(
        self, what: str, A: np.ndarray, right: np.ndarray, inputs: Any, guess: np.ndarray
    ) -> np.ndarray:
        """x of A x = right with the inputs given, nearest to the guess; says which rows forbid it."""
        x = np.array(guess, dtype=float)
        if not isinstance(inputs, Mapping):
            raise InputError(f"{self.model.name}: inputs is {inputs!r}; give a dict: name of a rate → number")
        for name, value in inputs.items():
            if name not in self.model.v_names:
                raise InputError(
                    f"{self.model.name}: no rate {name!r}; {nearest(str(name), self.model.v_names)}"
                    f"Rates: {listed(self.model.v_names)}",
                    rate=name,
                )
            if not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
                raise InputError(
                    f"{self.model.name}: input {name!r} is {value!r}; give a finite number", rate=name
                )
            x[self.model.v_names.index(name)] = value
        free = [k for k, name in enumerate(self.model.v_names) if name not in inputs]
        sizes = rank_revealing.lengths(A)
        missing = (right - A @ x) / sizes
        x[free] += np.linalg.lstsq((A / sizes[:, None])[:, free], missing, rcond=rank_revealing.RANK)[0]
        left = np.abs((right - A @ x) / sizes)
        wrong = np.flatnonzero(left > rank_revealing.CONSISTENT * (1.0 + np.abs(x).max(initial=0.0)))
        if len(wrong):
            names = listed([self.closed.row_names[k] for k in wrong], 6)
            wanted = listed(f"{name} = {value:g}" for name, value in inputs.items())
            cure = (
                "give fewer inputs, or other values"
                if wanted
                else "they contradict each other: leave one of them out, or make them agree"
            )
            raise SingularError(
                f"{self.model.name}: no {what} {f'with {wanted} ' if wanted else ''}obey {names} "
                f"(off by {left.max():.3g}); {cure}",
                rows=names,
            )
        return x
