"""Matrices of a tree with arcs in any direction (E12, after Roberson & Wittenburg)."""

from __future__ import annotations

import numpy as np

from kinpair.formulations.graph import incidence, path, renaud

ARCS = [(0, 1), (2, 1), (1, 3), (3, 4), (5, 3)]


def test_incidence_and_path_matrix():
    S_0, S = incidence(ARCS)
    T = path(ARCS)
    assert S_0.tolist() == [1, 0, 0, 0, 0]
    assert S.tolist() == [
        [-1, -1, 1, 0, 0],
        [0, 1, 0, 0, 0],
        [0, 0, -1, 1, -1],
        [0, 0, 0, -1, 0],
        [0, 0, 0, 0, 1],
    ]
    assert T.tolist() == [
        [-1, -1, -1, -1, -1],
        [0, 1, 0, 0, 0],
        [0, 0, -1, -1, -1],
        [0, 0, 0, -1, 0],
        [0, 0, 0, 0, 1],
    ]
    assert np.array_equal(T @ S, np.eye(5))
    assert (S_0 @ T).tolist() == [-1] * 5


def test_who_carries_whom():
    e, epsilon, a = renaud(ARCS)
    assert e.tolist() == [[0, 1, 1, 0, 0], [0] * 5, [0, 0, 0, 1, 1], [0] * 5, [0] * 5]
    assert np.array_equal(epsilon, np.abs(path(ARCS)))
    assert a.tolist() == [0, 1, 1, 3, 3]
