"""Exact division, determinants and phases of normal forms."""

from __future__ import annotations

from math import pi

import pytest

from kinpair.printed_equations.closed_form.folding import Denominators, Phases, split
from kinpair.printed_equations.closed_form.matrices import Matrices, blocks, quotient
from kinpair.printed_equations.closed_form.polynomial import Polynomial, letter, number, wave

A, B, ONE = letter("a"), letter("b"), number(1.0)
C, S, OTHER = (wave(0, "cos", (("q", 1),)), wave(0, "sin", (("q", 1),)), wave(1, "cos", (("u", 2),)))
ALGEBRA = Matrices(100)


def near(x: Polynomial, y: Polynomial) -> bool:
    return (x - y).size < 1e-12 * max(1.0, x.size)


@pytest.mark.parametrize("x", [A + B, A * C + B, C + S.scaled(2.0), A * C * OTHER - B * S])
@pytest.mark.parametrize("y", [A - B, A + S, B * OTHER + A * C, A * B + C * C])
def test_a_product_divided_by_a_factor_is_the_other(x, y):
    result = quotient(x * y, y)
    assert result is not None
    assert near(result, x)
    assert quotient(x * y + ONE, y) is None


def test_sine_and_cosine_squared_divide_as_numbers_do():
    result = quotient(ONE - C * C, S)
    assert result is not None
    assert near(result, S)


def test_a_matrix_times_its_adjugate_is_its_determinant():
    matrix = [[A, C, B], [S, A + B, ONE], [B, OTHER, C]]
    result, d = ALGEBRA.product(matrix, ALGEBRA.adjugate(matrix)), ALGEBRA.determinant(matrix)
    for i, row in enumerate(result):
        for j, x in enumerate(row):
            assert near(x, d if i == j else number(0.0))


def test_blocks_that_do_not_meet():
    nothing = number(0.0)
    assert blocks([[A, nothing, B], [nothing, ONE, nothing], [B, nothing, A]]) == [[0, 2], [1]]


def test_a_sum_is_split_into_one_term_and_whole_numbers():
    content, rest = split(A * B.scaled(-1.5) - A * A.scaled(0.75))
    assert content == A.scaled(-0.75)
    assert rest == B.scaled(2.0) + A


def test_parts_over_one_denominator_lose_what_divides_them():
    names = Denominators(ALGEBRA)
    first, second = names.name(A + B), names.name(A - B)
    whole = names.whole({(first,): ONE, (second,): ONE})
    assert (whole.numerator, whole.under) == (A.scaled(2.0), (first, second))
    assert names.whole({(first,): A * A - B * B}).under == ()


@pytest.mark.parametrize(("phase", "kind"), [(pi / 3, "sin"), (-pi / 3, "cos"), (pi / 4, "sin")])
def test_a_simple_phase_becomes_a_letter(phase, kind):
    phases = Phases()
    joined = phases.of(_turned(kind, phase))
    assert len(joined) == 1
    ((name, value),) = phases.values.items()
    ((_, (wave,)),) = joined.terms
    signed = dict(wave.angle)[name] * value
    assert value > 0
    assert joined.size == pytest.approx(1.0, rel=1e-15)
    assert abs((signed - phase) / (pi / 2) - round((signed - phase) / (pi / 2))) < 1e-12


def test_a_phase_and_its_opposite_have_one_letter():
    phases = Phases()
    both = [phases.of(_turned("sin", sign * pi / 3)) for sign in (1, -1)]
    assert [len(x) for x in both] == [1, 1]
    assert list(phases.values) == ["alpha1"]


def test_a_sum_with_simple_numbers_stays_a_sum():
    assert len(Phases().of(S + C)) == 2


def test_any_other_phase_stays_a_sum_unless_it_was_given():
    assert len(Phases().of(_turned("sin", 0.3))) == 2
    assert len(Phases([0.3]).of(_turned("sin", 0.3))) == 1


def _turned(kind: str, phase: float) -> Polynomial:
    from math import cos, sin

    if kind == "sin":
        return S.scaled(cos(phase)) + C.scaled(sin(phase))
    return C.scaled(cos(phase)) - S.scaled(sin(phase))
