"""print(mechanism) tells what the constraints are and what freedom they leave."""

from __future__ import annotations

from dataclasses import replace

import pytest

import closed
import kinpair as kp
from kinpair.constraints.rows.mobility import entries
from kinpair.model.build import build


@pytest.mark.parametrize("name", closed.STARTS)
def test_every_row_belongs_to_one_entry(name):
    m = kp.example(name)
    assert [x.name for x in entries(m.model)] == list(m.constraints)
    assert [row for x in entries(m.model) for row in x.rows] == list(m.constraint_rows)
    for x in entries(m.model):
        assert set(x.between) <= {*m.frames, *m.v_names}


@pytest.mark.parametrize("name", closed.STARTS)
def test_print_shows_constraints_and_freedom(name):
    m = kp.example(name)
    text = str(m)
    for x in entries(m.model):
        assert x.name in text
    assert text.endswith(f"at the start: {m.mobility(m.start())}")
    assert f"{m.nv} degrees of freedom without constraints" in text


def test_print_of_a_linkage_worth_reading():
    assert str(kp.example("four-bar")).splitlines()[7:] == [
        "constraint  kind            between         rows",
        "----------  --------------  --------------  ----",
        "pin         spherical loop  crank, coupler  3",
        "",
        "at the start: freedom 1: 3 rates, 3 constraint rows of rank 2",
        "counted (Grübler) 0",
        "redundant rows: pin.z",
        "reactions not unique: crank, output, coupler, pin",
    ]


def test_couplings_name_their_coordinates_and_the_rest_is_all_that_moves():
    of = {x.name: x.cells[2] for name in ("gripper", "space-robot") for x in entries(kp.example(name).model)}
    assert of["gears"] == "right-driver, left-driver"
    assert of["momentum"] == "all that moves"


def test_a_tree_has_no_such_part():
    assert "constraint" not in str(kp.example("scara"))


def test_print_never_fails():
    far = kp.constraint.guide("far", "coupler", xyz=("5", "", ""))
    assert "cannot be assembled: 'far' stays open by" in str(kp.example("four-bar").with_constraints(far))
    nowhere = kp.constraint.loop("nowhere", "revolute", "ground", "cuopler")
    parts = replace(kp.example("four-bar").model.description, constraints=(nowhere,))
    assert "did you mean 'coupler'?" in str(kp.Mechanism(build(parts)))
