"""The wrench in a weld: beside that in a hinge in its place, held still, by every formulation that gives reactions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.description.parts import Description, Joint, Link, Origin
from kinpair.evaluation.quantities.request import METHODS

TOLERANCE = 1e-12  # a few hundred operations of eps each
FOUR_BAR = kp.example("four-bar")


def sensor() -> Description:
    """An arm with a tool on a welded force sensor."""
    links = (
        Link("arm", 2.0, (0.2, 0, 0), (0.1, 0.1, 0.1, 0, 0, 0)),
        Link("tool", 0.5, (0, 0, 0.1), (0.01, 0.01, 0.01, 0, 0, 0)),
    )
    joints = (
        Joint("sensor", "fixed", "arm", "tool", Origin((0.4, 0, 0), (0.0, 0.6, 0.0, 0.8))),
        Joint("j", "revolute", "ground", "arm", axis=(0, 1, 0)),
    )
    return Description("sensor", links, joints)


def hinged(description: Description) -> Description:
    """Hinges in the place of the welds, about the first axis of the joint."""
    joints = [
        replace(joint, kind="revolute", axis=(1.0, 0.0, 0.0)) if joint.kind == "fixed" else joint
        for joint in description.joints
    ]
    return replace(description, joints=tuple(joints))


def held(welded: kp.Mechanism, other: kp.Mechanism, q, qd, qdd):
    """The same motion of the other, whose further hinges stand still."""
    return (
        by_name(welded.q_names, other.q_names, q),
        *(by_name(welded.v_names, other.v_names, x) for x in (qd, qdd)),
    )


def by_name(names, others, x):
    built = np.zeros((*x.shape[:-1], len(others)))
    built[..., [others.index(name) for name in names]] = x
    return built


def same(one, other, tolerance=TOLERANCE):
    assert list(one) == list(other)
    assert all(zoo.relative_error(one[name], other[name]) < tolerance for name in one)


def test_a_force_sensor_carries_the_weight_of_its_tool():
    m = kp.build(sensor())
    result = m.reactions([0.0], [0.0], [0.0])
    assert list(result) == ["sensor", "j"]
    R = m.pose([0.0], "tool").rotation
    weight = -0.5 * m.model.gravity
    assert weight[2] > 4.9
    moment = np.cross(R @ [0, 0, 0.1], weight)
    assert result["sensor"] == pytest.approx(np.concatenate([R.T @ moment, R.T @ weight]), abs=1e-14)


@pytest.mark.parametrize("method", METHODS["reactions"])
@pytest.mark.parametrize("compiled", [False, True])
def test_a_weld_carries_what_a_hinge_held_still_carries(method, compiled):
    trees = (
        [sensor()]
        if compiled
        else [sensor(), zoo.tree(5, 9, ("fixed", "revolute", "spherical")).model.description]
    )
    for description in trees:
        m, other = kp.build(description), kp.build(hinged(description))
        m, other = (m, other) if compiled else (m.reference, other.reference)
        s = zoo.motions(m, 3, seed=4)
        loads = {description.links[-1].name: np.arange(6.0)}
        result = m.reactions(s.q, s.qd, s.qdd, external=loads, method=method)
        assert list(result) == [joint.name for joint in description.joints]
        same(result, other.reactions(*held(m, other, s.q, s.qd, s.qdd), external=loads, method=method))
        for k in range(3):
            row = {name: w[k] for name, w in result.items()}
            same(row, m.reactions(s.q[k], s.qd[k], s.qdd[k], external=loads, method=method))


def with_welded_tool(description: Description) -> Description:
    """A weight welded to the last link."""
    tool = Link("tool", 0.7, (0.1, 0.2, 0.0), (0.02, 0.02, 0.02, 0.0, 0.0, 0.0))
    weld = Joint("weld", "fixed", description.links[-1].name, "tool", Origin((0.1, 0.0, 0.3)))
    return replace(description, links=(*description.links, tool), joints=(weld, *description.joints))


def test_under_loops_too():
    description = with_welded_tool(FOUR_BAR.model.description)
    m, kept = kp.build(description), kp.build(description, merge_fixed=False)
    q = m.start()
    qd = m.velocities(q, guess=np.ones(m.nv))
    qdd = m.accelerations(q, qd, guess=np.ones(m.nv))
    result = m.reactions(q, qd, qdd)
    assert list(result)[: m.nv + 1] == ["weld", *m.joint_names]
    same(result, kept.reactions(q, qd, qdd), 1e-9)
    tau = m.inverse_dynamics(q, qd, qdd)
    batch = m.reactions(np.stack([q, q]), qd, qdd, tau=np.stack([tau, 0 * tau]))
    same({name: w[0] for name, w in batch.items()}, result, 1e-9)


def test_what_does_not_move_has_reactions_too():
    rock = kp.build(Description("rock", (Link("rock", 2.0),), (Joint("weld", "fixed", "ground", "rock"),)))
    result = rock.reactions([], [], [])
    assert result["weld"] == pytest.approx([0, 0, 0, *(-2.0 * rock.model.gravity)])
    assert rock.reactions(np.zeros((4, 0)), [], [])["weld"].shape == (4, 6)


def test_the_order_is_that_of_the_description():
    m = zoo.tree(8, 9, reach=2, kinds=("revolute", "prismatic"))
    s = zoo.motion(m)
    order = [joint.name for joint in m.model.description.joints]
    assert order != list(m.model.joint_names[1:])
    assert list(m.reactions(s.q, s.qd, s.qdd)) == order == list(m.joint_names)


def test_the_kernel_and_the_comparison_have_the_welds_too():
    m = kp.build(sensor())
    kernel = m.kernel("reactions")
    assert list(kernel.signature.outputs) == ["sensor", "j"]
    row = kp.compare(m, quantities=["reactions"], time=False, states=2).rows[0]
    assert row.agrees
    assert row.operations == kernel.count["total"]


def test_other_quantities_cost_what_they_did():
    m = kp.build(sensor())
    m.reactions([0.0], [0.0], [0.0])
    assert len(m.model.moving) == 1
    kept = kp.build(sensor(), merge_fixed=False)
    assert m.kernel("inverse_dynamics").count["total"] <= kept.kernel("inverse_dynamics").count["total"]
