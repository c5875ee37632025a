"""Status of a run at its end."""

from __future__ import annotations

from dataclasses import dataclass

WELL = ("done", "event")
FINISHED = (*WELL, "doubtful", "drifted", "failed")
FAILED = ("refused", "not saved")  # not for a reason of the motion
INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Status:
    """Status of a run: `name`, at which time, and why in words.

    Names: `done`, `event` (one of them stopped it); at the end, but not well: `doubtful` (energy or momentum does not
    add up), `drifted` (constraints have come apart), `failed` (motions of a batch did, or did not arrive); before the
    end: `zeno` (events without end), `interrupted`, `not finite`, `not converged`, `collapsed` (no step is short
    enough), `jammed` (friction from load has no solution), `singular` (no impulse or force satisfies the constraints),
    `exhausted`, `endless` (too many steps are needed), `runaway` (the motion has no bound), `refused` (the torque, or a
    function of an event, failed), `not saved` (the disk refused), `unfinished` (a file of a run that goes on, or was
    killed).
    """

    name: str
    time: float
    message: str

    @property
    def ok(self) -> bool:
        """True if the end was reached, or an event that stops, and all is well."""
        return self.name in WELL

    @property
    def finished(self) -> bool:
        """True if nothing is left to be done."""
        return self.name in FINISHED

    def __str__(self) -> str:
        return self.message
