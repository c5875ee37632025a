"""Objects of contact in time steps and by events: geoms and pairs, and limits of joints that stop or bounce."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinpair.contact.records import SLOTS
from kinpair.model.contact_data import ContactData, Shapes
from kinpair.simulation.contact.numbers import KEPT, LEDGER
from kinpair.simulation.events.limits import Limit


@dataclass(frozen=True, slots=True)
class Stepped:
    """Geoms and pairs of a mechanism, and limits of its joints that are rows of the same problem."""

    data: ContactData
    limits: tuple[Limit, ...] = ()

    @property
    def numbers(self) -> int:
        """Entries of the state: sums over the run, measures of the last step, forces by slot."""
        return LEDGER + KEPT * self.data.max_contacts

    @property
    def first_slot(self) -> int:
        """Slot of the first limit; slots of contact points are below, those of rates with dry friction behind."""
        return SLOTS * len(self.data.first)


def no_geoms() -> ContactData:
    """Return the data of a mechanism in which nothing touches."""
    whole, numbers, points = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 3))
    shapes = Shapes(np.zeros((0, 5)), points, np.zeros((0, 4)))
    geoms = (whole, whole, np.zeros((0, 9)), points, lambda: shapes)
    return ContactData((), *geoms, whole, whole, numbers, numbers, numbers, numbers, numbers, 1)
