"""Rates and accelerations that obey the constraints: of one state, and of batches by compiled code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinpair.constraints.assembly.batch import Often, at_time, each_state, named
from kinpair.constraints.assembly.long import LongLoops
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rounding import STANDING
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solvers import rank_revealing
from kinpair.errors import InputError, SingularError, listed
from kinpair.evaluation.quantities.request import Request
from kinpair.model.entries import INPUTS, batch_of, filled, words_of

STEPS = 50  # where rows are not linear in the rates


class Rates:
    """Rates and accelerations of a closure."""

    def __init__(self, rows: ConstraintRows, long: LongLoops) -> None:
        self.rows, self.model, self.long = rows, rows.model, long
        self._usual: dict[tuple[Any, ...], Request | None] = {}
        self._often = Often()

    def velocities(self, q: Any, inputs: Any, guess: Any, time: Any) -> np.ndarray:
        """Rates (…, nv) that obey the rows and have the inputs; in one step where the rows are linear in the rates."""
        return self._nearest("qd", {"q": q}, inputs, guess, time, self._rates_of_one, self._rates_of_many)

    def accelerations(self, q: Any, qd: Any, inputs: Any, guess: Any, time: Any) -> np.ndarray:
        """Accelerations (…, nv) that obey the rows and have the inputs."""
        ways = self._accelerations_of_one, self._accelerations_of_many
        return self._nearest("qdd", {"q": q, "qd": qd}, inputs, guess, time, *ways)

    def _nearest(
        self,
        argument: str,
        state: Mapping[str, Any],
        inputs: Any,
        guess: Any,
        time: Any,
        of_one: Callable[..., np.ndarray],
        of_many: Callable[..., tuple[np.ndarray, np.ndarray]],
    ) -> np.ndarray:
        """Find the nearest rates of one state, or of a batch: compiled where that is sound, else state by state."""
        if not isinstance(inputs, Mapping | None):
            raise InputError(f"{self.model.name}: inputs is {inputs!r}; give a dict: name of a rate → number")
        own, moment = inputs or {}, at_time(time)
        near = self._guess(argument, guess)
        x = self.rows.calls.checked_arguments({}, **state, **{argument: near}, time=moment)
        batch = x.batch if x.batch is not None else batch_of(self.model, own)
        start, stated = filled(self.model, INPUTS, own, _rows(x.state[-2], batch))
        if batch is None and argument == "qd" and not stated and self.long.used:
            return self.long.rates(x.state[0], start)
        if batch is None and not self._often((argument, *stated)):
            return of_one(*x.state[:-2], start, stated, float(moment[0]), None)
        count = 1 if batch is None else batch
        *others, start, moments = (_rows(y, count) for y in (*x.state[:-2], start, x.state[-1]))
        found, sound = of_many(*others, start, stated, moments)

        def one(k: int, *row: Any) -> np.ndarray:
            *own, near, when = row
            return of_one(*own, near, stated, float(when[0]), None if batch is None else k)

        result = each_state(one, (*others, start, moments), found, ~sound)
        return result[0] if batch is None else result

    def _guess(self, argument: str, value: Any) -> np.ndarray:
        """Rates or accelerations to be near to; zero where nothing is given."""
        if value is None or isinstance(value, Mapping):
            return filled(self.model, words_of(argument), value or {}, np.zeros(self.model.nv))[0]
        return self.rows.calls.checked(argument, value)

    # One state.

    def _rates_of_one(
        self, q: np.ndarray, near: np.ndarray, stated: list[int], time: float, row: int | None
    ) -> np.ndarray:
        for _ in range(STEPS):
            A, psi, _ = self.rows.defined_rows(q, near, time)
            qd = self._solved("rates", A, A @ near - psi, near, stated, row)
            if np.abs(qd - near).max(initial=0.0) <= STANDING * (1.0 + np.abs(qd).max(initial=0.0)):
                return qd
            near = qd
        raise SingularError(
            f"{self.model.name}: no rates found{named(row)} that obey {listed(self.rows.row_names, 6)}; "
            "give a guess nearer to such rates",
            rates=near,
        )

    def _accelerations_of_one(
        self,
        q: np.ndarray,
        qd: np.ndarray,
        near: np.ndarray,
        stated: list[int],
        time: float,
        row: int | None,
    ) -> np.ndarray:
        A, _, b = self.rows.defined_rows(q, qd, time)
        self.rows.check_closed(q, time)
        return self._solved("accelerations", A, b, near, stated, row)

    def _solved(
        self,
        what: str,
        A: np.ndarray,
        right: np.ndarray,
        near: np.ndarray,
        stated: list[int],
        row: int | None,
    ) -> np.ndarray:
        """x of A x = right nearest to the guess, which has the stated entries; says which rows forbid it."""
        x = near.copy()
        free = [k for k in range(self.model.nv) if k not in stated]
        sizes = rank_revealing.lengths(A)
        missing = (right - A @ x) / sizes
        x[free] += np.linalg.lstsq((A / sizes[:, None])[:, free], missing, rcond=rank_revealing.RANK)[0]
        left = np.abs((right - A @ x) / sizes)
        wrong = np.flatnonzero(left > rank_revealing.CONSISTENT * (1.0 + np.abs(x).max(initial=0.0)))
        if len(wrong):
            names = listed([self.rows.row_names[k] for k in wrong], 6)
            wanted = listed(f"{self.model.v_names[k]} = {x[k]:g}" for k in stated)
            cure = (
                "give fewer inputs, or other values"
                if wanted
                else "they contradict each other: leave one of them out, or make them agree"
            )
            raise SingularError(
                f"{self.model.name}: no {what}{named(row)} {f'with {wanted} ' if wanted else ''}obey {names} "
                f"(off by {left.max():.3g}); {cure}",
                rows=names,
            )
        return x

    # Many states, by compiled code.

    def _rates_of_many(
        self, q: np.ndarray, near: np.ndarray, stated: list[int], moments: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rates, and the states in which they are sound."""
        request, near = self._request("nearest_rates", q, stated, moments), near.copy()
        moving = np.full(len(q), request is not None)
        sound = moving.copy()
        for _ in range(STEPS):
            if request is None or not moving.any():
                break
            some = (x[moving] for x in (q, near, moments))
            x, step, good = self.rows.calls(request, tuple(some))
            near[moving] = x
            sound[moving] = good == 1.0
            standing = step <= STANDING * (1.0 + np.abs(x).max(axis=1))
            moving[moving] = (good == 1.0) & ~standing
        return near, sound & ~moving

    def _accelerations_of_many(
        self, q: np.ndarray, qd: np.ndarray, near: np.ndarray, stated: list[int], moments: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and the states in which they are sound."""
        request = self._request("nearest_accelerations", q, stated, moments)
        if request is None:
            return near, np.zeros(len(q), dtype=bool)
        qdd, sound = self.rows.calls(request, (q, qd, near, moments))
        return qdd, sound == 1.0

    def _request(
        self, quantity: str, q: np.ndarray, stated: list[int], moments: np.ndarray
    ) -> Request | None:
        """Rows chosen at the first state of numbers, among the rates that are not stated; None without code."""
        key = (quantity, *stated)
        finite = np.isfinite(q).all(1)
        if key not in self._usual and finite.any():
            first = int(finite.argmax())
            free = tuple(k for k in range(self.model.nv) if k not in stated)
            A = self.rows.matrix(q[first], moments[first, 0])[:, free]
            kept = independent_rows(A) if np.isfinite(A).all() else ()
            request = Request(quantity, kept=kept, dependent=free)
            self._usual[key] = request if kept and self.rows.calls.kernel(request) is not None else None
        return self._usual.get(key)


def _rows(x: np.ndarray, batch: int | None) -> np.ndarray:
    """Broadcast to the batch shape."""
    return x if batch is None else np.broadcast_to(x, (batch, x.shape[-1]))
