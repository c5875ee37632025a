"""Object code kept between runs, in a directory only its owner can touch.

An entry is a checksum and a payload under a name made of everything that determines the code: its LLVM text, the
compiler's sources, the versions and the machine. Code that is found without being recorded has a second entry, under
the digest of every source, that leads to the text. The checksum covers key, target and payload, so an entry copied to
the name of another key is rejected. Entries are written to a temporary file and moved into place, so that a reader
sees all of one or nothing. Machine code is run only if the directory and the file belong to this user, nobody else can
write them, and the checksum fits; anything else is compiled again, with a warning. Where nothing can be written there
is simply no cache.

Its size is limited. The time of a file says when it was used last. Whoever writes an entry first adds its size, in
blocks, to the length of the file `growth`. Only when that says that an eighth of the limit was written since the last
look is the directory looked through and the oldest removed, until seven eighths are left. So the limit holds, and a
look is rare. Several processes may look at once: they remove the same entries, and one that is gone is compiled again.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from math import isfinite
from pathlib import Path
from time import time
from typing import NamedTuple

import numpy as np

from kinpair.compiler.target import host
from kinpair.errors import CacheWarning

MAGIC = b"kinpair object 2\n"
CODE = b"code\n"  # before object code
VARIABLE = "KINPAIR_CACHE"


def default_directory() -> Path:
    """$KINPAIR_CACHE, or kinpair in $XDG_CACHE_HOME or ~/.cache."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "kinpair"


@cache
def surroundings() -> str:
    """Return the digest of what turns LLVM text into machine code: compiler, versions, machine."""
    import llvmlite

    digest = hashlib.sha256()
    folder = os.path.dirname(__file__)
    for path in sorted(_sources(folder)):
        digest.update(os.path.relpath(path, folder).encode())
        with open(path, "rb") as file:
            digest.update(file.read())
    machine = host()
    facts = [sys.version, np.__version__, llvmlite.__version__, machine.triple, machine.cpu, machine.features]
    digest.update("\0".join(facts).encode())
    return digest.hexdigest()


@cache
def all_sources() -> str:
    """Return the digest of every source of the package, for keys of code that is found without recording it.

    A source counts as unchanged while its size and the time it was written are: so Python judges its own bytecode.
    """
    sources = _sources(os.path.dirname(os.path.dirname(__file__)))
    facts = [f"{path} {x.st_size} {x.st_mtime_ns}" for path, x in sorted(sources.items())]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _sources(package: str) -> dict[str, os.stat_result]:
    """Return the facts of every source below a directory, by path."""
    sources, folders = dict[str, os.stat_result](), [package]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for x in entries:
                if x.name.endswith((".py", ".ll")):
                    sources[x.path] = x.stat()
                elif x.is_dir() and x.name != "__pycache__":
                    folders.append(x.path)
    return sources


def _identity(key: str) -> bytes:
    """Return the digest of a key, the compiler and the target (32 bytes)."""
    return hashlib.sha256(f"{surroundings()}\0{key}".encode()).digest()


def _checksum(key: str, payload: bytes) -> bytes:
    """Return the digest of key, target and payload (32 bytes)."""
    return hashlib.sha256(_identity(key) + payload).digest()


def text_key(text: str) -> str:
    """Return the key of the object code of a text."""
    return "text\0" + hashlib.sha256(text.encode()).hexdigest()


class Store:
    """A directory of entries, of at most `limit` bytes. `Store(None)` is the usual place."""

    def __init__(self, directory: str | os.PathLike[str] | None = None, *, limit: int | None = None) -> None:
        self.directory = Path(directory) if directory is not None else default_directory()
        self.limit = limit if limit is not None else default_limit()
        self._silent = False

    def path(self, key: str) -> Path:
        """Return the path of the entry of a key."""
        return self.directory / _identity(key).hex()

    def get(self, key: str) -> bytes | None:
        """The payload, or None if there is none that can be trusted."""
        path = self.path(key)
        try:
            if objection := self._objection_to(self.directory):
                return self._refuse(self.directory, objection)
            with open(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
                if objection := _objection(os.fstat(file.fileno()), stat.S_ISREG):
                    return self._refuse(path, objection)
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as problem:
            return self._refuse(path, f"cannot be read ({problem.strerror})")
        digest, payload = content[len(MAGIC) : len(MAGIC) + 32], content[len(MAGIC) + 32 :]
        if not content.startswith(MAGIC) or _checksum(key, payload) != digest:
            return self._refuse(path, "is damaged, or the entry of another key (its checksum does not fit)")
        with suppress(OSError):
            os.utime(path)  # used just now
        return payload

    def put(self, key: str, payload: bytes) -> None:
        """Keep a payload if possible."""
        import tempfile

        size = len(MAGIC) + 32 + len(payload)
        if size > self.limit:
            return
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            if objection := self._objection_to(self.directory):
                self._refuse(self.directory, objection)
                return
            make_room(self.directory, self.limit, size)
            handle, temporary = tempfile.mkstemp(dir=self.directory, prefix="new-")
            try:
                with open(handle, "wb") as file:
                    file.write(MAGIC + _checksum(key, payload) + payload)
                os.replace(temporary, self.path(key))
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as problem:
            self._warn_unwritable(problem)

    def code(self, text: str, compile: Callable[[], bytes]) -> bytes:
        """Return the object code of a text: the stored one, else what `compile` returns, which is stored."""
        key = text_key(text)
        code = self.stored_code(key)
        if code is None:
            self.put(key, CODE + (code := compile()))
        return code

    def stored_code(self, key: str) -> bytes | None:
        """Return the object code of a key, or None if there is none that can be trusted."""
        payload = self.get(key)
        if payload is None or payload.startswith(CODE):
            return payload and payload[len(CODE) :]
        return self.refuse(key, "is damaged (its content makes no sense)")

    def refuse(self, key: str, objection: str) -> None:
        """Record that the entry of a key was not used."""
        self._refuse(self.path(key), objection)

    def _objection_to(self, directory: Path) -> str:
        return _objection(os.lstat(directory), stat.S_ISDIR)

    def _refuse(self, path: Path, objection: str) -> None:
        warnings.warn(
            f"{path}: {objection}; it was not used and the code is compiled again. Delete it, or set {VARIABLE} "
            "to a directory of your own",
            CacheWarning,
            stacklevel=2,
        )

    def _warn_unwritable(self, problem: OSError) -> None:
        if not self._silent:
            self._silent = True
            warnings.warn(
                f"{self.directory}: cannot be written ({problem.strerror}); compiled code is not kept for "
                f"the next run. Set {VARIABLE} to a directory you can write",
                CacheWarning,
                stacklevel=2,
            )


def _objection(facts: os.stat_result, is_kind: object) -> str:
    """Reason why something on disk is not to be trusted; empty if it is."""
    if not is_kind(facts.st_mode):  # type: ignore[operator]
        return "is not what it should be (a link or a special file)"
    if hasattr(os, "geteuid"):
        if facts.st_uid != os.geteuid():
            return "belongs to another user"
        if facts.st_mode & 0o077:
            return "is open to other users"
    return ""


SIZE_VARIABLE = "KINPAIR_CACHE_SIZE"
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
    text = os.environ.get(SIZE_VARIABLE, "")
    limit = limit_from(text)
    if limit is None:
        warnings.warn(
            f"{SIZE_VARIABLE} is {text!r}; give bytes, or a number with K, M or G such as 500M; 1 GiB is used",
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
    """Remove a file. Where another process has removed it, or has it open on a system that does not allow that,
    nothing is done."""
    with suppress(FileNotFoundError, PermissionError):
        path.unlink()
