"""`kinpair cache`: the machine code kept between runs."""

from __future__ import annotations

from kinpair.cli.arguments import Flag
from kinpair.cli.screen import Screen

MIB = 1024**2


def cache(*, clear: Flag = False) -> None:
    """Print where compiled code is kept between runs, its size and the limit.

    $KINPAIR_CACHE is the place, $KINPAIR_CACHE_SIZE the limit (bytes, or such as 500M; default 1 GiB). What was used
    least recently goes first.

    Parameters
    ----------
    clear
        Remove all of it; it is compiled again when needed.
    """
    from kinpair.compiler import cache
    from kinpair.compiler.cache import Store

    screen, store = Screen(), Store()
    if clear:
        screen.say(f"entries removed: {cache.clear(store.directory)}")
    files = cache.contents(store.directory)
    size = sum(file.size for file in files)
    screen.say(f"place: {store.directory}")
    screen.say(f"entries: {len(files)}")
    screen.say(f"size: {size / MIB:.1f} MiB of at most {store.limit / MIB:.1f} MiB")
