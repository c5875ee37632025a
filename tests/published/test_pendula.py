"""Chains of n equal pendula, masses on threads: ω² l / g are the zeros of Laguerre's polynomial L_n, and for many
short ones those of J₀(2 ω √(L/g)) (D. Bernoulli 1733; L. Euler 1781)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import jn_zeros, roots_laguerre

import kinpair as kp

g = 9.81


def chain(n: int, length: float) -> kp.Mechanism:
    """n masses on massless threads of equal length, swinging in a plane."""
    b = kp.Builder(f"{n} pendula")
    before = "ground"
    for k in range(n):
        b.link(f"mass{k}", mass=1.0, com=[0, 0, -length])
        b.joint(f"hinge{k}", "revolute", before, f"mass{k}", xyz=[0, 0, -length if k else 0], axis="y")
        before = f"mass{k}"
    return kp.build(b)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_frequencies_are_the_zeros_of_laguerre(n):
    model = kp.linearise(chain(n, 0.5), np.zeros(n), passive=False)
    found = np.sort([mode.frequency for mode in model.modes])
    assert found == pytest.approx(np.sqrt(roots_laguerre(n)[0] * g / 0.5), rel=1e-9)
    assert all(mode.swings and abs(mode.damping) < 1e-9 for mode in model.modes)


def test_many_short_pendula_are_a_chain():
    """The lowest frequencies tend to those of Bessel's function: the error about halves as n doubles."""
    length = 2.0
    limit = jn_zeros(0, 2) / 2 * np.sqrt(g / length)
    off = []
    for n in (6, 12):
        model = kp.linearise(chain(n, length / n), np.zeros(n))
        lowest = np.sort([mode.frequency for mode in model.modes])[:2]
        off.append(np.abs(lowest / limit - 1.0))
    assert (off[1] < 0.65 * off[0]).all()


def test_shapes_of_two_pendula():
    """Both masses swing together as 1 : √2 in angles from the vertical, or against each other."""
    slow, fast = kp.linearise(chain(2, 1.0), np.zeros(2)).modes
    for mode, sign in ((slow, 1.0), (fast, -1.0)):
        first, second = mode.displacement.real[0], mode.displacement.real.sum()
        assert second / first == pytest.approx(sign * np.sqrt(2.0), rel=1e-9)
