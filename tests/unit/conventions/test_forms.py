"""The tables of joint forms: complete, orthogonal, and with the right drift."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from kinpair.conventions import forms
from kinpair.pairs import PAIRS, Pair

FORMS = [
    pytest.param(kind, form, id=f"{engine.name}-{kind}-{form.nq}")
    for engine in (forms.PINOCCHIO, forms.MUJOCO, forms.DRAKE)
    for kind, every in engine.forms.items()
    for form in every
]


def alone(kind: str) -> tuple[Pair, zoo.Motion]:
    one = zoo.tree(seed=4, n=1, kinds=(kind,))
    return one.model.body[1].pair, zoo.motion(one, seed=4)


@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_rate_maps_are_orthogonal(kind, form):
    T = form.T(alone(kind)[1].q)
    assert pytest.approx(np.eye(form.nv), abs=1e-14) == T @ T.T


@pytest.mark.parametrize(("kind", "form"), FORMS)
def test_drift_is_the_rate_of_change_of_the_map(kind, form):
    """Ṫ q̇ by a central difference along the motion: error h² times a third derivative of size ten."""
    (pair, m), h = alone(kind), 1e-5
    ahead, behind = (form.T(pair.moved(m.q, sign * h * m.qd)) for sign in (1, -1))
    assert form.Td_qd(m.q, m.qd) == pytest.approx((ahead - behind) / (2 * h) @ m.qd, abs=1e-8)


def test_every_kind_has_a_form_in_every_engine():
    for engine in (forms.PINOCCHIO, forms.MUJOCO, forms.DRAKE):
        assert set(engine.forms) == set(PAIRS) - {"fixed"}


def test_gimbal_lock_keeps_the_rotation():
    for pitch in (np.pi / 2, -np.pi / 2):
        k = forms.quaternion(np.array([0.3, pitch, -0.8]))
        again = forms.quaternion(forms.rpy(k))
        assert abs(again @ k) == pytest.approx(1.0, abs=1e-12)
