"""What happened on the way, and the modes that were entered, as rows of a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from zlib import crc32

import numpy as np

from kinpair.mechanism import Mechanism
from kinpair.runs.files.slate import Column, Place, RunFile
from kinpair.runs.history import Entered
from kinpair.simulation.events.events import EventRecord

EVENTS, MODES, MODE = "events", "modes", "mode"
FIRST = 1024  # events for which a new file has room,
FEW, SHORT = 16, 512  # and modes, and bytes of the text of one


@dataclass(frozen=True, slots=True)
class Room:
    """Rows for events and modes, and bytes for the name of an event and the text of a mode."""

    events: int
    name: int
    modes: int = 0
    text: int = 1


def room_for(names: Iterable[str], events: int = FIRST, modes: int = FEW) -> Room:
    """Of a new file; names: those that events may have."""
    return Room(events, max((len(name.encode()) for name in names), default=1), modes, SHORT)


def columns(mechanism: Mechanism, room: Room) -> list[Column]:
    """Their datasets."""
    nq, nv = mechanism.nq, mechanism.nv
    event = [
        ("time", "<f8"),
        ("name", f"S{room.name}"),
        ("q", "<f8", (nq,)),
        ("qd", "<f8", (nv,)),
        ("qd_before", "<f8", (nv,)),
        ("lost", "<f8"),
        ("beta", "<f8"),
        ("row", "<i8"),
    ]
    mode = [("time", "<f8"), ("q", "<f8", (nq,)), ("mode", f"S{room.text}")]
    result = [Column(EVENTS, (room.events,), np.dtype(event))]
    return result + ([Column(MODES, (room.modes,), np.dtype(mode))] if room.modes else [])


def event_rows(kind: Any, events: Sequence[EventRecord]) -> np.ndarray:
    """Return rows (n,) of the type of the dataset; files of earlier versions have fewer fields."""
    values = [{**asdict(x), "name": x.name.encode()} for x in events]
    return np.array([tuple(x[name] for name in kind.names) for x in values], kind)


def events_in(rows: np.ndarray) -> tuple[EventRecord, ...]:
    """What `event_rows` was given."""
    return tuple(
        EventRecord(
            float(row["time"]),
            row["name"].decode(),
            np.array(row["q"]),
            np.array(row["qd"]),
            np.array(row["qd_before"]),
            float(row["lost"]),
            float(row["beta"]) if "beta" in (rows.dtype.names or ()) else 1.0,
            int(row["row"]) if "row" in (rows.dtype.names or ()) else 0,
        )
        for row in rows
    )


def mode_rows(kind: Any, entered: Sequence[Entered]) -> np.ndarray:
    """Rows (n,) of the type of the dataset, or of a wider one where a text is longer."""
    texts = [x.text.encode() for x in entered]
    longest = max((len(text) for text in texts), default=0)
    if longest > kind["mode"].itemsize:
        kind = np.dtype([(key, f"S{2 * longest}" if key == "mode" else kind[key]) for key in kind.names])
    return np.array([(x.time, x.q, text) for x, text in zip(entered, texts, strict=True)], kind)


def modes_in(rows: np.ndarray) -> tuple[Entered, ...]:
    """What `mode_rows` was given."""
    return tuple(Entered(float(row["time"]), np.array(row["q"]), row["mode"].decode()) for row in rows)


def checksum(run_file: RunFile, name: str, start: int, stop: int, before: int = 0) -> int:
    """Return the checksum of rows of events or modes up to `stop`; `before`: that of the rows up to `start`."""
    return crc32(run_file.read(name, start, stop).tobytes(), before)


def fits(place: Place, start: int, rows: np.ndarray) -> bool:
    """Is there room for rows from `start` on?"""
    return start + len(rows) <= place.shape[0] and rows.dtype.itemsize <= place.dtype.itemsize


def wider(place: Place, start: int, rows: np.ndarray) -> tuple[int, Any]:
    """Rows and type with room for these rows, and for as many again."""
    kind = rows.dtype if rows.dtype.itemsize > place.dtype.itemsize else place.dtype
    return max(place.shape[0], 2 * (start + len(rows))), kind
