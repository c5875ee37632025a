"""SUNDIALS says on the standard output what went wrong in a step; a run says it in its status."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

SAID = re.compile(r"\n\[\w+, Error: -?\d+\] ")


class _Without:
    """A stream without the words of the library, which come as one text and the end of its line."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._dropped = stream, False

    def write(self, text: str) -> int:
        """All but them."""
        if SAID.match(text) or (self._dropped and text == "\n"):
            self._dropped = text != "\n"
            return len(text)
        self._dropped = False
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def unspoken() -> Generator[None]:
    """While the library steps; what a torque prints is printed."""
    stream = sys.stdout
    if stream is None or isinstance(stream, _Without):
        yield
        return
    sys.stdout = _Without(stream)
    try:
        yield
    finally:
        sys.stdout = stream
