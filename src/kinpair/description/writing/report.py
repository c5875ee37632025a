"""Parts that a format cannot represent, collected by kind and name."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Report:
    """Names of the parts left out by kind, in the order of the description."""

    format: str
    parts: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    notes: list[str] = field(default_factory=list[str])

    def add(self, kind: str, name: str) -> None:
        """Collect a part, such as "rotor inertia" of joint "elbow"."""
        self.parts.setdefault(kind, []).append(name)

    def note(self, sentence: str) -> None:
        """Collect a sentence about what is written differently."""
        self.notes.append(f"{self.format}: {sentence}")

    def sentences(self) -> tuple[str, ...]:
        """Return a sentence for each kind, then the notes."""
        listed = (f"{kind}; left out: {', '.join(map(repr, names))}" for kind, names in self.parts.items())
        return (*(f"{self.format} has no {text}" for text in listed), *self.notes)
