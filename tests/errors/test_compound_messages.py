"""Messages about clutches, stops and loops with friction, word for word."""

from __future__ import annotations

import pytest

import kinpair as kp
from endings import stopped


def shafts() -> kp.Builder:
    b = kp.Builder("shafts").link("A", mass=1.0).link("B", mass=1.0)
    return b.joint("a", "revolute", "ground", "A").joint("b", "revolute", "ground", "B")


REFUSED = {
    "no level": (
        lambda: shafts().clutch("disc", joints=["a", "b"]),
        "clutch 'disc': level is missing; give the torque or force [N m], [N] that it transmits at most",
    ),
    "a negative level": (
        lambda: kp.build(shafts().clutch("disc", joints=["a", "b"], level=-1.0)),
        "joint 'disc': friction: level is -1; friction resists motion, so give zero or more",
    ),
    "joints and links": (
        lambda: shafts().clutch("disc", joints=["a", "b"], links=["A", "B"], level=1.0),
        "clutch 'disc': connects two joints or two links; give one of joints and links, each a list of two names",
    ),
    "one joint": (
        lambda: shafts().clutch("disc", joints=["a"], level=1.0),
        "clutch 'disc': joints has 1 number; give two names",
    ),
    "a ratio of links": (
        lambda: shafts().clutch("disc", links=["A", "B"], ratio=2.0, level=1.0),
        "clutch 'disc': ratio and slides go with joints; a clutch of links turns about its axis",
    ),
    "no limits": (
        lambda: shafts().stop("end", joint="a"),
        "stop 'end': has no lower and no upper; give the least or the greatest value, rad or m",
    ),
    "neither joint nor links": (
        lambda: shafts().stop("end", lower=0.0),
        "stop 'end': limits a joint, or a point and a plane; give one of joint and links",
    ),
    "a joint with itself": (
        lambda: shafts().clutch("disc", joints=["a", "a"], level=1.0),
        "clutch 'disc': connects the joint 'a' with itself; give two joints, or use a brake",
    ),
    "limits that exclude each other": (
        lambda: shafts().stop("end", joint="a", lower=1.0, upper=0.0),
        "stop 'end': has the lower limit 1 above the upper limit 0; exchange them",
    ),
    "friction of a limit of a joint": (
        lambda: shafts().stop("end", joint="a", lower=1.0, mu=0.3),
        "stop 'end': has mu and limits a joint; give it links, a plane and a point, or give the joint friction",
    ),
    "no sliding friction": (
        lambda: shafts().stop("end", links=["ground", "A"], lower=1.0, mu_static=0.3),
        "stop 'end': has mu_static and no mu; give the coefficient of sliding friction",
    ),
    "a start and friction": (
        lambda: shafts().stop("end", links=["ground", "A"], lower=1.0, mu=0.3, start=2.0),
        "stop 'end': has start and mu; it has no coordinate of its own, give the joints their start",
    ),
    "a negative coefficient": (
        lambda: shafts().stop("end", links=["ground", "A"], lower=1.0, mu=-0.3),
        "stop 'end': mu is -0.3; give zero or more",
    ),
    "between and joint": (
        lambda: shafts().stop("end", joint="a", between="a", lower=1.0),
        "stop 'end': has between and joint or links; give one of them",
    ),
    "a loop that is added": (
        lambda: kp.build(shafts()).with_constraints(kp.constraint.loop("pin", "pin", "A", "B", friction=1.0)),
        "loop 'pin': has friction, for which it needs a joint of its own; write it in a file or with Builder.loop, not "
        "as a constraint that is added to a mechanism",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_message(case):
    call, message = REFUSED[case]
    with pytest.raises(kp.DescriptionError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.filterwarnings("ignore::kinpair.DescriptionWarning")
def test_friction_on_what_has_no_inertia():
    b = kp.Builder("light").link("a").joint("y", "prismatic", "ground", "a", axis="z", friction=1.0)
    run = stopped(kp.build(b), [1.0], [0.0], duration=1.0)
    assert run.status.name == "singular"
    assert str(run.status) == (
        "Stopped at t = 0 s: joint 'y' moves nothing that has inertia, and friction or a limit acts on it; give it "
        "mass, or leave friction and limits out"
    )
