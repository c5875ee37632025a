"""Every message of `compare`, word for word, from Python and from the command line."""

from __future__ import annotations

import pytest

import kinpair as kp
from kinpair.cli.main import main

QUANTITIES = (
    "uantities: inverse_dynamics, forward_dynamics, mass_matrix, coriolis_matrix, bias_forces, gravity_forces, "
    "reactions, inverse_dynamics_derivatives, forward_dynamics_derivatives"
)

REFUSED = [
    (
        {"quantities": "mass_matrix"},
        "quantities is 'mass_matrix'; give a list of names, ['mass_matrix']",
    ),
    (
        {"quantities": ["mas_matrix"]},
        f"no quantity 'mas_matrix' to compare; did you mean 'mass_matrix'? Q{QUANTITIES}",
    ),
    ({"quantities": ["energy"]}, f"no quantity 'energy' to compare; q{QUANTITIES}"),
    ({"quantities": [7]}, f"no quantity 7 to compare; q{QUANTITIES}"),
    ({"states": 0}, "states is 0; it is a whole number, 1 or more"),
    ({"states": True}, "states is True; it is a whole number, 1 or more"),
    ({"states": 2.5}, "states is 2.5; it is a whole number, 1 or more"),
    ({"seed": -1}, "seed is -1; it is a whole number, 0 or more"),
    ({"seed": None}, "seed is None; it is a whole number, 0 or more"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[str(options) for options, _ in REFUSED])
def test_wrong_options_are_refused(options, message):
    with pytest.raises(kp.InputError) as error:
        kp.compare(kp.example("cart-pole"), **options)
    assert str(error.value) == message


def test_a_name_is_no_mechanism():
    with pytest.raises(kp.InputError) as error:
        kp.compare("scara")
    assert str(error.value) == "compare takes a Mechanism, not str; load() reads files, example() names"


def test_what_does_not_move_is_not_compared():
    rock = kp.build(
        kp.Description("rock", (kp.Link("rock", 1.0),), (kp.Joint("weld", "fixed", "ground", "rock"),))
    )
    with pytest.raises(kp.InputError) as error:
        kp.compare(rock)
    assert str(error.value) == "rock: nothing moves, so there is nothing to compare"


def test_a_page_that_cannot_be_written(tmp_path):
    results = kp.compare(kp.example("cart-pole"), quantities=["mass_matrix"], time=False)
    for write, name in ((results.to_html, "a.html"), (results.to_json, "a.json")):
        path = tmp_path / "none" / name
        with pytest.raises(kp.InputError) as error:
            write(path)
        assert str(error.value) == f"{path}: cannot be written (No such file or directory)"


COMMANDS = [
    ("compare", "no FILE given; write it before the options (see kinpair compare --help)"),
    (
        "compare scara --quantity mas_matrix",
        f"no quantity 'mas_matrix' to compare; did you mean 'mass_matrix'? Q{QUANTITIES}",
    ),
    ("compare scara --quantity", "--quantity needs a value (see kinpair compare --help)"),
    ("compare scara --states 0", "states is 0; it is a whole number, 1 or more"),
    (
        "compare scara --states x",
        'invalid value for --states: unable to convert "x" into int (see kinpair compare --help)',
    ),
    (
        "compare scara --seed -1 --no-time",
        "seed is -1; it is a whole number, 0 or more",
    ),
    (
        "compare scara --html my.toml --no-time",
        "my.toml: a page needs a file name that ends in .html or .htm",
    ),
    (
        "compare scara --json my.urdf --no-time",
        "my.urdf: a JSON document needs a file name that ends in .json",
    ),
    (
        "compare scara --json none/a.json --no-time",
        "none/a.json: cannot be written (No such file or directory)",
    ),
    (
        "compare scara --html none/a.html --no-time",
        "none/a.html: cannot be written (No such file or directory)",
    ),
]


@pytest.mark.parametrize(("words", "message"), COMMANDS, ids=[words for words, _ in COMMANDS])
def test_bad_commands_are_refused_in_one_line(capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert capsys.readouterr().err == f"kinpair: {message}\n"
