"""Operations that are left of each quantity by each method, and whether the default has the fewest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.robots import robot

ROBOTS = ("UR5", "xArm7", "Panda", "Allegro", "Go2, free", "G1")
QUICK = ("UR5", "Panda")


@dataclass(frozen=True, slots=True)
class Counted:
    """Operations of one quantity of one robot, by method; the first is the default."""

    quantity: str
    robot: str
    operations: dict[str, int]

    @property
    def default_is_leanest(self) -> bool:
        """No other method has fewer."""
        default, *others = self.operations.values()
        return all(default <= other for other in others)


def rows(labels: tuple[str, ...]) -> Iterator[Counted]:
    """Every quantity that has methods."""
    for label in labels:
        mechanism = robot(label).load()
        for quantity, methods in mechanism.methods.items():
            counts = {m: mechanism.kernel(quantity, method=m).count["total"] for m in methods}
            yield Counted(quantity, label, counts)
