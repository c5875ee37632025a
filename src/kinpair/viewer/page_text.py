"""Text in the panel of a page: the one place where words of a file become HTML, escaped."""

from __future__ import annotations

from html import escape
from typing import Any

STYLE = "font-size:0.875em;padding:0 0.75em 0.5em;overflow-wrap:anywhere;white-space:pre-line"


class Text:
    """A paragraph in the panel, hidden while it is empty. `strong` is written in bold before the words."""

    def __init__(
        self,
        gui: Any,
        words: str = "",
        *,
        strong: str = "",
        colour: str = "inherit",
        order: float | None = None,
    ) -> None:
        self._strong, self._colour = strong, colour
        self._element = gui.add_html("", order=order, visible=False)
        self.show(words)

    def show(self, words: str) -> None:
        """Replace the words."""
        content = f"<b>{escaped(self._strong)}</b>{escaped(words)}"
        self._element.content = f'<div style="{STYLE};color:{self._colour}">{content}</div>'
        self._element.visible = bool(self._strong or words)

    def remove(self) -> None:
        """Take the paragraph out of the panel."""
        self._element.remove()


def escaped(text: str) -> str:
    """Escape text: HTML that shows exactly this text and has no element, attribute or entity of its own."""
    return escape(text, quote=True)
