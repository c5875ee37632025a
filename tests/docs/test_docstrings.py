"""Every public name has a docstring, and says in which units it takes and returns physical quantities.

The rule: a public function, method or property whose parameters include a name of PHYSICAL, or whose result is made of
numbers, writes a unit in square brackets, such as [s], [N m], [rad] or [m], in its own docstring, in that of its class,
or in that of its module; NONE lists what has no unit, with the reason.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import kinpair as kp

UNIT = re.compile(
    r"\[(?:1/)?(?:rad|m|s|kg|N|J|W|V|A|K|Pa|Hz|deg|degrees|dB|MB|µs|°C|ohm)\b[^\]]*\]|\[(?:SI|no unit)[^\]]*\]"
)
NUMBERS = ("ndarray", "float", "Vector", "FramePose", "Energy", "complex")
PHYSICAL = {
    *(
        "q",
        "qd",
        "qdd",
        "tau",
        "x",
        "u",
        "time",
        "duration",
        "dt",
        "mass",
        "com",
        "inertia",
        "gravity",
        "position",
    ),
    *(
        "rotation",
        "period",
        "frequency",
        "speed",
        "slope",
        "amplitude",
        "sample_time",
        "delay",
        "output",
        "external",
    ),
    *("omega", "length", "xyz", "start", "end", "limits", "torque", "input", "stiffness", "damping"),
}
NONE = {
    "ConstrainedEquations.text": "formulas",
    "Equations.text": "formulas",
    "Grid.values": "the unit of what varies",
    "LatinHypercube.draw": "the unit of what varies",
    "Normal.draw": "the unit of what varies",
    "Uniform.draw": "the unit of what varies",
    "Table.failed": "numbers of rows",
    "Arrays.block": "the unit of the symbol",
    "Mechanism.kernel": "compiled code of any quantity",
    "compare": "agreement, operations and time, see its rows",
}


def members() -> Iterator[tuple[str, Any, str]]:
    """Name, thing, and the docstrings of what it is in."""
    for name in kp.__all__:
        if name.startswith("__"):
            continue
        thing = getattr(kp, name)
        if isinstance(thing, ModuleType):
            for key in getattr(thing, "__all__", ()):
                inner = getattr(thing, key)
                if inspect.isroutine(inner):
                    yield f"{name}.{key}", inner, inspect.getdoc(thing) or ""
        elif inspect.isclass(thing):
            yield name, thing, ""
            for key in dir(thing):
                member = inspect.getattr_static(thing, key)
                function = getattr(member, "fget", None) or getattr(member, "func", None) or member
                own = str(getattr(function, "__module__", "")).startswith("kinpair")
                if not key.startswith("_") and own and (inspect.isroutine(member) or function is not member):
                    yield f"{name}.{key}", member, inspect.getdoc(thing) or ""
        elif inspect.isroutine(thing):
            yield name, thing, ""


EVERY = {name: (thing, around) for name, thing, around in members()}


def silent(thing: Any, around: str) -> bool:
    """Is there no unit in its docstring, nor in that of its class or module?"""
    return not UNIT.search(inspect.getdoc(thing) or "") and not UNIT.search(around)


def physical(thing: Any) -> bool:
    """Does it take or return numbers with units?"""
    function = getattr(thing, "fget", None) or getattr(thing, "func", None) or thing
    function = getattr(function, "__func__", function)
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    returned = str(signature.return_annotation)
    return bool(PHYSICAL & set(signature.parameters)) or any(x in returned for x in NUMBERS)


def test_every_public_name_has_a_docstring():
    assert [name for name, (thing, _) in EVERY.items() if not (inspect.getdoc(thing) or "").strip()] == []


def test_physical_quantities_have_units():
    measured = {
        x: y for x, y in EVERY.items() if not inspect.isclass(y[0]) and physical(y[0]) and x not in NONE
    }
    assert len(measured) > 100
    assert [name for name, own in measured.items() if silent(*own)] == []


@pytest.mark.parametrize("name", NONE)
def test_what_has_no_unit_is_there_and_would_need_one(name):
    assert physical(EVERY[name][0])
    assert silent(*EVERY[name])
