"""Messages of linear models and equilibria, word for word."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

import kinpair as kp


class Subjects:
    """What the cases are about, made when first asked for."""

    pend = cached_property(lambda self: kp.example("double-pendulum"))
    bar = cached_property(lambda self: kp.example("four-bar"))
    disk = cached_property(lambda self: kp.example("rolling-disk"))
    model = cached_property(lambda self: kp.linearise(self.pend, [0.1, 0.2]))
    along = cached_property(lambda self: kp.linearise(self.pend, np.zeros((3, 2))))


x = Subjects()


def rubbed(*joints):
    """The double pendulum with dry friction in some joints."""
    d = x.pend.model.description
    own = (replace(j, friction=(0.5,)) if j.name in joints else j for j in d.joints)
    return kp.build(replace(d, joints=tuple(own)))


CASES = {
    "mechanism": (
        lambda: kp.linearise("arm", [0]),
        kp.InputError,
        ("linearise takes a Mechanism or a System, not 'arm'; load() takes files, example() names"),
    ),
    "x": (
        lambda: kp.linearise(x.pend, [0, 0], x=[1.0, 2.0]),
        kp.InputError,
        ("double-pendulum: has no internal states, and x has 2 numbers"),
    ),
    "nan": (
        lambda: kp.linearise(x.pend, [0, np.nan]),
        kp.InputError,
        ("double-pendulum: q holds NaN or infinity"),
    ),
    "sizes": (
        lambda: kp.linearise(x.pend, np.zeros((3, 2)), np.zeros((2, 2))),
        kp.InputError,
        ("double-pendulum: q, qd, u and time differ in how many states they have: 2, 3"),
    ),
    "broken": (
        lambda: kp.linearise(x.bar, [0.0, 0.1, 0.2]),
        kp.InputError,
        (
            "four-bar: q does not obey the constraints: 'pin' stays open by 0.325; assemble(q) gives one "
            "that does"
        ),
    ),
    "sticks": (
        lambda: kp.regulator.lqr(rubbed("elbow"), [0.0, 0.0]),
        kp.SingularError,
        (
            "double-pendulum: 'elbow' has dry friction and sticks, so no input moves it a little: give a rate, or "
            "leave friction out of the gains with passive='efforts', or with passive=False"
        ),
    ),
    "independent": (
        lambda: kp.linearise(x.bar, x.bar.start(), independent=["cranc"]),
        kp.InputError,
        ("four-bar: no rate 'cranc' for independent=; did you mean 'crank'? Rates: crank, output, coupler"),
    ),
    "too many": (
        lambda: kp.linearise(x.bar, x.bar.start(), independent=["crank", "output"]),
        kp.InputError,
        (
            "four-bar: independent= has 2 rates, crank, output; it takes 1 from which the constraints give "
            "the others, such as crank"
        ),
    ),
    "inputs": (
        lambda: kp.linearise(x.pend, [0, 0], inputs="elbow"),
        kp.InputError,
        ("double-pendulum: inputs is 'elbow'; give a tuple of names, ('elbow',)"),
    ),
    "no input": (
        lambda: kp.linearise(x.pend, [0, 0], inputs=["elbo"]),
        kp.InputError,
        ("double-pendulum: no input 'elbo'; did you mean 'elbow'? Inputs: shoulder, elbow"),
    ),
    "axes": (
        lambda: kp.linearise(x.disk, x.disk.neutral(), axes={"disc": [0, 0, 1]}),
        kp.InputError,
        (
            "rolling-disk: axes of 'disc' are [0, 0, 1]; give three numbers [rad/s] by name of a joint with "
            "a quaternion: disk"
        ),
    ),
    "output": (
        lambda: kp.linearise(x.pend, [0, 0], outputs=["q.elbo"]),
        kp.InputError,
        (
            "double-pendulum: no output 'q.elbo'; did you mean 'q.elbow'? Outputs: q.NAME, qd.NAME, "
            "qdd.NAME, tau.NAME, FRAME.x, FRAME.vx, energy, centre_of_mass, momentum, or a function; names: "
            "shoulder, elbow; frames: ground, upper, lower, tip"
        ),
    ),
    "function": (
        lambda: kp.linearise(x.pend, [0, 0], outputs={"high": lambda t, q, qd: q[0] if q[0] > 0 else 0.0}),
        kp.InputError,
        (
            "double-pendulum: output 'high' is a function that cannot be recorded: 0 < q[0]: `if`, `and`, "
            "`or` and `not` need a truth value, and this value is only known at run time; use "
            "np.where(condition, a, b), and & | ~ between conditions; it must be (time, q, qd) → numbers "
            "in NumPy terms, see docs/compiler.md"
        ),
    ),
    "one": (
        lambda: x.model[0],
        kp.InputError,
        ("double-pendulum: is linearised about one state, which has no [k]"),
    ),
    "many": (
        lambda: x.along.eigenvalues,
        kp.InputError,
        ("double-pendulum: a spectrum is of one state, and this is along 3; take model[k]"),
    ),
    "state": (
        lambda: x.model.part(["q.elbo"]),
        kp.InputError,
        (
            "double-pendulum: no state 'q.elbo'; did you mean 'q.elbow'? States: q.shoulder, q.elbow, "
            "qd.shoulder, qd.elbow"
        ),
    ),
    "modes": (
        lambda: x.model.discrete(0.1).modes,
        kp.InputError,
        ("double-pendulum: modes are those of continuous time; take them before `discrete`"),
    ),
    "steady": (
        lambda: x.model.discrete(0.1).steady,
        kp.InputError,
        ("double-pendulum: steadiness is that of continuous time; look at it before `discrete`"),
    ),
    "only": (
        lambda: x.model.transfer_function(),
        kp.InputError,
        ("double-pendulum: has 4 outputs, name one of them: q.shoulder, q.elbow, qd.shoulder, qd.elbow"),
    ),
    "twice": (
        lambda: x.model.discrete(0.1).discrete(0.1),
        kp.InputError,
        ("double-pendulum: has a sample time of 0.1 s already"),
    ),
    "dt": (
        lambda: x.model.discrete(0.0),
        kp.InputError,
        ("double-pendulum: dt is 0.0; give seconds, above zero"),
    ),
    "locus": (
        lambda: kp.LinearModel.plot_locus([x.model], [1, 2]),
        kp.InputError,
        ("there are 1 models and values of shape (2,); give one for each"),
    ),
    "swing": (
        lambda: x.model.swing(7),
        kp.InputError,
        "double-pendulum: mode is 7; give 0 to 1, its place in modes: what is printed as mode 1 has the place 0",
    ),
    "no equilibrium": (
        lambda: kp.equilibrium(kp.example("cart-pole"), u={"slide": 1.0}),
        kp.SingularError,
        (
            "cart-pole: no equilibrium found from this guess: 0.909 is left of the accelerations of slide; "
            "give another guess, or let efforts be found that hold it, free=('slide',)"
        ),
    ),
    "free": (
        lambda: kp.equilibrium(x.pend, [0, 0], free="elbow"),
        kp.InputError,
        ("double-pendulum: free is 'elbow'; give a tuple of names, ('elbow',)"),
    ),
    "no rate": (
        lambda: kp.equilibrium(x.pend, [0, 0], fixed=["elbo"]),
        kp.InputError,
        ("double-pendulum: no rate 'elbo' for fixed=; did you mean 'elbow'? Rates: shoulder, elbow"),
    ),
    "spins": (
        lambda: kp.equilibrium(x.disk, x.disk.neutral(), spins={"disk": [0, 0, 0]}),
        kp.InputError,
        (
            "rolling-disk: spins of 'disk' is [0.0, 0.0, 0.0]; give three numbers [rad/s], not all zero, by "
            "name of a joint with a quaternion on the ground: disk"
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_explained(case):
    call, kind, message = CASES[case]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_a_singular_position_is_named():
    """A parallelogram that lies flat may fold or open: small changes are not small there."""
    b = kp.Builder("parallelogram")
    for name in ("crank", "coupler", "rocker"):
        b.link(name, mass=1.0, com=[0.1, 0, 0])
    b.joint("a", "revolute", "ground", "crank", axis="z")
    b.joint("b", "revolute", "crank", "coupler", xyz=[0.2, 0, 0], axis="z")
    b.joint("c", "revolute", "ground", "rocker", xyz=[0.3, 0, 0], axis="z")
    b.loop("d", "revolute", "coupler", "rocker", xyz=[0.3, 0, 0], child_xyz=[0.2, 0, 0], axis="z")
    with pytest.raises(kp.SingularError) as caught:
        kp.linearise(kp.build(b), [0, 0, 0])
    assert str(caught.value) == (
        "parallelogram: no derivatives in a singular position: the rank of the rows of 'd' is lower than close by; "
        "move it a little"
    )
