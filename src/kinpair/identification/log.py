"""Columns of a log by joint: read from a file or table, converted to the joint side, checked.

q = R⁻¹ q_m + q_0,   τ = Rᵀ τ_m            R: motor turns per joint turn, coupled motors off the diagonal      (ID5)
τ = K i                                     drive gains K [N m/A]                                              (ID6)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from kinpair.description.files import file_path
from kinpair.errors import InputError, MissingExtraError, installs, listed, nearest
from kinpair.mechanism import Mechanism

Torque: TypeAlias = Literal["joint", "motor", "current", "sensor"]
TORQUES = ("joint", "motor", "current", "sensor")
ABSURD = 1e12  # a larger value is no measurement
MOST_DROPPED = 0.2  # part of the rows
EFFORT_WORDS = {
    "joint": ("tau", "effort"),
    "motor": ("taum", "tau", "effort"),
    "current": ("i", "current", "effort"),
    "sensor": ("tau", "effort"),
}
KEYS = ("t", "q", "qm", "qd", "tau", "taum", "i", "current", "effort", "zero")
SHOWN = 8  # times of dropped rows in a sentence


@dataclass(frozen=True, slots=True, eq=False)
class Log:
    """A run: time (n,), coordinates (n, nq), efforts (n, len(rows)) of the rates `rows`, rates (n, nv) if logged.

    moving: coordinates that the log has. dropped: times of rows without numbers. loaded: with the payload.
    """

    name: str
    time: np.ndarray
    q: np.ndarray
    tau: np.ndarray
    rows: tuple[int, ...]
    moving: tuple[int, ...]
    qd: np.ndarray | None
    dropped: tuple[float, ...]
    notes: tuple[str, ...]
    loaded: bool = False


def read_log(
    m: Mechanism,
    source: Any,
    columns: Mapping[str, Any] | None,
    torque: str,
    gear: Any,
    gains: Any,
    loaded: bool = False,
) -> Log:
    """Read one run; `source` is a path, a table with columns, or a mapping name → array."""
    name, table = table_of(source)
    given = dict(columns or {})
    for key in given:
        if key not in KEYS:
            raise InputError(
                f"columns has the key {key!r}; {nearest(key, KEYS)}Keys: {listed(KEYS)}", argument="columns"
            )
    time = _one(name, table, given.get("t", "t"), "time")
    q, moving = _positions(m, name, table, given, gear)
    rows, tau = _efforts(m, name, table, given, torque, moving, gear, gains)
    qd = None
    if "qd" in given or any(f"qd_{x}" in table for x in m.v_names) or f"qd{m.nv}" in table:
        rates = _found(name, table, given, ["qd"], list(m.v_names), "rate")
        qd = np.full((len(time), m.nv), np.nan)
        for k, x in rates.items():
            qd[:, k] = x
    data = np.column_stack([time, q, tau])
    good = np.asarray((np.isfinite(data) & (np.abs(data) < ABSURD)).all(1))
    keep, ordered = good.copy(), np.flatnonzero(good)
    if len(ordered):
        highest = np.maximum.accumulate(time[ordered])
        keep[ordered] = np.concatenate([[True], np.diff(highest) > 0])
    if keep.sum() < 2:
        raise InputError(f"{name}: no two rows with numbers and growing time")
    notes = _dropped_notes(name, time, good, keep, data)
    locked = [m.q_names[k] for k in range(m.nq) if k not in moving]
    if locked and m.closure is None:
        notes += (f"not in the log, fixed at the start of the description: {listed(locked, 8)}",)
    lost = tuple(time[~keep & np.isfinite(time)].tolist())
    qd = None if qd is None else qd[keep]
    return Log(name, time[keep], q[keep], tau[keep], tuple(rows), tuple(moving), qd, lost, notes, loaded)


def _positions(
    m: Mechanism, name: str, table: Mapping[str, np.ndarray], given: dict[str, Any], gear: Any
) -> tuple[np.ndarray, list[int]]:
    """Coordinates (n, nq), and which of them the log has; those of other joints are at their start."""
    names = list(m.q_names)
    motor = "qm" in given or ("q" not in given and not _has(table, "q", names) and _has(table, "qm", names))
    found = _found(name, table, given, ["qm" if motor else "q"], names, "position")
    q = np.tile(m.start(), (len(next(iter(found.values()))), 1))
    moving = sorted(found)
    logged = np.stack([found[k] for k in moving], axis=1)
    if motor:
        logged = np.linalg.solve(gear_matrix(gear, len(moving)), logged.T).T  # (ID5)
    zero = np.asarray(given.get("zero", 0.0), dtype=float)
    if zero.shape not in ((), (len(moving),)):
        raise InputError(
            f"columns: zero has shape {zero.shape}; give {len(moving)} numbers", argument="columns"
        )
    q[:, moving] = logged + zero
    return q, moving


def _efforts(
    m: Mechanism,
    name: str,
    table: Mapping[str, np.ndarray],
    given: dict[str, Any],
    torque: str,
    moving: Sequence[int],
    gear: Any,
    gains: Any,
) -> tuple[list[int], np.ndarray]:
    """Rates with efforts, and these efforts (n, rows) at the joints; a free base has none, and zero counts."""
    free = list(range(base_rates(m)))
    candidates = actuated_rates(m)
    if m.nq == m.nv and m.closure is None:
        candidates = [k for k in candidates if k in moving]
    candidates = [k for k in candidates if k not in free]
    words = [x for x in EFFORT_WORDS[torque] if x in given] or list(EFFORT_WORDS[torque])
    found = _found(name, table, given, words, [m.v_names[k] for k in candidates], "effort")
    rows = [candidates[k] for k in sorted(found)]
    tau = np.stack([found[k] for k in sorted(found)], axis=1)
    if torque == "motor":
        tau = tau @ gear_matrix(gear, len(rows))  # (ID5)
    if torque == "current":
        tau = tau * drive_gains(gains, len(rows))  # (ID6)
    return [*free, *rows], np.concatenate([np.zeros((len(tau), len(free))), tau], axis=1)


def actuated_rates(m: Mechanism) -> list[int]:
    """Rates whose efforts can be measured: all of an open mechanism, those of the actuated joints of a closed one."""
    if m.closure is None:
        return list(range(m.nv))
    return sorted(m.closure.drives.actuated.rates(None, m.start(), 0.0, call="identify(m, log)"))


def base_rates(m: Mechanism) -> int:
    """Number of rates of a free base, on which no motor acts."""
    joints = m.model.description.joints
    return 6 if joints and joints[0].kind == "free" else 0


def _dropped_notes(
    name: str, time: np.ndarray, good: np.ndarray, keep: np.ndarray, data: np.ndarray
) -> tuple[str, ...]:
    lost = np.flatnonzero(~keep)
    if not len(lost):
        return ()
    shown = ", ".join(f"{x:g}" for x in time[lost[:SHOWN]])
    why = []
    if (~good).any():
        huge = int((np.isfinite(data) & (np.abs(data) >= ABSURD)).any(1).sum())
        why.append(
            f"{int((~good).sum())} with NaN, infinite or values above {ABSURD:g}"
            + (f" ({huge} huge)" if huge else "")
        )
    if (good & ~keep).any():
        why.append(f"{int((good & ~keep).sum())} whose time does not grow")
    more = ", ..." if len(lost) > SHOWN else ""
    sentence = f"{len(lost)} of {len(keep)} rows dropped: {'; '.join(why)}; at t = {shown}{more} s"
    if len(lost) > MOST_DROPPED * len(keep):
        raise InputError(
            f"{name}: {sentence}. More than {MOST_DROPPED:.0%} of the log is lost; repair the log first",
            dropped=len(lost),
        )
    return (sentence,)


def gear_matrix(gear: Any, n: int) -> np.ndarray:
    """R (n, n): motor turns per joint turn, from ratios (n,) or a matrix; the identity without a gear."""
    if gear is None:
        return np.eye(n)
    R = np.asarray(gear, dtype=float)
    R = np.diag(R) if R.ndim == 1 else R
    if R.shape != (n, n) or not np.isfinite(R).all() or abs(np.linalg.det(R)) < 1e-12:
        raise InputError(
            f"gear has shape {np.shape(gear)}; give {n} ratios, or an invertible {n} × {n} matrix R of motor turns per "
            "joint turn",
            argument="gear",
        )
    return R


def drive_gains(gains: Any, n: int) -> np.ndarray:
    """K (n,) [N m/A]; ones where gains are not known."""
    if gains is None:
        return np.ones(n)
    K = np.asarray(gains, dtype=float)
    if K.shape not in ((), (n,)) or not np.isfinite(K).all() or not np.all(K):
        raise InputError(f"gains is {gains!r}; give {n} numbers [N m/A], not zero", argument="gains")
    return np.broadcast_to(K, (n,))


def table_of(source: Any) -> tuple[str, Mapping[str, np.ndarray]]:
    """Name and columns of a log: (n, joints) arrays of a mapping stand for numbered columns."""
    if isinstance(source, (str, os.PathLike)):
        path = file_path(source, "identify", "; give a log (.csv, .parquet, .npz)")
        suffix = path.suffix.lower()
        if suffix not in _READERS:
            raise InputError(f"{path}: logs named *{suffix} are not read; endings: {listed(_READERS)}")
        if not path.exists():
            raise InputError(f"{path}: there is no such file", path=str(path))
        return path.name, _READERS[suffix](path)
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):
        return "log", {str(k): np.asarray(source[k], dtype=float) for k in source.columns}
    if isinstance(source, Mapping):
        arrays = {str(k): np.asarray(x, dtype=float) for k, x in source.items()}
        lengths = {len(x) if x.ndim else 0 for x in arrays.values()}
        if len(lengths) != 1:
            raise InputError(f"log: its columns have {sorted(lengths)} rows; give arrays of one length")
        flat: dict[str, np.ndarray] = {}
        for k, x in arrays.items():  # (n, joints) stands for numbered columns
            flat |= {k: x} if x.ndim == 1 else {f"{k}{j + 1}": x[:, j] for j in range(x.shape[1])}
        return "log", flat
    raise InputError(f"log is {type(source).__name__}; give a path, a DataFrame, or a mapping name → array")


def _csv(path: Path) -> dict[str, np.ndarray]:
    with path.open(encoding="utf-8-sig") as file:
        head = [x.strip().strip('"') for x in file.readline().rstrip("\r\n").split(",")]
        try:
            [float(x) for x in head]
        except ValueError:
            pass
        else:
            raise InputError(
                f"{path}: the first line has numbers; give the columns names in the first line, such as t,q1,tau1"
            )
        try:
            data = np.loadtxt(file, delimiter=",", ndmin=2)
        except ValueError:
            data = np.genfromtxt(
                path, delimiter=",", skip_header=1, ndmin=2, encoding="utf-8-sig", invalid_raise=False
            )
    if data.size == 0 or data.shape[1] != len(head):
        raise InputError(
            f"{path}: {len(head)} names in the first line and rows of {data.shape[1] if data.size else 0} numbers"
        )
    return dict(zip(head, data.T, strict=True))


def _parquet(path: Path) -> dict[str, np.ndarray]:
    try:
        from pyarrow.parquet import read_table
    except ImportError:
        raise MissingExtraError(
            f"parquet files need pyarrow; {installs('cluster')}", extra="cluster"
        ) from None
    table = read_table(path)
    return {name: np.asarray(table[name], dtype=float) for name in table.column_names}


def _npz(path: Path) -> Mapping[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as data:
        return table_of({name: data[name] for name in data.files})[1]


_READERS = {".csv": _csv, ".parquet": _parquet, ".npz": _npz}


def _has(table: Mapping[str, np.ndarray], word: str, names: Sequence[str]) -> bool:
    return f"{word}1" in table or any(f"{word}_{x}" in table for x in names)


def _one(name: str, table: Mapping[str, np.ndarray], column: str, what: str) -> np.ndarray:
    if column not in table:
        raise InputError(
            f"{name}: no column {column!r} ({what}); {nearest(column, table)}Columns: {listed(table)}. "
            f'Name it in columns={{"t": ...}}',
            column=column,
        )
    return table[column]


def _found(
    name: str,
    table: Mapping[str, np.ndarray],
    given: Mapping[str, Any],
    words: Sequence[str],
    joints: Sequence[str],
    what: str,
) -> dict[int, np.ndarray]:
    """Columns of one kind by number of the joint: those named in `columns`, or by joint, or by number."""
    n = len(joints)
    for word in words:
        if word in given:
            return dict(enumerate(_chosen(name, table, word, list(given[word]), joints, what)))
    for word in words:
        by_name = {k: table[f"{word}_{x}"] for k, x in enumerate(joints) if f"{word}_{x}" in table}
        if by_name:
            return by_name
        by_number = [x for x in table if x.startswith(word) and x[len(word) :].isdigit()]
        if by_number:
            if len(by_number) != n or any(f"{word}{k + 1}" not in table for k in range(n)):
                raise InputError(
                    f"{name}: {len(by_number)} {what} columns ({listed(by_number)}); the mechanism has {n} axes: "
                    f"{listed(joints)}. Choose columns by columns={{{word!r}: [...]}}, in the order of the axes",
                    columns=len(by_number),
                    axes=n,
                )
            return {k: table[f"{word}{k + 1}"] for k in range(n)}
    word, first = words[0], f"{words[0]}_{joints[0]}"
    raise InputError(
        f"{name}: no {what} columns; expected {first} ... or {word}1 ... {word}{n}; {nearest(first, table)}"
        f"Columns: {listed(table)}. Name them in columns={{{word!r}: [...]}}",
        column=first,
    )


def _chosen(
    name: str,
    table: Mapping[str, np.ndarray],
    word: str,
    chosen: list[Any],
    joints: Sequence[str],
    what: str,
) -> list[np.ndarray]:
    if len(chosen) != len(joints):
        raise InputError(
            f"{name}: columns has {len(chosen)} names of {word!r}; the mechanism has {len(joints)} axes: "
            f"{listed(joints)}",
            argument="columns",
        )
    for x in chosen:
        if x not in table:
            raise InputError(
                f"{name}: no column {x!r} ({what}); {nearest(str(x), table)}Columns: {listed(table)}",
                column=x,
            )
    return [table[x] for x in chosen]
