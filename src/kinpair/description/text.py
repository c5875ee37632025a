"""Getting the text of a file, or a sentence that says why not."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from kinpair.errors import DescriptionError, InputError


def file_path(path: Any, call: str, otherwise: str = "") -> Path:
    """Return an argument of `call` as a path; raise InputError if it is not one. `otherwise`: the remedy to name."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{call} takes the path of a file, not {shown(path)}{otherwise}", argument="path")
    return Path(path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a description file."""
    file = Path(path)
    if "\0" in str(file):
        raise DescriptionError(f"{str(file)!r} is not the name of a file", path=str(file))
    if file.is_dir():
        raise DescriptionError(f"{file}: is a directory; give the file in it", path=str(file))
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise DescriptionError(f"{file}: no such file", path=str(file)) from None
    except OSError as reason:
        raise DescriptionError(f"{file}: cannot be read ({reason.strerror})", path=str(file)) from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The UTF-8 text of a description file."""
    file, raw = Path(path), read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        raise DescriptionError(
            f"{file}:{line}: is not UTF-8 text (byte 0x{raw[reason.start]:02x}); save it as UTF-8",
            path=str(file),
        ) from None
    if not text.strip():
        raise DescriptionError(f"{file}: is empty", path=str(file))
    return text


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def toml_table(text: str, source: str) -> dict[str, object]:
    """The keys of a TOML text; `source` is its name in messages."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as reason:
        match = _AT.search(str(reason))
        line = match[1] or str(text.count("\n") + 1) if match else ""
        trouble = _AT.sub("", str(reason))
        raise DescriptionError(
            f"{source}{':' if line else ''}{line}: is not TOML: {trouble}", path=source, line=line
        ) from None
