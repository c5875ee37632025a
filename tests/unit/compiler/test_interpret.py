import numpy as np
import pytest

from kinpair.compiler.operations import OPERATIONS
from kinpair.compiler.program import interpret
from kinpair.compiler.trace import trace
from traced import FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_interpreter_gives_what_floats_give(name):
    program = trace(FUNCTIONS[name], {"x": (2,), "y": (2,)})
    for x, y in ([0.3, -1.2], [-0.7, 0.4]), ([0.5, 0.5], [0.5, -2.0]), ([-0.1, 0.2], [-3.0, 1.0]):
        expected = FUNCTIONS[name](np.array(x), np.array(y))
        assert np.asarray(interpret(program, x, y)) == pytest.approx(expected, rel=1e-15, abs=1e-15)


@pytest.mark.parametrize("op", [op for op, o in OPERATIONS.items() if o.takes and set(o.takes) == {"n"}])
def test_no_operation_raises_on_special_values(op):
    special = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, 5e-324]
    takes = len(OPERATIONS[op].takes)
    for x in special:
        for y in special if takes == 2 else [0.0]:
            OPERATIONS[op].meaning(*[x, y][:takes])


def test_division_by_zero_is_what_numpy_says():
    with np.errstate(all="ignore"):
        for x in (1.0, -1.0, 0.0, np.nan):
            for y in (0.0, -0.0):
                assert OPERATIONS["div"].meaning(x, y) == pytest.approx(np.divide(x, y), nan_ok=True)
