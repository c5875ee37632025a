"""Rates that have efforts in inverse dynamics, and which joints can drive a closed mechanism.

A mechanism is closed if it has a constraint other than couplings and drives: a loop, a distance, a surface, a rolling
contact, a knife edge, a guide, a momentum or a constraint of the user. Couplings (gears, racks, mimic joints) and
drives each determine one coordinate of a tree, and the other coordinates stay those of a tree.

* Tree: every rate has an effort. With couplings or drives, rates that follow others have none, nor have joints with
  `actuated = false`.
* Closed mechanism: the joints with an actuator or `actuated = true` have efforts.

With Z the rates that the constraints allow, actuators S make every motion if ZᵀS has full row rank, see (CI2). A
smallest set of such rates is chosen by pivoting the columns of Zᵀ, preferred joints first:

    Zᵀ P = Q R,   |R_kk| > PIVOT · |column k of Zᵀ|                                               (AJ1)
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rounding import PIVOT
from kinpair.constraints.rows.coordinates import OfPositions
from kinpair.constraints.solvers.rank_revealing import null_space
from kinpair.errors import ActuatorsError

Actuators: TypeAlias = Sequence[str] | Literal["all"] | None

ALL: Literal["all"] = "all"
CALL = "inverse_dynamics(q, qd, qdd, actuators={})"
OF_COORDINATES = ("coupling", "drive")  # constraints that each determine one coordinate
MOST_CHOICES = 3


class Actuated:
    """The actuated rates of one model under constraints."""

    def __init__(self, rows: ConstraintRows) -> None:
        self.rows, self.model = rows, rows.model

    @cached_property
    def closed(self) -> bool:
        """True if a constraint does more than determine one coordinate each."""
        return len(self._determined) < len(self.rows.constraints)

    @cached_property
    def followers(self) -> set[int]:
        """Rates that a coupling determines."""
        return {k for k, kind in self._determined.items() if kind == "coupling"}

    @cached_property
    def _determined(self) -> dict[int, str]:
        """Rates that couplings and drives determine, with the kind of the constraint."""
        of_one = [x for x in self.rows.constraints if isinstance(x, OfPositions) and x.kind in OF_COORDINATES]
        return {x.rates[0]: x.kind for x in of_one if x.rates}

    @cached_property
    def every(self) -> tuple[int, ...]:
        """All rates of a tree; under constraints those that follow no other, except joints with `actuated = false`."""
        if not self.rows.constraints:
            return tuple(range(self.model.nv))
        idle = self._rates_of(x.name for x in self.model.description.joints if x.actuated is False)
        return tuple(k for k in range(self.model.nv) if k not in self.followers and k not in idle)

    @cached_property
    def specified(self) -> tuple[int, ...] | None:
        """Rates of the joints with an actuator or `actuated = true`; none where every joint has `actuated = false`;
        None where the description does not specify them."""
        description = self.model.description
        driven = {x.joint for x in description.actuators}
        rates = self._rates_of(x.name for x in description.joints if x.actuated or x.name in driven)
        return tuple(sorted(rates)) if rates or not self.every else None

    def known(self, actuators: Actuators) -> tuple[int, ...] | None:
        """Return the rates that have efforts, in rising order, without a look at the state; None where the description
        does not specify them."""
        if actuators == ALL or (actuators is None and not self.closed):
            return self.every
        return self.specified if actuators is None else tuple(sorted(self.rows.rates_of(actuators)))

    def rates(
        self, actuators: Actuators, q: Any = None, time: Any = 0.0, *, call: str = CALL
    ) -> tuple[int, ...]:
        """Return the rates that have efforts, in rising order.

        `actuators`: names of joints or rates; "all" for every rate that follows no other; None for those of the
        description. ActuatorsError where it specifies none: with the choices that are valid at the first state of `q`
        (nq,) or (batch, nq), each as the `call` to type, with {} for the list of names.
        """
        if (known := self.known(actuators)) is not None:
            return known
        choices = self.choices(q, time)
        if choices == ((),):
            return ()
        name, python = self.model.name, [call.format(_list(x)) for x in choices] or [call.format("[...]")]
        shell = [f"--actuators {shlex.join(x)}" for x in choices] or ["--actuators NAME..."]
        raise ActuatorsError(
            _message(name, python, call.format('"all"')),
            choices=choices,
            shell=_message(name, shell, "--actuators all"),
        )

    def choices(self, q: Any, time: Any = 0.0) -> tuple[tuple[str, ...], ...]:
        """Return at most three smallest sets of joints or rates, by name, whose efforts make every motion at the first
        state of q; each prefers joints that the sets before do not have. Empty without q, an error where loops are
        open."""
        if q is None:
            return ()
        at, moment = np.atleast_2d(self.rows.calls.checked("q", q))[0], float(np.ravel(time)[0])
        A = self.rows.defined(at, moment)
        self.rows.check_closed(at, moment)
        Z = null_space(np.asarray(A, dtype=float).reshape(-1, self.model.nv))
        chosen: dict[tuple[int, ...], None] = {}
        used: set[int] = set()
        for _ in range(MOST_CHOICES):
            rates = independent(
                Z,
                [[k for k in group if (k in used) is old] for old in (False, True) for group in self._groups],
            )
            if len(rates) < Z.shape[1]:
                break
            chosen[tuple(sorted(rates))] = None
            used |= set(rates)
        return tuple(self._names(x) for x in chosen)

    @cached_property
    def _groups(self) -> list[list[int]]:
        """Rates that may be driven, the usual places of motors first: joints of one degree on the ground, other joints
        of one degree, then joints of several degrees."""
        groups: list[list[int]] = [[], [], []]
        for i in self.model.moving:
            span = range(self.model.nv)[self.model.v_span[i]]
            place = 2 if len(span) > 1 else int(self.model.parent[i] != 0)
            groups[place] += [k for k in span if k in self.every]
        return groups

    def _rates_of(self, joints: Iterable[str]) -> set[int]:
        names, model = set(joints), self.model
        spans = [range(model.nv)[model.v_span[i]] for i in model.moving if model.joint_names[i] in names]
        return {k for span in spans for k in span}

    def _names(self, rates: Iterable[int]) -> tuple[str, ...]:
        """Return the names of the rates; a joint all of whose rates are there has its own name."""
        left, names, model = set(rates), dict[int, str](), self.model
        for i in model.moving:
            span = range(model.nv)[model.v_span[i]]
            if left.issuperset(span) and len(span):
                names[span[0]] = model.joint_names[i]
            else:
                names |= {k: model.v_names[k] for k in span if k in left}
        return tuple(names[k] for k in sorted(names))


def independent(Z: np.ndarray, groups: Sequence[Sequence[int]]) -> list[int]:
    """Choose rates whose rows of Z (nv, freedom) are independent, as many as the groups have, earlier groups first."""
    left, sizes = Z.copy(), np.linalg.norm(Z, axis=1)
    chosen: list[int] = []
    for group in groups:
        while group and len(chosen) < Z.shape[1]:
            lengths = np.linalg.norm(left[group], axis=1)
            k = group[int(lengths.argmax())]
            if lengths.max() <= PIVOT * max(sizes[k], PIVOT):
                break
            direction = left[k] / lengths.max()
            left -= np.outer(left @ direction, direction)  # (AJ1)
            chosen.append(k)
    return chosen


def _list(names: Sequence[str]) -> str:
    return json.dumps(names, ensure_ascii=False)


def _message(name: str, choices: Sequence[str], every: str) -> str:
    """Write the message: what is missing, and what to write."""
    head = f"{name}: no joint of this closed mechanism has an actuator or actuated = true; "
    one_of = ", ".join(choices[:-1]) + " or " * (len(choices) > 1) + "".join(choices[-1:])
    return f"{head}add them to the description, or choose: {one_of}; {every} acts on every joint"
