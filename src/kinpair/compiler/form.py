"""How a value is written in LLVM text: a plain number, or as many as the machine has lanes."""

from __future__ import annotations

from dataclasses import dataclass

from kinpair.compiler.target import Real

ATTRIBUTES = 'nounwind "stackrealign"'  # what is spilled to the stack stands there aligned, whoever calls


@dataclass(frozen=True, slots=True)
class Form:
    """How a value is written: its type and how many lanes.

    Code of one lane may compute the sines and cosines of several angles at once, `turning` of them.
    """

    real: Real
    lanes: int
    turning: int = 1

    def of(self, scalar: str) -> str:
        """The type of `lanes` scalars."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    @property
    def suffix(self) -> str:
        """What the names of intrinsics end in."""
        return self.real.suffix if self.lanes == 1 else f"v{self.lanes}{self.real.suffix}"

    @property
    def bytes(self) -> int:
        """Size of a value."""
        return self.lanes * self.real.size

    def number(self, value: float | bool) -> str:
        """A constant in every lane."""
        if isinstance(value, bool):
            kind, text = "i1", str(value).lower()
        else:
            kind, text = self.real.llvm, self.real.literal(value)
        return text if self.lanes == 1 else f"splat ({kind} {text})"
