"""A page that follows a file: read again when it is saved, with the message in the page where it does not parse."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

from kinpair.errors import KinpairError
from kinpair.viewer.page import Page
from kinpair.viewer.scene import Drawn

EVERY = 0.25  # s between looks


def follow(page: Page, path: str | os.PathLike[str], load: Callable[[], Drawn]) -> threading.Event:
    """Look at a file and show what `load` makes of it whenever it has changed; setting the event ends that."""
    ended = threading.Event()
    file = Path(path)

    def look() -> None:
        before = _changed(file)
        while not ended.wait(EVERY):
            now = _changed(file)
            if now is None or now == before:
                continue
            before = now
            try:
                page.replace(load())
            except KinpairError as reason:
                page.trouble(str(reason))

    threading.Thread(target=look, daemon=True, name="kinpair file").start()
    return ended


def _changed(file: Path) -> tuple[int, int] | None:
    """When it was changed and how long it is; None while an editor is replacing it."""
    try:
        about = file.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size
