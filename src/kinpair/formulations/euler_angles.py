"""Euler angles of a rotation in any of the twelve sequences, with a constant turn of the body axes.

After Vukobratović, chapter 2.1.2, whose sequence is "zxz": precession, nutation, spin.

A sequence is three axes a, b, c, neighbours different. With the constant rotation O of the body axes, the `offset`,
and the angles η = (ψ, ϑ, φ):

    R O = R_a(ψ) R_b(ϑ) R_c(φ)                                                                   (EU1)
    ω = Π(η) η̇,   Π = [e_1 e_2 e_3] = [a, R_a(ψ) b, R_a(ψ) R_b(ϑ) c]                              (EU2)
    ε = Π η̈ + Π̇ η̇,   Π̇ = [0, e_1 ψ̇ × e_2, (e_1 ψ̇ + e_2 ϑ̇) × e_3]                               (EU3)
    det Π = e_1·(e_2 × e_3):   ± sin ϑ where a = c,  ± cos ϑ where all axes differ                (EU5)
    Π⁻¹ = [(e_2 × e_3)ᵀ/det; e_2ᵀ; (e_1 × e_2)ᵀ/det]             e_2 is normal to e_1 and e_3      (EU6)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.spatial.rotation import IDENTITY, about_x, about_y, about_z, cross

SEQUENCES = ("zxz", "xyx", "yzy", "zyz", "xzx", "yxy", "xyz", "yzx", "zxy", "xzy", "yxz", "zyx")
ABOUT = (about_x, about_y, about_z)
QUARTER = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
OFFSETS = (IDENTITY, QUARTER, np.roll(QUARTER, (1, 1), (0, 1)))  # none, a quarter turn about x, one about y


class Choice(NamedTuple):
    """Angles of one link: the sequence of axes, and the constant rotation of the body axes."""

    sequence: str
    offset: Matrix


BOOK = Choice("zxz", IDENTITY)


class Angles(NamedTuple):
    """η and its derivatives (3,) each, and how they are measured."""

    eta: Vector
    etad: Vector
    etadd: Vector
    choice: Choice


def numbers(sequence: str) -> tuple[int, int, int]:
    """Return the numbers of the axes: x is 0."""
    a, b, c = ("xyz".index(axis) for axis in sequence)
    return a, b, c


def _sense(a: int, b: int) -> float:
    """Return 1 where b follows a in the order x, y, z, x; −1 elsewhere."""
    return 1.0 if (b - a) % 3 == 1 else -1.0


def rotation(eta: Vector, choice: Choice = BOOK) -> Matrix:
    """Compute R (3, 3), the axes of the link in inertial axes.    (EU1)"""
    a, b, c = numbers(choice.sequence)
    return ABOUT[a](eta[0]) @ ABOUT[b](eta[1]) @ ABOUT[c](eta[2]) @ choice.offset.T  # (EU1)


def angles_of(R: Matrix, choice: Choice = BOOK) -> Vector:
    """Compute η (3,) of a rotation, where det Π is not zero; 0 ≤ ϑ ≤ π where a = c, else −π/2 ≤ ϑ ≤ π/2.    (EU1)"""
    a, b, c = numbers(choice.sequence)
    X, sense = R @ choice.offset, _sense(a, b)
    if a == c:
        d = 3 - a - b
        theta = np.arctan2(_length(X[b, a], X[d, a]), X[a, a])
        return array([np.arctan2(X[b, a], -sense * X[d, a]), theta, np.arctan2(X[a, b], sense * X[a, d])])
    theta = np.arctan2(sense * X[a, c], _length(X[a, a], X[a, b]))
    return array([np.arctan2(-sense * X[b, c], X[c, c]), theta, np.arctan2(-sense * X[a, b], X[a, a])])


def _length(x: Scalar, y: Scalar) -> Scalar:
    return np.sqrt(x * x + y * y)


def rates_matrix(eta: Vector, choice: Choice = BOOK) -> Matrix:
    """Compute Π (3, 3) of ω = Π η̇, ω in inertial axes.    (EU2)"""
    a, b, c = numbers(choice.sequence)
    first = ABOUT[a](eta[0])
    second = first @ ABOUT[b](eta[1])
    return array([list(column) for column in (IDENTITY[:, a], first[:, b], second[:, c])]).T  # (EU2)


def rates_matrix_rate(eta: Vector, etad: Vector, choice: Choice = BOOK) -> Matrix:
    """Compute Π̇ (3, 3) at the rates η̇.    (EU3)"""
    Pi = rates_matrix(eta, choice)
    first = Pi[:, 0] * etad[0]
    columns = np.zeros(3), cross(first, Pi[:, 1]), cross(first + Pi[:, 1] * etad[1], Pi[:, 2])
    return array([list(column) for column in columns]).T  # (EU3)


def determinant(eta: Vector, choice: Choice = BOOK) -> Scalar:
    """Compute |det Π|: |sin ϑ| or |cos ϑ|.    (EU5)"""
    a, _, c = numbers(choice.sequence)
    return np.abs(np.sin(eta[1]) if a == c else np.cos(eta[1]))  # (EU5)


def _dual(Pi: Matrix) -> tuple[Vector, Vector, Vector]:
    """The rows of Π⁻¹.    (EU6)"""
    e1, e2, e3 = Pi[:, 0], Pi[:, 1], Pi[:, 2]
    outer, inner = cross(e2, e3), cross(e1, e2)
    det = e1 @ outer
    return array([np.divide(x, det) for x in outer]), e2, array([np.divide(x, det) for x in inner])  # (EU6)


def rates_of(Pi: Matrix, omega: Vector) -> Vector:
    """Compute η̇ (3,) of Π η̇ = ω."""
    return array([row @ omega for row in _dual(Pi)])


def couple_of(Pi: Matrix, Q: Vector) -> Vector:
    """Compute the couple n (3,) of Πᵀ n = Q."""
    first, second, third = _dual(Pi)
    return first * Q[0] + second * Q[1] + third * Q[2]


def measured(R: Matrix, omega: Vector, epsilon: Vector, choice: Choice) -> Angles:
    """Compute η, η̇ and η̈ of a link from its rotation, angular velocity and angular acceleration.    (EU2), (EU3)"""
    eta = angles_of(R, choice)
    Pi = rates_matrix(eta, choice)
    etad = rates_of(Pi, omega)  # (EU2)
    return Angles(
        eta, etad, rates_of(Pi, epsilon - rates_matrix_rate(eta, etad, choice) @ etad), choice
    )  # (EU3)


def best(R: Any, sequences: tuple[str, ...], offsets: tuple[Matrix, ...]) -> Choice:
    """Return the choice with the largest |det Π| for a rotation of floats; of equal ones the first."""
    candidates = [Choice(sequence, offset) for sequence in sequences for offset in offsets]
    sizes = [float(determinant(angles_of(np.real(R), choice), choice)) for choice in candidates]
    return candidates[next(k for k, size in enumerate(sizes) if size >= max(sizes) - ALIKE)]


ALIKE = 1e-12  # of two determinants that are equal but for rounding
