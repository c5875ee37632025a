"""Every formulation on one mechanism: agreement, operations, time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kinpair.analysis.comparison import Comparison, Row
from kinpair.analysis.measuring import Setting, Stopped, measured, random_states, warm_up
from kinpair.compiler.background import waiting
from kinpair.compiler.patience import progress
from kinpair.compiler.target import host
from kinpair.errors import InputError, known_keywords, offered
from kinpair.evaluation.quantities.request import METHODS
from kinpair.mechanism import Mechanism
from kinpair.model.welds import with_welds

USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "reactions")
STATES = 32


@known_keywords
@waiting()
def compare(
    mechanism: Mechanism,
    *,
    quantities: Sequence[str] = USUAL,
    states: int = STATES,
    seed: int = 0,
    force: bool = False,
    time: bool = True,
) -> Comparison:
    """Every formulation on a mechanism: do they agree, what do they cost, how fast are they?

    quantities: names from `mechanism.methods`. states, seed: how many random states to compare in, and their
    seed; joints stay within their limits. force=True: also formulations that are refused because they take
    long. time=False: no compiling and no clock, only numbers and operations.

    The yardstick is the default formulation run without the compiler. Springs, dampers and friction, the
    same for all, are left out; so are loops and other constraints beyond the joints: of a closed mechanism the tree is
    compared, its forward dynamics too, not the motion with the loops closed.
    A formulation that does not apply has a row with the reason. Ctrl-C keeps the rows that are finished: `complete` is
    False then, and `status` says how far it got.
    """
    _check(mechanism, quantities, states, seed)
    model, names = mechanism.model, tuple(dict.fromkeys(quantities))
    batch = random_states(model, states, seed)
    steps = sum(len(METHODS[name]) for name in names)
    rows: list[Row] = []
    with progress(f"comparing {model.name}", steps) as begin:
        setting = Setting(model, batch, seed, force, time, begin)
        try:
            if time:
                warm_up()
            for name in names:
                of = with_welds(model) if name == "reactions" else model
                rows += measured(replace(setting, model=of), name)
        except Stopped as early:
            rows += early.rows
        except KeyboardInterrupt:
            if not rows:
                raise
    mimics = list(model.description.joints_with("mimic"))
    constraints = len(model.description.constraints) + len(mimics)
    missing = steps - len(rows)
    return Comparison(model.name, model.nv, states, seed, host().cpu, tuple(rows), constraints, missing)


def _check(mechanism: Any, quantities: Any, states: Any, seed: Any) -> None:
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"compare takes a Mechanism, not {type(mechanism).__name__}; load() reads files, example() names"
        )
    if isinstance(quantities, str):
        raise InputError(f"quantities is {quantities!r}; give a list of names, [{quantities!r}]")
    for name in quantities:
        if name not in METHODS:
            raise InputError(
                f"no quantity {name!r} to compare; {offered(str(name), 'quantities', METHODS)}",
                quantity=name,
            )
    for name, value, least in (("states", states, 1), ("seed", seed, 0)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"{name} is {value!r}; it is a whole number, {least} or more", **{name: value})
    if not mechanism.nv:
        raise InputError(f"{mechanism.name}: nothing moves, so there is nothing to compare")
