"""Sums that are constant though their parts do not say so."""

from __future__ import annotations

import numpy as np
import pytest

from kinpair.algebra.choice import where
from kinpair.compiler.trace import trace
from kinpair.printed_equations.closed_form.terms import constant_sums


def found(function, n: int = 4) -> list[float]:
    program = trace(function, {"q": (n,)})
    constant = constant_sums(program)
    return [constant.get(x.id, np.nan) for x in program.outputs[0].entries]


def rotation(q):
    """Of a quaternion of any length."""
    s = 2.0 / (q[0] ** 2 + q[1] ** 2 + q[2] ** 2 + q[3] ** 2)
    x, y, z, w = q[0], q[1], q[2], q[3]
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
        ]
    )


def test_the_columns_of_a_rotation_are_orthonormal():
    def products(q):
        R = rotation(q)
        return np.array([R[:, 0] @ R[:, 0], R[:, 0] @ R[:, 1], R[:, 0] @ R[:, 0] + R[0, 1]])

    one, zero, neither = found(products)
    assert one == pytest.approx(1.0, rel=1e-12)
    assert zero == 0.0
    assert np.isnan(neither)


@pytest.mark.parametrize(
    "function",
    [
        lambda q: np.array([np.sqrt(q[0] ** 2) - q[0]]),
        lambda q: np.array([np.sqrt((q[0] - 5.0) ** 2) + (q[0] - 5.0)]),
        lambda q: np.array([where(q[0] < 9.0, q[1], 2.0 * q[1]) - q[1]]),
        lambda q: np.array([np.abs(q[0]) - q[0]]),
        lambda q: np.array([q[0] + 1e-9 * q[1] - q[0]]),
    ],
    ids=["root", "root of a difference", "choice", "modulus", "small"],
)
def test_what_is_constant_only_here_and_there_is_not_taken_for_constant(function):
    assert np.isnan(found(function)).all()
