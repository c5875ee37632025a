"""Parts of a file that act on the motion and are not simulated: collected by kind, and reported in one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinpair.description.fields import counted
from kinpair.description.warning_list import WarningList

SHOWN = 3  # names of each kind in the sentence
GEOM = "geom"


@dataclass(slots=True)
class Omitted:
    """Labels of the parts left out, by kind, each kind in the order of the file; `where` is that of the first part."""

    where: str = ""
    labels: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def add(self, kind: str, label: str, where: str) -> None:
        """Collect a part; its label is its name and what distinguishes it."""
        self.where = self.where or where
        self.labels.setdefault(kind, []).append(label)

    def report(self, warnings: WarningList) -> None:
        """Add one sentence, the first of the list; with strict=True it is an error."""
        if self.labels:
            kinds = ", ".join(_listed(kind, labels) for kind, labels in self.labels.items())
            warnings.lead(
                f"{self.where}: not simulated, although the motion depends on it: {kinds}",
                omitted={kind: tuple(labels) for kind, labels in self.labels.items()},
            )


def _listed(kind: str, labels: list[str]) -> str:
    some = ", ".join((*labels[:SHOWN], *("...",) * (len(labels) > SHOWN)))
    return f"{'contact of ' * (kind == GEOM)}{counted(len(labels), kind)} ({some})"
