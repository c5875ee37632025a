"""Response of trees to loads: by composite bodies as by any formulation."""

from __future__ import annotations

import numpy as np
import pytest

import zoo
from kinpair.friction.loads import system, tree
from kinpair.friction.surfaces.bearing import Ball, Guide, Journal, Pin, Sleeve
from kinpair.friction.surfaces.surface import Grip
from kinpair.friction.surfaces.thread import Thread

KINDS = ("revolute", "prismatic", "helical", "cylindrical", "universal", "spherical")
GRIP = Grip(0.05, 0.05)


def surfaces(model):
    made = {
        "revolute": lambda i: [Journal("j", i, GRIP, 0.02, 0.03, 0.2, 1.0)],
        "prismatic": lambda i: [Guide("g", i, GRIP, 0.3, 0.2, 0.0)],
        "helical": lambda i: [Thread("t", i, GRIP, 0.02, model.body[i].pair.pitch, 0.0)],
        "cylindrical": lambda i: [Sleeve("s", i, GRIP, 0.02, 0.2, 0.0)],
        "universal": lambda i: [Pin("p", i, GRIP, 0.02, 0.02, 0.1, 0.0, k) for k in range(2)],
        "spherical": lambda i: [Ball("b", i, GRIP, 0.03, 0.0)],
    }
    return [x for i in model.moving for x in made[model.body[i].pair.kind](i)]


@pytest.mark.parametrize("seed", range(3))
def test_the_response_is_that_of_every_road(seed):
    model = zoo.tree(seed, 6, KINDS).model
    rng = np.random.default_rng(seed)
    q = model.neutral() + 0.5 * rng.normal(size=model.nq)
    for i in model.moving:
        if model.body[i].pair.kind == "spherical":
            q[model.q_span[i]] /= np.linalg.norm(q[model.q_span[i]])
    qd, tau = rng.normal(size=(2, model.nv))
    own = surfaces(model)
    spans = [model.v_span[x.body] for x in own]
    given = [np.ones(1) * np.sign((x.sliding() @ qd[k])[:1]) for x, k in zip(own, spans, strict=True)]
    slips = system.slips_of(own, [qd[k] for k in spans], [
        g if len(x.sliding()) == 1 else np.zeros(len(x.sliding())) for x, g in zip(own, given, strict=True)
    ])  # fmt: skip
    D = system.columns(model.nv, own, slips, spans)
    state = tree.Forced(model, q, qd, tau, [np.zeros(6)] * len(model.parent))
    roads = [
        tree.by_composite_bodies(state, own, D),
        tree.by_formulation(state, "newton-euler", own, D),
        tree.by_formulation(state, "denoc", own, D),
        tree.by_reaction_equation(state, own, D),
    ]
    for k, flat in enumerate(zip(*(_flat(x) for x, _ in roads), strict=True)):
        first = flat[0]
        for other in flat[1:]:
            assert np.abs(other - first).max() < 1e-9 * max(1.0, np.abs(first).max()), k


def _flat(x):
    return [
        np.asarray(x.qdd, dtype=float),
        np.array(x.by_load, dtype=float),
        np.array([c for row in x.forms for c in row], dtype=float),
        np.array([c for row in x.forms_by_load for column in row for c in column], dtype=float),
    ]
