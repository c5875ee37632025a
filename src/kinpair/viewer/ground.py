"""The ground of a picture: a grid on the floor and the shadow on it."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10, tan

import numpy as np

from kinpair.description.parts import Numbers
from kinpair.viewer.camera import Camera
from kinpair.viewer.raster import fragments
from kinpair.viewer.surfaces import Surface

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
    """How bright the ground is (rows, columns), where the lines of sight meet the floor; 1 where they do not."""
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
    """How much of each pixel is line, from 0 to 1."""
    off = np.abs((points / step + 0.5) % 1.0 - 0.5) * step
    return np.clip(1.2 - off / pixel[:, None], 0.0, 1.0).max(axis=1)


def _shadow(
    things: Sequence[tuple[Surface, Numbers]], points: np.ndarray, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """How dark it is below what is drawn, from 0 to 1: seen from straight above, blurred."""
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
