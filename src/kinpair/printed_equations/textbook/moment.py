"""The state at which arrays are computed: one state of floats, with efforts and accelerations where they are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.loads import with_rows, wrench_rows
from kinpair.constraints.rows.stacked import row_names, rows
from kinpair.errors import InputError, expect
from kinpair.formulations import newton_euler
from kinpair.formulations.catalogue import Formulation
from kinpair.formulations.kinematics import no_wrenches
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.system import System


@dataclass(frozen=True, slots=True, eq=False)
class LoopRows:
    """Rows A q̈ = b of the loops, redundant ones left out; by row what a unit multiplier does.

    `wrenches`: on bodies, at their origins and in their axes; None for a row that acts along the rates.
    """

    names: tuple[str, ...]
    A: np.ndarray
    b: np.ndarray
    wrenches: tuple[dict[int, np.ndarray] | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A state: q (nq,), qd (nv,), and qdd and tau (nv,), both or none. Gravity acts, passive elements do not."""

    model: Model
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray | None
    tau: np.ndarray | None
    w_ext: list[np.ndarray]
    loops: LoopRows
    motion_given: bool  # qdd was given, and tau follows from it

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the moving bodies."""
        return self.model.names[1:]

    @property
    def multipliers(self) -> np.ndarray:
        """λ of the rows of the loops, from the efforts of the tree: Aᵀλ = H q̈ + h − τ."""
        if self.qdd is None or self.tau is None or not self.loops.names:
            return np.zeros(len(self.loops.names))
        efforts = newton_euler.inverse_dynamics(
            self.model, self.q, self.qd, self.qdd, no_wrenches(self.model)
        )
        return np.linalg.lstsq(self.loops.A.T, efforts - self.tau, rcond=None)[0]

    @property
    def cut(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Efforts (nv,) and wrenches by body under which the spanning tree moves as the closed mechanism does."""
        lam, loops = self.multipliers, self.loops
        along = [k for k, w in enumerate(loops.wrenches) if w is None]
        efforts = np.zeros(self.model.nv) if self.tau is None else self.tau
        return efforts + loops.A[along].T @ lam[along], with_rows(self.w_ext, loops.wrenches, lam)


def moment_of(
    m: Mechanism, name: str, row: Formulation, q: Any, qd: Any, qdd: Any, tau: Any, *, trees_only: str
) -> Moment:
    """Check the arguments of `arrays` and complete the motion by inverse or forward dynamics.

    `trees_only`: why the formulation `name` does not take closed mechanisms; empty where it does.
    """
    expect("arrays", m, Mechanism)
    if m.closure is not None and trees_only:
        raise InputError(
            f"{m.name}: {name!r} takes trees only: {trees_only}. m.without_constraints() is the spanning tree; "
            "'screw' takes closed mechanisms",
            formulation=name,
            constraints=m.constraints,
        )
    if qdd is not None and tau is not None:
        raise InputError(f"{m.name}: give qdd or tau, not both: each follows from the other")
    state = {
        key: one_state(m, key, x)
        for key, x in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", tau))
        if x is not None
    }
    at, rates = state["q"], state["qd"]
    if m.closure is not None:
        qdd, tau = _of_closed(m, name, state)
    else:
        qdd, tau = _of_tree(m.model, row, state)
    return Moment(m.model, at, rates, qdd, tau, no_wrenches(m.model), _loops(m, at, rates), "qdd" in state)


def one_state(m: Mechanism | System, key: str, value: Any) -> np.ndarray:
    """Check one of q, qd, qdd and tau: numbers of one state, or a mapping by name."""
    (named,) = m.by_name(0.0, **{key: value})
    x = m.checked(key, named)
    if x.ndim != 1:
        raise InputError(
            f"{m.name}: {key} has shape {x.shape}; arrays() takes one state, not a batch", argument=key
        )
    return x


def _of_tree(model: Model, row: Formulation, state: dict[str, np.ndarray]) -> tuple[Any, Any]:
    q, qd, nothing = state["q"], state["qd"], no_wrenches(model)
    if "qdd" in state:
        return state["qdd"], row.inverse_dynamics(model, q, qd, state["qdd"], nothing)
    if "tau" in state:
        return row.forward_dynamics(model, q, qd, state["tau"], nothing).qdd, state["tau"]
    return None, None


def _of_closed(m: Mechanism, name: str, state: dict[str, np.ndarray]) -> tuple[Any, Any]:
    if "qdd" in state:
        raise InputError(
            f"{m.name}: efforts of a closed mechanism do not follow from qdd alone; give tau=, or the efforts of "
            "m.inverse_dynamics(q, qd, qdd, actuators=...)",
            formulation=name,
        )
    if "tau" not in state:
        return None, None
    return m.forward_dynamics(state["q"], state["qd"], state["tau"], passive=False), state["tau"]


def _loops(m: Mechanism, q: np.ndarray, qd: np.ndarray) -> LoopRows:
    if m.closure is None:
        return LoopRows((), np.zeros((0, m.nv)), np.zeros(0), ())
    constraints = constraints_of(m.model)
    kept = m.closure.rank.kept(q, 0.0)
    every = rows(m.model, constraints, q, qd, 0.0, kept)
    on_bodies, names = wrench_rows(m.model, constraints, q, 0.0), row_names(constraints)
    return LoopRows(
        tuple(names[k] for k in kept),
        np.asarray(every.A, dtype=float),
        np.asarray(every.b, dtype=float),
        tuple(on_bodies[k] for k in kept),
    )
