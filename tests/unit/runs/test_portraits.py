"""Friction panels, phase portraits, energy by where it went, and support: what is drawn is what was computed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.runs.pictures import flows, spans
from kinpair.runs.report import recording_of
from kinpair.viewer.recording import lamps
from kinpair.viewer.report_page import page_data
from kinpair.viewer.scene import scene_of


@cache
def dragged() -> kp.Result:
    m = kp.example("stick-slip")
    return kp.simulate(
        m, [0.0], [0.0], duration=2.0, output=0.01, torque=lambda t, q, qd: 100 * (0.1 * t - q)
    )


def test_dry_friction_has_a_panel_with_bars_where_it_sticks():
    run = dragged()
    figure = run.plot()
    (axis,) = (x for x in figure.axes if x.get_title(loc="left").startswith("friction"))
    effort = axis.lines[0].get_ydata()
    time = axis.lines[0].get_xdata()
    sticks = run.friction["belt"].sticks[np.searchsorted(run.time, time)]
    assert np.abs(effort[~sticks]) == pytest.approx(4.0)  # while it slides, the level
    assert np.abs(effort).max() <= 6.0 + 1e-9  # at rest, up to the static level
    held = 100 * (0.1 * time - run.q[np.searchsorted(run.time, time), 0])
    assert -effort[sticks] == pytest.approx(held[sticks], abs=1e-9)  # at rest, what is needed
    bars = spans(run.time, run.friction["belt"].sticks)
    assert len(bars) == len(axis.patches) == 3


def test_spans_are_those_of_the_samples():
    time = np.arange(6.0)
    assert spans(time, np.array([1, 1, 0, 0, 1, 0], dtype=bool)) == [(0.0, 2.0), (4.0, 5.0)]
    assert spans(time, np.zeros(6, dtype=bool)) == []


def test_energy_that_went_somewhere_came_from_somewhere():
    run = dragged()
    _, went, came = flows(run)
    total = [np.sum(list(x.values()), axis=0) for x in (went, came)]
    assert total[0] == pytest.approx(total[1], abs=1e-8)
    assert went["belt.friction"][-1] == pytest.approx(run.friction["belt"].heat[-1])
    assert came["work"][-1] == pytest.approx(run.work[-1])
    axis = run.plot_energy().axes[0]
    assert "belt.friction (to)" in axis.get_legend_handles_labels()[1]


def test_a_phase_portrait_goes_through_the_samples():
    run = dragged()
    (axis,) = run.plot_phase().axes
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("coordinate [m]", "rate [m/s]")
    path = np.array(axis.collections[0].get_segments())
    assert path[:, 0] == pytest.approx(np.stack([run.q[:-1, 0], run.qd[:-1, 0]], axis=1))
    with pytest.raises(kp.InputError) as caught:
        run.plot_phase(names=["bel"])
    assert str(caught.value) == (
        "stick-slip: no coordinate 'bel' that has a rate of its own; did you mean 'belt'? Coordinates: belt"
    )


def test_a_lamp_is_lit_at_the_frames_at_which_its_joint_sticks():
    run = dragged()
    recording = recording_of(run)
    assert (recording.sticks["belt"] == run.friction["belt"].sticks).all()
    scene = scene_of(run.mechanism)
    (lamp,) = lamps(run.mechanism, scene, recording.sticks).values()
    body = next(x for x in scene.pieces if x.link == "mass" and x.layer == "visual")
    assert lamp.surface.points[:, 2].min() >= body.surface.points[:, 2].max() - 1e-9
    data, _ = page_data(recording)
    both = [x for x in data["pieces"] if x.get("lamp") == "belt"]
    assert [x["sticks"] for x in both] == [False, True]


def test_the_zero_moment_point_of_a_machine_that_stands_is_below_its_mass_centre():
    m = kp.example("diff-drive")
    run = kp.simulate(m, m.start(), np.zeros(m.nv), duration=0.2, output=0.1)
    sole = [[-0.3, -0.3, 0.0], [0.3, -0.3, 0.0], [0.3, 0.3, 0.0], [-0.3, 0.3, 0.0]]
    body = m.model.description.links[0].name
    height = m.pose(run.q[0], body).position[2]
    feet = {body: np.array(sole) - [0.0, 0.0, height]}
    support = run.support(feet, loads=np.ones((len(run.time), 1)))
    centre = m.centre_of_mass(run.q)
    assert support.zmp[:, :2] == pytest.approx(centre[:, :2], abs=1e-6)
    recording = recording_of(run, support=support)
    (areas,) = recording.areas.values()
    assert areas[0] is areas[-1]  # the same polygon is the same array
    assert areas[0][:, 2] == pytest.approx(0.0)
    data, _ = page_data(recording)
    assert len(data["areas"][0]["forms"]) == 1
    assert [axis.get_xlabel() for axis in support.plot().axes] == ["forward [m]", "time [s]"]
