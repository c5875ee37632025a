"""Each quantity by each method: operations left, whether the default has the fewest, time and compile time.

`python -m benchmarks.methods` prints the table of the arms that are timed, and measures nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import kinpair as kp
from benchmarks.robots import robot
from kinpair.evaluation.quantities.request import METHODS

ROBOTS = ("UR5", "xArm7", "Panda", "Allegro", "Go2, free", "G1")
QUICK = ("UR5", "Panda")
TIMED = ("UR5", "xArm7", "Panda")  # arms: their code is also compiled and run
TIMED_QUICK = ("UR5",)
CHOSEN = {"coriolis_matrix": "published form"}  # defaults that are not the default for their operations
TIMED_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "reactions")


@dataclass(frozen=True, slots=True)
class Counted:
    """One quantity of one robot, by method; the first is the default, those that do not apply are left out."""

    quantity: str
    robot: str
    operations: dict[str, int]
    batch: dict[str, float] = field(default_factory=dict)
    """Seconds a state in a batch, of the robots that are timed."""
    compile: dict[str, float] = field(default_factory=dict)
    """Seconds of compiling."""

    @property
    def chosen(self) -> str:
        """Why the default is the default, where it is not for its operations."""
        return CHOSEN.get(self.quantity, "")

    @property
    def default_is_leanest(self) -> bool:
        """No other method has fewer."""
        default, *others = self.operations.values()
        return all(default <= other for other in others)

    def ratios(self, method: str) -> tuple[float, float, float]:
        """Operations, time in a batch and compile time, each to that of the default."""
        columns = (self.operations, self.batch, self.compile)
        operations, batch, compiling = (x[method] / x[next(iter(x))] for x in columns)
        return operations, batch, compiling


def rows(
    labels: tuple[str, ...], timed: tuple[str, ...] = (), quantities: Iterable[str] = METHODS
) -> Iterator[Counted]:
    """Every quantity that has methods, or some of them."""
    for label in labels:
        mechanism = robot(label).load()
        for quantity in quantities:
            methods = mechanism.methods[quantity]
            counts = {m: n for m in methods if (n := _operations(mechanism, quantity, m)) is not None}
            if label in timed and quantity in TIMED_QUANTITIES:
                yield _timed(mechanism, Counted(quantity, label, counts))
            else:
                yield Counted(quantity, label, counts)


def _operations(mechanism: kp.Mechanism, quantity: str, method: str) -> int | None:
    """None where the method does not apply."""
    try:
        return mechanism.kernel(quantity, method=method).count["total"]
    except kp.InputError:
        return None


def _timed(mechanism: kp.Mechanism, row: Counted) -> Counted:
    results = [r for r in kp.compare(mechanism, quantities=[row.quantity], states=1).rows if not r.reason]
    batch = {r.method: r.batch for r in results if r.batch is not None}
    return Counted(
        row.quantity,
        row.robot,
        row.operations,
        batch,
        {r.method: r.compile for r in results if r.compile is not None},
    )


def main() -> None:
    """The arms that are timed."""
    from benchmarks.markdown import formulations

    every = list(rows(TIMED, TIMED, TIMED_QUANTITIES))
    print(formulations(sorted(every, key=lambda row: TIMED_QUANTITIES.index(row.quantity))))


if __name__ == "__main__":
    main()
