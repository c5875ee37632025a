"""Numbers of a command line."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.cli.arguments import Option

OPTION = Option("--q", ("a", "b c", "d"), np.array([0.0, 0.0, 1.0]))


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (None, [0, 0, 1]),
        (["1,2,3"], [1, 2, 3]),
        (["1", "2", "3"], [1, 2, 3]),
        (["1 2 3"], [1, 2, 3]),
        (["1,", "2,", "3,"], [1, 2, 3]),
        (["1", ",", "2", ",", "3"], [1, 2, 3]),
        ([" -1,.5", "-2e-3"], [-1, 0.5, -0.002]),
        (["pi/2", " -pi", "2*pi/3"], [np.pi / 2, -np.pi, 2 * np.pi / 3]),
        (["a=4"], [4, 0, 1]),
        (["d=-4,a=pi"], [np.pi, 0, -4]),
        (["a=1 d=2"], [1, 0, 2]),
        (["b c=5"], [0, 5, 1]),
        (["b c = 5", "a = 1"], [1, 5, 1]),
    ],
)
def test_numbers_are_read_in_order_or_by_name(words, numbers):
    assert OPTION.read(words) == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("text", "numbers"), [("[1, 2.5, 3]", [1, 2.5, 3]), ('{"b c": "pi"}', [0, np.pi, 1])]
)
def test_numbers_are_read_from_a_file(tmp_path, text, numbers):
    file = tmp_path / "state.json"
    file.write_text(text)
    assert OPTION.read([f"@{file}"]) == pytest.approx(numbers)


def test_reading_leaves_the_default_alone():
    OPTION.read(["a=7"])
    assert OPTION.default.tolist() == [0, 0, 1]
