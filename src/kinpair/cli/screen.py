"""Standard output, for a person."""

from __future__ import annotations

from typing import Any, final

from rich.console import Console
from rich.table import Table

from kinpair.cli.language import translated


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
        self.print(translated(text), soft_wrap=True)

    def heading(self, text: str) -> None:
        """A line that starts a part."""
        self.print(translated(text), style="bold", soft_wrap=True)

    def print(self, *objects: Any, **options: Any) -> None:
        """Show objects as Rich does, headings of tables in the language of the command."""
        for x in objects:
            if isinstance(x, Table):
                for column in x.columns:
                    column.header = (
                        translated(column.header) if isinstance(column.header, str) else column.header
                    )
        super().print(*objects, **options)
