"""Efforts that make a constrained motion, and the wrenches that its loops carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constraints.assembly.actuated import Actuated, Actuators
from kinpair.constraints.assembly.batch import at_time, named, state_of
from kinpair.constraints.assembly.sharing import SharedLoads
from kinpair.constraints.rounding import HOLDS, UNBALANCED
from kinpair.constraints.rows.constraint import Motion
from kinpair.constraints.rows.joined import Joined
from kinpair.constraints.rows.loads import IN_LOOP, ON_LINK, by_constraint
from kinpair.constraints.solvers import rank_revealing
from kinpair.constraints.solvers.rank_revealing import Efforts, efforts, multipliers_of
from kinpair.errors import InputError, SingularError, listed
from kinpair.evaluation.arguments import Arguments
from kinpair.evaluation.quantities.request import Request

if TYPE_CHECKING:
    from kinpair.constraints.assembly.rank import Requests
    from kinpair.constraints.assembly.rows import ConstraintRows
    from kinpair.constraints.assembly.rubbing import Rubbing

ByConstraint = dict[str, np.ndarray]


class Drives:
    """Inverse dynamics of a closure."""

    def __init__(self, rows: ConstraintRows, requests: Requests) -> None:
        self.rows, self.model, self.requests = rows, rows.model, requests
        self.shares, self.actuated = SharedLoads(rows), Actuated(rows)
        self._usual: dict[tuple[Any, ...], Request | None] = {}

    def inverse(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        actuators: Actuators,
        options: Mapping[str, Any],
        external: Mapping[str, Any],
        threads: int = 1,
    ) -> np.ndarray:
        """Efforts of the actuators for motions that obey the rows: compiled, and where that is not sound by singular
        values."""
        q, qd, qdd = state
        x = self.rows.calls.checked_arguments(external, q=q, qd=qd, time=at_time(time), qdd=qdd)
        actuated = self.actuated.rates(actuators, q, time)
        request = self._request(x, actuated, options, external)
        if request is None:
            return self._by_singular_values(state, time, actuated, options, external)
        arguments = (x.state[0], x.state[1], x.state[3], x.state[2], *x.external.values())
        tau, sound = self.rows.calls(request, arguments, None, threads)
        unsound = np.atleast_1d(np.asarray(sound) != 1.0)
        if x.batch is None and unsound.any():
            return self._by_singular_values(state, time, actuated, options, external)
        if unsound.any():
            tau[unsound] = self._again(x, np.flatnonzero(unsound), actuated, options)
        return tau

    def known(
        self, actuators: Actuators, options: Mapping[str, Any], external: Mapping[str, Any]
    ) -> Request | None:
        """Result of compiled code, if it was called before."""
        actuated = self.actuated.known(actuators)
        return None if actuated is None else self._usual.get(_key(actuated, options, external))

    def _request(
        self,
        x: Arguments,
        actuated: tuple[int, ...],
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> Request | None:
        """Request to compile, with the rows chosen at the first state; None where no machine code can serve."""
        passive = bool(options.get("passive", True))
        self.rubbing.check(passive=passive)
        if passive and not self.rubbing.is_compiled:
            return None
        finite = np.isfinite(x.state[0]).all() and np.isfinite(x.state[2]).all()
        if not (self.rows.calls.compiled and self.rows.constraints and len(x.state[0]) and finite):
            return None
        key = _key(actuated, options, external)
        if key not in self._usual:
            self._usual[key] = self._chosen(x, actuated, options)
        return self._usual[key]

    def _chosen(self, x: Arguments, actuated: tuple[int, ...], options: Mapping[str, Any]) -> Request | None:
        q, moments = np.atleast_2d(x.state[0])[0], np.ravel(x.state[2])
        self.rows.check_closed(q, float(moments[0]))
        acts = self.rubbing.acts(passive=bool(options.get("passive", True)))
        quantity = "efforts_under_load" if acts else "actuator_efforts"
        request = self.requests.choose(quantity, q, float(moments[0]), "rosenberg-extended", options)
        enough = len(actuated) >= self.model.nv - len(request.kept) > 0 and len(request.kept) > 0
        request = replace(request, actuated=actuated)
        return request if enough and self.rows.calls.kernel(request) is not None else None

    def _again(
        self, x: Arguments, rows: np.ndarray, actuated: tuple[int, ...], options: Mapping[str, Any]
    ) -> np.ndarray:
        """States of a batch by singular values."""
        assert x.batch is not None
        states = [_batched(y, 1, x.batch)[rows] for y in x.state]
        external = {name: _batched(w, 1, x.batch)[rows] for name, w in x.external.items()}
        for q, moment in zip(states[0], states[2], strict=True):
            if np.isfinite(q).all():
                self.rows.check_closed(q, float(moment[0]))
        motion = (states[0], states[1], np.zeros(self.model.nv))
        terms = self.rows.terms(motion, states[2][:, 0], options, external)
        terms = self._with_friction(Arguments(states, external, len(rows)), terms, actuated, options, rows)
        every = zip(rows.tolist(), zip(*terms, strict=True), zip(*states, strict=True), strict=True)

        def tau(*one: Any) -> np.ndarray:
            return self.efforts(actuated, *one).tau

        return np.array([self._one(tau, self.model.nv, *one) for one in every])

    def _by_singular_values(
        self,
        state: tuple[Any, Any, Any],
        time: Any,
        actuated: tuple[int, ...],
        options: Mapping[str, Any],
        external: Mapping[str, Any],
    ) -> np.ndarray:
        """Compute efforts for rows of any rank."""
        q, qd, qdd = state
        x = self.rows.calls.checked_arguments(external, q=q, qd=qd, time=at_time(time), qdd=qdd)
        self.rows.check_numbers(q)
        self.rows.check_closed(q, time)
        terms = self.rows.terms((q, qd, np.zeros(self.model.nv)), time, options, external)
        terms = self._with_friction(x, terms, actuated, options)
        return self._each(x, self.model.nv, lambda *one: self.efforts(actuated, *one).tau, terms)

    def _with_friction(
        self,
        x: Arguments,
        terms: Sequence[np.ndarray],
        actuated: tuple[int, ...],
        options: Mapping[str, Any],
        numbers: np.ndarray | None = None,
    ) -> Sequence[np.ndarray]:
        """Return M, F, A, b with friction from load in F."""
        chosen, passive = np.array(actuated, dtype=int), bool(options.get("passive", True))
        own = None if numbers is None else numbers.tolist()
        loads = self.rubbing.with_friction
        return loads(x, terms, lambda A, r: efforts(r, A, chosen).lam, own, passive=passive)

    @cached_property
    def rubbing(self) -> Rubbing:
        """Friction from load."""
        from kinpair.constraints.assembly.rubbing import Rubbing

        return Rubbing(self.rows, self.shares, self.requests)

    def efforts(
        self,
        actuated: tuple[int, ...],
        row: int | None,
        M: np.ndarray,
        F: np.ndarray,
        A: np.ndarray,
        b: np.ndarray,
        qdd: np.ndarray,
    ) -> Efforts:
        """Return the efforts on the actuated rates in one state, `row` of a batch; M, F, A, b as `terms` gives them
        without efforts."""
        which = named(row)
        self.check_accelerations(A, b, qdd, which)
        tau = efforts(M @ qdd - F, A, np.array(actuated, dtype=int))
        if not tau.possible:
            stuck = [self.model.v_names[k] for k in np.flatnonzero(np.abs(tau.unbalanced) > UNBALANCED)]
            acting = [self.model.v_names[k] for k in actuated]
            nobody = "nothing is actuated, so nothing makes"
            raise SingularError(
                f"{self.model.name}: {f'no efforts of {listed(acting, 6)} make' if len(acting) else nobody} this "
                f"motion{which}: {np.abs(tau.unbalanced).max():.3g} stays unbalanced, seen at {listed(stuck, 6)}; "
                "add an actuator, or change the motion",
                rates=stuck,
            )
        return tau

    def check_accelerations(self, A: np.ndarray, b: np.ndarray, qdd: np.ndarray, which: str = "") -> None:
        """Refuse accelerations that do not satisfy A q̈ = b; `which` names the state."""
        missed = np.abs(A @ qdd - b) / rank_revealing.lengths(A)
        if (worst := missed.max(initial=0.0)) > HOLDS * (1.0 + np.abs(qdd).max(initial=0.0)):
            wrong = [self.rows.row_names[k] for k in np.flatnonzero(missed > 0.1 * worst)]
            raise InputError(
                f"{self.model.name}: these accelerations{which} break {listed(wrong, 6)} (by {worst:.3g}); "
                "use accelerations(q, qd, inputs), which satisfy them",
                rows=wrong,
            )

    def loop_loads(
        self,
        state: tuple[Any, Any, Any],
        tau: Any,
        time: Any,
        external: Mapping[str, Any],
        threads: int,
        *,
        passive: bool = True,
        axes: str = "",
    ) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Loads of the loops on the tree, as wrenches by link; and the wrench in each loop, in axes of its seat or
        those named."""
        x, lam = self._loaded(state, tau, time, external, passive)
        at, _, moment, *_ = x.state
        if not any(isinstance(one, Joined) for one in self.rows.constraints):
            return dict(external), {}
        every = tuple(range(len(self.rows.row_names)))
        request = Request("loop_loads", external=tuple(external), kept=every, axes=axes)
        loads = self.rows.calls(request, (at, moment, lam, *x.external.values()), None, threads)
        return _called(ON_LINK, loads), _called(IN_LOOP, loads)

    def multipliers(
        self,
        state: tuple[Any, Any, Any],
        tau: Any,
        time: Any,
        external: Mapping[str, Any],
        *,
        passive: bool = True,
    ) -> np.ndarray:
        """λ of every row (rows,) or (batch, rows) while the efforts tau make this motion."""
        return self._loaded(state, tau, time, external, passive)[1]

    def _loaded(
        self, state: tuple[Any, Any, Any], tau: Any, time: Any, external: Mapping[str, Any], passive: bool
    ) -> tuple[Arguments, np.ndarray]:
        """The arguments, checked, and λ of every row."""
        q, qd, qdd = state
        x = self.rows.calls.checked_arguments(external, q=q, qd=qd, time=at_time(time), qdd=qdd, tau=tau)
        options = {"external": external, "passive": passive}
        terms = self.rows.terms((q, qd, np.zeros(self.model.nv)), time, options, external)
        self.rows.check_numbers(q)
        self.rows.check_closed(q, time)
        terms = self.rubbing.with_friction(x, terms, multipliers_of, passive=passive)
        lam = self._each(x, len(self.rows.row_names), self._multipliers, terms)
        return x, self._shared(x, lam, passive) if self.shares.acts else lam

    def _shared(self, x: Arguments, lam: np.ndarray, passive: bool) -> np.ndarray:
        """Return the multipliers as compliances share them; what holds no numbers stays in its row."""
        found = lam.copy()
        for k in np.ndindex(lam.shape[:-1]):
            state = [state_of(y, *k) if k else y for y in x.state]
            wrenches = {name: state_of(y, *k) if k else y for name, y in x.external.items()}
            if np.isfinite(lam[k]).all():
                q, qd, moment, qdd, *_ = state
                found[k] = self.shares.shared(lam[k], (q, qd, qdd), float(moment[0]), wrenches, passive)
        return found

    def _multipliers(
        self,
        row: int | None,
        M: np.ndarray,
        F: np.ndarray,
        A: np.ndarray,
        b: np.ndarray,
        qdd: np.ndarray,
        tau: np.ndarray,
    ) -> np.ndarray:
        """Compute λ of one state under the efforts tau."""
        return multipliers_of(A, M @ qdd - F - tau)

    def _each(
        self, x: Arguments, size: int, f: Callable[..., np.ndarray], terms: Sequence[np.ndarray]
    ) -> np.ndarray:
        """f(row, M, F, A, b, q̈, ...), a vector of this size: of one state, or row by row of a batch.

        The state is q, q̇, time, q̈ and what follows; what holds no numbers stays in its row.
        """
        if x.batch is None:
            return self._one(f, size, None, terms, x.state)
        axes = (2, 1, 2, 1)
        every = (_batched(y, n, x.batch) for y, n in zip(terms, axes, strict=True))
        states = (_batched(y, 1, x.batch) for y in x.state)
        rows = enumerate(zip(zip(*every, strict=True), zip(*states, strict=True), strict=True))
        return np.array([self._one(f, size, row, *one) for row, one in rows]).reshape(x.batch, size)

    def _one(
        self,
        f: Callable[..., np.ndarray],
        size: int,
        row: int | None,
        terms: Sequence[np.ndarray],
        state: Sequence[np.ndarray],
    ) -> np.ndarray:
        """f of one state, or an error that names the rows that have no value there."""
        q, qd, time, *vectors = state
        nothing = np.full(size, np.nan)
        if not all(np.isfinite(y).all() for y in state):
            return nothing
        if all(np.isfinite(y).all() for y in terms):
            return f(row, *terms, *vectors)
        self.rows.defined_rows(q, qd, float(time[0]))
        return nothing

    def wrenches(
        self, q: Any, lam: np.ndarray, time: float
    ) -> tuple[ByConstraint, ByConstraint, ByConstraint]:
        """Wrench of each constraint between two frames on its child, at its mark, world axes; where that mark is; and
        where rolling bodies touch."""
        from kinpair.constraints.rows.rolling import Rolls

        at = Motion(self.model, np.asarray(q, dtype=float), time, np.zeros(self.model.nv))
        wrenches, points, contacts = ByConstraint(), ByConstraint(), ByConstraint()
        for name, x, own in by_constraint(self.rows.constraints, lam):
            if isinstance(x, Joined):
                S, M = (at.pose(place) for place in x.places(self.model))
                wrenches[name] = np.asarray(x.wrenches(S, M, time).M.T @ own, dtype=float)
                points[name] = np.asarray(M.a, dtype=float)
                if isinstance(x, Rolls):
                    contacts[name] = np.asarray(M.a + x.rho(S, M), dtype=float)
        return wrenches, points, contacts


def _key(
    actuated: tuple[int, ...], options: Mapping[str, Any], external: Mapping[str, Any]
) -> tuple[Any, ...]:
    """Return what distinguishes requests."""
    chosen = tuple(options.get(word) for word in ("method", "force", "passive"))
    return actuated, *chosen, *external


def _called(what: str, wrenches: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name.removeprefix(what): w for name, w in wrenches.items() if name.startswith(what)}


def _batched(x: np.ndarray, axes: int, rows: int) -> np.ndarray:
    """Put the batch in front, if it was not there."""
    return x if x.ndim > axes else np.broadcast_to(x, (rows, *x.shape))
