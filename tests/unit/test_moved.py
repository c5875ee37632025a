"""Names at places that documents of earlier versions showed still work, and say where they are now."""

from __future__ import annotations

from importlib import import_module

import pytest

MOVED = {
    "kinpair.constraints.rows.rows": "kinpair.constraints.rows.stacked",
    "kinpair.constraints.assembly.assemble": "kinpair.constraints.rows.closing",
    "kinpair.constraints.mobility.independent_rows": "kinpair.constraints.rows.mobility",
}


@pytest.mark.parametrize("old", MOVED)
def test_a_former_place_gives_the_same_object_and_a_warning(old):
    module, name = old.rsplit(".", 1)
    with pytest.warns(DeprecationWarning, match=MOVED[old]):
        found = getattr(import_module(module), name)
    assert found is getattr(import_module(MOVED[old]), name)


def test_other_names_of_a_former_place_are_unknown():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = import_module("kinpair.constraints.mobility").nothing
