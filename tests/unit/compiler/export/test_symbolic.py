import sys

import numpy as np
import pytest
import sympy

from kinpair.compiler.kernel import Kernel, compile
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, MissingExtraError


def test_shared_parts_have_names_and_parameters_are_letters():
    symbolic = compile(lambda q, m: (m * np.sin(q)) ** 2 + np.sin(q), np.zeros(1), 1.0).sympy()
    (name, meaning), *_ = symbolic.parts
    assert meaning == sympy.sin(symbolic.inputs["q"][0])
    assert sympy.Symbol("m", real=True) in symbolic.expanded()["result"][0].free_symbols
    assert name in symbolic.results["result"][0].free_symbols | symbolic.parts[1][1].free_symbols


def test_casadi_keeps_names_and_shapes():
    function = Kernel(trace(lambda A, b: A @ b, {"A": (2, 3), "b": (3,)}, name="product")).casadi()
    assert function.name() == "product"
    assert (function.name_in(), function.name_out()) == (["A", "b"], ["result"])
    assert np.asarray(function(np.arange(6.0).reshape(2, 3), [1.0, 2.0, 3.0])).reshape(-1).tolist() == [
        8.0,
        26.0,
    ]


@pytest.mark.parametrize(("library", "method"), [("sympy", "sympy"), ("casadi", "casadi")])
def test_a_missing_library_names_the_extra(monkeypatch, library, method):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"pip install \"\.\[symbolic\]\" in the folder"):
        getattr(compile(lambda x: x * 2.0, 1.0), method)()


def test_a_loop_is_not_exported():
    from kinpair.compiler.tape import Tape

    tape = Tape([-1])
    tape.output("y", 1, tape.input("x", 1, [0], [1]), [0])
    with pytest.raises(InputError, match="rolled is a loop over its items"):
        Kernel(tape.finish()).latex()
