"""What synergies, feet and gaits say, word for word."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
from kinpair import motion
from walking import BALANCE, GIVEN, SOLE, compass, massless_walker, simplest, simplest_gait, trunk_over_hip

WALKER = trunk_over_hip()
STILL = np.zeros((3, 3))


def synergy(m=WALKER, given=GIVEN, free=("trunk",), rows=BALANCE, **options):
    return motion.synergy(m, given, free, rows, **options)


REFUSED = {
    "more rows than coordinates": (
        lambda: synergy(rows=[motion.moment("y"), motion.force("x")]),
        "synergy: 2 rows without actuator (moment y, force x) and 1 free coordinates (trunk); give as many of one as "
        "of the other",
    ),
    "row that nothing moves": (
        lambda: synergy(rows=[motion.force("y")]),
        "synergy: row 'force y' does not depend on the accelerations of trunk; free other coordinates, or take another "
        "row",
    ),
    "unknown row": (
        lambda: synergy(rows=["hipp"]),
        "synergy: walker has no row 'hipp'; did you mean 'hip'? Rows: hip, trunk, swing; others are kp.motion.moment "
        "and kp.motion.force",
    ),
    "unknown coordinate": (
        lambda: synergy(free=["trnk"]),
        "synergy: walker has no coordinate 'trnk' with a rate of its own that can be free; did you mean 'trunk'? "
        "Coordinates: hip, trunk, swing",
    ),
    "unknown given coordinate": (
        lambda: synergy(given={**GIVEN, "hap": GIVEN["hip"]}),
        "synergy: walker has no coordinate 'hap'; did you mean 'hip'? Coordinates: hip, trunk, swing",
    ),
    "no period": (
        lambda: synergy(given={**GIVEN, "hip": motion.cycloid(0.0, 0.1, 1.0)}),
        "synergy: 1 s is not a period: row 'moment y' is 34.36 at the start and 0.01655 at the end; hip does not end "
        "where it starts",
    ),
    "two periods": (
        lambda: synergy(given={**GIVEN, "hip": motion.fourier(0.0, [0.0], [0.05], 0.7)}),
        "synergy: the given motions last 0.7 s, 1 s; give them one period",
    ),
    "another period": (
        lambda: synergy(period=2.0),
        "synergy: period is 2 s, and the given motion lasts 1 s",
    ),
    "neither given nor free": (
        lambda: synergy(given={"hip": GIVEN["hip"]}),
        "synergy: swing of walker is neither given nor free; give its motion",
    ),
    "both": (
        lambda: synergy(free=["hip"]),
        "synergy: hip is given and free; it can be one of both",
    ),
    "nothing free": (
        lambda: synergy(free=[]),
        "synergy: no coordinate is free; name one at least",
    ),
    "signs": (
        lambda: synergy(symmetry=[2]),
        "synergy: symmetry is [2]; give 1 or -1 for each of 1 free coordinates",
    ),
    "signs of others": (
        lambda: synergy(symmetry={"hip": 1}),
        "synergy: symmetry names 'hip', which is not free; Free: trunk",
    ),
    "method": (
        lambda: synergy(method="newton"),
        "synergy: method is 'newton'; Methods: collocation, shooting, initial",
    ),
    "intervals": (
        lambda: synergy(intervals=0),
        "synergy: intervals is 0; give a positive whole number",
    ),
    "guess": (
        lambda: synergy(start=GIVEN["hip"]),
        "synergy: start is not a motion of 1 free coordinates",
    ),
    "start": (
        lambda: synergy(start=([0.0], [0.0, 1.0]), method="initial"),
        "synergy: start has 3 numbers; give c and ċ of 1 free coordinates",
    ),
    "whole motion": (
        lambda: synergy(given=motion.cycloid([0.0], [0.0], 1.0)),
        "synergy: the given motion has shape (1,), and walker has 3 coordinates",
    ),
    "motion of several": (
        lambda: synergy(given={**GIVEN, "hip": motion.cycloid([0.0], [0.0], 1.0)}),
        "synergy: the motion of 'hip' has shape (1,); give that of one number",
    ),
    "moving point": (
        lambda: motion.moment("y", GIVEN["hip"]),
        "moment: about is a motion of shape (); give one of three numbers",
    ),
    "point": (
        lambda: motion.moment("y", (0, 0)),
        "moment: about is (0, 0); give a point (3,), or a motion of three numbers",
    ),
    "axis": (
        lambda: motion.force("u"),
        "force: axis is 'u'; give 'x', 'y', 'z' or three numbers",
    ),
    "no feet": (
        lambda: motion.support(WALKER, STILL, STILL, STILL, {}),
        "support: no feet; give the outline of one sole at least, {'left-foot': points (k, 3)}",
    ),
    "a list of feet": (
        lambda: motion.support(WALKER, STILL, STILL, STILL, ["hip"]),
        "support: no feet; give the outline of one sole at least, {'left-foot': points (k, 3)}",
    ),
    "outline": (
        lambda: motion.support(WALKER, STILL, STILL, STILL, {"hip": [1.0, 2.0]}),
        "support: the outline of 'hip' has shape (2,); give points (k, 3) of its sole",
    ),
    "in the air": (
        lambda: motion.support(WALKER, STILL, STILL, STILL, {"hip": SOLE}, time=[0.0, 0.1, 0.2]),
        "support: no foot is on the ground at 0 s; feet: hip. Give loads, or outlines that lie on the ground",
    ),
    "loads": (
        lambda: motion.support(WALKER, STILL, STILL, STILL, {"hip": SOLE}, loads=[1.0, 2.0]),
        "support: loads has shape (1, 2); give 3 rows with a number of zero or more for each of hip",
    ),
    "normal": (
        lambda: motion.support(
            WALKER, STILL, STILL, STILL, {"hip": SOLE}, ground=motion.Ground(normal=(0, 0, 0))
        ),
        "support: the normal of the ground is (0, 0, 0); give three numbers",
    ),
}
REFUSED |= {
    "steps": (
        lambda: kp.walking.cycle(simplest()[0], [0.2, 0.4], [-0.2, 0.0], simplest()[1], steps=0),
        "cycle: steps is 0; give a positive whole number",
    ),
    "parameter": (
        lambda: kp.walking.cycle(simplest()[0], [0.2, 0.4], [-0.2, 0.0], simplest()[1], parameter="slop"),
        "cycle: simplest-walker has no parameter 'slop'; did you mean 'slope'? Parameters: slope, stance-leg.mass, "
        "stance-leg.com.x, stance-leg.com.y, stance-leg.com.z, stance-leg.inertia.xx, stance-leg.inertia.yy, "
        "stance-leg.inertia.zz, stance-leg.inertia.xy, stance-leg.inertia.xz, stance-leg.inertia.yz, swing-leg.mass, "
        "swing-leg.com.x, swing-leg.com.y, swing-leg.com.z, swing-leg.inertia.xx, swing-leg.inertia.yy, "
        "swing-leg.inertia.zz, swing-leg.inertia.xy, swing-leg.inertia.xz, ... (27 in all)",
    ),
    "action": (
        lambda: kp.walking.cycle(
            simplest()[0], [0.2, 0.4], [-0.2, 0.0], kp.Event("strike", lambda t, q, qd: q[0])
        ),
        "cycle: event 'strike' has action 'record'; give a function (time, q, qd) → kp.Change(q=, qd=)",
    ),
    "quaternions": (
        lambda: kp.walking.cycle(kp.example("floating-arm"), [0.0] * 10, [0.0] * 9, simplest()[1]),
        "cycle: floating-arm has quaternions or constraints; give a tree of joints without them",
    ),
    "names of the legs": (
        lambda: kp.walking.heel_strike(compass()[0], "foot", [1, 2]),
        "heel_strike: relabel has shape (2,); give (2, 2), one row for each coordinate",
    ),
    "two joints on the ground": (
        lambda: kp.walking.heel_strike(WALKER, "hip", np.eye(3)),
        "heel_strike: walker must stand on the ground by one joint and have no loops; it has 2 joints on the ground",
    ),
    "points of a branch": (
        lambda: kp.walking.continuation(simplest_gait(), 0.01, points=1),
        "continuation: points is 1; give a whole number of 2 or more",
    ),
    "speed": (
        lambda: motion.gait(kp.example("biped"), speed=0.0),
        "gait: speed is 0.0; give a positive number",
    ),
    "long steps": (
        lambda: motion.gait(kp.example("biped"), speed=1.0, step=1.4),
        "gait: steps of 1.4 m are too long for legs of 0.859 m: at 0.21 s a foot is 1.09 m away; take shorter steps",
    ),
    "no double support": (
        lambda: motion.gait(kp.example("biped"), double=0.0),
        "gait: double is 0.0; give a part of a step from 0.05 to 0.8",
    ),
    "arms": (
        lambda: motion.gait(kp.example("biped"), arms=2.0),
        "gait: arms is 2.0; give the part of the moment that they take, from 0 to 1",
    ),
    "steep": (
        lambda: motion.gait(kp.example("biped"), slope=30),
        "gait: slope is 30; give an angle [rad] below 0.5",
    ),
    "no biped": (
        lambda: motion.gait(kp.example("scara")),
        "gait: scara has no link on its left side (y > 0); give roles",
    ),
    "no steps to replay": (
        lambda: kp.walking.replay(None, steps=0),
        "replay: steps is 0; give a positive whole number",
    ),
    "effort of a regulator": (
        lambda: kp.walking.regulator(None, effort=0.0),
        "regulator: effort is 0.0; give a positive number",
    ),
    "no doubling": (
        lambda: kp.walking.continuation(simplest_gait(), 0.0092, points=2).doubled(),
        "continuation: no doubling of the period was found on this branch; go on to larger values",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused(case):
    call, message = REFUSED[case]
    with pytest.raises(kp.InputError) as refused:
        call()
    assert str(refused.value) == message


def test_impossible_synergy_names_row_and_time_and_keeps_what_was_found():
    with pytest.raises(kp.SingularError) as refused:
        synergy(trunk_over_hip(1.0, 0.02))
    error = refused.value
    assert re.fullmatch(
        r"walker: no synergy found: row 'moment y' is left with [\d.e-]+ at [\d.]+ s \(its size is 41\.44\) after \d+ "
        r"steps; trunk cannot make up for what is given\. Move it less, or slower, or free coordinates that carry more "
        r"mass",
        str(error),
    )
    assert error.parts["row"] == "moment y"
    assert error.parts["states"].shape == (25, 2)


def test_saddle_is_not_integrated_forward():
    with pytest.raises(kp.SingularError) as refused:
        synergy(method="initial")
    assert str(refused.value) == (
        "walker: no synergy found: forward integration grows beyond all bounds; take method='collocation'"
    )


def test_free_coordinate_that_moves_a_loop():
    m = kp.example("four-bar")
    q = m.start()
    with pytest.raises(kp.InputError) as refused:
        motion.synergy(m, motion.cycloid(q, q, 1.0), ["output"])
    assert str(refused.value) == (
        "synergy: 'output' is free and moves 'pin.y'; free coordinates must leave the constraints as they are"
    )


def test_what_a_foot_cannot_give_is_said_with_time_and_size():
    x = synergy().at(np.linspace(0.0, 0.6, 61))
    state = [a.copy() for a in x[:3]]
    for a in state:
        a[:, 1] = 0.0
    found = motion.support(
        WALKER,
        *state,
        {"ground": SOLE},
        loads=np.ones((61, 1)),
        time=np.linspace(0.0, 0.6, 61),
        ground=motion.Ground(friction=0.1),
    )
    assert found.excesses == (
        "the zero-moment point leaves the support polygon by 0.1453 m at 0.31 s (between 0.13 and 0.49 s)",
        "force and moment of a foot exceed its friction by 0.1061 at 0.36 s (between 0 and 0.53 s)",
        "the centre of pressure leaves ground by 0.1453 m at 0.31 s (between 0.13 and 0.49 s)",
    )


def test_foot_at_which_the_ground_would_have_to_pull_is_named():
    weight = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 9.81 * WALKER.mass], (3, 1))
    lift = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 10.0], (3, 1))
    feet, given = {"ground": SOLE, "hip": SOLE}, {"ground": weight + lift, "hip": -lift}
    found = motion.support(WALKER, STILL, STILL, STILL, feet, wrenches=given, time=[0.0, 0.1, 0.2])
    assert found.excesses == ("the ground would have to pull at hip by 10 N at 0 s (between 0 and 0.2 s)",)


def test_no_gait_near_the_guess_keeps_what_was_found():
    m, event = simplest()
    with pytest.raises(kp.SingularError) as refused:
        kp.walking.cycle(m, [0.2, 0.4], [-0.2, 0.0], event, slope=-0.2, duration=1.0)
    assert re.fullmatch(
        r"simplest-walker: no motion found that repeats itself: [\d.e+-]+ is left at slope = -0\.2; give a guess "
        r"nearer to it, or another number of steps",
        str(refused.value),
    )
    assert refused.value.parts["state"].shape == (5,)


def test_event_that_does_not_happen():
    m, event = simplest()
    with pytest.raises(kp.SingularError) as refused:
        kp.walking.cycle(
            m, [0.0, 0.1], [0.0, 0.0], kp.Event("high up", lambda t, q, qd: 9.0 + 0 * q[0], 1, event.action)
        )
    assert str(refused.value) == (
        "simplest-walker: event 'high up' does not happen within 60 s of the guess; give another guess"
    )


def test_gait_that_slips_says_when_and_by_how_much():
    gait = motion.gait(kp.example("biped"), speed=0.8, arms=0.0, friction=0.4)
    assert not gait.feasible
    (excess,) = gait.support.excesses
    assert re.fullmatch(
        r"force and moment of a foot exceed its friction by 0\.13\d+ at 0\.\d+ s \(between 0\.\d+ and 0\.\d+ s\)",
        excess,
    )
    assert excess in str(gait)


def test_impact_with_a_part_without_mass():
    with pytest.warns(kp.DescriptionWarning, match="antenna"):
        m = massless_walker()
    with pytest.raises(kp.SingularError) as caught:
        kp.walking.heel_strike(m, "foot", np.eye(3))
    assert str(caught.value) == (
        "heel_strike: antenna: the impact of 'foot' is singular: there is a motion without inertia while that foot "
        "stands, of 'antenna', and a light foot at the joint on the ground does not resist it; give the links of these "
        "joints mass"
    )
