"""Pictures of motions of machines on feet.

The zero-moment point in the support polygon: as a picture, and as marks on the ground of a scene.

Pictures of gaits: stick figures, footprints, efforts, phase portraits; and a page in which it walks.
"""

from __future__ import annotations

import os
from html import escape
from typing import Any

import numpy as np

from kinpair.motion.polygon import plane_axes
from kinpair.viewer import looks as labels
from kinpair.viewer import report_page
from kinpair.viewer.curves import NARROW, blank_figure, write_figure
from kinpair.viewer.looks import COLOURS, Panel, distinct
from kinpair.viewer.recording import Recording

POINT, AREA = "zero-moment point", "support polygon"
POLYGONS = 40  # polygons in a picture, at most


def marks_of(support: Any, every: slice = slice(None)) -> dict[str, Any]:
    """Points and areas of a recording with these samples, in the world."""
    axes, origin = plane_axes(support.ground.normal), np.asarray(support.ground.point)
    kept: dict[bytes, np.ndarray] = {}  # the same array for the same polygon
    areas = tuple(
        kept.setdefault(corners.tobytes(), origin + corners @ axes.T) for corners in support.polygons[every]
    )
    return {"points": {POINT: support.zmp[every]}, "areas": {AREA: areas}}


def support_picture(support: Any, path: str | os.PathLike[str] | None, title: str) -> Any:
    """The point in the polygons seen from above, and its margin over time."""
    figure = blank_figure(NARROW, 6.2, title or "zero-moment point in the support polygon")
    above, over = figure.subplots(2, 1, height_ratios=(2.4, 1.0))
    _above(above, support)
    _margin(over, support)
    for axis in (above, over):
        axis.grid(alpha=0.25, linewidth=0.6)
        axis.spines[["top", "right"]].set_visible(False)
    if path is not None:
        write_figure(figure, path)
    return figure


def _above(axis: Any, support: Any) -> None:
    distinct = list({x.tobytes(): x for x in support.polygons}.values())
    for corners in distinct[:: max(1, len(distinct) // POLYGONS)]:
        closed = np.concatenate([corners, corners[:1]])
        axis.fill(closed[:, 0], closed[:, 1], color=COLOURS[0], alpha=min(0.18, 1.5 / len(distinct) + 0.03))
        axis.plot(closed[:, 0], closed[:, 1], color=COLOURS[0], linewidth=0.8, alpha=0.6)
    flat = (support.zmp - np.asarray(support.ground.point)) @ plane_axes(support.ground.normal)
    axis.plot(flat[:, 0], flat[:, 1], color="#222222", linewidth=1.8)
    outside = support.margin < 0.0
    axis.plot(flat[outside, 0], flat[outside, 1], ".", color=COLOURS[3], markersize=4)
    for k, mark, word in ((0, "o", "start"), (-1, "s", "end")):
        axis.plot(flat[k, 0], flat[k, 1], mark, color="#222222", markersize=5)
        axis.annotate(word, flat[k], (6, 6), textcoords="offset points", fontsize=8)
    axis.set_aspect("equal", adjustable="datalim")
    axis.set_title("from above; red where it is outside", fontsize=10, loc="left")
    axis.set_xlabel("forward [m]")
    axis.set_ylabel("left [m]")


def _margin(axis: Any, support: Any) -> None:
    axis.plot(support.time, 1e3 * support.margin, color=COLOURS[0], linewidth=1.4)
    axis.axhline(0.0, color=COLOURS[3], linewidth=0.8)
    axis.set_title("distance to the border, negative outside", fontsize=10, loc="left")
    axis.set_xlabel("time [s]")
    axis.set_ylabel("[mm]")
    axis.margins(x=0.01)


FRAMES = 60  # a second, of a gait that is played
FIGURES = 9  # stick figures over two steps
SHOWN = ("hip", "knee", "ankle")


def picture(gait: Any, title: str, path: Any) -> Any:
    """All four in one figure."""
    p = gait.numbers
    words = f"{gait.mechanism.name} at {p.speed:.3g} m/s, slope {np.rad2deg(gait.slope):.3g}°"
    figure = blank_figure(11.0, 9.2, title or words)
    grid = figure.add_gridspec(3, 2, height_ratios=(1.5, 1.0, 1.2))
    sticks(figure.add_subplot(grid[0, :]), gait)
    footprints(figure.add_subplot(grid[1, :]), gait)
    efforts(figure.add_subplot(grid[2, 0]), gait)
    portraits(figure.add_subplot(grid[2, 1]), gait)
    if path is not None:
        write_figure(figure, path)
    return figure


def recording(gait: Any, steps: int) -> Recording:
    """Recording of a number of steps: the machine, its efforts, the zero-moment point in the support polygon."""
    m, count = gait.mechanism, int(FRAMES * steps * gait.step_time) + 1
    time = np.linspace(0.0, steps * gait.step_time, count)
    motion, support = gait.motion(steps).at(time), gait.support_at(time)
    shown = [name for name in m.v_names if any(name.endswith(x) for x in SHOWN)]
    efforts = gait.efforts(time)
    curves = {name: efforts[:, m.v_names.index(name)] for name in shown}
    loads = {name.removesuffix("-sole"): w[:, 5] for name, w in support.wrenches.items()}
    panels = (
        Panel("efforts of the legs", "[N m]", curves, distinct(curves)),
        Panel("load of the feet", "[N]", loads, distinct(loads)),
        Panel("margin of the zero-moment point", "[m]", {"margin": support.margin}),
    )
    return Recording(m, time, motion.q, m.name, time, panels, **marks_of(support))


def page(gait: Any, steps: int) -> str:
    """Return the gait as one page of HTML, complete in itself."""
    title = f"{gait.mechanism.name} at {gait.numbers.speed:.3g} m/s"
    after = [f"<p>{escape(x)}</p>" for x in str(gait).splitlines()]
    return report_page.page(recording(gait, steps), title, [f"<h1>{escape(title)}</h1>"], after)


def sticks(axis: Any, gait: Any) -> None:
    """The machine from the side at equal times over two steps; left leg and arm red, right ones blue."""
    m = gait.mechanism
    times = np.linspace(0.0, 2 * gait.step_time, FIGURES)
    q = gait.motion(2).at(times).q
    at = {name: m.pose(q, name) for name in m.frames if name != "ground"}
    for k in range(FIGURES):
        pale = 0.35 + 0.65 * k / (FIGURES - 1)
        for side, colour in (("right", COLOURS[0]), ("left", COLOURS[3])):
            leg = [at[f"{side}-{x}"].position[k] for x in ("thigh", "shank", "foot")]
            sole = at[f"{side}-sole"]
            outline = sole.position[k] + gait.soles[f"{side}-sole"] @ sole.rotation[k].T
            arm = [at[f"{side}-upper-arm"].position[k], at[f"{side}-forearm"].position[k]]
            fore = at[f"{side}-forearm"]
            arm.append(fore.position[k] + fore.rotation[k] @ np.array([0.0, 0.0, -0.26]))
            foot = [leg[-1], outline[0], outline[1], leg[-1]]
            for line, width in ((leg, 2.0), (foot, 1.6), (arm, 1.4)):
                x = np.array(line)
                axis.plot(x[:, 0], x[:, 2], color=colour, linewidth=width, alpha=pale, solid_capstyle="round")
        trunk = at["trunk"]
        head = trunk.position[k] + trunk.rotation[k] @ np.array([0.0, 0.0, 0.56])
        body = np.array([at["pelvis"].position[k], trunk.position[k], head])
        axis.plot(body[:, 0], body[:, 2], color="#222222", linewidth=2.2, alpha=pale)
        axis.plot([head[0]], [head[2]], "o", color="#222222", markersize=9, alpha=pale)
    axis.axhline(0.0, color="#8a8a8a", linewidth=0.8)
    axis.set_aspect("equal")
    axis.set_title("two steps from the side; left red, right blue", fontsize=10, loc="left")
    axis.set_xlabel("forward [m]")
    axis.set_ylabel("height [m]")
    plain(axis)


def footprints(axis: Any, gait: Any) -> None:
    """The zero-moment point in the footprints, and where it would be with a rigid trunk."""
    time = np.linspace(0.0, 2 * gait.step_time, 601)
    own = gait.support_at(time)
    rigid = gait.support_at(time, gait._steps(gait.legs, 2))
    prints(axis, gait, 2)
    axis.plot(
        rigid.zmp[:, 0], rigid.zmp[:, 1], ":", color="#8a8a8a", linewidth=1.2, label="with a rigid trunk"
    )
    axis.plot(own.zmp[:, 0], own.zmp[:, 1], color="#222222", linewidth=1.8, label="zero-moment point")
    centre = gait.mechanism.centre_of_mass(gait.motion(2).at(time).q)
    axis.plot(centre[:, 0], centre[:, 1], "--", color=COLOURS[2], linewidth=1.2, label="mass centre")
    axis.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def prints(axis: Any, gait: Any, steps: int) -> None:
    """Draw where the feet stand over a number of steps, from above; left red, right blue."""
    p, outline = gait.numbers, next(iter(gait.soles.values()))
    closed = np.concatenate([outline, outline[:1]])
    for k in range(-1, steps + 1):
        side, colour = (1.0, COLOURS[3]) if k % 2 else (-1.0, COLOURS[0])
        x, y = closed[:, 0] + k * p.step, closed[:, 1] + side * p.track
        axis.fill(x, y, color=colour, alpha=0.15)
        axis.plot(x, y, color=colour, linewidth=1.0)
    axis.set_aspect("equal")
    axis.set_title("zero-moment point in the footprints, from above", fontsize=10, loc="left")
    axis.set_xlabel("forward [m]")
    axis.set_ylabel("left [m]")
    plain(axis)


def efforts(axis: Any, gait: Any) -> None:
    """Draw efforts of the left leg and the trunk over two steps."""
    x, names = gait.samples, gait.mechanism.v_names
    shown = [*(f"left-{y}" for y in SHOWN), "left-hip-roll", "trunk-pitch", "trunk-roll"]
    for name, look in distinct(shown).items():
        axis.plot(x["time"], x["effort"][:, names.index(name)], label=labels.plain(name), **look)
    p = gait.numbers
    for k in range(2):
        axis.axvspan(k * p.T + p.swing, (k + 1) * p.T, color="#222222", alpha=0.06, linewidth=0)
    axis.set_title("efforts; both feet down where grey", fontsize=10, loc="left")
    axis.set_xlabel("time [s]")
    axis.set_ylabel("τ [N m]")
    axis.legend(fontsize=7, frameon=False, ncols=2)
    plain(axis)


def portraits(axis: Any, gait: Any) -> None:
    """Rates over angles of hip, knee and ankle, and of what is free."""
    x, m = gait.samples, gait.mechanism
    shown = [
        *(f"left-{y}" for y in SHOWN),
        "trunk-pitch",
        "trunk-roll",
        *(["left-shoulder"] if gait.arms else []),
    ]
    for name, look in distinct(shown).items():
        axis.plot(
            x["q"][:, m.q_names.index(name)],
            x["qd"][:, m.v_names.index(name)],
            label=labels.plain(name),
            **look,
        )
    axis.set_title("phase portraits", fontsize=10, loc="left")
    axis.set_xlabel("q [rad]")
    axis.set_ylabel("q̇ [rad/s]")
    axis.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    plain(axis)


def plain(axis: Any) -> None:
    """A faint grid and no frame."""
    axis.grid(alpha=0.25, linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
