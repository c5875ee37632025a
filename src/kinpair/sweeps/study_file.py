"""A study as a TOML file, see docs/sweep.md: the tables of its keys, and reading them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from reprlib import repr as shown
from typing import Any

from kinpair.description import fields as f
from kinpair.description.files import read_text, toml_table
from kinpair.description.place import Key, Place, Schema, checked, items, table
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError
from kinpair.sweeps.cases import Grid, LatinHypercube, Normal, Uniform
from kinpair.sweeps.inputs import options
from kinpair.sweeps.study import Study


@dataclass(frozen=True, slots=True, eq=False)
class StudyFile:
    """Contents of a study file: arguments of `kp.sweep`."""

    study: Study | Callable[..., Any]
    over: Mapping[str, Any]
    samples: int | None
    seed: int
    units: Mapping[str, str]


OF_A_MECHANISM = {"link", "joint", "dh"}  # tables of a description


def read_study(path: str | os.PathLike[str]) -> StudyFile:
    """The study in a TOML file; files it names are looked for next to it."""
    place = Place(WarningList(), str(path))
    keys = toml_table(read_text(path), str(path))
    if "mechanism" not in keys and OF_A_MECHANISM & keys.keys():
        raise place.error(
            "describes a mechanism; a study is a file of its own that names it: "
            f"mechanism = {Path(path).name!r}, and under [over] what varies"
        )
    top = checked(keys, TOP, place)
    common = {key: top.pop(key, other) for key, other in COMMON.items()}
    named = [key for key in ("mechanism", "function") if key in top]
    if len(named) != 1:
        what = "both mechanism and function" if named else "neither mechanism nor function"
        raise place.error(f"has {what}; give one of them")
    folder = Path(path).parent
    if "function" in top:
        study = _function(top.pop("function"), folder, place.at("function"))
        if top:
            raise place.at(next(iter(top))).error(
                "goes with a mechanism; a function takes what it needs from over"
            )
        return StudyFile(study, **common)
    top["record"] = [
        _function(word, folder, place.at("record")) if ":" in word else word
        for word in top.get("record", ["final"])
    ]
    top.setdefault("name", Path(path).stem)
    mechanism = top.pop("mechanism")
    beside = folder / mechanism
    return StudyFile(Study(beside if beside.is_file() else mechanism, **top), **common)


def _function(text: str, folder: Path, place: Place) -> Callable[..., Any]:
    """`file.py:name`, a file next to the study, or `package.module:name`."""
    where, _, name = text.rpartition(":")
    try:
        scope = _run(folder / where) if where.endswith(".py") else vars(import_module(where))
    except (ImportError, ValueError, OSError) as reason:
        raise place.error(f"is {text!r}, and {where!r} cannot be read: {reason}") from None
    function = scope.get(name)
    if not callable(function):
        raise place.error(f"is {text!r}, and there is no function {name!r} in {where}")
    return function


def _run(path: Path) -> dict[str, Any]:
    """Run a Python file and return what it defines; it belongs to no module, so that its functions travel with their
    code."""
    scope: dict[str, Any] = {"__name__": f"study {path.name}", "__file__": str(path)}
    exec(compile(read_text(path), str(path), "exec"), scope)
    return scope


# What may be written.


def _whole(value: object, place: Place) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise place.error(f"is {shown(value)}; give a whole number")
    return value


def _words(value: object, place: Place) -> list[str]:
    entries = items(value)
    return [f.name(x, place.entry(i)) for i, x in enumerate([value] if entries is None else entries)]


def _by_name(read: Any) -> Any:
    def check(value: object, place: Place) -> dict[str, Any]:
        inside = place.inside()
        return {key: read(x, inside.at(key)) for key, x in table(value, place).items()}

    return check


def _range(value: object, place: Place) -> Any:
    """A list of values, or a table that says how they vary."""
    if not isinstance(value, Mapping):
        return _values(value, place)
    keys = checked(table(value, place), RANGE, place.inside())
    for (wanted, kind), make in RANGES.items():
        if keys.get("draw", "") == kind and set(keys) - {"draw"} == set(wanted):
            return make(*(keys[key] for key in wanted))
    raise place.error(f"has {', '.join(keys)}; give one of {'; '.join(_FORMS)}")


def _values(value: object, place: Place) -> list[Any]:
    entries = items(value)
    if entries is None:
        raise place.error(f"is {shown(value)}; give a list of values, or a table: {'; '.join(_FORMS)}")
    return [_value(x, place.entry(i)) for i, x in enumerate(entries)]


def _value(value: object, place: Place) -> Any:
    """A number, a fraction of pi as text, another text, or a row of these."""
    if items(value) is not None:
        return _values(value, place)
    try:
        return f.angle(value, place) if isinstance(value, str) else value
    except DescriptionError:
        return value


def _as_written(value: object, place: Place) -> object:
    return value


RANGES: Mapping[tuple[tuple[str, ...], str], Any] = {
    (("from", "to", "count"), ""): Grid,
    (("from", "to"), "latin-hypercube"): LatinHypercube,
    (("from", "to"), "uniform"): Uniform,
    (("mean", "deviation"), "normal"): Normal,
}
_FORMS = [" ".join([*keys, *([f'draw = "{kind}"'] if kind else [])]) for keys, kind in RANGES]
RANGE: Schema = {
    "from": Key(f.angle, "lowest value"),
    "to": Key(f.angle, "highest value"),
    "count": Key(_whole, "how many values, evenly spaced"),
    "mean": Key(f.angle),
    "deviation": Key(f.number, "standard deviation"),
    "draw": Key(f.choice("latin-hypercube", "uniform", "normal")),
}
COMMON: Mapping[str, Any] = {"over": {}, "samples": None, "seed": 0, "units": {}}
TOP: Schema = {
    "mechanism": Key(f.name, "a file, or the name of a bundled example"),
    "function": Key(f.name, "file.py:name or package.module:name"),
    "name": Key(f.name, "for messages; default: the name of the file"),
    "record": Key(_words, "what is recorded of each run"),
    "q": Key(_by_name(f.angle), "start, rad or m, by name"),
    "qd": Key(_by_name(f.number), "start, rad/s or m/s, by name"),
    "torque": Key(_by_name(f.number), "constant efforts, N m or N, by name"),
    "input": Key(_by_name(f.number), "constant inputs of actuators by name"),
    "parameters": Key(_by_name(f.number), "constants of the mechanism by name"),
    "over": Key(_by_name(_range), "what varies", needs="what varies, as [over] with a line for each input"),
    "samples": Key(_whole, "how many times what is drawn is drawn"),
    "seed": Key(_whole, "of the draws"),
    "units": Key(_by_name(f.text), "of columns that functions give"),
    **{name: Key(_as_written, "option of simulate") for name in options()},
}
