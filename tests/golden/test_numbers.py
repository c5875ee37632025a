"""Quantities of some bundled mechanisms have the stored numbers; `python tools/freeze.py` compares all, bit for bit."""

from __future__ import annotations

import pytest
from tools import freeze

STORED = freeze.stored()


@pytest.mark.parametrize("name", ["planar-3r", "four-bar", "floating-arm"])
def test_numbers_are_as_stored(name):
    outcome = {quantity: x.compared(STORED[name, quantity]) for quantity, x in freeze.rows(name)}
    assert [quantity for quantity, word in outcome.items() if word == "changed"] == []
    assert outcome.keys() == {quantity for mechanism, quantity in STORED if mechanism == name}
