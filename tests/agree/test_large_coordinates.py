"""Coordinates much larger than the mechanism: compiled code and the reference agree, or a warning says how well."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinpair as kp
import zoo
from families import family
from kinpair.constraints.soundness import INACCURATE
from kinpair.formulations import kinematics

TURNING = ("revolute", "universal", "spherical")
SIZES, STATES = (1e3, 1e4, 1e5, 1e6), 3
SEEDS = [str(seed) for seed in range(40)]


def tree(seed: int, kinds: tuple[str, ...]) -> kp.Mechanism:
    return kp.Mechanism(zoo.tree(seed, 4, kinds).model)


def states(m: kp.Mechanism, seed: int) -> list[tuple[np.ndarray, ...]]:
    """Coordinates of all sizes, rates and efforts."""
    rng = np.random.default_rng(seed)
    large = [rng.uniform(-size, size, m.nq) for size in SIZES for _ in range(STATES)]
    return [
        (np.asarray(kinematics.normalised(m.model, q), dtype=float), *rng.uniform(-1.0, 1.0, (2, m.nv)))
        for q in large
    ]


@pytest.mark.parametrize("seed", family(SEEDS, {"0", "1"}, reason="a further random tree"))
def test_angles_of_any_size_are_reduced_exactly(seed):
    m = tree(int(seed), TURNING)
    for state in states(m, int(seed)):
        assert zoo.relative_error(m.forward_dynamics(*state), m.reference.forward_dynamics(*state)) < 1e-11


@pytest.mark.parametrize("seed", family(SEEDS, {"0", "1", "2"}, reason="a further random tree"))
def test_accelerations_at_large_coordinates_agree_or_are_reported(seed):
    m = tree(int(seed), zoo.KINDS)
    for state in states(m, int(seed)):
        with warnings.catch_warnings(record=True) as reported:
            warnings.simplefilter("always")
            compiled, reference = m.forward_dynamics(*state), m.reference.forward_dynamics(*state)
        assert {x.category for x in reported} <= {kp.AccuracyWarning}
        assert len(reported) in (0, 2)  # of both, or of none
        assert reported or zoo.relative_error(compiled, reference) < INACCURATE
        back = m.inverse_dynamics(state[0], state[1], compiled)
        scale = np.abs(m.mass_matrix(state[0])) @ np.abs(compiled) + np.abs(m.bias_forces(*state[:2])) + 1.0
        assert (np.abs(back - state[2]) / scale).max() < 1e-7
