"""Names at places that documents of earlier versions showed still work, and say where they are now."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

import pytest

from kinpair import errors

PACKAGES = {
    "kinpair.closed_form.letters": "kinpair.printed_equations.closed_form.formula",
    "kinpair.closed_form.reading": "kinpair.printed_equations.closed_form.reading",
    "kinpair.equations_of_motion.reporting": "kinpair.compiler.patience",
    "kinpair.motion.shooting": "kinpair.motion.collocation",
    "kinpair.quantities.table": "kinpair.evaluation.quantities.table",
    "kinpair.regulators": "kinpair.control",
    "kinpair.spatial.solids": "kinpair.spatial.inertia",
    "kinpair.tracking.tracking": "kinpair.control.tracking",
    "kinpair.writing.write": "kinpair.description.writing.write",
}
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


@pytest.mark.parametrize("old", PACKAGES)
def test_a_package_under_its_former_name_is_the_same_package(old, monkeypatch):
    for name in [x for x in sys.modules if f"{old}.".startswith(f"{x}.") and x != "kinpair"]:
        monkeypatch.delitem(sys.modules, name)  # the warning is that of the first import
    present = import_module(PACKAGES[old])
    spec = present.__spec__
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        found = import_module(old)
    assert f"{old} is {PACKAGES[old]} now; the old place works until version 0.3" in [
        str(x.message) for x in warned if issubclass(x.category, DeprecationWarning)
    ]
    assert found is present
    assert (present.__name__, present.__spec__.origin) == (PACKAGES[old], spec.origin)
    assert all(x.filename != errors.__file__ for x in warned)


@pytest.mark.filterwarnings("ignore:kinpair:DeprecationWarning")  # of the first import
def test_a_module_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"kinpair\.quantities\.nothing"):
        import_module("kinpair.quantities.nothing")


@pytest.mark.filterwarnings("ignore:kinpair:DeprecationWarning")  # of the first import
def test_other_names_of_a_former_place_are_unknown():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = import_module("kinpair.constraints.mobility").nothing
