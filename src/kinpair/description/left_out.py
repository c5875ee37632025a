"""Drives of a file that have no counterpart here: why each is left out, and what the one warning says of them."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 3  # reasons in the warning


class LeftOutError(Exception):
    """Reason why a drive has no counterpart here; caught where it is read."""


def left_out_message(reasons: Sequence[tuple[str, str]], count: int) -> str:
    """The end of a sentence about those left out of `count`, by name and reason; names may be there twice."""
    some = ", ".join(f"{name!r} ({why})" for name, why in reasons[:SHOWN])
    more = ", ..." * (len(reasons) > SHOWN)
    return f"has {len(reasons)} of {count} that are not taken: {some}{more}; efforts on the joints stand in their place"
