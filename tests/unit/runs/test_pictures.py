"""A run as curves: what is on which axes, in which colour, and where the legends are."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure

import kinpair as kp
from robots import urdf


def cart_pole() -> kp.Result:
    m = kp.example("cart-pole")
    return kp.simulate(m, [0.0, 0.5], [0.1, 0.0], duration=0.5, torque=[1.0, 0.2], output=0.1)


def floating_arm() -> kp.Result:
    m = kp.example("floating-arm")
    rates = np.linspace(0.1, 0.4, m.nv)
    return kp.simulate(m, m.neutral(), rates, duration=0.3, torque=[0.1] * m.nv, output=0.1)


def humanoid() -> kp.Result:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = kp.load(urdf("g1_29dof_rev_1_0"))
    return kp.simulate(
        m, m.neutral(), np.zeros(m.nv), duration=0.02, integrator="rk4", dt=0.01, torque=[0.1] * m.nv
    )


def long_names() -> kp.Result:
    build = kp.Builder("long")
    for k, parent in enumerate(("ground", "link0")):
        build.link(f"link{k}", mass=1.0, inertia=[0.1, 0.1, 0.1])
        build.joint(f"joint-{k}-{'x' * 150}", "revolute", parent, f"link{k}", axis="y")
    m = kp.build(build.description())
    return kp.simulate(m, [0.3, 0.2], [0.0, 0.0], duration=0.2, output=0.1)


RUNS = {f.__name__: f for f in (cart_pole, floating_arm, humanoid, long_names)}


@pytest.fixture(scope="module", params=RUNS)
def figure(request) -> Figure:
    figure = RUNS[request.param]().plot()
    figure.draw_without_rendering()
    return figure


def legends(figure):
    return [*figure.legends, *(x for axis in figure.axes if (x := axis.get_legend()))]


def test_legends_are_inside_the_picture_and_beside_the_axes(figure):
    inside = figure.bbox.padded(1.0)  # a pixel for rounding
    for legend in legends(figure):
        box = legend.get_window_extent()
        assert inside.x0 <= box.x0
        assert inside.y0 <= box.y0
        assert box.x1 <= inside.x1
        assert box.y1 <= inside.y1
        assert not any(axis.get_window_extent().overlaps(box) for axis in figure.axes)


def test_axes_keep_their_height_beside_long_legends(figure):
    """An inch at least."""
    assert min(axis.get_window_extent().height for axis in figure.axes) > figure.dpi


def test_one_colour_one_freedom_of_a_joint(figure):
    """A curve is one look in every panel; different curves never look the same."""
    look: dict[str, tuple] = {}
    for axis in figure.axes:
        for line in axis.lines:
            name = line.get_label()
            result = (line.get_color(), line.get_linestyle(), line.is_dashed())
            assert look.setdefault(name, result) == result
    same = {"vx": "x", "vy": "y", "vz": "z", "wx": "qx", "wy": "qy", "wz": "qz"}
    freedoms: dict[tuple[str, str], tuple] = {}
    for name, result in look.items():
        joint, _, part = name.rpartition(".")
        assert freedoms.setdefault((joint, same.get(part, part)), result) == result
    assert len(set(freedoms.values())) == len(freedoms)


def test_axes_have_one_unit(figure):
    labels = [axis.get_ylabel() for axis in figure.axes]
    assert all(label.count("[") == 1 for label in labels)
    curves = [(axis.get_ylabel(), line.get_label()) for axis in figure.axes for line in axis.lines]
    assert len(set(curves)) == len(curves)  # axes of the same quantity are small multiples of it


def test_more_than_ten_curves_are_small_multiples_with_one_legend(figure):
    assert max(len(axis.lines) for axis in figure.axes) <= 10
    assert len(figure.legends) == 1
    for label in {axis.get_ylabel() for axis in figure.axes}:
        assert len({axis.get_ylim() for axis in figure.axes if axis.get_ylabel() == label}) == 1


def test_every_axis_with_numbers_has_a_unit(figure):
    for axis in figure.axes:
        assert "[" in axis.get_ylabel()
        assert ("[s]" in axis.get_xlabel()) == axis.xaxis.get_tick_params()["labelbottom"]


def test_curves_that_are_equal_are_named():
    m = kp.example("double-pendulum")
    run = kp.simulate(m, [0.0, 0.0], [0.0, 0.0], duration=0.2, output=0.1)
    notes = {axis.get_ylabel(): [x.get_text() for x in axis.texts] for axis in run.plot().axes}
    assert notes["q [rad]"] == ["equal: shoulder = elbow"]
    moved = kp.simulate(m, [0.1, 0.2], [0.0, 0.0], duration=0.2, output=0.1)
    assert not any(axis.texts for axis in moved.plot().axes)


def test_angles_and_lengths_have_axes_of_their_own():
    panels = {axis.get_ylabel(): [x.get_label() for x in axis.lines] for axis in cart_pole().plot().axes}
    assert panels == {
        "q [m]": ["slide"],
        "q [rad]": ["swing"],
        "q̇ [m/s]": ["slide"],
        "q̇ [rad/s]": ["swing"],
        "τ [N]": ["slide"],
        "τ [N m]": ["swing"],
        "[J]": ["kinetic", "potential", "sum", "work"],
    }


def test_efforts_that_are_zero_are_left_out():
    m = kp.example("cart-pole")
    run = kp.simulate(m, [0.0, 0.5], [0.0, 0.0], duration=0.2, torque=[1.0, 0.0], output=0.1)
    assert [axis.get_ylabel() for axis in run.plot().axes if "τ" in axis.get_ylabel()] == ["τ [N]"]


def test_a_figure_is_returned_and_saved_where_a_path_is_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = cart_pole()
    assert isinstance(run.plot(), Figure)
    assert not list(tmp_path.iterdir())
    assert isinstance(run.plot("run.png"), Figure)
    assert [x.name for x in tmp_path.iterdir()] == ["run.png"]


def test_a_notebook_shows_the_figure():
    assert cart_pole().plot()._repr_png_().startswith(b"\x89PNG")


def test_nothing_of_one_panel_lies_over_another(figure):
    """Titles, numbers and names of the axes included."""
    for axis in figure.axes:
        box = axis.get_tightbbox()
        assert not any(other.get_window_extent().overlaps(box) for other in figure.axes if other is not axis)


def test_the_legend_has_the_order_of_the_joints():
    run = floating_arm()
    legend = [text.get_text() for text in run.plot().legends[0].get_texts()]
    assert [name.partition(" / ")[0] for name in legend] == list(run.mechanism.q_names)
    assert legend[0] == "base.x / vx"
