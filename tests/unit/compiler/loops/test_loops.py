"""Loop functions: the compiled function gives the bits of the reference, and the reference is plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest

import loop_functions as loops
from kinpair.compiler.cache import Store, text_key
from kinpair.compiler.loops.functions import compiled, module_text
from kinpair.compiler.loops.kinds import KINDS
from kinpair.compiler.time_loop.bracket import MODE, NARROW, TRIAL, Search, narrow, open_bracket
from kinpair.constraints.solve.chain import largest
from kinpair.errors import InputError, TraceError


def both(function, *arguments):
    """Results and arguments of the compiled function and of the reference."""
    copies = [[x.copy() if isinstance(x, np.ndarray) else x for x in arguments] for _ in range(2)]
    results = [f(*x) for f, x in zip((compiled(function), function), copies, strict=True)]
    return results, [[x for x in own if isinstance(x, np.ndarray)] for own in copies]


def assert_same_bits(function, *arguments):
    (fast, slow), (fast_arrays, slow_arrays) = both(function, *arguments)
    np.testing.assert_array_equal(fast, slow)
    for a, b in zip(fast_arrays, slow_arrays, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", range(4))
def test_sums_searches_and_sweeps(seed):
    random = np.random.default_rng(seed)
    a = random.normal(size=9)
    assert_same_bits(loops.dot, a, random.normal(size=9))
    assert_same_bits(loops.largest, a)
    assert_same_bits(loops.largest, np.where(np.arange(9) == 5, np.nan, a))
    A = random.normal(size=(7, 7))
    assert_same_bits(loops.sweep, A @ A.T + np.eye(7), a[:7].copy(), np.zeros(7))


def test_views_are_those_of_numpy():
    random = np.random.default_rng(1)
    assert_same_bits(loops.views, random.normal(size=4), np.zeros((3, 4)), random.normal(size=8))


def test_records_are_passed_whole_made_and_read_by_field():
    a = np.array([1.0, 2.0, 3.0])
    pair = loops.Pair(a, a[::-1].copy(), 0.5)
    assert compiled(loops.weighted)(pair) == loops.weighted(pair) == 0.5 * (3.0 + 4.0 + 3.0) + 2.0 * 14.0


@pytest.mark.parametrize(("a", "b"), [(7, 2), (-7, 2), (7, -2), (-7, -2), (6, 3), (0, 5)])
def test_whole_numbers_have_the_signs_of_python(a, b):
    assert_same_bits(loops.integers, a, b, np.zeros(4, dtype=int))


@pytest.mark.parametrize("x", [0.0, -0.0, 0.5, 1.5, math.nan, -math.inf])
@pytest.mark.parametrize("y", [1.0, 0.25, 3.0, math.nan, math.inf])
def test_conditions_treat_nan_as_python_does(x, y):
    assert compiled(loops.conditions)(x, y) == loops.conditions(x, y)


@pytest.mark.parametrize("n", [1, 3, 10, 40])
def test_lapack_solves_what_numpy_solves(n):
    random = np.random.default_rng(n)
    A = random.normal(size=(n, n)) + 2 * n * np.eye(n)  # well-conditioned: diagonally dominant
    b = random.normal(size=n)
    (fast, slow), (arrays, reference) = both(loops.solve, A, b, np.zeros(n, dtype=int))
    assert fast == slow == 0
    np.testing.assert_array_equal(arrays[1], reference[1])
    np.testing.assert_allclose(arrays[1], np.linalg.solve(A, b), rtol=1e-13, atol=1e-14)


def test_a_singular_matrix_gives_the_number_of_its_pivot():
    (fast, slow), _ = both(loops.solve, np.ones((3, 3)), np.ones(3), np.zeros(3, dtype=int))
    assert fast == slow == 2


def test_brackets_are_narrowed_in_the_same_trials():
    """The root finder of compiled runs, on 500 pairs of guards: the same trials and ends, bit for bit."""
    random = np.random.default_rng(3)
    opened, narrowed = compiled(open_bracket), compiled(narrow)
    for _ in range(500):
        roots, slopes = (
            random.uniform(0.05, 0.95, 2),
            random.choice([-1.0, 1.0], 2) * random.uniform(0.5, 2, 2),
        )

        def guards(time, roots=roots, slopes=slopes):
            return slopes * (np.exp(time) - np.exp(roots))

        ends = []
        for start, shrink in ((opened, narrowed), (open_bracket, narrow)):
            search = Search(np.zeros(11), *np.zeros((4, 2)), np.ones(2), np.zeros(3))
            start(search, guards(0.0), guards(1.0), 0.0, 1.0, 1.0)
            while search.b[MODE] == NARROW:
                shrink(search, guards(search.b[TRIAL]), search.b[TRIAL])
            ends.append((search.b, search.e))
        for fast, slow in zip(*ends, strict=True):
            np.testing.assert_array_equal(fast, slow)
        assert search.b[TRIAL] == pytest.approx(roots.min(), abs=3e-14)


def test_code_is_kept_in_a_store_under_the_text_of_its_module(tmp_path):
    store = Store(tmp_path)
    compiled(loops.dot, store=store)
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert compiled(loops.dot, store=store)(np.ones(3), np.ones(3)) == 3.0
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == kept
    assert kept


def test_stored_code_of_the_package_is_found_without_writing_text(tmp_path):
    store, x = Store(tmp_path), np.array([1.0, -3.0, 2.0])
    first, second = compiled(largest, store=store), compiled(largest, store=store)
    assert "text" in vars(first)
    assert "text" not in vars(second)
    assert first(x) == second(x) == largest(x) == 3.0
    store.path(text_key(first.text)).unlink()  # removed by the limit of the store
    assert compiled(largest, store=store)(x) == 3.0
    assert store.stored_code(text_key(first.text)) is not None


def test_what_a_function_calls_is_in_its_module_once():
    assert module_text(loops.sweep).count("define ") >= 1
    assert "declare" not in module_text(loops.dot)


REJECTED = {
    "untyped": f"no annotation; use one of {', '.join(KINDS)}, a NamedTuple of them or Callable[[...], ...]",
    "power": "'x ** 3.0' has no translation; write powers as products",
    "changes_kind": "'total' is a whole number; begin with a float, such as 0.0",
    "column": "a column of a matrix is not contiguous; use a loop over its rows",
    "python_sum": "'sum' has no translation",
    "keyword": "'dot(x, b=x)': arguments of calls are positional",
    "early": "'step' is used before it is assigned",
    "returns_array": "a function returns None, a scalar or a tuple of scalars; write arrays into arguments",
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_has_no_translation_is_named_with_its_line(name):
    function = getattr(loops, name)
    with pytest.raises(TraceError) as problem:
        compiled(function)
    first = function.__code__.co_firstlineno
    message = str(problem.value)
    assert message.startswith(f"loop function loop_functions.{name}, line ")
    assert message.endswith(REJECTED[name])
    assert first <= int(message.split("line ")[1].split(":")[0]) <= first + 5


def test_arrays_of_another_type_or_layout_are_rejected():
    dot = compiled(loops.dot)
    with pytest.raises(InputError, match="expected an array of float64 with 1 axes, found ndarray int64"):
        dot(np.ones(3, dtype=int), np.ones(3))
    with pytest.raises(InputError, match="rows of an array must be contiguous"):
        dot(np.ones(6)[::2], np.ones(3))
    with pytest.raises(InputError, match="dot takes 2 arguments, not 1"):
        dot(np.ones(3))
