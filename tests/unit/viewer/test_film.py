"""Films: one picture for each instant, as long as the motion, with the machine where it was computed."""

from __future__ import annotations

import sys
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import kinpair as kp
from kinpair.viewer import recording as film
from kinpair.viewer.still import picture

SIZE = {"width": 81, "height": 60}


@cache
def run() -> kp.Result:
    m = kp.example("double-pendulum")
    return kp.simulate(m, [1.0, 0.5], [0.0, 0.0], duration=0.5, output=0.01)


def frames(file):
    from PIL import Image, ImageSequence

    with Image.open(file) as images:
        return [np.array(x.convert("RGB")) for x in ImageSequence.Iterator(images)], images.info


def test_a_gif_has_a_picture_for_every_instant_and_lasts_as_long_as_the_motion(tmp_path):
    file = run().animation(tmp_path / "run.gif", rate=10.0, speed=0.5, **SIZE)
    images, facts = frames(file)
    assert len(images) == 11  # half a second at half the speed, with both ends
    assert facts["duration"] == 100
    assert all(x.shape == (60, 81, 3) for x in images)
    assert all((a != b).any() for a, b in pairwise(images))
    assert run().animation(file, rate=10.0, **SIZE) == file  # a film of kinpair is replaced
    assert [x.name for x in tmp_path.iterdir()] == ["run.gif"]


def test_the_machine_is_where_it_was_computed():
    m = run().mechanism
    start, *_, end = film.pictures(_recording(), 0.25, "corner", 81, 60)
    for image, k in ((start, 0), (end, -1)):
        still = picture(m, None, run().q[[k]], width=81, height=60).axes[0].images[0].get_array()
        assert (image < 200).any()
        assert (image < 128).sum() == pytest.approx((still < 128).sum(), rel=0.75)  # seen from farther away
    assert (start != end).any()


def _recording():
    from kinpair.runs.report import recording_of

    return recording_of(run())


def program_that(does, tmp_path, monkeypatch):
    """A program in the place of ffmpeg, so that the test needs none."""
    program = tmp_path / "ffmpeg"
    program.write_text(f"#!/bin/sh\n{does}\n")
    program.chmod(0o755)
    monkeypatch.setattr(film.shutil, "which", lambda _: str(program))


def test_ffmpeg_gets_the_pictures_their_size_and_their_rate(tmp_path, monkeypatch):
    program_that(f'echo "$@" > {tmp_path}/words; for x; do :; done; cat > "$x"', tmp_path, monkeypatch)
    file = run().animation(tmp_path / "run.mp4", rate=10.0, **SIZE)
    images = list(film.pictures(_recording(), 0.1, "corner", 81, 60))
    assert len(images) == 6
    assert file.read_bytes() == b"".join(x.tobytes() for x in images)
    words = (tmp_path / "words").read_text()
    assert "-f rawvideo -pix_fmt rgb24 -s 81x60 -r 10.0 -i -" in words
    assert "pad=ceil(iw/2)*2:ceil(ih/2)*2" in words


def test_without_ffmpeg_the_message_names_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(film.shutil, "which", lambda _: None)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(kp.MissingExtraError) as caught:
        run().animation(tmp_path / "run.mp4", **SIZE)
    assert str(caught.value) == (
        "films that end in .mp4 are written by ffmpeg, which is not installed; install it with apt-get install ffmpeg "
        "or pip install imageio-ffmpeg, or give a name that ends in .gif"
    )
    assert not list(tmp_path.iterdir())


def test_a_film_that_ffmpeg_rejects_leaves_no_file(tmp_path, monkeypatch):
    program_that("echo no such encoder >&2; exit 3", tmp_path, monkeypatch)
    with pytest.raises(kp.InputError) as caught:
        run().animation(tmp_path / "run.mp4", rate=10.0, **SIZE)
    assert str(caught.value) == f"{tmp_path}/run.mp4: ffmpeg could not write the film (no such encoder)"
    assert [x.name for x in tmp_path.iterdir()] == ["ffmpeg"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("run.avi", {}, "run.avi: a film is written to a file that ends in .gif or .mp4"),
        ("run.gif", {"rate": 0.0}, "rate is 0.0; give a number above zero"),
        ("run.gif", {"speed": float("nan")}, "speed is nan; give a number above zero"),
        ("run.gif", {"width": -3}, "width is -3; give a number above zero"),
        ("none/run.gif", {"rate": 4.0}, "none/run.gif: cannot be written (No such file or directory)"),
    ],
)
def test_a_film_that_cannot_be_written(tmp_path, monkeypatch, name, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kp.InputError) as caught:
        run().animation(name, **{**SIZE, **options})
    assert str(caught.value) == message
