"""Standard output, for a person."""

from __future__ import annotations

from typing import final

from rich.console import Console


@final
class Screen(Console):
    """Standard output; text is shown as it is, and a reader that has gone is left to the caller."""

    def __init__(self) -> None:
        super().__init__(markup=False, highlight=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Called while a BrokenPipeError is handled."""
        raise BrokenPipeError

    def say(self, text: str = "") -> None:
        """A line of text, never folded."""
        self.print(text, soft_wrap=True)

    def heading(self, text: str) -> None:
        """A line that starts a part."""
        self.print(text, style="bold", soft_wrap=True)
