"""C of DeNOC by composite bodies in vectors of three, and by its 6 × 6 blocks as printed."""

from __future__ import annotations

from functools import partial

import kinpair as kp
import zoo
from kinpair.compiler.trace import trace
from kinpair.formulations import convective, denoc


def test_both_forms_give_the_same_matrix_for_every_pair() -> None:
    kinds: set[str] = set()
    for mechanism in zoo.random_trees(seed=6):
        s = zoo.motion(mechanism)
        kinds |= {mechanism.model.body[i].pair.kind for i in mechanism.model.moving}
        printed = denoc.coriolis_matrix(mechanism.model, s.q, s.qd)
        assert zoo.relative_error(convective.coriolis_matrix(mechanism.model, s.q, s.qd), printed) < 1e-13
    assert {"universal", "planar", "spherical", "free", "helical"} <= kinds


def test_vectors_of_three_take_half_of_the_operations() -> None:
    arm = kp.example("stanford-arm")
    sizes = {"q": (6,), "qd": (6,)}
    of_points, of_blocks = (
        trace(partial(module.coriolis_matrix, arm.model), sizes, name=module.__name__)
        for module in (convective, denoc)
    )
    assert of_points.count["total"] < 0.5 * of_blocks.count["total"]
