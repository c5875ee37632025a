"""Base of a mechanism and a system given by its energy: coordinates by name, and their constraints.

States given by name become arrays. Without constraints the entries that are not named are neutral coordinates, and
zero rates, accelerations and efforts. Under constraints named coordinates are fixed and the others assembled, from the
start of the description; named rates and accelerations are inputs, and the others follow, as near to zero as can be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.constraints.assembly.actuated import ALL, CALL, Actuators
from kinpair.constraints.assembly.batch import at_time
from kinpair.constraints.assembly.positions import start_outside
from kinpair.errors import InputError
from kinpair.forces.states import ports_of
from kinpair.model.entries import batch_of, filled, words_of

if TYPE_CHECKING:
    from kinpair.constraints.assembly.closure import Closure
    from kinpair.constraints.rows.mobility import Mobility
    from kinpair.evaluation.calls import Calls
    from kinpair.model.model import Model


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
    """Read guesses; of a batch (batch, nq) where there are arrays with a number for each state."""
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


ARRAYS = {np.ndarray}  # types of a state that is not given by name


class Movable(ABC):
    """A system with coordinates, free or under constraints."""

    model: Model
    _calls: Calls

    @property
    @abstractmethod
    def _closed(self) -> Closure:
        """The constraints, none as well."""

    # Sizes and names.

    @property
    def name(self) -> str:
        """Name of the system."""
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of rates: degrees of freedom."""
        return self.model.nv

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the entries of q."""
        return self.model.q_names

    @property
    def v_names(self) -> tuple[str, ...]:
        """Names of the entries of qd, qdd and tau."""
        return self.model.v_names

    @property
    def nx(self) -> int:
        """Number of internal states, such as currents and pressures of actuators."""
        return len(self.x_names)

    @property
    def nu(self) -> int:
        """Number of inputs: those of actuators, then the efforts on the other rates."""
        return len(self.u_names)

    @property
    def x_names(self) -> tuple[str, ...]:
        """Names of the internal states."""
        return ports_of(self.model).x_names

    @property
    def x_start(self) -> np.ndarray:
        """Internal states to begin with (nx,).

        Units: [SI] of each state: amperes, pascals, metres.
        """
        return np.array(ports_of(self.model).x_start, dtype=float)

    @property
    def u_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return ports_of(self.model).u_names

    def actuated(
        self, q: Any = None, *, actuators: Actuators = None, time: Any = 0.0, call: str = CALL
    ) -> tuple[str, ...]:
        """Return the names of the rates that have efforts in inverse dynamics, in the order of `v_names`.

        A tree: every rate that follows no other. A closed mechanism: the rates of the joints with an actuator or
        `actuated = true`. `actuators` chooses others: names of joints or rates, or "all" for every rate that follows no
        other. ActuatorsError where a closed mechanism specifies none, with choices that are valid at `q` (nq,) or
        (batch, nq), each as the `call` to type.

        >>> import kinpair as kp
        >>> kp.example("delta").actuated()
        ('arm1', 'arm2', 'arm3')

        Units: q [rad] or [m].
        """
        chosen = actuators_from(actuators)
        at = None if q is None else self.by_name(time, q=q)[0]
        rates = self._closed.drives.actuated.rates(chosen, at, time, call=call)
        return tuple(self.v_names[k] for k in rates)

    # States by name.

    def by_name(self, time: Any = 0.0, **state: Any) -> Any:
        """The arguments q, qd, qdd, tau that are given, in this order, those given by name as arrays.

        >>> import kinpair as kp
        >>> q, qd = kp.example("four-bar").by_name(q={"crank": 0.3}, qd={"crank": 2.0})
        >>> q.round(3).tolist(), qd.round(3).tolist()
        ([0.3, 2.14, 2.245], [2.0, -0.797, -0.436])

        The other coordinates are neutral, the other rates, accelerations and efforts zero; under constraints named
        coordinates are fixed and the others assembled, named rates and accelerations are inputs and the others follow.
        A joint of several degrees takes a vector.

        Units: coordinates [rad] or [m], rates [rad/s] or [m/s], efforts [N m] or [N].
        """
        if ARRAYS.issuperset(map(type, state.values())):
            return tuple(state.values())
        return arrays(self._closed, state, time)

    # Constraints.

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraints, in the order of their rows."""
        return tuple(x.name for x in self._closed.constraints)

    @property
    def constraint_rows(self) -> tuple[str, ...]:
        """Names of the rows, in the order of `constraint_matrix`."""
        return self._closed.row_names

    def constraint_residual(self, q: Any, *, time: Any = 0.0) -> np.ndarray:
        """Residuals φ (rows,) of the holonomic rows [m] or [rad]; zero where the loops close."""
        (at,) = self.by_name(time, q=q)
        return self._closed.positions(at, time)

    def constraint_matrix(self, q: Any, *, time: Any = 0.0) -> np.ndarray:
        """A (rows, nv) of A q̇ + a = 0.

        Units: entries [m/rad], or [no unit].
        """
        (at,) = self.by_name(time, q=q)
        return self._closed.matrix(at, time)

    def assemble(self, q: Any, *, fixed: Sequence[str] = (), time: Any = 0.0) -> np.ndarray:
        """Coordinates near the guess q that close every loop; joints or entries of q named in `fixed` stay.

        Of a batch of guesses (batch, nq) those near to a position are closed by compiled code.

        A guess by name is the start of the description with these entries in it; arrays by name are a batch.
        Within the limits of the joints if possible; where only positions beyond them are found, the nearest, with
        a LimitWarning that names the joints. A guess that closes to 1e-3 is a position, and stays where it is. Joints
        in `fixed`, and those on which no loop depends, are not judged.
        SingularError says which closure stays open, and by how much, where there are none.

        Units: coordinates [rad] or [m].
        """
        stay = names_from("fixed", fixed)
        near = guesses(self._closed, q) if isinstance(q, Mapping) else self._calls.checked("q", q)
        if near.ndim == 1 and np.ndim(time) == 0:
            return self._closed.assembly.assemble(near, stay, time)
        return self._closed.assembly.assemble_states(near, stay, time)

    def velocities(
        self, q: Any, inputs: Mapping[str, Any] | None = None, *, guess: Any = None, time: Any = 0.0
    ) -> np.ndarray:
        """Rates (nv,) that obey the constraints and have the `inputs`; the rest as near to `guess` (zero) as can be.

        `inputs` are numbers by name of a rate, or vectors by name of a joint of several degrees; for a batch arrays
        with the batch in front.

        Units: [rad/s] or [m/s].
        """
        (at,) = self.by_name(time, q=q)
        return self._closed.rates.velocities(at, inputs, guess, time)

    def accelerations(
        self,
        q: Any,
        qd: Any,
        inputs: Mapping[str, Any] | None = None,
        *,
        guess: Any = None,
        time: Any = 0.0,
    ) -> np.ndarray:
        """Accelerations (nv,) that obey the constraints and have the `inputs` by name; the rest near to `guess`.

        Units: rates [rad/s] or [m/s], accelerations [rad/s²] or [m/s²].
        """
        at, rates = self.by_name(time, q=q, qd=qd)
        return self._closed.rates.accelerations(at, rates, inputs, guess, time)

    def mobility(self, q: Any, *, time: float = 0.0) -> Mobility:
        """Freedoms at q: Grübler's count and the true number, redundant rows by name, singular or not.

        Units: q [rad] or [m].
        """
        (at,) = self.by_name(time, q=q)
        return self._closed.rank.mobility(self._state("q", at), time)

    def start_warning(self, q: Any, *, time: float = 0.0, what: str = "the start") -> str:
        """Describe the coordinates of q (nq,) or (batch, nq) outside the limits of their joints, with the nearest
        position inside; empty where all are inside. `what` names the position.

        Units: q [rad] or [m].
        """
        (at,) = self.by_name(time, q=q)
        return start_outside(self._closed.assembly, self.checked("q", at), time, what)

    def _guess(self, q: Any) -> np.ndarray:
        """Coordinates near which a position is looked for."""
        return guess(self._closed, q) if isinstance(q, Mapping) else self._state("q", q)

    def checked(self, name: str, value: Any) -> np.ndarray:
        """Check one of the arguments q, qd, qdd, tau, of one state (n,) or of a batch (batch, n).

        Units: coordinates [rad] or [m], rates [rad/s] or [m/s], efforts [N m] or [N].
        """
        return self._calls.checked(name, value)

    def _state(self, name: str, value: Any) -> np.ndarray:
        """Check one state."""
        return self._calls.one(name, value)


def actuators_from(value: Any) -> Actuators:
    """Check the argument `actuators`: different names, "all", or None."""
    if isinstance(value, str) and value != ALL:
        raise InputError(f'actuators is {value!r}; give a list of names, [{value!r}], or "all"')
    return ALL if isinstance(value, str) else None if value is None else names_from("actuators", value)


def names_from(what: str, names: Any) -> tuple[str, ...]:
    """A tuple of different names; one name alone is no tuple."""
    if isinstance(names, str):
        raise InputError(f"{what} is {names!r}; give a tuple of names, ({names!r},)")
    if not isinstance(names, Iterable):
        raise InputError(f"{what} is {names!r}; give a tuple of names")
    every: tuple[Any, ...] = tuple(names)
    if twice := [name for name in every if every.count(name) > 1]:
        raise InputError(f"{what} has {twice[0]!r} twice; once will do")
    return every
