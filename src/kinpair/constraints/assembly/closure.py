"""The constraints of one model: its rows, the parts that work on them, and a text for a reader."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, final

from kinpair.constraints.assembly.drives import Drives
from kinpair.constraints.assembly.long import LongLoops
from kinpair.constraints.assembly.positions import Assembly
from kinpair.constraints.assembly.rank import Rank, Requests
from kinpair.constraints.assembly.rates import Rates
from kinpair.constraints.assembly.rows import ConstraintRows
from kinpair.constraints.rows.mobility import HEADINGS, entries
from kinpair.errors import KinpairError
from kinpair.model.table import aligned

if TYPE_CHECKING:
    from kinpair.constraints.assembly.accelerations import ClosedAccelerations
    from kinpair.constraints.assembly.derivatives import Derivatives
    from kinpair.constraints.assembly.effort_derivatives import EffortDerivatives, EffortRegressor
    from kinpair.constraints.assembly.forces import AnyRank, Forces
    from kinpair.constraints.assembly.reactions import ConstrainedReactions
    from kinpair.evaluation.calls import Calls
    from kinpair.model.model import Model

T = TypeVar("T")


@final
class Closure(ConstraintRows):
    """The rows of one model, with those who assemble, rank, solve and drive by them; each is made when first needed."""

    def __init__(self, model: Model, calls: Calls) -> None:
        super().__init__(model, calls)
        self._known: dict[str, Any] = {}

    def once(self, name: str, find: Callable[[], T]) -> T:
        """Value that is found the first time, and taken for good: compiled code is made for it."""
        if name not in self._known:
            self._known[name] = find()
        return self._known[name]

    @cached_property
    def assembly(self) -> Assembly:
        """Positions that obey."""
        return Assembly(self, self.long)

    @cached_property
    def long(self) -> LongLoops:
        """Loops of a long mechanism."""
        return LongLoops(self)

    @cached_property
    def rates(self) -> Rates:
        """Rates and accelerations that obey."""
        return Rates(self, self.long)

    @cached_property
    def rank(self) -> Rank:
        """Independent rows of the closure."""
        return Rank(self, self.assembly)

    @cached_property
    def requests(self) -> Requests:
        """Rows of a solver and their order."""
        return Requests(self, self.assembly, self.rank)

    @cached_property
    def drives(self) -> Drives:
        """Efforts that make a motion, and what the loops then carry."""
        return Drives(self, self.requests)

    @cached_property
    def reactions(self) -> ConstrainedReactions:
        """Wrenches in joints and loops."""
        from kinpair.constraints.assembly.reactions import ConstrainedReactions

        return ConstrainedReactions(self, self.requests, self.drives)

    @cached_property
    def any_rank(self) -> AnyRank:
        """Accelerations and forces of one state, with the rank found there."""
        from kinpair.constraints.assembly.forces import AnyRank

        return AnyRank(self, self.drives)

    @cached_property
    def forces(self) -> Forces:
        """Forces of the constraints under given efforts."""
        from kinpair.constraints.assembly.forces import Forces

        return Forces(self, self.requests, self.any_rank)

    @cached_property
    def dynamics(self) -> ClosedAccelerations:
        """Accelerations with every row in force."""
        from kinpair.constraints.assembly.accelerations import ClosedAccelerations

        return ClosedAccelerations(self, self.requests, self.any_rank, self.long)

    @cached_property
    def derivatives(self) -> Derivatives:
        """Derivatives of the accelerations, and reduced equations."""
        from kinpair.constraints.assembly.derivatives import Derivatives

        return Derivatives(self, self.requests, self.dynamics)

    @cached_property
    def effort_derivatives(self) -> EffortDerivatives:
        """Derivatives of the efforts of chosen actuators."""
        from kinpair.constraints.assembly.effort_derivatives import EffortDerivatives

        return EffortDerivatives(self, self.requests, self.drives)

    @cached_property
    def effort_regressor(self) -> EffortRegressor:
        """Regressor of the efforts of chosen actuators."""
        from kinpair.constraints.assembly.effort_derivatives import EffortRegressor

        return EffortRegressor(self, self.drives)


def constraint_tables(closed: Closure) -> list[str]:
    """The constraints and what freedom they leave at the start, or what prevents them from closing."""
    parts: list[str] = []
    try:
        parts += ["\n".join(aligned([HEADINGS, *(x.cells for x in entries(closed.model))]))]
        parts += [f"at the start: {closed.rank.mobility(closed.assembly.start(), 0.0)}"]
    except KinpairError as reason:
        parts += [str(reason)]
    return parts
