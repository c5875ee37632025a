"""What is said when something cannot be shown."""

from __future__ import annotations

import builtins
import socket
import webbrowser
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.viewer import links as meshes
from kinpair.viewer.page import Page
from kinpair.viewer.scene import scene_of
from kinpair.viewer.surfaces import ellipsoid


@cache
def pendulum() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"view": "sde"},
            "view is 'sde'; did you mean 'side'? views: corner, front, side, back, top; or (azimuth, elevation) in "
            "degrees",
        ),
        ({"style": "sticks"}, "style is 'sticks'; did you mean 'stick'? styles: solid, stick"),
    ],
)
def test_options_of_a_picture(options, message):
    with pytest.raises(kp.InputError) as caught:
        pendulum().picture(None, **options)
    assert str(caught.value).lower() == message.lower()


@pytest.mark.parametrize("port", [0, -1, 70000, "8080"])
def test_a_port_that_is_none(port):
    with pytest.raises(kp.InputError) as caught:
        pendulum().view(port=port, browser=False, wait=False)
    assert str(caught.value) == f"port is {port!r}; give a whole number from 1 to 65535"


def test_a_port_that_is_taken_is_told_and_so_is_what_to_open():
    said: list[str] = []
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        page = Page(pendulum(), port=port, browser=False, say=said.append)
    page.close()
    assert page.url != f"http://127.0.0.1:{port}"
    assert said == [
        f"port {port} is taken; this page has {page.url.rpartition(':')[2]}",
        f"open {page.url} in a browser",
    ]


def test_a_page_needs_viser(monkeypatch):
    known = builtins.__import__

    def missing(name, *arguments, **options):
        if name == "viser":
            raise ImportError(name)
        return known(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(kp.MissingExtraError) as caught:
        pendulum().view(browser=False, wait=False)
    assert str(caught.value) == (
        'the 3-D page needs viser; install it with pip install ".[view]" in the folder of kinpair\'s sources'
    )


def test_a_run_without_samples():
    whole = kp.simulate(pendulum(), [0.1, 0.0], [0.0, 0.0], duration=0.1)
    run = replace(whole, time=whole.time[:0], q=whole.q[:0], qd=whole.qd[:0])
    with pytest.raises(kp.InputError) as caught:
        run.view(browser=False, wait=False)
    assert str(caught.value) == (
        "double-pendulum: the run has no samples, so there is nothing to show; output= says when there is one"
    )


def test_a_row_that_is_not_there():
    run = kp.simulate(pendulum(), np.zeros((2, 2)), np.zeros(2), duration=0.1, integrator="rk4", dt=0.01)
    with pytest.raises(kp.InputError) as caught:
        run.view(row=2, browser=False, wait=False)
    assert str(caught.value) == "row is 2; the batch has rows 0 to 1"


@pytest.mark.parametrize("draw", ["plot", "plot_energy", "animation"])
def test_a_row_of_one_motion(draw):
    run = kp.simulate(pendulum(), np.zeros(2), np.zeros(2), duration=0.1, integrator="rk4", dt=0.01)
    with pytest.raises(kp.InputError) as caught:
        getattr(run, draw)(row=3)
    assert str(caught.value) == "row is 3; the run is one motion, row 0"


def test_a_mesh_that_is_not_there_is_drawn_by_its_inertia_with_one_warning(tmp_path):
    file = tmp_path / "r.toml"
    file.write_text(
        'name = "r"\n[[link]]\nname = "a"\nmass = 1.0\ninertia = [0.1, 0.1, 0.1]\n'
        'visual = [{ mesh = "no.stl" }, { mesh = "none.stl" }]\n'
        '[[joint]]\nname = "j"\nkind = "revolute"\nparent = "ground"\nchild = "a"\n'
    )
    scene = scene_of(kp.load(file))
    assert scene.warnings == (
        "link 'a': the mesh 'no.stl' is not there; drawn as a body of the same inertia (2 meshes in all)",
    )
    assert any(piece.link == "a" and piece.layer == "visual" for piece in scene.pieces)


def test_a_mesh_outside_its_package(tmp_path):
    (tmp_path / "package.xml").write_text("<package><name>p</name></package>")
    file = tmp_path / "r.urdf"
    mesh = '<visual><geometry><mesh filename="package://p/../x.stl"/></geometry></visual>'
    file.write_text(f'<robot name="r">\n<link name="a">{mesh}</link></robot>')
    with pytest.warns(kp.DescriptionWarning) as caught:
        kp.load(file)
    assert str(caught[0].message) == (
        f"{file}:2: link 'a' shows the mesh 'package://p/../x.stl', which lies outside its package; not read, "
        "left undrawn"
    )


@pytest.mark.parametrize(
    "fault", [lambda url: False, lambda url: (_ for _ in ()).throw(webbrowser.Error("none"))]
)
def test_without_a_browser_it_says_what_to_open(fault, monkeypatch):
    monkeypatch.setattr(webbrowser, "open", fault)
    said: list[str] = []
    page = Page(pendulum(), port=18_091, say=said.append)
    page.close()
    assert said[-1] == f"open {page.url} in a browser"


def test_a_mesh_with_too_many_triangles_is_drawn_coarser_and_the_message_gives_the_numbers(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(meshes, "MOST", 500)
    surface = ellipsoid(1.0, 1.0, 1.0)
    corners = surface.points[surface.faces].astype("<f4")
    faces = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])
    faces["corners"] = corners
    file = tmp_path / "ball.stl"
    file.write_bytes(bytes(80) + len(faces).to_bytes(4, "little") + faces.tobytes())
    ball = (
        kp.Builder("ball")
        .link("round_link", mass=1.0, inertia=[0.1, 0.1, 0.1], visual=[{"mesh": str(file)}])
        .joint("j", "revolute", "ground", "round_link")
    )
    with pytest.warns(kp.PictureWarning) as caught:
        kp.build(ball).picture(width=80, height=60)
    drawn = sum(len(x.surface.faces) for x in scene_of(kp.build(ball)).pieces if x.is_mesh)
    assert 100 < drawn <= 500
    assert [str(x.message) for x in caught] == [
        f"link 'round_link': its mesh has {len(faces)} triangles; the meshes are drawn with {drawn} triangles of "
        f"{len(faces)}. Use a mesh with fewer triangles to choose the details"
    ]
