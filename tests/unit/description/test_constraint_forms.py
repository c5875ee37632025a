"""Constraints in a file, by the Builder and by `kinpair.constraint`: one set of keys with one set of defaults."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import get_type_hints

import pytest

import kinpair as kp
from kinpair.description import builder_keys
from kinpair.description.constraint_schema import CONSTRAINTS, OF_JOINT
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList

BOTH = {"xyz": [1, 2, 3], "rpy": [0.1, 0, 0], "child_xyz": [4, 5, 6], "child_quaternion": [0, 0, 1, 0]}
CHILD = {"child_xyz": [4, 5, 6], "child_rpy": ["pi/2", 0, 0]}
BETWEEN = {"parent": "a", "child": "b"}

LEAST = {
    "loop": [{"kind": "spherical", **BETWEEN}],
    "coupling": [{"joint": "j", "follows": "k"}],
    "distance": [{**BETWEEN, "length": 0.5}],
    "surface": [{"child": "b", "plane": True}],
    "rolling": [{"child": "b", "shape": "ball", "radius": 0.1}],
    "knife_edge": [{"child": "b"}],
    "drive": [{"joint": "j", "motion": "2*t"}],
    "guide": [{"child": "b", "xyz": ["t", "", ""]}],
    "momentum": [{"part": "linear"}],
    "custom": [{"phi": "j - k**2"}],
}
MORE = {
    "loop": [
        {"kind": "universal", **BETWEEN, **BOTH, "axis": "x", "axis2": [0, 1, 0]},
        {"kind": "helical", **BETWEEN, "axis": "y", "pitch": 0.01, "compliance": 1e-6},
        {"kind": "fixed", **BETWEEN, "matrix": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]},
    ],
    "coupling": [
        {"joint": "j", "follows": "k", "ratio": -2, "offset": "pi/4"},
        {"joint": "j", "terms": [{"joint": "k", "coefficients": [1, 2]}, {"joint": "l", "coefficients": 3}]},
    ],
    "distance": [
        {**BETWEEN, "length": 0.5, **BOTH},
        {**BETWEEN, "length": "0.5 + 0.1*t", "compliance": 1e-6},
    ],
    "surface": [
        {**BETWEEN, "formula": "x**2 - z", **BOTH},
        {**BETWEEN, "formulas": ["x", "y*z"]},
        {**BETWEEN, "sphere": 0.5},
        {**BETWEEN, "cylinder": 0.5},
        {**BETWEEN, "circle": 0.5},
    ],
    "rolling": [
        {**BETWEEN, "shape": "disk", "radius": 0.1, "axis": "y", "rollers": "pi/4", "normal": False, **BOTH},
        {**BETWEEN, "shape": "ellipsoid", "size": [1, 2, 3]},
    ],
    "knife_edge": [{**BETWEEN, "axis": "y", **CHILD}],
    "drive": [{"joint": "j", "motion": 0.5}],
    "guide": [{**BETWEEN, "xyz": ["t", 0.5, ""], "rpy": ["0", "0", "t"], **CHILD}],
    "momentum": [{"part": "angular", "axis": "x", "value": 2.0}],
    "custom": [{"phi": ["j", "k - t"]}, {"psi": "j_rate - k_rate*sin(t)"}],
}
CASES = [(word, keys) for word in LEAST for keys in (*LEAST[word], *MORE[word])]


def in_file(word: str, keys: Mapping[str, object]):
    lines = [f"{key} = {as_toml(value)}" for key, value in keys.items()]
    text = "\n".join(['name = "m"', f"[[{word}]]", *lines])
    return parse_toml(text, source="m.toml", warnings=WarningList()).constraints[0]


def as_toml(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {as_toml(x)}" for key, x in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else repr(value).replace("'", '"')


@pytest.mark.parametrize(("word", "keys"), CASES)
def test_the_three_forms_are_one_part(word, keys):
    keys = {"name": "c", **keys}
    read = in_file(word, keys)
    assert getattr(kp.constraint, word)(**keys) == read
    assert getattr(kp.Builder("m"), word)(**keys).description().constraints == (read,)


def parameters(word: str) -> tuple[set[str], set[str]]:
    """All keys of a function, and those that it needs."""
    signature = inspect.signature(getattr(builder_keys, word)).parameters
    plain = {name: x for name, x in signature.items() if x.kind is not inspect.Parameter.VAR_KEYWORD}
    more = [name for name in signature if name not in plain]
    hints = get_type_hints(getattr(builder_keys, word))
    keys = {key for name in more for key in get_type_hints(hints[name].__args__[0])}
    return {*plain, *keys}, {name for name, x in plain.items() if x.default is inspect.Parameter.empty}


@pytest.mark.parametrize("word", CONSTRAINTS)
def test_functions_have_the_keys_of_the_table(word):
    table = CONSTRAINTS[word].keys
    every, needed = parameters(word)
    assert every == set(table)
    assert needed == {key for key, rule in table.items() if rule.needs}


def test_every_kind_is_tried_and_every_key_given():
    assert LEAST.keys() == CONSTRAINTS.keys()
    turned = {"rpy", "quaternion", "matrix", "child_rpy", "child_quaternion", "child_matrix"}
    for word, kind in CONSTRAINTS.items():
        tried = {"name", *(key for keys in (*LEAST[word], *MORE[word]) for key in keys)}
        joint = set(OF_JOINT) if word == "loop" else set()  # laws/test_compounds.py has them
        assert set(kind.keys) - turned - joint - {"A", "a"} <= tried  # functions only


def test_methods_and_functions_say_the_same_of_themselves():
    for word in CONSTRAINTS:
        call = getattr(builder_keys, word)
        for form in (getattr(kp.Builder, word), getattr(kp.constraint, word)):
            assert form.__doc__ == call.__doc__
            assert form.__name__ == word
        method, function = (inspect.signature(getattr(x, word)) for x in (kp.Builder("m"), kp.constraint))
        assert [*method.parameters] == [*function.parameters] == [*inspect.signature(call).parameters]
        assert (method.return_annotation, function.return_annotation) == ("Builder", "Constraint")


def test_what_is_wrong_is_named_in_every_form():
    message = "rolling 'c': unknown key 'radus'; did you mean 'radius'?"
    for form in (kp.constraint.rolling, kp.Builder("m").rolling):
        with pytest.raises(kp.DescriptionError) as error:
            form("c", "b", "disk", radus=0.1)
        assert str(error.value).startswith(message)


def test_what_is_doubtful_in_a_constraint_is_warned_of():
    message = "loop 'c': entry 1 of rpy is 90 rad, more than a full turn"
    with pytest.warns(kp.DescriptionWarning, match=message):
        part = kp.constraint.loop("c", "fixed", "a", "b", rpy=[90, 0, 0])
    assert part.origin.turn == (90.0, 0.0, 0.0)
    assert message in kp.Builder("m").loop("c", "fixed", "a", "b", rpy=[90, 0, 0]).description().warnings[0]
