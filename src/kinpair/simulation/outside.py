"""Runs by libraries that choose their steps themselves, with the same samples, watchmen and endings.

Their steps cannot be interfered with. Where constraints are to be projected, the rows are stabilised along the way and
each sample is brought back to the constraints before it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Program, Shape
from kinpair.compiler.trace import trace
from kinpair.errors import InputError
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.runs import PAUSE, Piece
from kinpair.simulation.sundials import Cvode, Ida
from kinpair.simulation.taylor import Taylor

if TYPE_CHECKING:
    from kinpair.simulation.simulate import Run

STABILISED = 20.0  # [1/s] of Baumgarte's stabilisation between samples
CALLS = 2_000_000  # evaluations between two samples: beyond that nothing is moving
NO_WEIGHT = 1e100  # allowed error of what does not decide the steps


class RefusedError(Exception):
    """The torque failed; the caller knows why."""


class ExhaustedError(Exception):
    """Too much work for a sample."""


class Stepper(Protocol):
    """A library at work: state (ny,) at the time reached; counts of steps."""

    steps: int
    rejected: int
    dt: float

    def to(self, time: float) -> tuple[np.ndarray, str]:
        """The state at a time, and `more`, or what ended it."""
        ...


@dataclass(frozen=True, eq=False)
class Given:
    """What a library is told: what moves, its inputs over time and state, tolerances, and where to start."""

    d: Dynamics
    u: Callable[[float, np.ndarray], np.ndarray]
    constant: np.ndarray | None
    p: np.ndarray
    rtol: float
    atol: np.ndarray
    time: float
    y: np.ndarray

    def recorded(self, f: Callable[..., Any], **sizes: Shape) -> Program:
        """f(dynamics, inputs of the sizes given...), with the parameters put in."""
        d, count = self.d, len(sizes)
        every = {**sizes, **({"p": (len(d.parameters),)} if d.parameters else {})}

        def made(*given: Any) -> Any:
            return f(d.concrete(given[-1]) if d.parameters else d, *given[:count])

        with np.errstate(all="ignore"):
            return trace(made, every, name=f.__name__)

    def kernel(self, f: Callable[..., Any], **sizes: Shape) -> Callable[..., Any]:
        """The same as machine code."""
        kernel = Kernel(self.recorded(f, **sizes))
        if not self.d.parameters:
            return kernel
        return lambda *given: kernel(*given, self.p)


class Counted:
    """Inputs as the run has them, the last that were to be had, and how often they were asked for."""

    def __init__(self, run: Run, u: np.ndarray) -> None:
        self.run, self.held_u, self.calls = run, u, 0
        self.last = u

    def __call__(self, time: float, y: np.ndarray) -> np.ndarray:
        """u at a time and a state."""
        self.calls += 1
        if self.calls > CALLS:
            raise ExhaustedError
        inputs, caller = self.run.inputs, self.run.caller
        if caller is not None:
            found = caller(time, np.array(y[: self.run.d.ny]))
            if found is None:
                raise RefusedError
            self.last = found
            return found
        if len(inputs.times):
            return np.array([np.interp(time, inputs.times, column) for column in inputs.rows.T])
        return self.held_u


class Follower:
    """A run by one of the methods."""

    def __init__(
        self,
        run: Run,
        start: np.ndarray,
        wanted: np.ndarray,
        method: Callable[[Given], Stepper],
        rtol: float,
        atol: np.ndarray,
    ) -> None:
        _check(run)
        self.run, self.start, self.wanted, self.method = run, start, wanted, method
        self.rtol, self.atol = rtol, np.where(np.isfinite(atol), atol, NO_WEIGHT)

    def begin(self) -> np.ndarray:
        """Time, samples so far, state and inputs."""
        return np.concatenate([[self.run.time, 0.0], self.start])

    def pieces(self, memory: np.ndarray, step: int = 0) -> Iterator[Piece]:
        """The samples behind a state."""
        run, d = self.run, self.run.d
        time, cursor = float(memory[0]), int(memory[1])
        y, u = memory[2 : 2 + d.ny], memory[2 + d.ny :]
        inputs = Counted(run, u)
        constant = u if run.caller is None and not len(run.inputs.times) else None
        given = Given(
            stabilised(d), inputs, constant, run.inputs.parameters, self.rtol, self.atol, time, y.copy()
        )
        stepper, watch = _begun(self.method, given), Watch(replace(given, d=d))
        why = "more"
        while why == "more":
            began, first = perf_counter(), cursor
            rows: list[np.ndarray] = []
            seen: list[np.ndarray] = []
            reached = time
            while cursor < len(self.wanted) and why == "more" and perf_counter() - began < PAUSE:
                inputs.calls = 0
                reached = float(self.wanted[cursor])
                y, why = _moved(stepper, reached, y)
                if why == "more" and not np.isfinite(y).all():
                    why = "not finite"
                if why == "more":
                    inputs.calls = 0
                    row, watched = watch(reached, y.copy(), inputs)
                    rows.append(row)
                    seen.append(watched)
                    cursor, time = cursor + 1, reached
            if why == "more" and cursor == len(self.wanted):
                why = "done"
            times = self.wanted[first:cursor]
            Y, W = np.array(rows).reshape(-1, d.ny), np.array(seen).reshape(-1, d.nw)
            memory = np.concatenate([[time, cursor], Y[-1] if len(Y) else y, u])
            steps, rejected = step + stepper.steps, stepper.rejected
            yield Piece(times, Y, W, why, reached, time, steps, rejected, stepper.dt, memory)


class Unbegun:
    """In the place of a library whose first look at the inputs failed: the start, and nothing behind it."""

    steps, rejected, dt = 0, 0, 0.0

    def __init__(self, given: Given) -> None:
        self.given = given

    def to(self, time: float) -> tuple[np.ndarray, str]:
        """The state at the start; later ones are refused."""
        return self.given.y, "more" if time <= self.given.time else "refused"


def _begun(method: Callable[[Given], Stepper], given: Given) -> Stepper:
    try:
        return method(given)
    except RefusedError:
        return Unbegun(given)


def _moved(stepper: Stepper, time: float, y: np.ndarray) -> tuple[np.ndarray, str]:
    try:
        return stepper.to(time)
    except RefusedError:
        return y, "refused"
    except ExhaustedError:
        return y, "exhausted"


def stabilised(d: Dynamics) -> Dynamics:
    """The same with rows that pull back."""
    return replace(d, held=replace(d.held, alpha=STABILISED)) if d.held is not None and d.traced else d


class Watch:
    """A sample settled and looked at, as soon as it is there: later the inputs may be gone."""

    def __init__(self, given: Given) -> None:
        d = given.d
        self.d, self.p = d, given.p
        self._settled = given.kernel(Dynamics.settled, time=(), y=(d.ny,)) if d.settles else None
        self._watched = given.kernel(Dynamics.watched, time=(), y=(d.ny,), u=(d.nu,))

    def __call__(self, time: float, y: np.ndarray, inputs: Counted) -> tuple[np.ndarray, np.ndarray]:
        """The state (ny,) and what is watched (nw,); of inputs that fail just there, the last before."""
        y = self._settled(time, y) if self._settled is not None else y
        try:
            u = inputs(time, y)
        except RefusedError:
            u = inputs.last
        return y, self._watched(time, y, u)


def _check(run: Run) -> None:
    wish = run.wish
    if wish.torque.held:
        raise InputError(
            f"{run.name}: {wish.integrator.name} takes no torque with a sample time; 'dop853' and 'rk4' do",
            integrator=wish.integrator.name,
        )


METHODS: dict[str, Callable[[Given], Stepper]] = {"cvode": Cvode, "ida": Ida, "taylor": Taylor}
