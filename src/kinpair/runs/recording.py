"""A run to be played: its positions, its curves, its events, and arrows of velocities and reactions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from kinpair.errors import KinpairError
from kinpair.runs.accelerations import accelerations, reactions
from kinpair.runs.pictures import POINTS, curves, drawn
from kinpair.runs.record import Record, Rubbed, lead_of
from kinpair.viewer.looks import distinct
from kinpair.viewer.panels import Panel
from kinpair.viewer.recording import Recording, check_played

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
    from kinpair.motion.support_pictures import marks_of

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
    """Of many samples, every so many."""
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
