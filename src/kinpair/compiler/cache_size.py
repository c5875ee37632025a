"""The size of the cache of machine code: how much there is, how much may be, what goes first.

The time of a file says when it was used last. Whoever writes an entry first adds its size, in blocks, to the length of
the file `growth`. Only when that says that an eighth of the limit was written since the last look is the directory
looked through and the oldest removed, until seven eighths are left. So the limit holds, and a look is rare. Several
processes may look at once: they remove the same entries, and one that is gone is compiled again.
"""

from __future__ import annotations

import os
import re
import warnings
from contextlib import suppress
from math import isfinite
from pathlib import Path
from time import time
from typing import NamedTuple

from kinpair.errors import CacheWarning

VARIABLE = "KINPAIR_CACHE_SIZE"
LIMIT = 1024**3  # bytes
GROWTH = "growth"
BLOCK = 4096  # bytes that one byte of the file `growth` stands for
PART = 8  # of the limit, what may be written between two looks
LEFT = 24 * 3600.0  # seconds after which an entry that is half written was left by a process that is gone
UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_SIZE = re.compile(r"\s*([0-9.]+)\s*([kmg]?)\s*", re.IGNORECASE)
_HALF_WRITTEN = "new-"
_OURS = re.compile(rf"[0-9a-f]{{64}}|{_HALF_WRITTEN}[a-z0-9_]{{8}}")


class Kept(NamedTuple):
    """A file of the cache: its size in bytes, and when it was used last."""

    used: float
    size: int
    path: Path


def default_limit() -> int:
    """$KINPAIR_CACHE_SIZE, or 1 GiB."""
    text = os.environ.get(VARIABLE, "")
    limit = limit_from(text)
    if limit is None:
        warnings.warn(
            f"{VARIABLE} is {text!r}; give bytes, or a number with K, M or G such as 500M; 1 GiB is used",
            CacheWarning,
            stacklevel=3,
        )
    return LIMIT if limit is None else limit


def limit_from(text: str) -> int | None:
    """A size in bytes, from a text such as 500M; None where it is no size."""
    if not text.strip():
        return LIMIT
    if (match := _SIZE.fullmatch(text)) is None:
        return None
    try:
        size = float(match[1]) * UNITS[match[2].lower()]
    except ValueError:
        return None
    return int(size) if isfinite(size) else None


def contents(directory: Path) -> list[Kept]:
    """The files of the cache, those used least recently first; files of others are not among them."""
    files: list[Kept] = []
    with suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if _OURS.fullmatch(entry.name):
                with suppress(FileNotFoundError):
                    facts = entry.stat(follow_symlinks=False)
                    files.append(Kept(facts.st_mtime, facts.st_size, Path(entry.path)))
    return sorted(files)


def make_room(directory: Path, limit: int, size: int) -> None:
    """Room for an entry of so many bytes."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    file = os.open(directory / GROWTH, flags, 0o600)
    try:
        before, blocks = os.fstat(file).st_size, -(-size // BLOCK)
        os.write(file, b"." * blocks)
        if before and (before + blocks) * BLOCK <= limit // PART:
            return
        os.ftruncate(file, 1)  # an empty file is one that nobody has looked for
    finally:
        os.close(file)
    _cut(contents(directory), limit - limit // PART - size)


def _cut(files: list[Kept], size: int) -> None:
    """Remove the first files until no more than so many bytes are left."""
    total, recent = sum(file.size for file in files), time() - LEFT
    for file in files:
        if total <= size:
            return
        if not file.path.name.startswith(_HALF_WRITTEN) or file.used < recent:
            _remove(file.path)
            total -= file.size


def clear(directory: Path) -> int:
    """Remove all files of the cache; how many entries there were."""
    files = contents(directory)
    for file in files:
        _remove(file.path)
    _remove(directory / GROWTH)
    return len(files)


def _remove(path: Path) -> None:
    """Where another process has removed it, or has it open on a system that does not allow that, nothing is done."""
    with suppress(FileNotFoundError, PermissionError):
        path.unlink()
