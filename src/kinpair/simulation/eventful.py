"""A run with events: it goes to the next one, something happens, and it goes on, perhaps in another mode."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.constraints.rank_revealing import solve
from kinpair.errors import InputError, KinpairError, listed
from kinpair.formulations import kinematics
from kinpair.simulation.events import Change, Event, Happening, check_change
from kinpair.simulation.held import START
from kinpair.simulation.impacts import begun, impact, mobility_matrix, pushes
from kinpair.simulation.limits import Limit, Limits, limits_of
from kinpair.simulation.modes import Mode, Modes, Stage, Watched
from kinpair.simulation.result import Status
from kinpair.simulation.roots import beyond
from kinpair.simulation.runs import Piece
from kinpair.simulation.walks import GOOD, AdaptiveWalk, FixedWalk, fitted

CLOSED = 1e-9  # a gap this small is none
STILL = 1e-9  # a rate this small is none
MANY, SHORT, BRIEF = (
    100,
    1e-7,
    1e-6,
)  # so many events, each after so small a part of the run or [s], have no end
FINE = 1e-14  # of a step: how finely an event is located
SAFE = 1.5  # a gap wider than so many times the way of a step is not passed within it


class EndError(Exception):
    """The run ends here, with a status."""

    def __init__(self, status: Status) -> None:
        self.status = status
        super().__init__(status.message)


class Eventful:
    """Stands in the place of the plain run that it is made of."""

    def __init__(self, ready: Any, modes: Modes, limits: Limits) -> None:
        self.ready, self.modes, self.limits = ready, modes, limits
        self.run, self.start, self.samples = ready.run, ready.start, ready.samples
        self.stage: Stage = modes.stage(Mode(), self.start[: self.run.d.model.nq], self.run.time)
        self._recent: deque[float] = deque(maxlen=MANY)

    def begin(self) -> np.ndarray:
        """What the run starts from."""
        return self.start

    def pieces(self, state: np.ndarray, step: int = 0, *, whole: bool = True) -> Iterator[Piece]:
        """The samples, and one where the run ends early."""
        walk = self.walk = self._walk()
        try:
            self._touch(frozenset())
            while True:
                piece = walk.go(bool(self.modes.called))
                if piece.why in GOOD and self._called_changes():
                    walk.back()
                    piece = replace(piece, times=piece.times[:0], Y=piece.Y[:0], W=piece.W[:0], why="crossed")
                yield replace(piece, why="more") if piece.why == "crossed" else piece
                if piece.why == "crossed":
                    yield from self._crossed()
                elif piece.why != "more":
                    return
        except EndError as end:
            self.run.ended = end.status
            yield walk.last("event")

    def _walk(self) -> Any:
        nw = self.run.d.nw
        if not self.modes.adaptive:
            return FixedWalk(self.ready, self.stage.loop, nw)
        events = (*self.modes.traced, *self.modes.called)
        longest = min([event.every for event in events if event.every is not None], default=np.inf)
        return AdaptiveWalk(self.ready, self.stage.loop, nw, longest)

    # finding

    def _called_changes(self) -> bool:
        """Has a function that is not recorded changed its sign in the last step?"""
        if not self.modes.called:
            return False
        now, before = self.walk.time, getattr(self, "_called_at", None)
        values = self._called(now, self.walk.y)
        self._called_at = values
        pairs = zip(self.modes.called, before if before is not None else values, values, strict=True)
        if any(event.happens(a, b) or np.isnan(b) for event, a, b in pairs):
            self._called_at = None
            return True
        return False

    def _called(self, time: float, y: np.ndarray) -> list[float]:
        q, qd, _ = self.run.d.parts(y)
        return [self._value(event, time, q, qd) for event in self.modes.called]

    def _value(self, event: Event, time: float, q: np.ndarray, qd: np.ndarray) -> float:
        try:
            return float(event.function(time, q.copy(), qd.copy()))
        except Exception as problem:
            raise self._refused(event, problem) from problem

    def _refused(self, event: Event, problem: Exception) -> EndError:
        time = self.walk.time
        message = (
            f"Stopped at t = {time:.9g} s: event {event.name!r} raised {type(problem).__name__}: {problem}"
        )
        return EndError(Status("refused", time, message))

    @property
    def _all(self) -> tuple[Watched, ...]:
        return (*self.stage.watched, *(Watched("event", event=x) for x in self.modes.called))

    def _values(self, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Of everything watched."""
        d = self.stage.d.concrete(self.run.inputs.parameters)
        own = self.stage.guards(d, time, y, self._inputs(time, y, u)) if self.stage.watched else []
        return np.array([*own, *self._called(time, y)], dtype=float)

    def _inputs(self, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Inputs at a state; those that are not held change within a step."""
        run = self.run
        if run.wish.source == "table":
            return np.array([np.interp(time, run.inputs.times, column) for column in run.inputs.rows.T])
        if run.wish.source == "call" and not run.wish.torque.held and run.caller is not None:
            found = run.caller(time, y)
            return u if found is None else found
        return u

    def _crossed(self) -> Iterator[Piece]:
        """What is ahead in the next step happens, or turns out to be nothing."""
        walk, ahead = self.walk, self.walk.ahead
        time, causes = self._first(walk.time, ahead)
        piece = walk.move(time)
        yield piece
        if piece.why not in GOOD:
            raise EndError(Status(piece.why, walk.time, f"Stopped at t = {walk.time:.9g} s: {piece.why}"))
        if causes:
            self._happen(causes)
            self._called_at = None
        if self.modes.called:
            self._called_at = self._called(walk.time, walk.y)

    def _undefined(self, values: np.ndarray) -> Event | None:
        """The first event whose function is NaN."""
        pairs = zip(self._all, values, strict=True)
        return next((x.event for x, value in pairs if x.event is not None and np.isnan(value)), None)

    def _nowhere(self, event: Event) -> EndError:
        time = self.walk.time
        message = f"Stopped at t = {time:.9g} s: the function of event {event.name!r} turns NaN"
        return EndError(Status("refused", time, message))

    def _defined(self, a: float, b: float, width: float) -> tuple[float, np.ndarray]:
        """The end of a step, or of the part of it in which every event has a value; and the values there."""
        walk = self.walk
        after = self._values(b, *walk.peek(b))
        lost = self._undefined(after)
        if lost is None:
            return b, after
        low, values = a, after
        while b - low > width:
            middle = 0.5 * (low + b)
            found = self._values(middle, *walk.peek(middle))
            event = self._undefined(found)
            if event is None:
                low, values = middle, found
            else:
                b, lost = middle, event
        if low == a:
            raise self._nowhere(lost)
        return low, values

    def _first(self, a: float, b: float) -> tuple[float, list[Watched]]:
        """The first time in a step at which something happens, and what; its end, and nothing."""
        walk = self.walk
        width = max(FINE * (b - a), 4e-16 * max(abs(a), abs(b)))
        before = self._values(a, walk.y, walk.u)
        lost = self._undefined(before)
        if lost is not None:
            raise self._nowhere(lost)
        b, after = self._defined(a, b, width)

        def value_at(k: int, time: float) -> float:
            found, event = self._values(time, *walk.peek(time))[k], self._all[k].event
            if event is not None and np.isnan(found):
                raise self._nowhere(event)
            return found

        def when(k: int, end: float, value: float) -> float:
            return beyond(lambda t: value_at(k, t), a, end, before[k], value, width)

        def reached(k: int, end: float, value: float) -> float:
            """Where the gap itself is zero: the slack is taken back."""
            time, limit = when(k, end, value), self._all[k].limit
            assert limit is not None
            rate = self._values(time, *walk.peek(time))[k + 1]
            return max(a, time + limit.slack / rate) if rate < 0.0 else time

        found: list[tuple[float, Watched]] = []
        for k, watched in enumerate(self._all):
            if watched.kind == "event":
                assert watched.event is not None
                if watched.event.happens(before[k], after[k]):
                    found.append((when(k, b, after[k]), watched))
            elif watched.kind == "push" and before[k] > 0.0 >= after[k]:
                found.append((when(k, b, after[k]), watched))
            elif watched.kind == "gap" and before[k] > 0.0 >= after[k]:
                found.append((reached(k, b, after[k]), watched))
            elif (
                watched.kind == "rate"
                and before[k] < 0.0 < after[k]
                and min(before[k - 1], after[k - 1]) > 0.0
            ):
                near = (before[k - 1] < -SAFE * before[k] * (b - a)) and (
                    after[k - 1] < SAFE * after[k] * (b - a)
                )
                if near:  # the gap may have been passed there and back
                    turn = when(k, b, after[k])
                    least = self._values(turn, *walk.peek(turn))[k - 1]
                    if least <= 0.0:
                        found.append((reached(k - 1, turn, least), self._all[k - 1]))
        if not found:
            return b, []
        first = min(time for time, _ in found)
        return first, [watched for time, watched in found if time <= first + 2.0 * width]

    # happening

    def _happen(self, causes: list[Watched]) -> None:
        walk = self.walk
        for cause in causes:
            if cause.event is not None:
                self._act(cause.event)
        released = frozenset(x.limit for x in causes if x.kind == "push" and x.limit is not None)
        if released or any(x.kind == "gap" for x in causes):
            self._touch(released)
        self._recent.append(walk.time)
        span = walk.time - self._recent[0]
        if len(self._recent) == MANY and span <= MANY * max(SHORT * self.run.duration, BRIEF):
            names = listed(dict.fromkeys(x.name for x in self.run.happened[-MANY:]), 4)
            message = f"{MANY} events within {span:.2g} s ({names}): they follow each other without end"
            raise EndError(Status("zeno", walk.time, f"Stopped at t = {walk.time:.9g} s: {message}"))

    def _act(self, event: Event) -> None:
        walk, d = self.walk, self.run.d
        q, qd, _ = d.parts(walk.y)
        action: Any = event.action
        if callable(action):
            try:
                action = action(walk.time, q.copy(), qd.copy())
            except Exception as problem:
                raise self._refused(event, problem) from problem
            if not isinstance(action, (Change, type(None))):
                said = f"the action of event {event.name!r} returned {type(action).__name__}"
                message = f"Stopped at t = {walk.time:.9g} s: {said}; it returns a kinpair.Change or None"
                raise EndError(Status("refused", walk.time, message))
        lost = self._change(event, action) if isinstance(action, Change) else 0.0
        self._note(event.name, qd, lost)
        if (isinstance(action, str) and action == "stop") or (isinstance(action, Change) and action.stop):
            message = f"Stopped at t = {walk.time:.9g} s by event {event.name!r}"
            raise EndError(Status("event", walk.time, message))
        if isinstance(action, Change):
            self._touch(frozenset())

    def _note(self, name: str, before: np.ndarray, lost: float) -> None:
        q, qd, _ = self.run.d.parts(self.walk.y)
        self.run.happened.append(Happening(self.walk.time, name, q.copy(), qd.copy(), before.copy(), lost))

    def _energy(self, y: np.ndarray) -> float:
        d = self.run.d.concrete(self.run.inputs.parameters)
        return float(np.sum(d.watched(self.walk.time, fitted(y, d.ny), self.walk.u)[:2]))

    def _enter(self, mode: Mode, y: np.ndarray, lost: float) -> None:
        """Go on in a mode from a state; energy lost counts as loss, energy gained as work."""
        self.stage = self.modes.stage(mode, y[: self.run.d.model.nq], self.walk.time)
        model = self.run.d.model
        y[model.nq + model.nv + (lost > 0.0)] += abs(lost)
        self.walk.put(y, self.stage.loop)

    def _change(self, event: Event, change: Change) -> float:
        """New state, new constraints; the energy lost."""
        time = self.walk.time
        try:
            return self._changed(change, f"event {event.name!r} at t = {time:.9g} s")
        except KinpairError as problem:
            message = f"Stopped at t = {time:.9g} s: event {event.name!r}: {problem}"
            raise EndError(Status("refused", time, message)) from problem
        except Exception as problem:  # of a function in a condition that begins
            raise self._refused(event, problem) from problem

    def _changed(self, change: Change, where: str) -> float:
        m, mode = self.run.wish.mechanism, self.stage.mode
        own = (*m.model.description.conditions, *mode.add)
        check_change(m, change, sorted({x.name for x in own} | mode.remove))
        y, nq, nv = self.walk.y, m.nq, m.nv
        before = self._energy(y)
        if change.q is not None:
            y[:nq] = change.q
        if change.qd is not None:
            y[nq : nq + nv] = change.qd
        add = tuple(x for x in (*mode.add, *change.add) if x.name not in change.remove)
        bare = Mode(add, mode.remove | frozenset(change.remove))
        y = self._obeying(bare, y, where)
        lost = before - self._energy(y)
        self._enter(bare, y, lost)
        return lost

    def _obeying(self, mode: Mode, y: np.ndarray, where: str) -> np.ndarray:
        """The state with rates that obey the constraints of a mode; its positions must do so already."""
        nq, nv, time = self.run.d.model.nq, self.run.d.model.nv, self.walk.time
        closure = self.modes.mechanism(mode).closure
        if closure is None:
            return y
        gap = np.abs(closure.positions(y[:nq], time)).max(initial=0.0)
        if gap > START:
            raise KinpairError(f"q does not obey the constraints that begin then, by {gap:.3g}")
        terms = self.modes.stage(mode, y[:nq], time).terms(self.run.inputs.parameters, time, y, self.walk.u)
        y[nq : nq + nv] = begun(terms.M, terms.A, terms.psi, y[nq : nq + nv])
        return y

    # limits

    def _touch(self, released: frozenset[Limit]) -> None:
        """Impacts at the limits that are reached, then which of them are held."""
        walk, nq, nv = self.walk, self.run.d.model.nq, self.run.d.model.nv
        y = walk.y
        closed = [x for x in self.modes.limits if x.gap(y[:nq]) <= CLOSED * max(1.0, abs(x.at))]
        if not closed:
            return
        mode = replace(self.stage.mode, held=())
        stage = self.modes.stage(mode, y[:nq], walk.time)
        terms = stage.terms(self.run.inputs.parameters, walk.time, y, self._inputs(walk.time, y, walk.u))
        N = np.array([x.row(nv) for x in closed])
        before, qd = y[nq : nq + nv].copy(), y[nq : nq + nv].copy()
        v = N @ qd
        pairs = zip(closed, v, strict=True)
        e = np.array([x.restitution if -x.restitution * r >= self.limits.rest else 0.0 for x, r in pairs])
        struck = bool((v < -STILL).any())
        if struck:
            qd = impact(terms.M, terms.A, N, qd, e)
        G = mobility_matrix(terms.M, terms.A)
        gaps = np.array([x.gap(y[:nq]) for x in closed])
        back = G @ N.T @ np.linalg.lstsq(N @ G @ N.T, -gaps, rcond=None)[0]
        y[:nq] = kinematics.nudged(self.run.d.model, y[:nq], back)
        resting = [x for x, r in zip(closed, N @ qd, strict=True) if abs(r) <= STILL and x not in released]
        lost = 0.5 * float(before @ terms.M @ before - qd @ terms.M @ qd)
        y[nq : nq + nv] = qd
        held = self._held(stage, walk.time, y, resting)
        self._enter(replace(mode, held=held), y, max(lost, 0.0))
        if struck:
            for limit, rate in zip(closed, v, strict=True):
                if rate < -STILL:
                    self._note(limit.label, before, lost)
                    lost = 0.0
        for limit in released:
            self._note(f"{limit.name} leaves its {limit.word} limit", before, 0.0)

    def _held(self, stage: Stage, time: float, y: np.ndarray, resting: list[Limit]) -> tuple[Limit, ...]:
        """Of limits at rest, those that would be passed if they were let go."""
        if not resting:
            return ()
        nv = self.run.d.model.nv
        terms = stage.terms(self.run.inputs.parameters, time, y, self._inputs(time, y, self.walk.u))
        qdd = solve(terms.M, terms.F, terms.A, terms.b).qdd
        N = np.array([x.row(nv) for x in resting])
        G = mobility_matrix(terms.M, terms.A)
        forces, leaving = pushes(G, N, qdd)
        small = STILL * (1.0 + np.abs(N @ qdd).max())
        chosen: list[int] = []
        for k in np.argsort(-forces, kind="stable").tolist():
            own = N[[*chosen, k]]
            independent = np.linalg.matrix_rank(own @ G @ own.T, hermitian=True) == len(own)
            if leaving[k] <= small and independent:
                chosen.append(k)
        return tuple(resting[k] for k in sorted(chosen))


def with_events(
    ready: Any,
    happenings: tuple[tuple[Event, ...], tuple[bool, ...]],
    limits: Limits,
    constraints: tuple[str | None, str, float],
) -> Eventful:
    """A run ready to go, with events and limits to be watched."""
    wish = ready.run.wish
    ends = limits_of(wish.mechanism, limits) if limits.unilateral else ()
    solver, hold, alpha = constraints
    adaptive = not hasattr(ready, "plan")
    modes = Modes(wish, *happenings, ends, solver=solver, hold=hold, alpha=alpha, adaptive=adaptive)
    return Eventful(ready, modes, limits)


def check_eventful(wish: Any, limits: Limits, q: np.ndarray, eventful: bool) -> None:
    """Refuse what cannot be done with events or limits."""
    name, method = wish.mechanism.name, wish.integrator
    if eventful and wish.batch:
        raise InputError(
            f"{name}: events and limits that stop or bounce take one motion at a time; of a batch, simulate the "
            "motions one after the other, or take limits='spring'"
        )
    if eventful and (method.outside or wish.dynamics.memory):
        raise InputError(
            f"{name}: integrator {method.name!r} takes no events and no limits that stop or bounce; 'rk4', 'dop853' "
            "and the other explicit ones do",
            integrator=method.name,
        )
    if method.solved is not None and limits.way in ("stop", "bounce", "spring"):
        raise InputError(
            f"{name}: integrator {method.name!r} takes no limits={limits.way!r}; 'rk4', 'dop853' and the other "
            "explicit ones do",
            integrator=method.name,
        )
    if not limits.unilateral:
        return
    for limit in limits_of(wish.mechanism, limits):
        gap = float(limit.gap(q))
        if gap < -CLOSED * max(1.0, abs(limit.at)):
            raise InputError(
                f"{name}: {limit.name!r} starts {-gap:.3g} beyond its {limit.word} limit {limit.at:g}; start within "
                "the limits, or give limits='spring' or 'ignore'",
                joint=limit.name,
            )
