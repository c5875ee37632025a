"""Check of the memory for a mechanism before it is built."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from kinpair.errors import DescriptionError

LINK = 4000  # bytes: a link and its joint take 2000, measured on chains of 10⁵ and 10⁶ links; quantities need room too
_MEMINFO, _CGROUP = Path("/proc/meminfo"), Path("/sys/fs/cgroup")


def available_memory() -> float:
    """Memory that a program can still take [bytes]; infinite where the system does not report it."""
    return min(_of_machine(), _of_group())


def _of_machine() -> float:
    try:
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text("ascii").splitlines())
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        names = getattr(os, "sysconf_names", {})
        if "SC_PHYS_PAGES" not in names:
            return float("inf")
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")


def _of_group() -> float:
    """Memory that the limit of a container leaves."""
    try:
        limit, used = ((_CGROUP / f"memory.{word}").read_text("ascii").strip() for word in ("max", "current"))
        return float(limit) - float(used)
    except (OSError, ValueError):
        return float("inf")


class Faulty(Protocol):
    """Place in a file that an error can be about."""

    def error(self, _: str, /) -> DescriptionError: ...


def check_memory(links: int, place: Faulty, what: str = "links") -> None:
    """Refuse more links, or elements that take as much, than there is memory for."""
    needed, room = LINK * float(links), available_memory()
    if needed > room:
        raise place.error(
            f"has {links} {what}, which need about {needed / 1e9:.3g} GB of memory; {room / 1e9:.3g} GB are available: "
            f"give at most {int(room / LINK)} {what}"
        )
