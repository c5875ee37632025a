"""Parts of a description that have a meaning but look like a slip."""

from __future__ import annotations

from dataclasses import dataclass, field

from kinpair.errors import DescriptionError


@dataclass(slots=True)
class WarningList:
    """Collects one sentence a doubtful part; with `strict`, the first one is an error."""

    strict: bool = False
    sentences: list[str] = field(default_factory=list[str])
    leading: int = 0  # sentences that come before all others
    _known: set[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._known = set(self.sentences)

    def add(self, sentence: str, **parts: object) -> None:
        """Accept with a warning, or refuse."""
        if self.strict:
            raise DescriptionError(sentence, **parts)
        self.note(sentence)

    def lead(self, sentence: str, **parts: object) -> None:
        """Accept with a warning that comes before all others, or refuse."""
        if self.strict:
            raise DescriptionError(sentence, **parts)
        self._known.add(sentence)
        self.sentences.insert(self.leading, sentence)
        self.leading += 1

    def note(self, sentence: str) -> None:
        """Say what was done because it was asked for: never refused."""
        if sentence not in self._known:
            self._known.add(sentence)
            self.sentences.append(sentence)


def at(where: str) -> str:
    """The start of a message about something written at `where`."""
    return f"{where}: " if where else ""
