"""Every message of the compiler, word for word."""

import numpy as np
import pytest

from kinpair.compiler.kernel import compile
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, TraceError

RECORDED = (
    "recorded are + - * / **, abs, sqrt, sin, cos, tan, arcsin, arccos, arctan, arctan2, exp, log, "
    "sinh, cosh, tanh, hypot, floor, ceil, comparisons, "
    "and where, sign, minimum, maximum of kinpair.algebra.choice; functions of a user may use more, see "
    "docs/compiler.md"
)
IF = (
    "`if`, `and`, `or` and `not` need a truth value, and this value is only known at run time; use "
    "np.where(condition, a, b), and & | ~ between conditions"
)
FLOAT = (
    "a plain number is needed here, and this value is only known at run time; leave out float() and int(), use "
    "functions of NumPy, and put such values into an array by np.array([...])"
)


def branch(x):
    return x[0] if x[0] > 0.0 else x[1]


TRACING = {
    "if": (branch, f"0 < x[0]: {IF}"),
    "sign": (lambda x: np.sign(x), f"x[0] < 0: {IF}"),
    "float": (lambda x: float(x[0]), f"x[0]: {FLOAT}"),
    "into floats": (lambda x: np.zeros(2).__setitem__(0, x[0]), f"x[0]: {FLOAT}"),
    "cbrt": (lambda x: np.cbrt(x), f"np.cbrt of x[0] cannot be recorded; {RECORDED}"),
    "solve": (
        lambda x: np.linalg.solve(np.outer(x, x), x),
        "NumPy cannot do this with symbols (Cannot cast ufunc 'solve1' input 0 from dtype('O') to "
        f"dtype('float64') with casting rule 'same_kind'); {RECORDED}",
    ),
    "power": (
        lambda x: x**0.3,
        "x[0] ** 0.3: only whole and half powers up to 64 are recorded; use exp(p * log(x)) for others",
    ),
    "complex": (lambda x: x * 1j, "1j: complex numbers are not recorded; give real and imaginary part apart"),
    "none": (lambda x: None, "result 'result' is None; a traced function returns numbers or arrays"),
    "strings": (
        lambda x: np.array(["a"]),
        "result 'result' holds 'a'; a traced function returns numbers or arrays of numbers",
    ),
}


@pytest.mark.parametrize("name", TRACING)
def test_what_cannot_be_recorded_is_explained(name):
    function, message = TRACING[name]
    with pytest.raises(TraceError) as caught:
        trace(function, {"x": (2,)})
    assert str(caught.value) == message


def test_too_many_examples_are_counted():
    with pytest.raises(TraceError) as caught:
        compile(lambda x: x, 1.0, 2.0)
    assert str(caught.value) == "2 example arguments, but the function takes 1"


kernel = compile(lambda q, qd: q * qd, np.zeros(3), np.zeros(3), name="power")
q = np.zeros(3)
CALLS = {
    "count": (lambda: kernel(q), "power takes 2 arguments (q (3,), qd (3,)), and got 1"),
    "shape": (
        lambda: kernel(q, np.zeros(4)),
        "power: qd has shape (4,); it takes (3,), or (batch, 3) for a batch",
    ),
    "matrix": (
        lambda: kernel(np.zeros((2, 2, 3)), q),
        "power: q has shape (2, 2, 3); it takes (3,), or (batch, 3) for a batch",
    ),
    "rows": (
        lambda: kernel(np.zeros((2, 3)), np.zeros((5, 3))),
        "power: the arguments of a batch have different numbers of rows: q 2, qd 5",
    ),
    "complex": (lambda: kernel(q + 0j, q), "power: q holds complex128; it takes real numbers (float64)"),
    "words": (lambda: kernel(["a"] * 3, q), "power: q holds <U1; it takes real numbers (float64)"),
    "out shape": (
        lambda: kernel(q, q, out=np.zeros(4)),
        "power: out= for result is float64 (4,); it must be an array float64 (3,)",
    ),
    "out type": (
        lambda: kernel(q, q, out=np.zeros(3, "float32")),
        "power: out= for result is float32 (3,); it must be an array float64 (3,)",
    ),
    "out list": (
        lambda: kernel(q, q, out=[1.0]),
        "power: out= for result is float; it must be an array float64 (3,)",
    ),
    "out count": (lambda: kernel(q, q, out=(q, q)), "power: out= takes 1 arrays (result), and got 2"),
    "threads": (lambda: kernel(q, q, threads=0), "power: threads=0; it must be a whole number, at least 1"),
    "dtype": (
        lambda: compile(lambda x: x, 1.0, dtype="int32"),
        "dtype int32: compiled code works in float64 or float32",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_is_explained(name):
    call, message = CALLS[name]
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == message


def test_out_must_be_writable():
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(InputError, match="out= for result is read-only"):
        kernel(q, q, out=frozen)
