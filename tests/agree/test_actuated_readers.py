"""A slider with two rods: TOML, builder, MJCF and URDF agree on the joints that are actuated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kinpair as kp

INERTIA = (0.01, 0.01, 0.01)
LOOP = {"kind": "spherical", "parent": "rod", "child": "slider", "xyz": [0.5, 0, 0]}

MJCF = """
<mujoco model="m"><worldbody>
  <body name="crank"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/><joint name="a" axis="0 0 1"/>
    <body name="rod" pos=".3 0 0"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
      <joint name="b" axis="0 0 1"/></body></body>
  <body name="slider" pos=".8 0 0"><inertial pos="0 0 0" mass="1" diaginertia=".01 .01 .01"/>
    <joint name="c" type="slide" axis="1 0 0"/></body>
</worldbody>
<equality><connect name="pin" body1="rod" body2="slider" anchor=".5 0 0"/></equality>
<actuator>{}</actuator></mujoco>
"""
URDF = """
<robot name="m"><link name="base"/>
{links}
<joint name="a" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 0 1"/></joint>
<joint name="b" type="continuous"><parent link="crank"/><child link="rod"/><origin xyz=".3 0 0"/>
  <axis xyz="0 0 1"/></joint>
<joint name="c" type="prismatic"><parent link="base"/><child link="slider"/><origin xyz=".8 0 0"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
{transmissions}</robot>
"""
LINK = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/>'
    "</inertial></link>"
)
TRANSMISSION = (
    '<transmission name="t {0}"><type>transmission_interface/{2}</type><joint name="{0}"/>'
    '<actuator name="motor {0}"><mechanicalReduction>{1}</mechanicalReduction></actuator></transmission>'
)


def builder(**keys: dict) -> kp.Builder:
    b = kp.Builder("m")
    for name in ("crank", "rod", "slider"):
        b.link(name, mass=1, inertia=INERTIA)
    b.joint("a", "revolute", "ground", "crank", axis="z", **keys.get("a", {}))
    b.joint("b", "revolute", "crank", "rod", xyz=(0.3, 0, 0), axis="z", **keys.get("b", {}))
    b.joint("c", "prismatic", "ground", "slider", xyz=(0.8, 0, 0), axis="x", **keys.get("c", {}))
    return b.loop("pin", **LOOP)


def from_builder(folder: Path, joint: str, how: str) -> kp.Mechanism:
    if how == "marked":
        return kp.build(builder(**{joint: {"actuated": True}}))
    return kp.build(builder().actuator("motor", joint, "effort"))


def written(file: Path, text: str) -> kp.Mechanism:
    file.write_text(text, encoding="utf-8")
    return kp.load(file)


def from_toml(folder: Path, joint: str, how: str) -> kp.Mechanism:
    return written(folder / "m.toml", kp.to_toml(from_builder(folder, joint, how).model.description))


def from_mjcf(folder: Path, joint: str, how: str) -> kp.Mechanism:
    """An actuator that is read, and two of one joint, which are left out."""
    motors = [f'<motor name="m{k}" joint="{joint}"/>' for k in range(2 if how == "marked" else 1)]
    return written(folder / "m.xml", MJCF.format("".join(motors)))


def from_urdf(folder: Path, joint: str, how: str) -> kp.Mechanism:
    """A transmission with a reduction is an actuator; one without a reduction marks its joint."""
    text = TRANSMISSION.format(joint, 1 if how == "marked" else 10, "SimpleTransmission")
    links = "".join(map(LINK.format, ("crank", "rod", "slider")))
    tree = written(folder / "m.urdf", URDF.format(links=links, transmissions=text))
    return tree.with_constraints(kp.constraint.loop("pin", **LOOP))


@pytest.mark.filterwarnings("ignore::kinpair.DescriptionWarning")
@pytest.mark.parametrize("reader", [from_builder, from_toml, from_mjcf, from_urdf])
@pytest.mark.parametrize("how", ["actuator", "marked"])
@pytest.mark.parametrize("joint", ["a", "c"])
def test_every_reader_agrees_on_the_actuated_joints(reader, how, joint, tmp_path):
    m = reader(tmp_path, joint, how).reference
    assert m.actuated() == (joint,)
    q = m.assemble({"a": 0.4}, fixed=["a"])
    qdd = m.accelerations(q, np.zeros(3), {"a": 1.0})
    tau = m.inverse_dynamics(q, np.zeros(3), qdd)
    assert set(np.flatnonzero(tau)) == {m.v_names.index(joint)}
    assert m.forward_dynamics(q, np.zeros(3), tau) == pytest.approx(qdd, abs=1e-9)


def test_a_description_without_its_actuators_keeps_its_actuated_joints():
    b = builder().actuator("motor", "c", "effort")
    assert kp.build(b, actuators=False).actuated() == kp.build(b).actuated() == ("c",)


def test_nothing_is_actuated_where_every_joint_is_marked_so():
    m = kp.build(builder(**{name: {"actuated": False} for name in "abc"})).reference
    assert m.actuated() == ()
    q = m.assemble({"a": 0.4}, fixed=["a"])
    free = m.forward_dynamics(q, np.zeros(3), np.zeros(3))
    assert (m.inverse_dynamics(q, np.zeros(3), free) == 0.0).all()
    with pytest.raises(kp.SingularError, match="nothing is actuated"):
        m.inverse_dynamics(q, np.zeros(3), m.accelerations(q, np.zeros(3), {"a": 1.0}))


def test_inputs_do_not_depend_on_what_is_marked_as_actuated():
    assert kp.build(builder()).u_names == kp.build(builder(a={"actuated": True})).u_names == ("a", "b", "c")


def test_joints_without_an_input_are_part_of_the_fingerprint_of_compiled_code():
    """Two mechanisms that differ in nothing else must not share compiled code of their inputs."""
    from kinpair.model.digest import digest

    prints = [digest(kp.build(builder(**{name: {"actuated": False}})).model) for name in "abc"]
    assert len(set(prints)) == 3


def test_a_split_joint_stays_actuated_as_it_was():
    b = kp.Builder("m").link("a", mass=1, inertia=INERTIA)
    b.joint("j", "universal", "ground", "a", axis="x", actuated=False)
    split, _ = kp.build(b).split()
    assert split.u_names == ()
