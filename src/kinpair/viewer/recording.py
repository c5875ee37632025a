"""A motion to be played, with the lamps that it shows, and as a film written as GIF or MP4."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from kinpair.description.parts import Joint, Numbers
from kinpair.errors import InputError, MissingExtraError, installs
from kinpair.spatial.pose import HOME, Pose
from kinpair.viewer.links import MARKER, corners_of
from kinpair.viewer.looks import Panel
from kinpair.viewer.markers import last_hit
from kinpair.viewer.raster import around, directions
from kinpair.viewer.scene import GROUND, Drawn, Poses, Scene, link_poses, scene_of, start_of
from kinpair.viewer.still import image_of, plane_of
from kinpair.viewer.surfaces import Piece, Surface, ball, shared_out

STICKS: Numbers = (0.82, 0.13, 0.13, 1.0)
SLIDES: Numbers = (0.16, 0.66, 0.3, 1.0)
POINT: Numbers = (0.72, 0.1, 0.55, 1.0)
AREA: Numbers = (0.2, 0.55, 0.85, 0.35)
LAMP, DOT = 1.6, 0.9  # radii, in those of a joint
LIFT = 0.002  # of an area above the ground, as a part of the size of the scene
TRIANGLES = 60_000  # of all meshes together
SEEN = 60  # samples by which the view is chosen
MARK = "kinpair"  # in the comment of a file
FFMPEG = "-loglevel error -y -f rawvideo -pix_fmt rgb24 -s {0}x{1} -r {2} -i - -an -pix_fmt yuv420p".split()
EVEN = "pad=ceil(iw/2)*2:ceil(ih/2)*2"  # the usual coding of colours needs even numbers of pixels


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Times (n,) [s] and coordinates (n, nq) of a mechanism; `panels` have curves over `panel_time`; `notes` are
    sentences at times; `arrows` by name give (n, k, 2, 3), from point to point in the world, when they are asked for.

    `sticks`: by joint with dry friction, whether it sticks (n,). `points` (n, 3) and `areas`, corners (k, 3) at each
    time, are marked in the world [m].
    """

    mechanism: Drawn
    time: np.ndarray
    q: np.ndarray
    name: str = ""
    panel_time: np.ndarray = field(default_factory=lambda: np.zeros(0))
    panels: tuple[Panel, ...] = ()
    notes: tuple[tuple[float, str], ...] = ()
    arrows: Mapping[str, Callable[[], np.ndarray]] = field(
        default_factory=dict[str, Callable[[], np.ndarray]]
    )
    sticks: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    points: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    areas: Mapping[str, tuple[np.ndarray, ...]] = field(default_factory=dict[str, tuple[np.ndarray, ...]])

    def poses(self) -> dict[str, Pose]:
        """Poses of every link at every time: rotations (n, 3, 3) and positions (n, 3), by name."""
        every = self.mechanism.poses(self.q)
        ground = Pose(np.tile(HOME.R, (len(self.time), 1, 1)), np.zeros((len(self.time), 3)))
        return {GROUND: ground, **{name: Pose(x.rotation, x.position) for name, x in every.items()}}

    def at(self, time: float) -> int:
        """Number of the sample nearest to a time."""
        k = int(np.searchsorted(self.time, time))
        if k == 0 or k == len(self.time):
            return min(k, len(self.time) - 1)
        return k if self.time[k] - time < time - self.time[k - 1] else k - 1


def at(poses: Poses, k: int) -> dict[str, Pose]:
    """Return the poses of one sample."""
    return {name: Pose(x.R[k], x.a[k]) for name, x in poses.items()}


def reached(recording: Recording, scene: Scene, chosen: np.ndarray) -> np.ndarray:
    """Return the corners of the boxes around everything that is drawn, at the chosen samples (n, 3) [m]."""
    poses = recording.poses()
    places = [
        np.einsum("nij,kj->nki", poses[x.link].R[chosen], corners_of(x.surface))
        + poses[x.link].a[chosen][:, None]
        for x in scene.merged()
    ]
    return np.concatenate([x.reshape(-1, 3) for x in places])


def check_played(name: str, samples: int) -> None:
    """A motion without a sample cannot be shown."""
    if not samples:
        raise InputError(
            f"{name}: the run has no samples, so there is nothing to show; output= says when there is one"
        )


def lamps(mechanism: Drawn, scene: Scene, joints: Iterable[str]) -> dict[str, Piece]:
    """A ball on the child of each of these joints, clear of what is drawn there."""
    home, radius = link_poses(mechanism, start_of(mechanism)), MARKER * scene.size
    by_name = {joint.name: joint for joint in mechanism.model.description.joints}
    return {name: _lamp(by_name[name], scene, home, radius) for name in joints if name in by_name}


def _lamp(joint: Joint, scene: Scene, home: Poses, radius: float) -> Piece:
    frame = home[joint.child] @ joint.child_origin.pose().inverse()
    axis = frame.R @ np.array(joint.axis, dtype=float)
    towards = _sideways(axis, scene.up) if joint.kind == "prismatic" else -axis / np.sqrt(axis @ axis)
    near = [x for x in scene.pieces if x.link in (joint.parent, joint.child)]
    clear = max((last_hit(x.surface.moved(home[x.link]), frame.a, towards) for x in near), default=0.0)
    clear = max(1.5 * radius, clear if clear < 0.75 * scene.size else 0.0)
    place = frame.a + (clear + LAMP * radius) * towards
    R = home[joint.child].R
    at = Pose(np.eye(3), R.T @ (place - home[joint.child].a))
    return Piece(joint.child, ball(LAMP * radius).moved(at), SLIDES, "friction")


def _sideways(axis: np.ndarray, up: np.ndarray) -> np.ndarray:
    """Upwards, across an axis; any direction across one that points upwards."""
    e = axis / np.sqrt(axis @ axis)
    best = max((up, *np.eye(3)[::-1]), key=lambda x: (abs(x @ e) < 0.9, x is up))
    across = best - (best @ e) * e
    return across / np.sqrt(across @ across)


def lit(lamp: Piece, sticks: bool) -> Piece:
    """A lamp as it looks while its joint sticks or slides."""
    return replace(lamp, colour=STICKS if sticks else SLIDES)


def dot(scene: Scene) -> Surface:
    """Dot that marks a point."""
    return ball(DOT * MARKER * scene.size)


def flat(corners: np.ndarray, scene: Scene) -> np.ndarray:
    """Triangles (n, 3) of a convex area, a little above the ground."""
    raised = corners + LIFT * scene.size * scene.up
    fans = [raised[[0, k, k + 1]] for k in range(1, len(raised) - 1)]
    return np.concatenate([np.zeros((0, 3)), *fans])


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
