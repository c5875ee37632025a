"""Panels: small multiples have every curve once, and equal curves are found whatever their size."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.viewer.looks import FEW, MANY, Panel, distinct, equal_curves, equal_to, multiples

TIME = np.linspace(0.0, 1.0, 7)


def panel(curves, **more):
    return Panel("title", "[m]", curves, distinct(curves), **more)


@pytest.mark.parametrize("count", [1, 10, 11, 24, 31])
def test_small_multiples_have_every_curve_once_and_one_ordinate(count):
    curves = {f"c{k}": (k + 1) * TIME for k in range(count)}
    whole = panel(curves, bars={"c0": [(0.0, 0.5)]}, behind={name: x + 1.0 for name, x in curves.items()})
    parts = multiples(whole)
    assert [name for x in parts for name in x.curves] == list(curves)
    assert [name for x in parts for name in x.behind] == list(curves)
    assert len(parts) == (1 if count <= MANY else -(-count // FEW))
    if count > MANY:
        assert len({x.limits for x in parts}) == 1
        low, high = parts[0].limits
        assert low < 0.0
        assert high > count + 1.0


def test_equal_curves_are_found_whatever_their_size_and_wherever_they_have_no_numbers():
    gap = np.where(TIME < 0.5, np.nan, TIME)
    curves = {
        "a": TIME,
        "b": TIME * (1 + 1e-12),
        "c": 1e-20 * TIME,
        "d": 1e-20 * TIME,
        "e": gap,
        "f": gap.copy(),
    }
    assert equal_curves(panel(curves)) == [["a", "b"], ["c", "d"], ["e", "f"]]
    assert equal_to(panel(curves)) == {"b": "a", "d": "c", "f": "e"}
    assert equal_curves(Panel("several ways", "[m]", curves)) == []
    assert equal_curves(panel({"none": np.full(7, np.nan), "neither": np.full(7, np.nan)})) == []
