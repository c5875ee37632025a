"""Messages of regulators and closed loops, word for word."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest

import kinpair as kp


def balancer():
    """A two-wheeled robot that balances: a body on two wheels that roll."""
    b = kp.Builder("balancer", gravity=(0, 0, -9.81))
    b.link("axle", mass=0.01, inertia=(1e-5, 1e-5, 1e-5))
    b.link("body", mass=5.0, com=(0, 0, 0.25), inertia=(0.1, 0.1, 0.03))
    b.joint("base", "planar", "ground", "axle", xyz=(0, 0, 0.1), axis="z")
    b.joint("pitch", "revolute", "axle", "body", axis="y")
    for name, side in (("left", 0.2), ("right", -0.2)):
        b.link(name, mass=0.5, inertia=(1e-3, 2e-3, 1e-3))
        b.joint(name, "revolute", "body", name, xyz=(0, side, 0), axis="y")
        b.rolling(f"{name}-rolls", child=name, shape="disk", radius=0.1, axis="y", normal=False)
    return kp.build(b)


class Subjects:
    """What the cases are about, made when first asked for."""

    pend = cached_property(lambda self: kp.example("double-pendulum"))
    cart = cached_property(lambda self: kp.example("cart-pole"))
    bar = cached_property(lambda self: kp.example("four-bar"))
    disk = cached_property(lambda self: kp.example("rolling-disk"))
    model = cached_property(lambda self: kp.linearise(self.pend, [0.1, 0.2]))
    along = cached_property(lambda self: kp.linearise(self.pend, np.zeros((3, 2))))
    timed = cached_property(lambda self: kp.linearise(self.pend, np.zeros((3, 2)), time=np.arange(3.0)))
    move = cached_property(lambda self: kp.motion.cycloid([0.3, -0.2], [1.4, 0.7], 1.5))
    robot = cached_property(lambda self: balancer())
    driven = cached_property(
        lambda self: kp.linearise(self.robot, self.robot.start(), inputs=["left", "right"])
    )
    seen = cached_property(
        lambda self: kp.linearise(self.cart, [0, 0], inputs=["slide"], outputs=["q.slide"])
    )
    pd = cached_property(lambda self: kp.regulator.pd(self.pend, [0, 0], kp=1.0, kd=1.0))


x = Subjects()


CASES = {
    "degree": (
        lambda: kp.regulator.lqr(x.pend, [0, 0], degree=-1),
        kp.InputError,
        ("double-pendulum: degree is -1; give a number [1/s], not below zero"),
    ),
    "sample time": (
        lambda: kp.regulator.lqr(x.pend, [0, 0], sample_time=0.0),
        kp.InputError,
        ("double-pendulum: sample_time is 0.0; give seconds, above zero"),
    ),
    "along": (
        lambda: kp.regulator.lqr(x.along),
        kp.InputError,
        (
            "double-pendulum: the linear model is along a motion without times; give linearise the time= of each "
            "state"
        ),
    ),
    "samples along": (
        lambda: kp.regulator.lqr(x.timed, sample_time=0.1),
        kp.InputError,
        (
            "double-pendulum: sample_time is 0.1 s, and the states of the linear model are not that far apart; "
            "linearise at every sample"
        ),
    ),
    "sampled": (
        lambda: kp.regulator.lqr(x.model.discrete(0.1)),
        kp.InputError,
        (
            "double-pendulum: the linear model is from sample to sample; give one about a state, or the "
            "mechanism and its motion"
        ),
    ),
    "not reached": (
        lambda: kp.regulator.lqr(x.cart, [0, 0], inputs=("swing",)),
        kp.SingularError,
        (
            "cart-pole: the inputs tau.swing do not reach the mode 0 1/s of qd.slide (1.00), which does not "
            "die away as fast as it has to; add an input that moves it, or leave out what nothing depends on: "
            "lqr(model.part(['q.swing', 'qd.swing'])); the design then does not hold qd.slide"
        ),
    ),
    "displacements of a vehicle": (
        lambda: kp.regulator.lqr(x.driven),
        kp.SingularError,
        (
            "balancer: the inputs tau.left, tau.right do not reach the mode 0 1/s of q.base.y (1.00), q.base.x "
            "(0.99), q.base.angle (0.94), q.left (0.24), ... (5 in all), which does not die away as fast as it has "
            "to; add an input that moves it, or leave out what nothing depends on: "
            "lqr(model.part(['q.pitch', 'qd.pitch', 'qd.left', 'qd.right']))"
        ),
    ),
    "not seen": (
        lambda: kp.regulator.kalman(kp.linearise(x.cart, [0, 0], inputs=["slide"], outputs=["q.swing"])),
        kp.SingularError,
        (
            "cart-pole: the outputs q.swing do not show the mode 0 1/s of q.slide (1.00), which does not die away; "
            'measure it, as in linearise(..., outputs=["q.slide", ...]), or leave it out with model.part([...])'
        ),
    ),
    "filter of a mechanism": (
        lambda: kp.regulator.kalman(x.cart),
        kp.InputError,
        (
            "kalman takes a LinearModel, not <Mechanism 'cart-pole': 2 bodies, nq 2, nv 2>; "
            "kp.linearise(m, q, outputs=[...]) is one"
        ),
    ),
    "filter along": (
        lambda: kp.regulator.kalman(x.timed),
        kp.InputError,
        ("double-pendulum: the linear model is along a motion; give a continuous model about one state"),
    ),
    "filter of accelerations": (
        lambda: kp.regulator.kalman(kp.linearise(x.pend, [0, 0], outputs=["q.elbow", "qdd.elbow"])),
        kp.InputError,
        ("double-pendulum: the outputs qdd.elbow jump with the inputs; leave out accelerations and efforts"),
    ),
    "noise": (
        lambda: kp.regulator.kalman(x.seen, V=0.0),
        kp.InputError,
        ("cart-pole: V must be a number, 1 of them, some by name, or a symmetric matrix (1, 1), positive"),
    ),
    "two models": (
        lambda: kp.regulator.lqg(kp.regulator.lqr(x.cart, [0, 0]), kp.regulator.kalman(x.seen)),
        kp.InputError,
        (
            "cart-pole: the filter has the states q.slide, q.swing, qd.slide, qd.swing and the inputs tau.slide, "
            "the regulator q.slide, q.swing, qd.slide, qd.swing and tau.slide, tau.swing; make both from one linear "
            "model"
        ),
    ),
    "two sample times": (
        lambda: kp.regulator.lqg(
            kp.regulator.lqr(x.seen, sample_time=0.01), kp.regulator.kalman(x.seen, sample_time=0.02)
        ),
        kp.InputError,
        (
            "cart-pole: the regulator has a sample time of 0.01 s and the loop 0.02 s; give both the same "
            "sample_time"
        ),
    ),
    "first estimate": (
        lambda: kp.regulator.lqg(kp.regulator.lqr(x.seen), kp.regulator.kalman(x.seen), start=[1.0]),
        kp.InputError,
        ("cart-pole: start has shape (1,); give 4 finite numbers: q.slide, q.swing, qd.slide, qd.swing"),
    ),
    "frequencies": (
        lambda: x.seen.bode([0.0, 1.0]),
        kp.InputError,
        ("cart-pole: omega is [0.0, 1.0]; give frequencies (n,) [rad/s] above zero"),
    ),
    "time of a step": (
        lambda: x.seen.step(-1.0),
        kp.InputError,
        ("cart-pole: time is -1.0; give seconds above zero, or times (n,)"),
    ),
    "weight": (
        lambda: kp.regulator.lqr(x.pend, [0, 0], Q=[1, 2]),
        kp.InputError,
        (
            "double-pendulum: Q must be a number, 4 of them, some by name, or a symmetric matrix (4, 4), not "
            "negative"
        ),
    ),
    "weight by name": (
        lambda: kp.regulator.lqr(x.pend, [0, 0], R={"elbo": 1.0}),
        kp.InputError,
        ("double-pendulum: no input 'elbo'; did you mean 'tau.elbow'? Inputs: tau.shoulder, tau.elbow"),
    ),
    "negative": (
        lambda: kp.regulator.lqr(x.pend, [0, 0], R=0.0),
        kp.InputError,
        (
            "double-pendulum: R must be a number, 2 of them, some by name, or a symmetric matrix (2, 2), "
            "positive"
        ),
    ),
    "shape": (
        lambda: kp.regulator.lqr(x.pend, kp.motion.cycloid([0], [1], 1.0)),
        kp.InputError,
        ("double-pendulum: the motion has shape (1,); give a motion of all 2 coordinates"),
    ),
    "gains": (
        lambda: kp.regulator.pd(x.pend, [0, 0]),
        kp.InputError,
        ("double-pendulum: give kp and kd, or frequency [rad/s] and damping"),
    ),
    "both": (
        lambda: kp.regulator.pd(x.pend, [0, 0], kp=1.0, frequency=1.0),
        kp.InputError,
        ("double-pendulum: give kp and kd, or frequency and damping, not both"),
    ),
    "frequency": (
        lambda: kp.regulator.pd(x.pend, [0, 0], frequency=-1.0),
        kp.InputError,
        ("double-pendulum: frequency is -1.0 and damping 1.0; give numbers above zero"),
    ),
    "feed forward": (
        lambda: kp.regulator.pd(x.pend, [0, 0], kp=1.0, kd=1.0, feed_forward="all"),
        kp.InputError,
        ("double-pendulum: feed_forward is 'all'; it is one of inverse, gravity, none"),
    ),
    "kp": (
        lambda: kp.regulator.pd(x.pend, [0, 0], kp=[1, 2, 3], kd=1.0),
        kp.InputError,
        ("double-pendulum: kp is [1, 2, 3]; give a number, 2 of them, or some by name"),
    ),
    "not a mechanism": (
        lambda: kp.regulator.pd("arm", [0, 0], kp=1.0, kd=1.0),
        kp.InputError,
        ("a regulator is for a Mechanism, not 'arm'; load() takes files, example() names"),
    ),
    "idle": (
        lambda: kp.regulator.computed_torque(x.pend, [0, 0], frequency=1.0, actuators=["elbow"]),
        kp.InputError,
        (
            "double-pendulum: computed_torque of a mechanism without constraints needs an effort for every rate, "
            "and actuators= leaves out shoulder; use lqr with inputs="
        ),
    ),
    "no actuator": (
        lambda: kp.regulator.computed_torque(x.bar, x.bar.start(), frequency=1.0, actuators=["cranck"]),
        kp.InputError,
        ("four-bar: no joint or coordinate 'cranck'; did you mean 'crank'? Joints: crank, output, coupler"),
    ),
    "preview": (
        lambda: kp.regulator.preview(x.model, x.move, steps=3),
        kp.InputError,
        (
            "double-pendulum: preview needs the linear model of a mechanism about a state, from sample to "
            "sample; take linearise(...).discrete(sample_time)"
        ),
    ),
    "reference": (
        lambda: kp.regulator.preview(
            kp.linearise(x.pend, [0.1, 0.2], outputs=["q.elbow"]).discrete(0.01), x.move, steps=3
        ),
        kp.InputError,
        ("double-pendulum: the reference has shape (2,), and the model 1 outputs"),
    ),
    "steps": (
        lambda: kp.regulator.preview_gains(kp.regulator.cart_table(0.8, 0.005), steps=0),
        kp.InputError,
        ("preview: steps is 0; give how many samples are known ahead, 1 or more"),
    ),
    "jumps": (
        lambda: kp.regulator.preview_gains(
            kp.linearise(x.pend, [0, 0], outputs=["qdd.elbow"]).discrete(0.01), steps=3
        ),
        kp.InputError,
        ("preview needs outputs that do not jump with the inputs; leave out accelerations and efforts"),
    ),
    "continuous": (
        lambda: kp.regulator.preview_gains(x.model, steps=3),
        kp.InputError,
        ("preview needs a model from sample to sample; take model.discrete(sample_time)"),
    ),
    "called": (
        lambda: kp.regulator.in_loop(x.pd)(0.0, [0, 0], [0, 0]),
        kp.InputError,
        (
            "double-pendulum: this regulator works from sample to sample; give it to simulate, stepper or "
            "track"
        ),
    ),
    "force": (
        lambda: kp.regulator.force_feedback(x.pend, [0, 0], frequency=1.0)(0.0, [0, 0], [0, 0]),
        kp.InputError,
        (
            "double-pendulum: this regulator works from sample to sample; give it to simulate, stepper or "
            "track"
        ),
    ),
    "other period": (
        lambda: kp.regulator.in_loop(kp.regulator.lqr(x.pend, [0, 0], sample_time=0.01), sample_time=0.02),
        kp.InputError,
        (
            "double-pendulum: the regulator was made for a sample_time of 0.01 s, not 0.02 s; make it anew "
            "for that"
        ),
    ),
    "rates": (
        lambda: kp.regulator.in_loop(x.pd, rates="none"),
        kp.InputError,
        ("double-pendulum: rates is 'none'; they are 'measured', or the 'difference' of coordinates"),
    ),
    "quaternion": (
        lambda: kp.regulator.in_loop(
            kp.regulator.pd(x.disk, x.disk.neutral(), kp=1.0, kd=1.0), rates="difference"
        ),
        kp.InputError,
        ("rolling-disk: rates='difference' has no meaning for the quaternion of disk"),
    ),
    "delay": (
        lambda: kp.regulator.in_loop(x.pd, sample_time=1e-3, delay=1.5e-3),
        kp.InputError,
        ("double-pendulum: delay is 0.0015 s; give a whole number of samples of 0.001 s, at most 1000"),
    ),
    "saturation": (
        lambda: kp.regulator.in_loop(x.pd, saturation=-1.0),
        kp.InputError,
        ("double-pendulum: saturation is -1.0; give a number, 2 of them, or some by name, not below zero"),
    ),
    "saturation zero": (
        lambda: kp.regulator.in_loop(x.pd, saturation=0.0),
        kp.InputError,
        ("double-pendulum: saturation is 0.0; give efforts above zero"),
    ),
    "encoder": (
        lambda: kp.regulator.in_loop(x.pd, encoder=[1, 2, 3]),
        kp.InputError,
        ("double-pendulum: encoder is [1, 2, 3]; give a number, 2 of them, or some by name, not below zero"),
    ),
    "another mechanism": (
        lambda: kp.simulate(x.cart, [0, 0], [0, 0], duration=1.0, torque=x.pd),
        kp.InputError,
        (
            "cart-pole: the regulator is for the rates shoulder, elbow of 'double-pendulum', and this "
            "mechanism has slide, swing; make one for this mechanism"
        ),
    ),
    "motion": (
        lambda: kp.track(x.pend, [1.0, 0.5]),
        kp.InputError,
        (
            "double-pendulum: motion is [1.0, 0.5]; give a trajectory, such as kp.motion.cycloid(start, end, "
            "duration)"
        ),
    ),
    "regulator": (
        lambda: kp.track(x.pend, x.move, "pid"),
        kp.InputError,
        (
            "double-pendulum: no regulator 'pid'; did you mean 'pd'? Regulators: lqr, pd, computed-torque, "
            "force-feedback, or one made by kp.regulator"
        ),
    ),
    "off": (
        lambda: kp.track(x.pend, x.move, "pd", off=[1, 2, 3]),
        kp.InputError,
        ("double-pendulum: off is [1, 2, 3]; give a number, 2 of them, some by name, or rows for a batch"),
    ),
    "hold": (
        lambda: kp.track(x.pend, x.move, "pd", hold=-1.0),
        kp.InputError,
        ("double-pendulum: hold is -1.0; give seconds, not below zero"),
    ),
    "band": (
        lambda: kp.track(x.pend, x.move, "pd", band=0.0),
        kp.InputError,
        ("double-pendulum: band is 0.0; give a number above zero"),
    ),
    "stepper input": (
        lambda: kp.stepper(x.pend, input=[1.0, 2.0]),
        kp.InputError,
        (
            "double-pendulum: input of a stepper is a regulator, or a function that can be recorded; give "
            "other inputs to step()"
        ),
    ),
    "step": (
        lambda: kp.stepper(x.pend, input=x.pd).step([1.0, 2.0]),
        kp.InputError,
        ("double-pendulum: input= closes the loop of this stepper; call step() without inputs"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_is_explained(case):
    call, kind, message = CASES[case]
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == message


def test_a_regulator_for_the_core_of_a_vehicle_warns_that_nothing_holds_its_speed():
    """It drives away; with the speeds kept, as the message says, it does not."""
    with pytest.warns(kp.RegulatorWarning) as caught:
        drifting = kp.regulator.lqr(x.driven.core)
    assert str(caught[0].message) == (
        "balancer: the model leaves out qd.left, qd.right, which the inputs move: nothing holds these speeds, and the "
        "mechanism may drive away. Take the model before .core and keep the speeds: "
        "lqr(model.part(['q.pitch', 'qd.pitch', 'qd.left', 'qd.right']))"
    )
    assert caught[0].filename == __file__
    standing = kp.regulator.lqr(x.driven.part(["q.pitch", "qd.pitch", "qd.left", "qd.right"]))
    q = x.robot.start()
    q[x.robot.q_names.index("pitch")] = 0.1
    speeds = [
        np.abs(kp.simulate(x.robot, q, np.zeros(6), duration=8.0, torque=law, output=8.0).qd[-1]).max()
        for law in (drifting, standing)
    ]
    assert speeds[0] > 1.0
    assert speeds[1] < 0.05


def test_a_model_without_states_has_no_modes_to_be_drawn(tmp_path):
    """All motions of a vehicle that stands are drift: its core is empty."""
    m = kp.example("diff-drive")
    core = kp.linearise(m, m.start()).core.with_inputs(["tau.left-wheel"])
    assert not core.states
    with pytest.raises(kp.InputError) as refused:
        core.report(tmp_path / "mode.html")
    assert str(refused.value) == "diff-drive: has no modes to be drawn"


def test_regulators_and_what_they_are_made_from_have_short_representations():
    pose = x.pend.pose([0, 0], "lower")
    law = kp.regulator.lqr(x.seen)
    path = kp.track(x.pend, x.move, "computed-torque")
    shown = {
        law: "<LinearQuadratic of 'cart-pole': 4 states, 1 inputs, slowest pole ",
        kp.regulator.lqr(
            x.pend, x.move, samples=11
        ): "<LinearQuadratic of 'double-pendulum': 4 states, 2 inputs, 11 ",
        x.pd: "<JointLaw of 'double-pendulum': about one state>",
        kp.regulator.in_loop(
            x.pd
        ): "<InLoop of 'double-pendulum': <JointLaw of 'double-pendulum': about one state>,",
        kp.regulator.computed_torque(
            x.pend, x.move, frequency=1.0
        ): "<ComputedTorque of 'double-pendulum': along 1.5 s,",
        kp.regulator.kalman(x.seen): "<Kalman of 'cart-pole': 4 states from q.slide>",
        kp.regulator.lqg(
            law, kp.regulator.kalman(x.seen)
        ): "<OutputFeedback of 'cart-pole': 4 states estimated from q",
        kp.motion.nominal(x.pend, x.move): "<Nominal of 'double-pendulum': 1.5 s, 1001 samples>",
        x.move: "<Trajectory: 2 coordinates, 1.5 s>",
        kp.motion.spline([0.0, 1.0, 0.5], 2.5): "<Trajectory: 1 coordinate, 2.5 s>",
        kp.motion.line(pose, pose, 2.0): "<FrameTrajectory: 2 s>",
        x.bar.mobility(x.bar.start()): "<Mobility: freedom 1, 1 redundant row>",
        kp.equilibrium(x.pend): "<Equilibrium of 'double-pendulum': at rest, q shoulder 0, elbow 0>",
        path: "<Tracking of 'double-pendulum': 1.5 s, largest error ",
        x.seen.bode(): "<Bode of 'cart-pole': 1 outputs, 1 inputs, ",
        x.seen.step(): "<StepResponse of 'cart-pole': 1 outputs, 1 inputs, ",
    }
    for subject, words in shown.items():
        assert repr(subject).startswith(words)
        assert len(repr(subject)) < 160


def test_gains_and_poles_of_a_regulator_are_at_hand():
    law = kp.regulator.lqr(x.seen, degree=1.0)
    assert law.K.shape == (1, 4)
    assert law.poles == pytest.approx(np.linalg.eigvals(x.seen.A - x.seen.B @ law.K))
    assert law.poles.real.max() < -1.0
    along = kp.regulator.lqr(x.pend, x.move, samples=11)
    assert along.K.shape == (11, 2, 4)
    assert along.poles.shape == (11, 4)


@pytest.mark.parametrize(
    ("owner", "word"), [("computed_torque", "actuators"), ("pd", "actuators"), ("lqr", "inputs")]
)
def test_a_closed_mechanism_without_actuated_joints_gets_the_calls_to_choose_from(owner, word, tmp_path):
    file = tmp_path / "bar.toml"
    file.write_text(kp.example_text("four-bar").replace("actuated = true\n", ""))
    m = kp.load(file)
    options = {} if owner == "lqr" else {"frequency": 5.0}
    with pytest.raises(kp.ActuatorsError) as caught:
        getattr(kp.regulator, owner)(m, m.start(), **options)
    assert f'kp.regulator.{owner}(m, motion, {word}=["crank"])' in str(caught.value)
    assert f'kp.regulator.{owner}(m, motion, {word}="all")' in str(caught.value)
    assert getattr(kp.regulator, owner)(m, m.start(), **options, **{word: ["crank"]}) is not None
    assert getattr(kp.regulator, owner)(m, m.start(), **options, **{word: "all"}) is not None
