"""States given by name, as arrays.

Without constraints the entries that are not named are neutral coordinates, and zero rates, accelerations and efforts.
Under constraints named coordinates are held and the others assembled, from the start of the description; named rates
and accelerations are inputs, and the others follow, as near to zero as can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinpair.constraints.assembly.closure import Closure
from kinpair.constraints.assembly.moment import at_time
from kinpair.errors import InputError
from kinpair.model.entries import batch_of, filled, words_of


def arrays(closure: Closure, state: Mapping[str, Any], time: Any) -> tuple[Any, ...]:
    """The arguments q, qd, qdd, tau of a call in their order; what is not given by name stays as it is."""
    known: dict[str, Any] = {}
    for name, value in state.items():
        known[name] = FROM_NAMES[name](closure, value, known, time) if isinstance(value, Mapping) else value
    return tuple(known.values())


def guess(closure: Closure, stated: Mapping[str, Any]) -> np.ndarray:
    """Coordinates near which a position is looked for: the start with the named ones in it."""
    return filled(closure.model, words_of("q"), stated, _start(closure), coordinates=True)[0]


def guesses(closure: Closure, stated: Mapping[str, Any]) -> np.ndarray:
    """The same; of a batch (batch, nq) where there are arrays with a number for each state."""
    start, batch = _start(closure), batch_of(closure.model, stated, coordinates=True)
    start = start if batch is None else np.broadcast_to(start, (batch, len(start)))
    return filled(closure.model, words_of("q"), stated, start, coordinates=True)[0]


def _start(closure: Closure) -> np.ndarray:
    return closure.assembly.begin() if closure.constraints else closure.model.neutral()


def efforts(closure: Closure, argument: str, stated: Mapping[str, Any]) -> np.ndarray:
    """Efforts (nv,), or anything else with an entry for each rate, zero where nothing is named."""
    return filled(closure.model, words_of(argument), stated, np.zeros(closure.model.nv))[0]


def _positions(
    closure: Closure, stated: Mapping[str, Any], known: Mapping[str, Any], time: Any
) -> np.ndarray:
    end = guess(closure, stated)
    if not closure.constraints:
        return end
    assembly = closure.assembly
    return assembly.led(assembly.begin(), end, tuple(stated), _moment(closure, time))


def _rates(closure: Closure, stated: Mapping[str, Any], known: Mapping[str, Any], time: Any) -> np.ndarray:
    zeros_but = efforts(closure, "qd", stated)
    if not closure.constraints:
        return zeros_but
    return closure.rates.velocities(known["q"], stated, None, _moment(closure, time))


def _accelerations(
    closure: Closure, stated: Mapping[str, Any], known: Mapping[str, Any], time: Any
) -> np.ndarray:
    zeros_but = efforts(closure, "qdd", stated)
    if not closure.constraints:
        return zeros_but
    return closure.rates.accelerations(known["q"], known["qd"], stated, None, _moment(closure, time))


def _efforts(closure: Closure, stated: Mapping[str, Any], known: Mapping[str, Any], time: Any) -> np.ndarray:
    return efforts(closure, "tau", stated)


FROM_NAMES = {"q": _positions, "qd": _rates, "qdd": _accelerations, "tau": _efforts}


def _moment(closure: Closure, time: Any) -> float:
    """The time of one state."""
    moments = np.ravel(at_time(time))
    if len(moments) != 1:
        raise InputError(
            f"{closure.model.name}: a state by name is one state, and time has {len(moments)} entries; give arrays",
            argument="time",
        )
    return float(moments[0])
