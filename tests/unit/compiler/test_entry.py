"""What the thin call leaves to the slower one, and that the slower one is really not asked otherwise."""

import sys

import numpy as np
import pytest

from kinpair.compiler.kernel import Kernel
from kinpair.compiler.python_objects import thin_calls_work
from kinpair.compiler.trace import trace

PROGRAM = trace(lambda q, m: m * q, {"q": (3,), "m": ()})
request_of: list[tuple[object, ...]] = []


def fallback(*arguments: object, **options: object) -> str:
    request_of.append((arguments, options))
    return "slow"


@pytest.fixture(scope="module")
def call():
    return Kernel(PROGRAM).compile().entry(fallback)


def test_this_python_has_thin_calls():
    assert thin_calls_work()


@pytest.mark.parametrize("q", [np.zeros(3), np.zeros((1, 3)), np.zeros((20, 3)), np.zeros((0, 3))])
def test_usual_arguments_are_taken(call, q):
    assert isinstance(call(q, 2.0), np.ndarray)


class Sub(np.ndarray):
    """Not exactly an ndarray."""


UNUSUAL = {
    "list of lists": [[0.0] * 3],
    "words": ["a", "b", "c"],
    "too large": [0.0, 2**60 + 1, 1.0],
    "float32": np.zeros(3, dtype="float32"),
    "integers": np.zeros(3, dtype=int),
    "swapped bytes": np.zeros(3, dtype=">f8"),
    "too long": np.zeros(4),
    "too many axes": np.zeros((2, 2, 3)),
    "too few axes": np.zeros(()),
    "strided": np.zeros(6)[::2],
    "fortran": np.zeros((4, 3), order="F"),
    "subclass": np.zeros(3).view(Sub),
    "none": None,
    "objects": np.array([None] * 3),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_arguments_are_passed_on(call, name):
    assert call(UNUSUAL[name], 2.0) == "slow"
    assert request_of.pop()[0][0] is UNUSUAL[name]


def test_keywords_and_counts_are_passed_on(call):
    assert call(np.zeros(3), 2.0, out=None) == "slow"
    assert request_of.pop()[1] == {"out": None}
    assert call(np.zeros(3)) == "slow"
    assert call(np.zeros(3), 1.0, 2.0) == "slow"
    assert call() == "slow"
    assert call(np.zeros(3), 2) == "slow"
    assert call(np.zeros((4, 3)), np.zeros(5)) == "slow"


@pytest.mark.parametrize("rows", [(), (1,), (9,)])
def test_out_is_taken_as_it_is(call, rows):
    q, out = np.ones((*rows, 3)), np.zeros((*rows, 3))
    assert call(q, 2.0, out=out) is out
    assert (out == 2.0).all()


def test_several_outs_are_passed_on_since_they_might_overlap():
    call = Kernel(trace(lambda q: (2.0 * q, q.sum()), {"q": (3,)})).compile().entry(fallback)
    out = np.zeros(3), np.zeros(())
    for arguments in (out, list(out), out[:1], (out[0], 1.0)):
        assert call(np.ones(3), out=arguments) == "slow"


@pytest.mark.parametrize("start", [0, 1, 2, 3, 4, 5, 6])
def test_an_out_that_overlaps_an_argument_is_passed_on(call, start):
    room = np.zeros(9)
    result = call(room[3:6], 2.0, out=room[start : start + 3])
    assert (isinstance(result, str)) == (start in (1, 2, 3, 4, 5))


def test_an_unfit_out_is_passed_on(call):
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    for out in (frozen, np.zeros(4), np.zeros(3, "float32"), np.zeros(6)[::2], np.zeros((1, 3)), [0.0] * 3):
        assert call(np.zeros(3), 2.0, out=out) == "slow"
    assert call(np.zeros(3), 2.0, threads=1) == "slow"
    assert call(np.zeros(3), 2.0, out=np.zeros(3), threads=1) == "slow"


def test_out_gains_no_reference(call):
    out = np.zeros(3)
    before = sys.getrefcount(out)
    for _ in range(100):
        call(np.zeros(3), 2.0, out=out)
    assert sys.getrefcount(out) == before


def test_an_error_of_the_slower_one_comes_through():
    def refuse(*_: object) -> None:
        raise KeyError("no")

    with pytest.raises(KeyError):
        Kernel(PROGRAM).entry(refuse)(1)
