import numpy as np
import pytest

from kinpair.compiler.graph import Expr, Graph
from kinpair.errors import TraceError


@pytest.fixture
def x() -> Expr:
    return Graph().symbol("x")


def test_equal_expressions_are_one_object(x):
    assert x.sin() * 2.0 + 1.0 is 1.0 + 2.0 * x.sin()


@pytest.mark.parametrize("number", [2, 2.0, np.float64(2.0), np.float32(2.0), np.int64(2)])
def test_any_real_number_joins_the_graph(x, number):
    assert number * x is x * 2.0
    assert isinstance(number * x, Expr)


def test_numpy_functions_act_on_a_bare_symbol(x):
    assert np.sin(x) is x.sin()
    assert np.divide(1.0, x) is 1.0 / x
    assert np.sqrt(x) is x.sqrt()
    assert np.arctan2(x, 2.0) is x.arctan2(2.0)
    assert np.square(x) is x * x


def test_numpy_does_not_take_a_symbol_for_a_sequence(x):
    assert np.array([x, 1.0]).shape == (2,)
    assert (np.eye(2) * x).dtype == object
    assert (x * np.eye(2))[0, 1] == 0.0


def test_a_matrix_product_records_its_sums(x):
    assert (np.array([[x, 2.0], [0.0, x]]) @ np.array([1.0, x]))[0] is x + 2.0 * x


def test_values_of_two_traces_do_not_mix(x):
    with pytest.raises(TraceError, match="another trace"):
        x + Graph().symbol("y")


def test_what_is_constant_is_known(x):
    assert float(0.0 * x + 2.0) == 2.0
    assert x - x == 0.0


def test_a_symbol_can_be_a_key_but_not_a_truth(x):
    assert {x: 1}[x] == 1
    with pytest.raises(TraceError):
        bool(x == 0.0)
