"""A run as a recording to be played, and as one page of HTML."""

from __future__ import annotations

import os
import platform
import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from html import escape
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kinpair.errors import InputError, KinpairError, MissingExtraError
from kinpair.runs.accelerations import accelerations, reactions
from kinpair.runs.pictures import POINTS, curves, drawn, plot
from kinpair.runs.record import Record, Rubbed, lead_of, vectors_of
from kinpair.runs.summary import summary
from kinpair.runs.targets import GENERATOR, PAGE, target
from kinpair.simulation.events.events import Event
from kinpair.simulation.sample_memory import blocks
from kinpair.viewer.looks import Panel, distinct
from kinpair.viewer.recording import Recording, check_played
from kinpair.viewer.report_page import page as animated_page
from kinpair.viewer.still import html_paragraph, html_table

if TYPE_CHECKING:
    from kinpair.motion.support import Support

PLAYED = 6000  # samples of a motion that is played; of more, every so many
LOADED = 20_000  # samples up to which the loads of the joints are computed
ARROW = 0.4  # the longest arrow, as a part of the size of the motion


def recording_of(
    run: Record,
    row: int = 0,
    *,
    points: int = POINTS,
    loads: bool = False,
    support: Support | None = None,
) -> Recording:
    """The motion of one row of a run, its curves with so many points; `loads`: those of the joints and of the
    constraints, too; `support`: of its samples, marked on the ground."""
    check_played(run.mechanism.name, len(run.time))
    lead = lead_of(run, row)
    every = thinning(len(run.time))
    time, q = np.asarray(run.time[every]), np.asarray(run.q[lead][every])
    panel_time, panels = curves(run, row, points)
    panels += load_panels(run, lead, points) if loads else []
    notes = tuple((float(event.time), event.name) for event in run.events)
    return Recording(
        run.mechanism,
        time,
        q,
        run.mechanism.name,
        panel_time,
        tuple(panels),
        notes,
        _arrows(run, lead, every),
        {name: x.sticks[lead][every] for name, x in _by_joint(run).items()},
        **_marks(support, every),
    )


def _marks(support: Support | None, every: slice) -> dict[str, Any]:
    if support is None:
        return {}
    from kinpair.motion.gait_pictures import marks_of

    return marks_of(support, every)


def _by_joint(run: Record) -> dict[str, Rubbed]:
    """Dry friction by name of the joint; of a joint with several rates, the first that has it."""
    joints = {joint.name for joint in run.mechanism.model.description.joints}
    found: dict[str, Rubbed] = {}
    for rate, friction in run.friction.items():
        name = rate if rate in joints else rate.rpartition(".")[0]
        found.setdefault(name, friction)
    return found


def load_panels(run: Record, lead: tuple[int, ...], points: int) -> list[Panel]:
    """Forces and moments in the joints, and how well the constraints hold; none where they cannot be had."""
    panels: list[Panel] = []
    if len(run.time) <= LOADED:
        with suppress(KinpairError):
            wrenches = reactions(run, accelerations(run))
            for title, unit, part in (
                ("forces in the joints", "|f| [N]", 3),
                ("moments in the joints", "|n| [N m]", 0),
            ):
                own = {name: _size(w[lead][:, part : part + 3], points) for name, w in wrenches.items()}
                panels.append(Panel(title, unit, own, distinct(own), own_legend=True))
    if run.residual is not None:
        names = {"position": run.residual.position, "rate": run.residual.rate}
        own = {name: drawn(np.asarray(x[lead])[:, None], points=points)[:, 0] for name, x in names.items()}
        panels.append(Panel("constraint residual", "[m, rad; /s]", own, distinct(own), own_legend=True))
    return panels


def _size(vectors: np.ndarray, points: int) -> np.ndarray:
    return drawn(np.sqrt((vectors**2).sum(axis=-1))[:, None], points=points)[:, 0]


def thinning(samples: int) -> slice:
    """Choose a part of many samples at equal distances."""
    return slice(None, None, max(1, -(-samples // PLAYED)))


def _arrows(run: Record, lead: tuple[int, ...], every: slice) -> dict[str, Callable[[], np.ndarray]]:
    def velocities() -> np.ndarray:
        q, qd = np.asarray(run.q[lead][every]), np.asarray(run.qd[lead][every])
        poses, twists = run.mechanism.poses(q), run.mechanism.twists(q, qd)
        starts = np.stack([poses[name].position for name in twists], axis=1)
        return _scaled(starts, np.stack([twist[:, 3:] for twist in twists.values()], axis=1))

    contacts = run.contacts_at(lead)

    def touching() -> np.ndarray:
        assert contacts is not None
        points = contacts.points.values()
        places = np.stack([np.nan_to_num(x.place[every]) for x in points], axis=1)
        return _scaled(places, np.stack([x.force[every] for x in points], axis=1))

    def forces() -> np.ndarray:
        q = np.asarray(run.q[lead][every])
        wrenches = reactions(run, accelerations(run))
        poses = run.mechanism.poses(q)
        places, along = [], []
        for joint in run.mechanism.model.description.joints:
            if joint.name not in wrenches or joint.child not in poses:
                continue
            child, inner = poses[joint.child], joint.child_origin.pose().inverse()
            places.append(child.position + child.rotation @ inner.a)
            parent = poses[joint.parent].rotation if joint.parent in poses else np.eye(3)[None]
            force = wrenches[joint.name][lead][every][:, 3:, None]
            along.append((parent @ joint.origin.pose().R @ force)[:, :, 0])
        return _scaled(np.stack(places, axis=1), np.stack(along, axis=1))

    arrows = {"velocities of the links": velocities, "forces in the joints": forces}
    return arrows | ({"contact forces": touching} if contacts is not None and contacts.points else {})


def _scaled(starts: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Arrows (n, k, 2, 3) whose longest has a length that fits the motion."""
    longest = float(np.sqrt((along**2).sum(axis=-1)).max(initial=0.0))
    size = float(np.sqrt((np.ptp(starts.reshape(-1, 3), axis=0) ** 2).sum())) or 1.0
    ends = starts + along * (ARROW * size / longest if longest > 0.0 else 0.0)
    return np.stack([starts, ends], axis=2)


ENDS = ("", "unit", "start", "end", "least", "largest")
DPI = 72  # of a picture in a notebook
PAGE_POINTS = 1500  # of a curve in a page


def write_report(
    run: Record, path: str | os.PathLike[str], *, row: int = 0, support: Support | None = None
) -> Path:
    """Write the page."""
    file = target(path, PAGE)
    text = page(run, row, support)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as reason:
        raise InputError(f"{file}: cannot be written ({reason.strerror})", path=str(file)) from None
    return file


def page(run: Record, row: int = 0, support: Support | None = None) -> str:
    """HTML: summary, animation and curves on one time, the ends of every curve, the mechanism, how it was made."""
    title = f"Motion of {run.mechanism.name}"
    kind = "" if run.status.ok else ' class="trouble"'
    before = [
        f"<h1>{escape(title)}</h1>",
        f"<p{kind}>{escape(run.status.message)}.</p>",
        f"<p>{escape(summary(run))}</p>",
    ]
    after = [
        "<h2>Beginning and end</h2>",
        html_table(ENDS, _ends(run, row)),
        "<h2>The mechanism</h2>",
        run.mechanism.tables_html(),
        "<h2>How it was made</h2>",
        html_table(("option", "value"), _made(run)),
    ]
    recording = recording_of(run, row, points=PAGE_POINTS, loads=True, support=support)
    return animated_page(recording, title, before, after, f"{GENERATOR}\n")


def _made(run: Record) -> Iterable[tuple[str, str]]:
    """Options of the run, versions, and the command."""
    yield from ((key, _shown(x)) for key, x in run.options.items() if x is not None)
    yield "kinpair", version("kinpair")
    yield "Python, NumPy", f"{platform.python_version()}, {np.__version__}"
    yield "command", " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])


def fragment(run: Record) -> str:
    """HTML for a notebook: summary and picture, or a table where matplotlib is missing."""
    first = f"Shown is the first of {len(run.q)} trajectories." if run.q.ndim == 3 else ""
    try:
        image = BytesIO()
        plot(run, None, 0).savefig(image, format="png", dpi=DPI)
        shown = f'<img src="data:image/png;base64,{b64encode(image.getvalue()).decode()}" alt="curves">'
    except MissingExtraError:
        shown = html_table(ENDS, _ends(run, 0))
    return "\n".join([html_paragraph(summary(run)), html_paragraph(first) if first else "", shown])


def _ends(run: Record, row: int) -> Iterable[Sequence[str]]:
    for name, entries in vectors_of(run.mechanism, run.options, passive=run.passive).items():
        array = getattr(run, name)
        x = array[lead_of(run, row)]
        if not len(x):
            continue
        least = np.min([part.min(axis=0) for (part,) in blocks(x, axis=-2)], axis=0)
        most = np.max([part.max(axis=0) for (part,) in blocks(x, axis=-2)], axis=0)
        for k, (entry, unit) in enumerate(entries.items()):
            numbers = (x[0, k], x[-1, k], least[k], most[k])
            yield f"{name} {entry}", unit, *(f"{v:.6g}" for v in numbers)


def _shown(value: Any) -> str:
    if isinstance(value, Event):
        return value.name
    if isinstance(value, list | tuple) and any(isinstance(x, Event) for x in cast(Sequence[Any], value)):
        return ", ".join(_shown(x) for x in cast(Sequence[Any], value))
    if callable(value):
        return getattr(value, "__qualname__", type(value).__qualname__)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shown(x)}" for key, x in value.items())
    if isinstance(value, list | tuple) and any(np.ndim(x) for x in cast(Sequence[Any], value)):
        return "; ".join(_shown(x) for x in cast(Sequence[Any], value))  # such as a table (times, values)
    with np.printoptions(precision=6, threshold=24):
        return str(np.asarray(value)) if np.ndim(value) else str(value)
