from typing import NamedTuple

import numpy as np
import pytest

from kinpair.compiler.program import flatten, interpret, rebuild
from kinpair.compiler.trace import shapes_of, trace
from kinpair.errors import TraceError


class Pose(NamedTuple):
    R: object
    a: object


def test_inputs_and_outputs_are_named_and_shaped():
    program = trace(lambda A, b: A @ b, {"A": (2, 3), "b": (3,)})
    assert program.input_shapes == {"A": (2, 3), "b": (3,)}
    assert program.output_shapes == {"result": (2,)}


def test_a_scalar_argument_keeps_its_letter():
    program = trace(lambda m, x: m * x, {"m": (), "x": (2,)})
    assert str(program.outputs[0].entries[0]) == "m * x[0]"


def test_nested_results_come_back_as_they_were():
    def nested(x):
        return {"pose": Pose(np.outer(x, x), x), "pair": (x[0], [2.0 * x])}

    program = trace(nested, {"x": (2,)})
    assert list(program.output_shapes) == ["pose.R", "pose.a", "pair.0", "pair.1.0"]
    result = interpret(program, [1.0, 2.0])
    assert isinstance(result["pose"], Pose)
    assert result["pair"][0] == 1.0
    assert result["pair"][1][0].tolist() == [2.0, 4.0]


def test_taking_apart_and_together_is_nothing():
    value = {"a": (1.0, [2.0, 3.0]), "b": Pose(4.0, 5.0)}
    structure, leaves = flatten(value)
    assert rebuild(structure, iter(x for _, x in leaves)) == value


def test_dead_code_is_left_out():
    program = trace(lambda x: (np.sin(x), x[:1] + 1.0)[1], {"x": (3,)})
    assert program.count["total"] == 1


def test_operations_are_counted_by_kind():
    count = trace(lambda x: x[:1] * x[1:] / np.sin(x[1:]) - 1.0, {"x": (2,)}).count
    assert count == {
        "multiplications": 1,
        "additions": 1,
        "divisions": 1,
        "negations": 0,
        "functions": 1,
        "choices": 0,
        "total": 4,
    }


def test_shapes_follow_examples():
    assert shapes_of(lambda q, m: q, [np.zeros((2, 3)), 1.0]) == {"q": (2, 3), "m": ()}
    assert shapes_of(lambda *x: x, [1.0, np.zeros(2)]) == {"x0": (), "x1": (2,)}


def test_a_constant_result_is_a_result():
    program = trace(lambda x: np.eye(2), {"x": (1,)})
    assert interpret(program, [0.0]).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_an_error_of_the_function_itself_is_passed_on():
    with pytest.raises(TypeError, match="NoneType") as caught:
        trace(lambda x: None + 1, {"x": ()})
    assert not isinstance(caught.value, TraceError)


def test_the_listing_has_a_line_for_each_node():
    program = trace(lambda x: x * 2.0, {"x": (1,)})
    assert str(program).splitlines() == [
        "inputs   x[1]",
        "%0      symbol x[0]",
        "%1      const  2.0",
        "%2      mul    %1 %0",
        "result[1] = %2",
    ]
