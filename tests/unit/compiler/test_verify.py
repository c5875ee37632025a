import pytest

from kinpair.compiler.graph import Graph
from kinpair.compiler.program import Leaf, Program
from kinpair.compiler.trace import trace, verify
from kinpair.errors import TraceError


def test_a_comparison_is_no_number():
    with pytest.raises(TraceError, match="needs a number and gets a comparison"):
        trace(lambda x: (x < 1.0) + 2.0, {"x": ()})


def test_a_comparison_is_no_result():
    with pytest.raises(TraceError, match="result 'result' needs a number"):
        trace(lambda x: x < 1.0, {"x": ()})


def test_a_number_is_no_condition():
    with pytest.raises(TraceError, match="needs a comparison and gets a number"):
        trace(lambda x: x.where(1.0, 2.0), {"x": ()})


def test_a_symbol_must_be_an_input():
    graph = Graph()
    stray = graph.symbol("stray")
    with pytest.raises(TraceError, match="stray: this symbol is not an input of 'f'"):
        verify(Program("f", graph, (), (Leaf("result", (), (stray,)),)))
