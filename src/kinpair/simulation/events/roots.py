"""Where a function of time changes its sign."""

from __future__ import annotations

from collections.abc import Callable

TURNS = 200


def beyond(f: Callable[[float], float], a: float, b: float, fa: float, fb: float, width: float) -> float:
    """The end, on b's side, of an interval no wider than `width` in which f leaves the sign it has at a.

    Illinois' rule; halving where that does not shrink the interval by half in three turns.
    """
    side, rest, last = 0, 0, b - a
    for _ in range(TURNS):
        if b - a <= width:
            break
        c = b - fb * (b - a) / (fb - fa) if rest < 3 else 0.5 * (a + b)
        c = min(max(c, a + 0.5 * width), b - 0.5 * width)
        rest = rest + 1 if rest < 3 else 0
        fc = f(c)
        if not a < c < b:
            break
        if fc * fa > 0.0:
            a, fa = c, fc
            fb = 0.5 * fb if side == 1 else fb
            side = 1
        else:
            b, fb = c, fc
            fa = 0.5 * fa if side == -1 else fa
            side = -1
        if b - a <= 0.5 * last:
            last, rest = b - a, 0
    return b
