"""One number by four roads: floats, interpreter, code for one state, code for batches.

Every quantity by both order-n formulations on the bundled examples, and on real robots with fixed and free base.
Each kernel is compiled in one form on every third mechanism, in the other one on the next, and only interpreted on the
one after; robots have one form or the other. `make long` compiles the examples in both forms, and has more robots.
Relative error ≤ 1e-12; what solves with H is allowed 100·eps·cond(H) where that is larger.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinpair as kp
import zoo
from families import LARGE_EXAMPLES, example, family
from kinpair.compiler.program import flatten
from kinpair.evaluation.quantities.request import METHODS, request_of
from kinpair.evaluation.quantities.table import QUANTITIES
from kinpair.model.welds import with_welds
from robots import urdf_files

TOLERANCE = 1e-12
EPS = np.finfo(float).eps
STATES = 3
ROWS = 11  # more than the lanes of any machine, and no multiple: the states again and again
FORMS = ("one", "batch")
EVERYWHERE = (None, "newton-euler", "denoc")  # the others have compiled mechanisms in test_formulations_*.py
KERNELS = [
    (name, method) for name in QUANTITIES for method in METHODS.get(name, (None,)) if method in EVERYWHERE
]
SOLVED = ("forward_dynamics", "forward_dynamics_derivatives")
LONG = ("regressor", "inverse_dynamics_derivatives", "forward_dynamics_derivatives")
LOADED = [(name, method) for name, method in KERNELS if QUANTITIES[name].loaded and name not in LONG]
EXAMPLES = list(kp.examples(systems=False))
ROBOTS = (
    "ur/ur5_robot panda/panda kinova/kinova talos_data/talos_left_arm z1/z1 xarm/xarm7 so_arm/so100 "
    "allegro_hand/allegro_left_hand baxter/baxter double_pendulum/double_pendulum asr_twodof/TwoDofs "
    "finger_edu/finger_edu bolt/bolt solo/solo12 go2/go2 anymal_b_simple/anymal hyq/hyq_no_sensors iris/iris "
    "borinot/borinot_flying_arm_2 hextilt/hextilt_flying_arm_5"
).split()
SOME_ROBOTS = family(
    ROBOTS,
    "ur/ur5_robot panda/panda kinova/kinova double_pendulum/double_pendulum solo/solo12 iris/iris".split(),
    reason="fourteen more robots",
)
SOME_EXAMPLES = family(
    EXAMPLES,
    set(EXAMPLES)
    - {"four-bar-3d", "stanford-arm-saha", "five-bar", "three-cylinders", "kr5"}
    - {"stewart", "delta", "bennett", "gripper", "three-rrr"}
    - LARGE_EXAMPLES,
    reason="examples whose trees have the joints of others",
)
HUMANOIDS = ("g1/g1_29dof_rev_1_0", "talos_data/talos_reduced")
DYNAMICS = [("inverse_dynamics", "newton-euler"), ("forward_dynamics", "newton-euler")]
SMALL = 5  # rates: the long programs of robots are compiled up to here, and interpreted beyond
DEFAULTS = [(name, next(iter(METHODS.get(name, (None,))))) for name in QUANTITIES]
BOTH_WAYS = ("inverse_dynamics", "forward_dynamics")  # compiled by every method on robots too


@cache
def mechanism(name: str, base: str = "fixed") -> kp.Mechanism:
    if name in EXAMPLES:
        return kp.example(name).without_constraints()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf_files()[name], base=base, constraints=False)


def frames_of(x: Any) -> tuple[str, ...]:
    """Frames of a member of a family of examples."""
    return example(x if isinstance(x, str) else x.values[0]).frames


@cache
def tolerance(m: kp.Mechanism, quantity: str) -> float:
    if quantity not in SOLVED:
        return TOLERANCE
    q = zoo.motions(m, STATES).q
    return max(TOLERANCE, 100 * EPS * max(np.linalg.cond(m.reference.mass_matrix(x)) for x in q))


def arguments(m: kp.Mechanism, quantity: str) -> list[np.ndarray]:
    """The states the quantity takes, a row each."""
    s = zoo.motions(m, STATES)
    options = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": 10.0 * s.qdd, "time": np.zeros((len(s.q), 1))}
    options |= {"x": np.tile(m.x_start, (len(s.q), 1)), "u": np.ones((len(s.q), m.nu))}
    return [options[name] for name in QUANTITIES[quantity].state]


def leaves(result) -> list[np.ndarray]:
    return [np.asarray(x, dtype=float) for _, x in flatten(result)[1]]


def by_floats(m, request, *row):
    """The equations as they are written, on plain numbers."""
    quantity = QUANTITIES[request.quantity]
    n = len(quantity.state)
    loads = [dict(zip(request.external, row[n:], strict=True))] if quantity.loaded else []
    with np.errstate(all="ignore"):
        return leaves(quantity.compute(m.model, request, *row[:n], *loads))


def by_rows(kernel, given):
    """One state at a time."""
    return [leaves(kernel(*row)) for row in zip(*given, strict=True)]


def by_batch(kernel, given):
    """All at once; equal rows give equal bits wherever they stand."""
    result = leaves(kernel(*(np.resize(x, (ROWS, *x.shape[1:])) for x in given)))
    for x in result:
        assert np.array_equal(x, np.resize(x[:STATES], x.shape), equal_nan=True)
    return [[x[k] for x in result] for k in range(STATES)]


ROADS = {"one": by_rows, "batch": by_batch}


def error(a: np.ndarray, b: np.ndarray) -> float:
    """Relative; what has no number, as the mass centre of what has no mass, has none on any road."""
    assert np.array_equal(np.isnan(a), np.isnan(b))
    return zoo.relative_error(np.nan_to_num(a), np.nan_to_num(b))


def check(m, quantity, method, forms, external=()):
    """Floats against the interpreter, and against the forms of machine code asked for."""
    frame = m.frames[-1] if quantity in ("pose", "jacobian", "jacobian_rate") else ""
    kernel = m.kernel(quantity, method=method, frame=frame, external=external)
    request = request_of(quantity, method=method, frame=frame, external=dict.fromkeys(external))
    wrenches = [np.random.default_rng(k).normal(size=(STATES, 6)) for k in range(len(external))]
    inputs = [*arguments(m, quantity), *wrenches]
    if quantity == "reactions":
        m = kp.Mechanism(with_welds(m.model), compiled=False)
    bound = tolerance(m, quantity)
    checked = zip(*(x[: STATES if forms else 1] for x in inputs), strict=True)
    expected = [by_floats(m, request, *row) for row in checked]
    roads = {form: ROADS[form](kernel, inputs) for form in forms}
    roads["interpreter"] = [leaves(kernel.interpret(*(x[0] for x in inputs)))]
    for road, results in roads.items():
        for result, reference in zip(results, expected, strict=False):
            errors = [error(a, b) for a, b in zip(result, reference, strict=True)]
            assert max(errors) <= bound, (road, errors)


def turn(names, name, quantity, method, of=FORMS) -> str | None:
    """Which form of code is compiled: they take turns."""
    return of[(names.index(name) + KERNELS.index((quantity, method))) % len(of)]


@pytest.mark.parametrize(("quantity", "method"), KERNELS)
@pytest.mark.parametrize("name", SOME_EXAMPLES)
def test_examples(name, quantity, method):
    form = turn(EXAMPLES, name, quantity, method, (*FORMS, None))
    check(mechanism(name), quantity, method, [form] if form else [])


@pytest.mark.long(reason="the forms of code that test_examples leaves out")
@pytest.mark.parametrize(("quantity", "method"), KERNELS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_by_every_form(name, quantity, method):
    check(mechanism(name), quantity, method, FORMS)


@pytest.mark.parametrize(("quantity", "method"), LOADED)
@pytest.mark.parametrize("name", [x for x in SOME_EXAMPLES if len(frames_of(x)) > 2])
def test_examples_with_wrenches_on_two_links(name, quantity, method):
    m = mechanism(name)
    form = FORMS[EXAMPLES.index(name) % 2]
    check(m, quantity, method, [form], external=(m.frames[1], m.frames[-1]))


@pytest.mark.parametrize(("quantity", "method"), KERNELS)
@pytest.mark.parametrize("robot", SOME_ROBOTS)
def test_robots(robot, quantity, method):
    """By the interpreter; and by one form of code on every second robot, by the other one on the others."""
    m = mechanism(robot)
    form = turn(ROBOTS, robot, quantity, method)
    compiled = (quantity, method) in DEFAULTS or quantity in BOTH_WAYS
    check(m, quantity, method, [form] if compiled and (quantity not in LONG or m.nv <= SMALL) else [])


@pytest.mark.parametrize("robot", SOME_ROBOTS)
def test_robots_with_a_free_base(robot):
    m = mechanism(robot, "free")
    for k, (quantity, method) in enumerate([*DYNAMICS, ("mass_matrix", "newton-euler")]):
        check(m, quantity, method, [FORMS[(ROBOTS.index(robot) + k) % 2]])


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("robot", family(HUMANOIDS, HUMANOIDS[:1], reason="a second humanoid"))
def test_humanoids(robot, base):
    for k, (quantity, method) in enumerate(DYNAMICS):
        check(mechanism(robot, base), quantity, method, [FORMS[(k + (base == "free")) % 2]])


@pytest.mark.parametrize("robot", family(ROBOTS[::3], ROBOTS[:9:3], reason="robots with other trees"))
def test_robots_with_wrenches(robot):
    m = mechanism(robot, "free")
    check(m, "inverse_dynamics", None, ["batch"], external=(m.frames[1], m.frames[-1]))
    check(m, "forward_dynamics", None, ["one"], external=(m.frames[-1],))


FACE = {
    "inverse_dynamics": lambda m, q, qd, x: m.inverse_dynamics(q, qd, x),
    "forward_dynamics": lambda m, q, qd, x: m.forward_dynamics(q, qd, x),
    "mass_matrix": lambda m, q, qd, x: m.mass_matrix(q),
    "coriolis_matrix": lambda m, q, qd, x: m.coriolis_matrix(q, qd),
    "bias_forces": lambda m, q, qd, x: m.bias_forces(q, qd),
    "gravity_forces": lambda m, q, qd, x: m.gravity_forces(q),
    "reactions": lambda m, q, qd, x: m.reactions(q, qd, x),
    "resultant": lambda m, q, qd, x: m.resultant(q, qd, x),
    "regressor": lambda m, q, qd, x: m.regressor(q, qd, x),
    "inverse_dynamics_derivatives": lambda m, q, qd, x: m.inverse_dynamics_derivatives(q, qd, x),
    "forward_dynamics_derivatives": lambda m, q, qd, x: m.forward_dynamics_derivatives(q, qd, x),
    "energy": lambda m, q, qd, x: m.energy(q, qd),
    "pose": lambda m, q, qd, x: m.pose(q, m.frames[-1]),
    "poses": lambda m, q, qd, x: m.poses(q),
    "jacobian": lambda m, q, qd, x: m.jacobian(q, m.frames[-1]),
    "jacobian_rate": lambda m, q, qd, x: m.jacobian_rate(q, qd, m.frames[-1]),
    "twists": lambda m, q, qd, x: m.twists(q, qd),
    "twist_rates": lambda m, q, qd, x: m.twist_rates(q, qd, x),
    "centre_of_mass": lambda m, q, qd, x: m.centre_of_mass(q),
    "momentum": lambda m, q, qd, x: m.momentum(q, qd),
    "dq_dt": lambda m, q, qd, x: m.dq_dt(q, qd),
    "actuation": lambda m, q, qd, x: m.actuation(q, qd, None, x),
}


def test_the_face_has_every_quantity():
    assert list(FACE) == list(QUANTITIES)


@pytest.mark.parametrize("quantity", FACE)
@pytest.mark.parametrize("name", ["scara", "floating-arm"])
def test_the_face_gives_what_the_reference_gives(name, quantity):
    """One state and a batch, twice: the second call goes to the machine code at once."""
    m, call = mechanism(name), FACE[quantity]
    s = zoo.motions(m, STATES)
    for state in [(s.q, s.qd, s.qdd), (s.q[1], s.qd[1], s.qdd[1])] * 2:
        result, expected = call(m, *state), call(m.reference, *state)
        assert type(result) is type(expected)
        for a, b in zip(leaves(result), leaves(expected), strict=True):
            assert zoo.relative_error(a, b) <= tolerance(m, quantity)
