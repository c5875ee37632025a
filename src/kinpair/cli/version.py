"""`kinpair --version --verbose`: what a bug report needs."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata

from kinpair import __version__
from kinpair.cli.language import VARIABLE

_NAME = re.compile(r"^[A-Za-z0-9_.-]+", re.MULTILINE)
VARIABLES = ("KINPAIR_CACHE", "KINPAIR_CACHE_SIZE", VARIABLE)
ASKED = {"--version", "--verbose"}


def asked(words: list[str]) -> bool:
    """True if the words of a command line are --version and --verbose."""
    return set(words) == ASKED


def facts() -> Iterator[tuple[str, str]]:
    """Name and value of each fact: versions, processor, cache."""
    from kinpair.compiler.cache import default_directory
    from kinpair.compiler.target import host

    machine = host()
    yield "kinpair", __version__
    yield (
        "Python",
        f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}",
    )
    yield "system", platform.platform()
    yield (
        "processor",
        f"{machine.cpu}, {machine.triple}, {machine.width // 8} numbers in a vector, {os.cpu_count()} cores",
    )
    yield "cache", str(default_directory())
    for name in VARIABLES:
        if name in os.environ:
            yield name, os.environ[name]
    yield from libraries()


def libraries() -> Iterator[tuple[str, str]]:
    """Name and version of each installed library that kinpair or one of its extras needs."""
    names = dict.fromkeys(_NAME.findall("\n".join(metadata.requires("kinpair") or ())))
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            if name != "kinpair":
                yield name, metadata.version(name)


def report() -> str:
    """Return the facts, one a line."""
    rows = list(facts())
    wide = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:{wide}}  {value}" for name, value in rows)
