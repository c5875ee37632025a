"""Messages of functions whose first argument is of another kind, word for word."""

from __future__ import annotations

import pytest

import kinpair as kp

MOVE = kp.motion.cycloid([0.0, 0.0], [1.0, 0.0], 1.0)
TAKES_A_MECHANISM = {
    "nominal": lambda x: kp.motion.nominal(x, MOVE),
    "inputs": lambda x: kp.motion.inputs(x, MOVE),
    "follow": lambda x: kp.motion.follow(x, {"slide": MOVE}),
    "fastest": lambda x: kp.motion.fastest(x, MOVE),
    "gait": lambda x: kp.motion.gait(x),
    "synergy": lambda x: kp.motion.synergy(x, MOVE, ["slide"]),
    "compensate": lambda x: kp.motion.compensate(x, {"slide": MOVE}, ["swing"]),
    "vessel": lambda x: kp.motion.vessel(x, MOVE, frame="tip", tank=None),
    "support": lambda x: kp.motion.support(x, [0], [0], [0], {"foot": [[0, 0, 0]]}),
    "heel_strike": lambda x: kp.walking.heel_strike(x, "foot", [[1.0]]),
    "track": lambda x: kp.track(x, MOVE),
}


@pytest.mark.parametrize("given", ["cart-pole", None])
@pytest.mark.parametrize("owner", TAKES_A_MECHANISM)
def test_a_name_in_the_place_of_a_mechanism(owner, given):
    with pytest.raises(kp.InputError) as caught:
        TAKES_A_MECHANISM[owner](given)
    assert (
        str(caught.value) == f"{owner} takes a Mechanism, not {given!r}; load() takes files, example() names"
    )


CASES = {
    "lqr": (
        lambda m, model: kp.regulator.lqr("cart-pole"),
        "lqr takes a Mechanism or a LinearModel, not 'cart-pole'; load() takes files, example() names",
    ),
    "lqg without regulator": (
        lambda m, model: kp.regulator.lqg(None, None),
        "lqg takes a LinearQuadratic, not None; kp.regulator.lqr(model) is one",
    ),
    "lqg without filter": (
        lambda m, model: kp.regulator.lqg(kp.regulator.lqr(model), None),
        "lqg takes a Kalman, not None; kp.regulator.kalman(model, W=..., V=...) is one",
    ),
    "in_loop": (
        lambda m, model: kp.regulator.in_loop("pd"),
        "in_loop takes a Regulator, not 'pd'; kp.regulator.pd(m, motion, frequency=10) is one",
    ),
    "preview": (
        lambda m, model: kp.regulator.preview(m, MOVE, steps=3),
        "preview takes a LinearModel, not <Mechanism 'cart-pole': 2 bodies, nq 2, nv 2>; "
        "kp.linearise(m, q).discrete(sample_time) is one",
    ),
    "nominal of numbers": (
        lambda m, model: kp.motion.nominal(m, [1.0, 0.0]),
        "nominal takes a Trajectory, not [1.0, 0.0]; kp.motion.cycloid(start, end, duration) is one",
    ),
    "follow a trajectory": (
        lambda m, model: kp.motion.follow(m, [1.0, 0.0]),
        'follow takes a Mapping, not [1.0, 0.0]; give {"tip": motion} by frame or coordinate',
    ),
    "follow a number": (
        lambda m, model: kp.motion.follow(m, {"slide": 1.0}),
        "follow: the motion of 'slide' is 1.0; give a trajectory, such as kp.motion.cycloid(0, 1, 2)",
    ),
    "linear model and motion": (
        lambda m, model: kp.regulator.lqr(model, MOVE),
        "cart-pole: a linear model has its own state or motion; leave out motion, or give the mechanism",
    ),
    "one input": (
        lambda m, model: kp.regulator.lqr(m, [0, 0], inputs="slide"),
        "inputs is 'slide'; give a tuple of names, ('slide',)",
    ),
    "a word as motion": (
        lambda m, model: kp.regulator.pd(m, "upright", frequency=3.0),
        "cart-pole: q is not an array of real numbers (it is str); expected shape (2,) or (batch, 2)",
    ),
    "lqr without states": (
        lambda m, model: kp.regulator.lqr(model.part([])),
        "cart-pole: the linear model has no states, so there is nothing to hold; give the model before .core, or "
        "model.part([...]) with the states to keep",
    ),
    "kalman without states": (
        lambda m, model: kp.regulator.kalman(model.part([])),
        "cart-pole: the linear model has no states, so there is nothing to hold; give the model before .core, or "
        "model.part([...]) with the states to keep",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_another_kind_of_argument_is_explained(case):
    m = kp.example("cart-pole")
    call, message = CASES[case]
    with pytest.raises(kp.InputError) as caught:
        call(m, kp.linearise(m, [0.0, 0.0], inputs=["slide"]))
    assert str(caught.value) == message


@pytest.mark.parametrize("make", [kp.regulator.lqr, kp.regulator.pd, kp.regulator.computed_torque])
def test_regulators_take_what_nominal_returns(make):
    m = kp.example("cart-pole")
    options = {} if make is kp.regulator.lqr else {"frequency": 3.0}
    found, direct = (make(m, x, **options) for x in (kp.motion.nominal(m, MOVE), MOVE))
    state = 0.3, [0.2, 0.1], [0.4, -0.2]
    assert found(*state) == pytest.approx(direct(*state), abs=1e-12)
