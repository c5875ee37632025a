"""Messages of what is not of the kind that is wanted, word for word."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler.program import named_tuple


def test_a_zero_byte_is_not_in_the_name_of_a_file():
    with pytest.raises(kp.DescriptionError) as error:
        kp.load("arm\0.toml")
    assert str(error.value) == r"'arm\x00.toml' is not the name of a file"


def test_a_table_that_is_not_one_of_a_sweep(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    text, other = tmp_path / "text.parquet", tmp_path / "other.parquet"
    text.write_bytes(b"PAR1, and no table")
    parquet.write_table(arrow.table({"x": [1.0]}), other)
    with pytest.raises(kp.InputError) as error:
        kp.open_sweep(text)
    assert str(error.value).startswith(f"{text}: is not a Parquet table (")
    with pytest.raises(kp.InputError) as error:
        kp.open_sweep(other)
    assert str(error.value) == f"{other}: is not the table of a sweep"


def test_a_parameter_of_a_system_has_a_name():
    with pytest.raises(kp.InputError) as error:
        kp.System(["a"], lambda q, qd, t: 0.5 * qd[0] ** 2, parameters={"m 1": 1.0}, name="mass")
    assert str(error.value) == "mass: parameter 'm 1' is not a name; give letters and digits, such as 'm1'"


def test_a_class_that_is_not_a_named_tuple():
    with pytest.raises(TypeError, match=r"^numpy:ndarray is not a named tuple$"):
        named_tuple("numpy:ndarray")


def test_a_ball_has_no_phase_portrait():
    ball = kp.build(
        kp.Builder("ball").link("ball", mass=1.0, inertia=(1, 1, 1)).joint("j", "spherical", "ground", "ball")
    )
    run = kp.simulate(ball, ball.start(), np.zeros(3), duration=0.01)
    with pytest.raises(kp.InputError) as error:
        run.plot_phase()
    assert (
        str(error.value) == "ball: a phase portrait needs a joint of one degree, and this mechanism has none"
    )
