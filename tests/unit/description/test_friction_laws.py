"""Friction as it is written: numbers and tables, in TOML and back, by rate."""

from __future__ import annotations

import pytest

import kinpair as kp
from kinpair.description.friction_laws import FROM_LOAD, LAWS
from kinpair.description.parts import Friction
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.description.warning_list import WarningList
from kinpair.friction.laws import joint as friction
from kinpair.friction.laws import laws as friction_laws

STRIBECK = {"law": "stribeck", "level": 1.0, "level_static": 2.0, "stribeck_speed": 0.1, "exponent": 2.0}
FORMS = [
    0.5,
    [0.5, 0.25],
    {"law": "coulomb", "level": 1.0, "level_static": 1.5, "level_negative": [0.5, 0.75]},
    [{"law": "viscous", "viscous": 0.25}, STRIBECK],
]


def built(friction) -> kp.Builder:
    return (
        kp.Builder("m")
        .link("a", mass=1.0, inertia=[1, 1, 1])
        .joint("c", "cylindrical", "ground", "a", friction=friction)
    )


def test_every_law_that_can_be_written_acts():
    assert set(LAWS) == {*friction_laws.LAWS, *friction.MAKERS, *FROM_LOAD}


@pytest.mark.parametrize("friction", FORMS, ids=str)
def test_toml_reads_back_what_it_wrote(friction):
    description = built(friction).description()
    again = parse_toml(to_toml(description), source="m.toml", warnings=WarningList())
    assert again.joints == description.joints


def test_a_number_is_a_coulomb_level_and_numbers_are_one_a_rate():
    model = kp.build(built([0.5, 0.25])).model
    assert [(x.name, x.v, x.law, x.numbers) for x in model.frictions] == [
        ("c.angle.friction", 0, "coulomb", {"level": 0.5}),
        ("c.slide.friction", 1, "coulomb", {"level": 0.25}),
    ]
    assert model.joints.friction.tolist() == [0.5, 0.25]


def test_laws_of_a_joint_have_numbers_and_those_without_strength_do_not_act():
    tables = [{"law": "viscous", "viscous": [0.0, 0.25]}, STRIBECK]
    assert [x.name for x in kp.build(built(tables)).model.frictions] == [
        "c.angle.friction.2",
        "c.slide.friction.1",
        "c.slide.friction.2",
    ]
    assert kp.build(built(0.0)).model.frictions == ()


def test_a_joint_that_is_split_keeps_the_friction_of_each_degree():
    split, _ = kp.build(built({"law": "coulomb", "level": [1.0, 2.0]})).split()
    assert [x.friction for x in split.model.description.joints] == [
        (Friction("coulomb", (("level", (1.0,)),)),),
        (Friction("coulomb", (("level", (2.0,)),)),),
    ]
