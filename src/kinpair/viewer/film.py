"""A motion as a film: pictures at equal times, written as GIF or MP4."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from kinpair.description.parts import Numbers
from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.spatial.pose import HOME, Pose
from kinpair.viewer.raster import around, directions
from kinpair.viewer.recording import AREA, POINT, Recording, at, dot, flat, lamps, lit, reached
from kinpair.viewer.scene import Scene, scene_of
from kinpair.viewer.still import image_of, plane_of
from kinpair.viewer.surfaces import Surface, shared_out

TRIANGLES = 60_000  # of all meshes together
SEEN = 60  # samples by which the view is chosen
MARK = "kinpair"  # in the comment of a file
FFMPEG = "-loglevel error -y -f rawvideo -pix_fmt rgb24 -s {0}x{1} -r {2} -i - -an -pix_fmt yuv420p".split()
EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2"  # the usual coding of colours needs even numbers of pixels


def write_film(
    recording: Recording,
    file: Path,
    *,
    rate: float,
    speed: float,
    view: str | tuple[float, float],
    width: int,
    height: int,
) -> Path:
    """Write a film with `rate` pictures per second, `speed` times as fast as the motion; return the file.

    The ending of the name decides: .gif is written by Pillow, .mp4 by ffmpeg.
    """
    for name, number in {"rate": rate, "speed": speed, "width": width, "height": height}.items():
        _check_positive(name, number)
    images = pictures(recording, speed / rate, view, int(width), int(height))
    part = file.with_name(f".{file.stem}.part{file.suffix}")
    try:
        WRITERS[file.suffix.lower()](part, images, rate, (int(width), int(height)))
        os.replace(part, file)
    except InputError as reason:
        raise InputError(f"{file}: {reason}", path=str(file)) from None
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    finally:
        with suppress(OSError):
            part.unlink()
    return file


def _check_positive(name: str, number: Any) -> None:
    if not (isinstance(number, int | float) and 0.0 < number < np.inf):
        raise InputError(f"{name} is {number!r}; give a number above zero", argument=name)


def pictures(
    recording: Recording, step: float, view: str | tuple[float, float], width: int, height: int
) -> Iterator[np.ndarray]:
    """Yield pictures (height, width, 3) of bytes, `step` seconds of motion apart, from one point of view."""
    scene = _simplified(scene_of(recording.mechanism))
    poses, time = recording.poses(), recording.time
    frames = np.unique(np.linspace(0, len(time) - 1, SEEN).astype(int))
    axes = directions(view, scene.up, plane_of(recording.mechanism))
    camera = around(reached(recording, scene, frames), axes, width / height)
    lights = lamps(recording.mechanism, scene, recording.sticks)
    for number in range(int((time[-1] - time[0]) / step + 1e-9) + 1):
        k = recording.at(float(time[0]) + number * step)
        here = at(poses, k)
        shining = [lit(lamp, bool(recording.sticks[name][k])) for name, lamp in lights.items()]
        things = [
            *scene.placed(here),
            *((x.surface.moved(here[x.link]), x.colour) for x in shining),
            *_marks(recording, scene, k),
        ]
        yield image_of(scene, camera, things, width, height)


def _simplified(scene: Scene) -> Scene:
    """Return the scene with as many triangles as a small picture can show."""
    surfaces = shared_out([x.surface for x in scene.pieces], TRIANGLES)
    pieces = (replace(x, surface=s) for x, s in zip(scene.pieces, surfaces, strict=True) if len(s.faces))
    return replace(scene, pieces=tuple(pieces))


def _marks(recording: Recording, scene: Scene, k: int) -> Iterator[tuple[Surface, Numbers]]:
    """Yield marked points and areas at sample k."""
    for points in recording.points.values():
        if np.isfinite(points[k]).all():
            yield dot(scene).moved(Pose(HOME.R, points[k])), POINT
    for areas in recording.areas.values():
        triangles = flat(areas[k], scene)
        if len(triangles):
            yield Surface(triangles, np.arange(len(triangles)).reshape(-1, 3)), AREA


def _gif(file: Path, images: Iterator[np.ndarray], rate: float, size: tuple[int, int]) -> None:
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError(
            f"films that end in .gif need Pillow; {installs('view')}", extra="view"
        ) from None
    first, *others = (Image.fromarray(x).quantize(128) for x in images)
    first.save(
        file, save_all=True, append_images=others, duration=1000.0 / rate, loop=0, comment=MARK.encode()
    )


def _mp4(file: Path, images: Iterator[np.ndarray], rate: float, size: tuple[int, int]) -> None:
    options = [x.format(*size, rate) for x in FFMPEG]
    command = [_ffmpeg(), *options, "-vf", EVEN, "-metadata", f"comment={MARK}", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        try:
            _feed(process.stdin, images)
            said = process.stderr.read().decode("utf-8", "replace").strip()
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        reason = said.splitlines()[-1] if said else f"status {process.returncode}"
        raise InputError(f"ffmpeg could not write the film ({reason})")


def _feed(pipe: IO[bytes], images: Iterator[np.ndarray]) -> None:
    """Write pictures to a program until it has all of them or ends."""
    with suppress(BrokenPipeError):
        for image in images:
            pipe.write(image.tobytes())
    with suppress(BrokenPipeError):
        pipe.close()


def _ffmpeg() -> str:
    """Find the program that writes films: that of the machine, or of the package imageio-ffmpeg."""
    program = shutil.which("ffmpeg")
    if program is not None:
        return program
    try:
        from imageio_ffmpeg import get_ffmpeg_exe  # type: ignore[import-not-found]

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        raise MissingExtraError(
            "films that end in .mp4 are written by ffmpeg, which is not installed; install it with apt-get install "
            "ffmpeg or pip install imageio-ffmpeg, or give a name that ends in .gif",
            extra="ffmpeg",
        ) from None


WRITERS: dict[str, Callable[[Path, Iterator[np.ndarray], float, tuple[int, int]], None]] = {
    ".gif": _gif,
    ".mp4": _mp4,
}
