"""What is refused of reactions, word for word."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp

ARM, LINKAGE = kp.example("kr5"), kp.example("four-bar")
Q = LINKAGE.assemble(closed.start("four-bar"))
STILL, ZERO = np.zeros(3), np.zeros(6)


def refused(call) -> str:
    with pytest.raises(kp.InputError) as caught:
        call()
    return str(caught.value)


def test_unknown_axes():
    for given in (ZERO, list(ZERO)):
        said = refused(lambda x=given: ARM.reactions(x, x, x, axes="wrld"))
        assert said == "kr5: axes is 'wrld'; did you mean 'world'? Axes: joint, child, world"
    assert refused(lambda: ARM.bearing_loads(ZERO, ZERO, ZERO, axes="world")) == (
        "kr5: bearing_loads takes no axes; they are those of the bearing"
    )


def test_compliance_of_nothing_and_of_the_wrong_size():
    said = refused(lambda: LINKAGE.reactions(Q, STILL, STILL, compliance={"pni": 1e-6}))
    assert said == (
        "four-bar: compliance of 'pni', which is neither a joint nor a loop; did you mean 'pin'? "
        "Joints and loops: crank, output, coupler, pin"
    )
    for wrong in ([1e-6] * 3, -1e-6, [np.nan] * 6):
        said = refused(lambda x=wrong: LINKAGE.reactions(Q, STILL, STILL, compliance={"pin": x}))
        assert said == (
            f"four-bar: compliance of 'pin' is {wrong!r}; give six numbers, zero or more: three [rad/(N m)], then "
            "three [m/N]; or one for all"
        )
