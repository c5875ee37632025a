import numpy as np
import pytest

from kinpair.compiler.arguments import checked

SHAPES = {"q": (3,), "m": ()}
FLOAT = np.dtype("float64")


def test_one_state_has_no_rows():
    assert checked("f", SHAPES, ([1, 2, 3], 2), FLOAT).rows is None


def test_what_has_no_rows_serves_all():
    arguments = checked("f", SHAPES, (np.zeros((4, 3)), 2.0), FLOAT)
    assert (arguments.rows, arguments.strides) == (4, [24, 0])


def test_other_layouts_and_types_are_copied():
    arguments = checked("f", SHAPES, (np.zeros((3, 4), dtype="float32").T, np.arange(4)), FLOAT)
    assert all(a.flags.c_contiguous and a.dtype == FLOAT for a in arguments.arrays)


@pytest.mark.parametrize("bad", [np.zeros(3, dtype=complex), ["a", "b", "c"], np.array([None] * 3)])
def test_what_is_no_real_number_is_refused(bad):
    with pytest.raises(ValueError, match=r"q holds .*; it takes real numbers"):
        checked("f", SHAPES, (bad, 1.0), FLOAT)
