"""What `transmission` says, word for word."""

from __future__ import annotations

import pytest

import kinpair as kp
from closed import start


def refused(name: str, *names: str, **options) -> str:
    with pytest.raises(kp.InputError) as caught:
        kp.transmission(kp.example(name), *names, **options)
    return str(caught.value)


def test_more_than_one_freedom():
    assert refused("five-bar", "left-crank", "right-crank", q=start("five-bar")) == (
        "five-bar: has 2 freedoms, a transmission needs 1"
    )


def test_no_loop():
    assert (
        refused("double-pendulum", *kp.example("double-pendulum").v_names)
        == "double-pendulum: has 2 freedoms, a transmission needs 1"
    )


def test_unknown_names():
    known = "Coordinates: crank, output, coupler"
    assert refused("four-bar", "crnak", "output") == (
        f"four-bar: no coordinate 'crnak' for the input; did you mean 'crank'? {known}"
    )
    assert refused("four-bar", "crank", "tip.x") == (
        f"four-bar: no coordinate 'tip.x' for the output; {known}"
    )


def test_input_at_a_dead_point():
    assert refused("slider-crank", "piston", "crank") == (
        "slider-crank: input 'piston' stands at a dead point in this position; give a guess q away from it"
    )


def test_constraints_on_rates():
    name = kp.example("diff-drive").v_names[-1]
    assert refused("diff-drive", name, name) == (
        "diff-drive: has constraints on rates alone (rolling, knife edges, momentum), and no curve of positions"
    )


def test_too_few_samples():
    assert refused("four-bar", "crank", "output", samples=1) == "samples is 1; give 2 or more"
