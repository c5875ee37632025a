"""The same choice over numbers, symbols and columns."""

import numpy as np
import pytest

from kinpair.algebra.choice import less, maximum, minimum, sign, where
from kinpair.compiler.program import interpret
from kinpair.compiler.trace import trace

CHOICES = {
    "where": lambda a, b: where(less(a, b), a, 2.0 * b),
    "number first": lambda a, b: where(less(0.5, a), 1.0, b),
    "sign": lambda a, b: sign(a),
    "minimum": lambda a, b: minimum(a, b) + minimum(0.0, b),
    "maximum": lambda a, b: maximum(a, b) + maximum(0.0, b),
}
a, b = np.array([[0.3, -1.0, 2.0], [1.0, 0.2, -2.0]]), np.array([[0.1, 0.0, 3.0], [2.0, -0.5, 0.0]])


def columns(x: np.ndarray) -> np.ndarray:
    built = np.empty(x.shape[1], dtype=object)
    built[:] = list(x.T)
    return built


@pytest.mark.parametrize("name", CHOICES)
def test_numbers_symbols_and_columns_choose_alike(name):
    choose = CHOICES[name]
    program = trace(choose, {"a": (3,), "b": (3,)})
    by_columns = choose(columns(a), columns(b))
    for k in range(2):
        expected = choose(a[k], b[k])
        assert interpret(program, a[k], b[k]) == pytest.approx(expected)
        assert [float(np.broadcast_to(c, 2)[k]) for c in by_columns] == pytest.approx(expected)
