"""Results of a simulation as data: samples by name and unit, with the mode that was active at each.

A mode is kept as text, as a file has it: the names of limits and constraints, and constraints that began as TOML. A
constraint with a Python function cannot be written; its name is, and it is looked for among those given again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.description.constraint_parts import ConstraintPart
from kinpair.description.parts import Description
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, InputError
from kinpair.forces.states import account_names, has_actuators, ports_of, sticking_names
from kinpair.mechanism import Mechanism
from kinpair.model.model import Model
from kinpair.model.units import units
from kinpair.results import Energy
from kinpair.simulation.contact.numbers import KEPT, LEDGER, POINTS, SUMS
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.events import Change, Event, EventRecord
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.held import NEAR, Residual, Singular
from kinpair.simulation.modes.modes import Entry, Mode
from kinpair.simulation.monitors.momentum import Momentum, momentum_of
from kinpair.simulation.monitors.verdict import Balance, Energies, Ledger, ledger
from kinpair.simulation.status import Status

if TYPE_CHECKING:
    from kinpair.runs.contacts import Contacts

KINDS = ("supply", "loss")  # of an account
ACCOUNT = "account"


def samples_of(d: Dynamics, Y: np.ndarray, W: np.ndarray) -> dict[str, np.ndarray]:
    """q, qd, tau (..., n, k), energies, work and loss (..., n); Y (..., n, ny), W (..., n, nw)."""
    state, watched = d.layout, d.watched_layout
    vectors = {"q": Y[..., state.q], "qd": Y[..., state.qd], "tau": W[..., watched.tau]}
    vectors |= {"x": Y[..., state.x], "account": Y[..., state.account]}
    vectors |= {"slid": Y[..., state.way], "phase": Y[..., state.phase]}
    vectors["touching"] = Y[..., state.contact] if d.touching is None else _by_events(d, Y, W)
    vectors["u"] = W[..., watched.u] if d.actuated else driving(d.model, vectors["tau"])
    scalars = {
        "kinetic": W[..., watched.kinetic],
        "potential": W[..., watched.potential],
        "work": Y[..., state.work],
        "loss": Y[..., state.loss],
    }
    return vectors | {name: x[..., 0] for name, x in scalars.items()}


def _by_events(d: Dynamics, Y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return the numbers of contact (..., n, k) that events found: losses, number of points, forces by slot."""
    forces = W[..., d.watched_layout.contact]
    numbers = np.zeros((*Y.shape[:-1], LEDGER + forces.shape[-1]))
    numbers[..., :SUMS] = Y[..., d.layout.contact][..., :SUMS]
    numbers[..., POINTS] = (forces[..., ::KEPT] > 0.0).sum(axis=-1)
    numbers[..., LEDGER:] = forces
    return numbers


def driving(model: Model, tau: np.ndarray) -> np.ndarray:
    """Efforts of the joints that have an input, of all efforts (..., nv)."""
    names = ports_of(model).u_names
    return tau if names == model.v_names else tau[..., [model.v_names.index(name) for name in names]]


def residual_of(d: Dynamics, W: np.ndarray) -> Residual | None:
    """Distance of the samples from satisfying the constraints; None where there are none."""
    if not d.kept:
        return None
    first = d.watched_layout.residual.start
    return Residual(W[..., first], W[..., first + 1])


def singular_of(d: Dynamics, Y: np.ndarray) -> Singular | None:
    """Read where the constraints were nearest to dependence, if they came near to it."""
    if not d.traced or not Y.shape[-2]:
        return None
    trace = Y[..., d.layout.trace].reshape(-1, 2)
    if not np.fmax.reduce(trace[:, 0]) > 1.0 / NEAR:
        return None
    over, time = trace[np.argmax(np.nan_to_num(trace[:, 0]))]
    return Singular(float(1.0 / over), float(time))


def by_inputs(mechanism: Mechanism, options: Mapping[str, Any]) -> bool:
    """True if a run with these options was driven by inputs, not by joint efforts."""
    other = mechanism.u_names != mechanism.v_names and options.get("input") is not None
    return other or has_actuators(mechanism.model)


def vectors_of(
    mechanism: Mechanism, options: Mapping[str, Any], *, passive: bool = True
) -> dict[str, dict[str, str]]:
    """Entries with their units, by vector; without those that have no entries, and inputs that are the efforts."""
    from kinpair.runs.contacts import entries

    m, unit = mechanism, units(mechanism.model)
    ports = ports_of(m.model)
    driven = by_inputs(m, options)
    account = zip(KINDS, account_names(m.model, driven, passive=passive), strict=True)
    every: dict[str, tuple[Sequence[str], Sequence[str]]] = {
        "q": (m.q_names, unit["q"]),
        "qd": (m.v_names, unit["qd"]),
        "tau": (m.v_names, unit["tau"]),
        "x": (ports.x_names, ports.x_units),
        "u": (ports.u_names, ports.u_units) if driven else ((), ()),
    }
    vectors = {name: dict(zip(*columns, strict=True)) for name, columns in every.items()}
    steps = options.get("integrator") == "time-stepping"
    rough = () if steps else sticking_names(m.model, passive=passive)
    unit_of = dict(zip(m.v_names, unit["qd"], strict=True))
    vectors["slid"] = {name: unit_of.get(name, "m/s").removesuffix("/s") for name in rough}
    vectors["phase"] = dict.fromkeys(rough, "")
    touches = m.model.contacts is not None and len(m.model.contacts.first) > 0
    vectors["touching"] = entries(m) if steps or touches else {}
    vectors[ACCOUNT] = {f"{kind} {name}": "J" for kind, names in account for name in names}
    return {name: names for name, names in vectors.items() if names}


def written(mode: Mode) -> str:
    """Write what `Known.mode` reads."""
    return json.dumps(
        {
            "resting": [limit.label for limit in mode.resting],
            "remove": sorted(mode.remove),
            "add": [[constraint.name, _toml(constraint)] for constraint in mode.add],
        }
    )


def _toml(constraint: ConstraintPart) -> str:
    """Return the text of a constraint, empty where it has a function."""
    from kinpair.description.toml_writer import to_toml

    try:
        return to_toml(Description("", (), (), constraints=(constraint,)))
    except DescriptionError:
        return ""


@dataclass(frozen=True, slots=True)
class Known:
    """Parts that modes can be made of: limits, and constraints of the events given."""

    where: str
    limits: tuple[Limit, ...]
    constraints: tuple[ConstraintPart, ...]

    @classmethod
    def of(cls, where: str, limits: Sequence[Limit], events: Iterable[Event]) -> Known:
        """`where` is said in messages."""
        changes = (event.action for event in events if isinstance(event.action, Change))
        return cls(where, tuple(limits), tuple(x for change in changes for x in change.add))

    def mode(self, text: str) -> Mode:
        """Read the mode that was written."""
        entries: dict[str, Any] = json.loads(text)
        by_label = {limit.label: limit for limit in self.limits}
        add = tuple(self._constraint(name, toml) for name, toml in entries["add"])
        return Mode(add, frozenset(entries["remove"]), tuple(by_label[label] for label in entries["resting"]))

    def _constraint(self, name: str, toml: str) -> ConstraintPart:
        """Find the constraint among those given, if it is equal."""
        known = next((x for x in self.constraints if x.name == name and _toml(x) == toml), None)
        if known is not None:
            return known
        if not toml:
            raise InputError(
                f"{self.where}: constraint {name!r}, which an event began, holds a Python function, and the file does "
                f"not hold it; give the event again with action=kinpair.Change(add=[...]) that has it",
                constraint=name,
            )
        from kinpair.description.toml_reader import parse_toml

        return parse_toml(toml, source=self.where, warnings=WarningList()).constraints[0]


@dataclass(frozen=True, slots=True, eq=False)
class Entered:
    """A mode as text, and where it was entered first."""

    time: float
    q: np.ndarray
    text: str


@dataclass(frozen=True, eq=False)
class History:
    """Modes as they were entered, the number of the one at each sample (..., samples), and what they are made of."""

    number: np.ndarray
    entered: tuple[Entered, ...]
    known: Known

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """Modes by number; InputError where one holds a function that a file does not have."""
        return tuple(self.known.mode(x.text) for x in self.entered)


def as_text(entry: Entry) -> Entered:
    """An entry as it is kept."""
    return Entered(entry.time, entry.q, written(entry.mode))


def history_of(
    name: str, entered: Sequence[Entry], limits: Sequence[Limit], numbers: Sequence[np.ndarray]
) -> History:
    """History of a run: the numbers of the modes at its samples, piece by piece."""
    constraints = tuple(x for entry in entered for x in entry.mode.add)
    number = np.concatenate(numbers, axis=-1)
    return History(number, tuple(map(as_text, entered)), Known(name, tuple(limits), constraints))


class Rubbed(NamedTuple):
    """Dry friction of a rate in a run, or of a joint whose rates slide together: at which samples it sticks, how far
    it has
    slid [rad], [m] and its heat [J] since the start (..., samples); and the time since when it sticks at the end, NaN
    where it slides."""

    sticks: np.ndarray
    slid: np.ndarray
    heat: np.ndarray
    since: float


@dataclass(frozen=True, eq=False)
class Record:
    """Samples of a motion. A batch has the axis of trajectories in front: q is (batch, samples, nq).

    time (samples,) [s]; q, qd, joint efforts tau, internal states x and inputs u; energy (kinetic, potential with all
    that elements store); work and loss since the start [J], and `account` of them by name, see `supplied` and
    `losses`. Of rates with dry friction, how far they have `slid` and their `phase`, see `friction`. `touching` has the
    numbers of contact, see `contacts`. Everything
    computed is here, whatever the `status` says; `events` has what happened during the run; of a batch, `failures`
    has the
    rows that are not well. Under constraints, `residual` says how well they hold, and `singular` where they were
    nearest to dependence, if they came near to it. `start` has the energies (..., 2) at the start, where that is no
    sample.
    """

    mechanism: Mechanism
    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray
    x: np.ndarray
    u: np.ndarray
    account: np.ndarray
    slid: np.ndarray
    phase: np.ndarray
    touching: np.ndarray
    energy: Energy
    work: np.ndarray
    loss: np.ndarray
    status: Status
    integrator: str
    steps: int
    rejected: int
    dt: float
    took: float
    external: Mapping[str, Any] = field(default_factory=dict[str, Any])
    passive: bool = True
    parameters: tuple[str, ...] = ()
    failures: Mapping[int, Status] = field(default_factory=dict[int, Status])
    events: tuple[EventRecord, ...] = ()
    springs: bool = False  # at the limits
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    residual: Residual | None = None
    singular: Singular | None = None
    start: np.ndarray | None = None
    history: History | None = None  # of modes
    notes: tuple[str, ...] = ()  # what slows it down or limits it, in sentences

    @cached_property
    def balance(self) -> Balance:
        """Balance of the energy."""
        return self.ledger.balance

    @cached_property
    def ledger(self) -> Ledger:
        """Balance of every motion of a batch."""
        return ledger(Energies(*self.energy, self.work, self.loss), self.start, self.qd)

    @property
    def supplied(self) -> dict[str, np.ndarray]:
        """Energy since the start that came in through actuators, by name (..., samples) [J]."""
        return self._accounts[0]

    @property
    def losses(self) -> dict[str, np.ndarray]:
        """Energy that actuators, dry friction and elements with internal states lost, by name (..., samples) [J]."""
        return self._accounts[1]

    @cached_property
    def friction(self) -> dict[str, Rubbed]:
        """Dry friction of the run, by name of the rate, or of a joint whose rates slide together: when it stuck, how
        far it has slid, its heat, and since when it sticks at the end."""
        from kinpair.constraints.solve.stick import SLIDES

        found, model = dict[str, Rubbed](), self.mechanism.model
        for k, name in enumerate(sticking_names(model, passive=self.passive) if self.phase.shape[-1] else ()):
            brakes = {x.name for x in model.frictions if model.v_names[x.v] == name}
            own = [
                x for loss, x in self.losses.items() if loss in brakes or loss.startswith(f"{name}.friction")
            ]
            heat = sum(own, np.zeros(self.slid.shape[:-1]))
            sticks = self.phase[..., k] != SLIDES
            found[name] = Rubbed(sticks, self.slid[..., k], heat, self._since(name, sticks))
        return found

    def _since(self, name: str, sticks: np.ndarray) -> float:
        """NaN where it slides at the end, and of a batch."""
        from kinpair.simulation.phases import sticks as sticks_name

        if sticks.ndim > 1 or not len(sticks) or not sticks[-1]:
            return np.nan
        times = [x.time for x in self.events if x.name == sticks_name(name)]
        return times[-1] if times else float(self.options.get("time", 0.0))

    def contacts_at(self, lead: tuple[int, ...]) -> Contacts | None:
        """Return contact at the samples of one motion; None where nothing touches."""
        from kinpair.runs.contacts import Contacts

        if not self.touching.shape[-1] or self.mechanism.model.contacts is None:
            return None
        q, qd, numbers = (np.asarray(x[lead]) for x in (self.q, self.qd, self.touching))
        return Contacts(self.mechanism, np.asarray(self.time), q, qd, numbers)

    @cached_property
    def _accounts(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        names = account_names(
            self.mechanism.model, by_inputs(self.mechanism, self.options), passive=self.passive
        )
        columns = iter(np.moveaxis(self.account, -1, 0))
        supply, lost = ({name: next(columns) for name in group} for group in names)
        return supply, lost

    @cached_property
    def momentum(self) -> Momentum | None:
        """Measure how well momentum that nothing outside can change was kept; None where there is none such."""
        samples = {"q": self.q, "qd": self.qd, "tau": self.tau, "kinetic": self.energy.kinetic}
        return momentum_of(self.mechanism, self.options, self.time, samples)


def lead_of(run: Record, row: int) -> tuple[int, ...]:
    """Index of the samples of one motion in arrays of the run: of a batch, its row."""
    count = len(run.q) if run.q.ndim == 3 else 1
    if not 0 <= row < count:
        rows = f"the batch has rows 0 to {count - 1}" if run.q.ndim == 3 else "the run is one motion, row 0"
        raise InputError(f"row is {row}; {rows}", row=row)
    return (row,) if run.q.ndim == 3 else ()
