"""Every equation runs on object arrays of numbers it cannot look at, and finds what floats find."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import zoo
from kinpair.evaluation import quantities
from kinpair.forces.elements import efforts_of, stored_energy
from kinpair.formulations import articulated, composite, denoc, kinematics, newton_euler, regressor
from kinpair.formulations.kinematics import no_wrenches
from kinpair.model.recursion import inward, outward
from kinpair.model.state import State
from opaque import hide, reveal

TREE = zoo.tree(11, 14)
FLOATING = zoo.tree(12, 9, floating=True)
LOADS = {"tip 0": np.array([1.0, -2.0, 3.0, 4.0, -5.0, 6.0])}


def with_loads(f):
    return lambda model, *state: f(model, *state, no_wrenches(model))


def by_name(f):
    return lambda model, *state: f(model, quantities.Request("pose", frame="tip 1"), *state)


def plain(f):
    return lambda model, *state: f(model, quantities.Request(""), *state)


INVERSE = quantities.request_of("inverse_dynamics")


EQUATIONS = {
    "newton-euler inverse dynamics": (with_loads(newton_euler.inverse_dynamics), 3),
    "composite bodies, forward dynamics": (with_loads(composite.forward_dynamics), 3),
    "composite bodies, mass matrix": (composite.mass_matrix, 1),
    "articulated bodies, forward dynamics": (with_loads(articulated.forward_dynamics), 3),
    "newton-euler reactions": (lambda m, *s: newton_euler.reactions(m, *s, no_wrenches(m))[1:], 3),
    "denoc inverse dynamics": (with_loads(denoc.inverse_dynamics), 3),
    "denoc forward dynamics": (with_loads(denoc.forward_dynamics), 3),
    "denoc mass matrix": (denoc.mass_matrix, 1),
    "denoc convective matrix": (denoc.coriolis_matrix, 2),
    "denoc complement": (lambda m, q: denoc.complement(m, q)[0], 1),
    "denoc twists": (lambda m, *s: denoc.twists(m, *s)[1:], 2),
    "denoc reactions": (lambda m, *s: denoc.reactions(m, *s, no_wrenches(m))[1:], 3),
    "pose": (lambda m, q: by_name(quantities.pose)(m, q)[1], 1),
    "jacobian": (by_name(quantities.jacobian), 1),
    "jacobian rate": (by_name(quantities.jacobian_rate), 2),
    "centre of mass": (kinematics.centre_of_mass, 1),
    "energy": (plain(quantities.energy), 2),
    "regressor": (regressor.regressor, 3),
    "momentum": (kinematics.momentum, 2),
    "dq/dt": (kinematics.dq_dt, 2),
    "loaded inverse dynamics": (
        lambda m, *s: quantities.inverse_dynamics(m, INVERSE, *s, LOADS),
        3,
    ),
}


@pytest.mark.parametrize("mechanism", [TREE, FLOATING], ids=lambda m: m.name)
@pytest.mark.parametrize("equation", EQUATIONS)
def test_symbols_give_what_floats_give(mechanism, equation):
    f, arguments = EQUATIONS[equation]
    s = zoo.motion(mechanism, 3)
    state = (s.q, s.qd, s.qdd)[:arguments]
    plain = f(mechanism.model, *state)
    recorded = f(mechanism.model, *(hide(x) for x in state))
    plain, recorded = _flat(plain), _flat(recorded)
    assert zoo.relative_error(recorded, plain) < 1e-11


def _flat(x):
    parts = x if isinstance(x, (tuple, list)) else [x]
    return np.concatenate([reveal(part).reshape(-1) for part in parts])


def test_springs_and_friction_on_symbols():
    from kinpair import Builder, build

    b = Builder("sprung").link("a", mass=1.0).link("b", mass=2.0)
    b.joint("slide", "prismatic", "ground", "a", stiffness=30.0, rest=0.1, friction=2.0, damping=0.5)
    b.joint("ball", "spherical", "a", "b", damping=[0.1, 0.2, 0.3])
    model = build(b).model
    q, qd = np.array([0.3, 0, 0, 0, 1.0]), np.array([-0.4, 1, 2, 3])
    expected = [-30 * 0.2 + 0.5 * 0.4 + 2.0, -0.1, -0.4, -0.9]
    assert efforts_of(model, State(q, qd)) == pytest.approx(expected)
    assert reveal(efforts_of(model, State(hide(q), hide(qd)))) == pytest.approx(expected)
    assert reveal(stored_energy(model, State(hide(q), hide(qd)))) == pytest.approx(0.5 * 30 * 0.04)


def test_a_step_never_sees_the_number_of_its_body():
    """Bodies are told apart by their constants alone: no field of Body names or numbers it."""
    from dataclasses import fields

    from kinpair.model.model import Body

    assert {f.name for f in fields(Body)} == set("pair R_seat a_seat r_seat m d I s J rotor".split())


def test_walks_hand_each_body_its_neighbours_values():
    model = TREE.model
    depth = outward(model, lambda body, parent: parent + 1, 0)
    assert depth[1:] == [len(model.path_to_ground(i)) for i in model.moving]
    size = inward(model, lambda body, outer: (1 + outer[0], (1 + outer[0],)), (0,))
    assert size[0] == (len(model.moving),)
    carried = [sum(i in model.path_to_ground(k) for k in model.moving) for i in model.moving]
    assert size[1:] == carried


def test_columns_of_a_batch_give_what_symbols_give():
    s = zoo.motions(TREE, 3)
    result = TREE.inverse_dynamics(s.q, s.qd, s.qdd, external=LOADS)
    one = partial(TREE.inverse_dynamics, external=LOADS)
    for k in range(3):
        assert zoo.relative_error(result[k], one(s.q[k], s.qd[k], s.qdd[k])) < 1e-13
