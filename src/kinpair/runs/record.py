"""Results of a simulation, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinpair.errors import InputError
from kinpair.forces.states import account_names, sticking_names
from kinpair.mechanism import Energy, Mechanism
from kinpair.runs.samples import History, by_inputs
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.held import Residual, Singular
from kinpair.simulation.monitors.momentum import Momentum, momentum_of
from kinpair.simulation.monitors.verdict import Balance, Energies, Ledger, ledger
from kinpair.simulation.status import Status

if TYPE_CHECKING:
    from kinpair.runs.contacts import Contacts


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
        return ledger(Energies(*self.energy, self.work, self.loss), self.start)

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
