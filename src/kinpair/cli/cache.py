"""`kinpair cache`: the machine code kept between runs."""

from __future__ import annotations

from kinpair.cli.arguments import Flag
from kinpair.cli.screen import Screen

MIB = 1024**2


def cache(*, clear: Flag = False) -> None:
    """Print location, size and limit of the cache of compiled code.

    $KINPAIR_CACHE sets the location, $KINPAIR_CACHE_SIZE the limit (bytes, or 500M, 2G; default: 1 GiB). Entries
    that were used least recently are removed first.

    Parameters
    ----------
    clear
        Remove all entries; code is compiled again when needed.
    """
    from kinpair.compiler import cache
    from kinpair.compiler.cache import Store

    screen, store = Screen(), Store()
    if clear:
        screen.say(f"entries removed: {cache.clear(store.directory)}")
    files = cache.contents(store.directory)
    size = sum(file.size for file in files)
    screen.say(f"location: {store.directory}")
    screen.say(f"entries: {len(files)}")
    screen.say(f"size: {size / MIB:.1f} MiB of at most {store.limit / MIB:.1f} MiB")
