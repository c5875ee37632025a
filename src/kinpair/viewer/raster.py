"""Still pictures in NumPy: the camera, triangles to pixels with depth, the ground and its shadow.

Triangles to pixels with a depth for each pixel, in NumPy: hidden surfaces are exact, shading is smooth.

Triangles are spread into fragments, row by row; the nearest one of each pixel stays, and only that is shaded. Both are
done part by part, so that memory is bounded by the pixels and the triangles of one part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import cos, floor, log10, pi, sin, tan

import numpy as np

from kinpair.description.parts import Numbers
from kinpair.errors import InputError, offered
from kinpair.viewer.surfaces import Surface

OPENING = 28 * pi / 180  # between the upper and the lower edge of a picture [rad]
MARGIN = 1.08  # what is shown around the things that are drawn
VIEWS = {  # azimuth about `up` from the first axis, and elevation [rad]
    "corner": (-55 * pi / 180, 25 * pi / 180),
    "front": (0.0, 0.0),
    "side": (-pi / 2, 0.0),
    "back": (pi, 0.0),
    "top": (-pi / 2, pi / 2),
}


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A point of view: `axes` (3, 3) has right, upwards and towards the viewer as rows; distance [m] from the
    target."""

    axes: np.ndarray
    target: np.ndarray
    distance: float
    opening: float = OPENING

    @property
    def eye(self) -> np.ndarray:
        """Place of the viewer."""
        return self.target + self.distance * self.axes[2]

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points of the world (n, 3) as right, upwards, and depth away from the viewer; the first two as parts of
        half the height of the picture."""
        local = (points - self.eye) @ self.axes.T
        depth = np.maximum(-local[:, 2], 1e-6 * self.distance)
        flat = local[:, :2] / (depth * tan(self.opening / 2))[:, None]
        return np.concatenate([flat, depth[:, None]], axis=1)


def directions(view: str | tuple[float, float], up: np.ndarray, normal: np.ndarray | None) -> np.ndarray:
    """Right, upwards and towards the viewer (3, 3) for a view by name, or for azimuth and elevation [degrees].

    A plane mechanism is seen along the `normal` of its plane, from a little aside, where the view is "corner".
    """
    if not isinstance(view, str):
        azimuth, elevation = (float(x) * pi / 180 for x in view)
    elif view in VIEWS:
        azimuth, elevation = VIEWS[view]
    else:
        raise InputError(
            f"view is {view!r}; {offered(view, 'views', VIEWS)}; or (azimuth, elevation) in degrees"
        )
    first = _first_axis(up)
    if view == "corner" and normal is not None and abs(normal @ up) < 0.5:
        first = normal - (normal @ up) * up
        first /= np.sqrt(first @ first)
        azimuth, elevation = 18 * pi / 180, 14 * pi / 180
    second = np.cross(up, first)
    flat = cos(azimuth) * first + sin(azimuth) * second
    towards = cos(elevation) * flat + sin(elevation) * up
    right = np.cross(up, flat)
    return np.stack([right, np.cross(towards, right), towards])


def _first_axis(up: np.ndarray) -> np.ndarray:
    """x, or what of it is level; where x points upwards, y."""
    x = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    level = x - (x @ up) * up
    return level / np.sqrt(level @ level)


def around(points: np.ndarray, axes: np.ndarray, aspect: float, opening: float = OPENING) -> Camera:
    """Return the nearest camera with these axes that sees all points in a picture `aspect` times as wide as high.

    A point (x, y, z) is seen from (c, d, e) if |x − c| ≤ s (e − z), and the same for y: the largest and the least
    x ± s z give c and e, so that the points reach the margins on both sides.
    """
    local = points @ axes.T
    z = local[:, 2]
    slopes = tan(opening / 2) / MARGIN * np.array([aspect, 1.0])
    ends = [((x + s * z).max(), (s * z - x).max()) for x, s in zip(local.T, slopes, strict=False)]
    across = [(right - left) / 2 for right, left in ends]
    height = max((right + left) / (2 * s) for (right, left), s in zip(ends, slopes, strict=True))
    depth = (z.min() + z.max()) / 2
    return Camera(axes, axes.T @ np.array([*across, depth]), float(max(height - depth, 1e-6)), opening)


FRAGMENTS = 1_000_000  # at a time
TRIANGLES = 50_000  # at a time
LIGHTS = ((np.array([0.35, 0.75, 0.9]), 0.62), (np.array([-0.8, 0.1, 0.45]), 0.2))  # right, up, to the viewer
AMBIENT = 0.34
TIE = 3e-4


@dataclass(slots=True, eq=False)
class Canvas:
    """A picture being drawn: colour (height, width, 3) from 0 to 1, and the depth of each pixel [m]."""

    colour: np.ndarray
    depth: np.ndarray

    @staticmethod
    def on(background: np.ndarray) -> Canvas:
        """Grey as the background (height, width) says, and infinitely deep."""
        return Canvas(np.repeat(background[:, :, None], 3, axis=2), np.full(background.shape, np.inf))


def draw(canvas: Canvas, camera: Camera, things: Sequence[tuple[Surface, Numbers]]) -> None:
    """Opaque things first, then what light goes through, from far to near."""
    opaque = [x for x in things if x[1][3] > 0.99]
    clear = sorted((x for x in things if x[1][3] <= 0.99), key=lambda x: -_depth(camera, x[0]))
    if opaque:
        _paint(canvas, camera, opaque, 1.0)
    for thing in clear:
        _paint(canvas, camera, [thing], thing[1][3])


def _depth(camera: Camera, surface: Surface) -> float:
    return float(camera.seen(surface.points.mean(axis=0, keepdims=True))[0, 2])


def _paint(canvas: Canvas, camera: Camera, things: Sequence[tuple[Surface, Numbers]], opacity: float) -> None:
    """Paint one layer: which triangle is nearest at each pixel, then its colour there, in front of what is there."""
    height, width = canvas.depth.shape
    nearness, winner = np.zeros(height * width), np.full(height * width, -1)
    for first, corners, _ in _parts(camera, things, width, height):
        _nearest(nearness, winner, first, corners, width, height)
    with np.errstate(divide="ignore"):
        depth = 1.0 / nearness
    winner[depth >= canvas.depth.ravel()] = -1
    flat = canvas.colour.reshape(-1, 3)
    for first, corners, shades in _parts(camera, things, width, height):
        seen = np.flatnonzero((winner >= first) & (winner < first + len(corners)))
        place = np.stack([seen % width + 0.5, seen // width + 0.5, np.ones(len(seen))], axis=1)
        which = winner[seen] - first
        colour = np.einsum("nk,nkj->nj", place, _planes(corners[which], shades(which)))
        flat[seen] = opacity * np.clip(colour, 0.0, 1.0) + (1.0 - opacity) * flat[seen]
    if opacity == 1.0:
        seen = winner >= 0
        canvas.depth.ravel()[seen] = depth[seen]


def _nearest(
    nearness: np.ndarray, winner: np.ndarray, first: int, corners: np.ndarray, width: int, height: int
) -> None:
    """Keep the nearest triangle of each pixel, as the number of the first one and 1/depth."""
    planes = _planes(corners, 1.0 / corners[:, :, 2:])
    for which, row, column in fragments(corners[:, :, :2], width, height):
        a, b, c = planes[which, :, 0].T
        near = a * (column + 0.5) + b * (row + 0.5) + c  # 1/depth is linear in the picture
        pixel = row * width + column
        np.maximum.at(nearness, pixel, near)
        best = near == nearness[pixel]
        winner[pixel[best]] = first + which[best]


def _planes(corners: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Coefficients (n, 3, k) of column, row and 1 that give the values (n, 3, k) at the corners of each triangle."""
    (ax, ay), (bx, by), (cx, cy) = (corners[:, k, :2].T for k in range(3))
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    area = np.where(np.abs(area) > 1e-9, area, np.inf)[:, None]
    ab, ac = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    x = ((cy - ay)[:, None] * ab - (by - ay)[:, None] * ac) / area
    y = ((bx - ax)[:, None] * ac - (cx - ax)[:, None] * ab) / area
    return np.stack([x, y, values[:, 0] - x * ax[:, None] - y * ay[:, None]], axis=1)


def _parts(
    camera: Camera, things: Sequence[tuple[Surface, Numbers]], width: int, height: int
) -> Iterator[tuple[int, np.ndarray, Callable[[np.ndarray], np.ndarray]]]:
    """Yield the triangles part by part: the number of the first one, corners (n, 3, 3) as column, row and depth, and a
    function from numbers in the part (m,) to shaded colours at the corners (m, 3, 3)."""
    number = 0
    for k, (surface, colour) in enumerate(things):
        seen = camera.seen(surface.points)
        flat = np.stack([width + height * seen[:, 0], height - height * seen[:, 1]], axis=1) / 2
        nearer = 1.0 - TIE * k / len(things)  # where two surfaces are the same, the later one is seen
        points = np.concatenate([flat, nearer * seen[:, 2:]], axis=1)
        shaded = cache(partial(_shaded, surface, camera, np.array(colour[:3])))
        for start in range(0, len(surface.faces), TRIANGLES):
            faces = surface.faces[start : start + TRIANGLES]
            yield number + start, points[faces], partial(_taken, shaded, faces)
        number += len(surface.faces)


def _taken(shaded: Callable[[], np.ndarray], faces: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return the colours at the corners of some triangles (m, 3, 3)."""
    return shaded()[faces[which]]


def _shaded(surface: Surface, camera: Camera, colour: np.ndarray) -> np.ndarray:
    """Colours at the points (p, 3), lit from above right; a surface seen from its back is lit too."""
    normals = surface.normals() @ camera.axes.T
    away = (camera.eye - surface.points) @ camera.axes.T
    normals = normals * np.sign((normals * away).sum(axis=1, keepdims=True) + 1e-300)
    light = np.full(len(normals), AMBIENT)
    for direction, strength in LIGHTS:
        light += strength * np.maximum(normals @ (direction / np.sqrt(direction @ direction)), 0.0)
    gloss = np.maximum(normals @ (_HALF / np.sqrt(_HALF @ _HALF)), 0.0)[:, None] ** 24
    return np.clip(light[:, None] * colour + 0.18 * gloss, 0.0, 1.0)


_HALF = np.array([0.2, 0.45, 1.2])


def fragments(
    corners: np.ndarray, width: int, height: int
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Pixels whose middle is inside a triangle (n, 3, 2): its number, the row and the column; part by part."""
    low, high = corners[:, :, 1].min(axis=1), corners[:, :, 1].max(axis=1)
    first = np.clip(np.ceil(low - 0.5), 0, height).astype(np.int64)
    rows = np.clip(np.floor(high - 0.5), -1, height - 1).astype(np.int64) - first + 1
    which, row = _spread(first, rows)
    left, right = _spans(corners, which, row + 0.5)
    begin = np.clip(np.ceil(left - 0.5), 0, width).astype(np.int64)
    counts = np.clip(np.floor(right - 0.5), -1, width - 1).astype(np.int64) - begin + 1
    ends = np.cumsum(np.maximum(counts, 0))
    start = 0
    while start < len(which):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + FRAGMENTS)))
        span, column = _spread(begin[start:stop], counts[start:stop])
        yield which[start:stop][span], row[start:stop][span], column
        start = stop


def _spread(first: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of whole numbers one after the other: the number of the range, and the entry."""
    counts = np.maximum(counts, 0)
    which = np.repeat(np.arange(len(first)), counts)
    within = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    return which, first[which] + within


def _spans(corners: np.ndarray, which: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places where a row enters and leaves its triangle."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for k in range(3):
        (ax, ay), (bx, by) = corners[which, k].T, corners[which, (k + 1) % 3].T
        rise = by - ay
        part = (y - ay) / np.where(rise == 0.0, np.inf, rise)
        crosses = (part >= 0.0) & (part <= 1.0) & (rise != 0.0)
        x = ax + part * (bx - ax)
        left = np.where(crosses, np.minimum(left, x), left)
        right = np.where(crosses, np.maximum(right, x), right)
    return np.where(right < left, 0.0, left), np.where(right < left, -1.0, right)


PAPER, LINE, SHADOW = 0.965, 0.865, 0.16
SHADOW_PIXELS = 256
STEPS = (1.0, 2.0, 5.0, 10.0)


def grid_step(size: float) -> float:
    """Distance of the lines [m]: 1, 2 or 5 times a power of ten, about a tenth of the size."""
    scale = 10.0 ** floor(log10(size / 10.0))
    return scale * min(STEPS, key=lambda x: abs(x - size / 10.0 / scale))


def ground(
    camera: Camera,
    things: Sequence[tuple[Surface, Numbers]],
    up: np.ndarray,
    floor: float,
    size: float,
    shape: tuple[int, int],
) -> np.ndarray:
    """Brightness of the ground (rows, columns), where the lines of sight meet the floor; 1 where they do not."""
    rows, columns = shape
    j, i = np.meshgrid(np.arange(columns) + 0.5, np.arange(rows) + 0.5)
    half = tan(camera.opening / 2)
    flat = np.stack(
        [(2 * j - columns) / rows * half, (rows - 2 * i) / rows * half, -np.ones_like(i)], axis=-1
    )
    rays = flat @ camera.axes
    fall, above = rays @ up, float(camera.eye @ up) - floor
    along = np.where(fall < -1e-3, above / np.maximum(-fall, 1e-3), np.inf)
    meets = (along < 30.0 * camera.distance) & (above > 0.0)
    points = camera.eye + rays[meets] * along[meets][:, None]
    first, second = level_axes(up)
    level = np.stack([points @ first, points @ second], axis=1)
    middle = np.array([camera.target @ first, camera.target @ second])
    pixel = along[meets] * 2 * half / rows / np.clip(-fall[meets], 0.15, 1.0)
    lines = _lines(level, grid_step(size), pixel)
    fade = np.clip(1.6 - np.sqrt(((level - middle) ** 2).sum(axis=1)) / (0.95 * size), 0.0, 1.0)
    dark = (1.0 - PAPER) + (PAPER - LINE) * lines + SHADOW * _shadow(things, level, first, second)
    bright = np.ones(shape)
    bright[meets] = 1.0 - fade * dark
    return bright


def level_axes(up: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x = np.eye(3)[int(np.abs(up).argmin())]
    first = np.cross(up, x)
    first /= np.sqrt(first @ first)
    return first, np.cross(up, first)


def _lines(points: np.ndarray, step: float, pixel: np.ndarray) -> np.ndarray:
    """Part of each pixel that is line, from 0 to 1."""
    off = np.abs((points / step + 0.5) % 1.0 - 0.5) * step
    return np.clip(1.2 - off / pixel[:, None], 0.0, 1.0).max(axis=1)


def _shadow(
    things: Sequence[tuple[Surface, Numbers]], points: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Darkness below what is drawn, from 0 to 1: seen from straight above, blurred."""
    every = [surface for surface, colour in things if colour[3] > 0.5]
    flat = [np.stack([x.points @ first, x.points @ second], axis=1) for x in every]
    if not flat:
        return np.zeros(len(points))
    low, high = np.min([x.min(axis=0) for x in flat], axis=0), np.max([x.max(axis=0) for x in flat], axis=0)
    margin = 0.12 * (high - low).max() + 1e-9
    low, high = low - margin, high + margin
    scale = SHADOW_PIXELS / (high - low).max()
    corners = np.concatenate([((x - low) * scale)[s.faces] for x, s in zip(flat, every, strict=True)])
    mask = np.zeros((SHADOW_PIXELS, SHADOW_PIXELS))
    for _, row, column in fragments(corners, SHADOW_PIXELS, SHADOW_PIXELS):
        mask[column, row] = 1.0
    for _ in range(3):
        mask = _blurred(mask)
    place = np.floor((points - low) * scale).astype(int)
    inside = ((place >= 0) & (place < SHADOW_PIXELS)).all(axis=1)
    dark = np.zeros(len(points))
    dark[inside] = mask[place[inside, 0], place[inside, 1]]
    return dark


def _blurred(mask: np.ndarray, width: int = 4) -> np.ndarray:
    """The mean over a square around each pixel."""
    for axis in (0, 1):
        sums = np.cumsum(
            np.pad(mask, [(width + 1, width) if k == axis else (0, 0) for k in (0, 1)]), axis=axis
        )
        later, earlier = (
            np.split(sums, [2 * width + 1], axis=axis)[1],
            np.split(sums, [-2 * width - 1], axis=axis)[0],
        )
        mask = (later - earlier) / (2 * width + 1)
    return mask
