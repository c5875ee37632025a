"""Arguments of a command line: the description, numbers by name, a state under constraints, a motion."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

import kinpair
from kinpair import (
    DescriptionError,
    DescriptionWarning,
    FramePose,
    InputError,
    LimitWarning,
    Mechanism,
    SingularError,
    System,
    example,
    examples,
    load,
)
from kinpair.constraints.assembly.positions import Assembly
from kinpair.constraints.rows.build import constraints_of, is_constrained
from kinpair.description.fields import angle, counted
from kinpair.description.files import read_text
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import listed, nearest
from kinpair.loading import Base

File = Annotated[str, Parameter(metavar="FILE")]
Described = Annotated[
    str,
    Parameter(
        metavar="FILE",
        help="A description (.urdf, .xml, .toml, .csv), or the name of a bundled example.",
    ),
]
Root = Annotated[
    Base, Parameter(help="fixed: the root link is fixed to the ground; free: it has a free joint.")
]
Snap = Annotated[
    float,
    Parameter(help="Round rotations within this angle [rad] of a quarter turn; 1e-5 corrects 1.5708 to π/2."),
]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]


def mechanism(file: str, *, base: Base = "fixed", strict: bool = False, snap: float = 0.0) -> Mechanism:
    """The mechanism in the file, or the bundled example of that name; warnings stay in its `warnings`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DescriptionWarning)
        return _loaded(file, base=base, strict=strict, snap=snap)


def notes_on(mechanism: Mechanism, file: str) -> list[str]:
    """Return the first warning about a description, and how to see the others."""
    first, others = mechanism.warnings[:1], len(mechanism.warnings) - 1
    more = [f"{counted(others, 'more warning')} about the description: kinpair check {file}"]
    return [*(f"warning: {sentence}" for sentence in first), *more * (others > 0)]


def subject(file: str, *, base: Base = "fixed", snap: float = 0.0) -> Mechanism | System:
    """Load the subject, or a bundled example that is given by its energy."""
    if file in examples() and file not in examples(systems=False) and not Path(file).exists():
        return example(file) if base == "fixed" else example(file, base=base)
    return mechanism(file, base=base, snap=snap)


def _loaded(file: str, **options: Any) -> Mechanism:
    known = examples()
    if Path(file).exists() and not (Path(file).is_dir() and file in known):
        return load(file, **options)
    if file in examples(systems=False):
        return example(file, **options)
    if file in known:
        raise InputError(
            f"{file} is a system given by its energy; this command needs a mechanism with bodies. In "
            f"Python: kinpair.example({file!r})",
            file=file,
        )
    raise InputError(
        f"no file {file!r}, and no bundled example of that name; {nearest(file, known)}"
        f"Examples: {listed(known)}",
        file=file,
    )


Numbers = Annotated[
    list[str] | None,
    Parameter(consume_multiple=(1, None), negative="", metavar="NUMBERS", show_default=False),
]


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """An option that takes numbers: what each of them is called, and what they are when none is given."""

    name: str
    entries: Sequence[str]
    default: np.ndarray

    def read(self, words: Sequence[str] | None) -> np.ndarray:
        """The numbers (n,)."""
        stated = self.stated(words)
        return stated if isinstance(stated, np.ndarray) else self.filled(stated)

    def stated(self, words: Sequence[str] | None) -> np.ndarray | dict[str, float]:
        """The numbers as they were given: all of them (n,), or some by name."""
        if words is None:
            return {}
        numbers = (
            _from_file(words[0][1:])
            if len(words) == 1 and words[0].startswith("@")
            else _split(self.name, words)
        )
        return self._paired(numbers) if isinstance(numbers, Mapping) else self._counted(numbers)

    def filled(self, named: Mapping[str, float]) -> np.ndarray:
        """The default (n,) with the named entries in it."""
        out = self.default.copy()
        for name, value in named.items():
            out[self.entries.index(name)] = value
        return out

    def _counted(self, values: Sequence[Any]) -> np.ndarray:
        n = len(self.entries)
        if len(values) != n:
            count = "1 number" if len(values) == 1 else f"{len(values)} numbers"
            raise InputError(
                f"{self.name} has {count}; expected {n}: {listed(self.entries, 12) or 'nothing moves'}",
                option=self.name,
            )
        return np.array([self._number(x, f"entry {k}") for k, x in enumerate(values, 1)], dtype=float)

    def _paired(self, values: Mapping[str, Any]) -> dict[str, float]:
        for name in values:
            if name not in self.entries:
                raise InputError(
                    f"{self.name} has no entry {name!r}; {nearest(name, self.entries)}"
                    f"Entries: {listed(self.entries)}",
                    option=self.name,
                )
        return {name: self._number(x, name) for name, x in values.items()}

    def _number(self, value: Any, key: str) -> float:
        try:
            return angle(_float(value), Place(WarningList()))
        except DescriptionError:
            raise InputError(
                f"{self.name}: {key} is {value!r}; give a finite number, or a fraction of pi such as pi/2",
                option=self.name,
            ) from None


def _float(value: Any) -> Any:
    """The number in a text; any other text is left to be read as a fraction of pi."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value.strip()


def _split(option: str, words: Sequence[str]) -> list[str] | dict[str, str]:
    """Pieces between commas and blanks; a dict if they are name=value pairs. A name may hold blanks."""
    pieces = [
        part.strip()
        for word in words
        if word.strip(" ,")
        for piece in word.strip().removesuffix(",").split(",")
        for part in ([piece] if piece.count("=") == 1 else piece.split() or [""])
    ]
    pairs = [piece.partition("=") for piece in pieces if "=" in piece]
    return _by_name(option, pieces, [(name.strip(), value) for name, _, value in pairs]) if pairs else pieces


def _by_name(option: str, pieces: list[str], pairs: list[tuple[str, str]]) -> dict[str, str]:
    bare = next((piece for piece in pieces if "=" not in piece), None)
    if bare is not None:
        raise InputError(f"{option}: {bare!r} has no name; give all by name=value, or none", option=option)
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"{option}: {twice!r} is given {names.count(twice)} times; give it once", option=option
        )
    return dict(pairs)


def _from_file(path: str) -> list[Any] | dict[str, Any]:
    text = read_text(path)
    try:
        stated = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as reason:
        raise InputError(f"{path}: is not JSON: {reason}", path=path) from None
    if not isinstance(stated, (list, dict)):
        raise InputError(
            f"{path}: contains {stated!r}; give a list of numbers, or names with numbers", path=path
        )
    return stated


ROUNDING = 1e-9  # as good as zero
ROUGH = 1e-3  # numbers typed with a few digits: put right, and told

Stated = np.ndarray | Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Obeying:
    """Positions, rates and accelerations of a mechanism that obey its constraints; `notes` list what was changed."""

    mechanism: Mechanism
    time: float = 0.0
    notes: list[str] = field(default_factory=list[str])

    def positions(self, stated: Stated) -> np.ndarray:
        """q: the start; with named coordinates fixed and the rest assembled; or all of them, checked."""
        m = self.mechanism
        if isinstance(stated, np.ndarray):
            return self._all_positions(stated)
        if not stated:
            self._note("q: the start")
            return self._assembled(self._assembly.start())
        self._note(f"q: assembled, {listed(stated)} fixed")
        begin = self._assembly.begin()
        end = Option("--q", m.q_names, begin).filled(stated)
        return self._noted(lambda: self._assembly.led(begin, end, tuple(stated), self.time))

    @property
    def _assembly(self) -> Assembly:
        assert self.mechanism.closure is not None
        return self.mechanism.closure.assembly

    def _assembled(self, guess: np.ndarray) -> np.ndarray:
        return self._noted(lambda: self._assembly.assemble(guess, (), self.time))

    def _noted(self, search: Callable[[], np.ndarray]) -> np.ndarray:
        """The position in the end; limits that it passes are reported."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", LimitWarning)
            q = search()
        self.notes.extend(str(x.message) for x in caught)
        return q

    def rates(self, q: np.ndarray, stated: Stated) -> np.ndarray:
        """q̇: the named ones are inputs, the rest follow; or all of them, checked."""
        m, time = self.mechanism, self.time
        if isinstance(stated, np.ndarray):
            return self._all("qd", stated, lambda near: m.velocities(q, guess=near, time=time))
        self._follow("qd", stated)
        return m.velocities(q, stated, time=time)

    def accelerations(self, q: np.ndarray, qd: np.ndarray, stated: Stated, driven: Stated) -> np.ndarray:
        """q̈: the same; if nothing is given, the `driven` rates stay as they are where that can be."""
        m, time = self.mechanism, self.time
        if isinstance(stated, np.ndarray):
            return self._all("qdd", stated, lambda near: m.accelerations(q, qd, guess=near, time=time))
        if not stated and isinstance(driven, Mapping) and driven:
            return self._steady(q, qd, dict.fromkeys(driven, 0.0))
        self._follow("qdd", stated)
        return m.accelerations(q, qd, stated, time=time)

    def _steady(self, q: np.ndarray, qd: np.ndarray, still: Mapping[str, float]) -> np.ndarray:
        try:
            qdd = self.mechanism.accelerations(q, qd, still, time=self.time)
        except SingularError:
            return self.mechanism.accelerations(q, qd, time=self.time)
        self._note(f"qdd: 0 for {listed(still)}, other accelerations computed")
        return qdd

    def _note(self, sentence: str) -> None:
        self.notes.append(sentence)

    def _follow(self, key: str, stated: Mapping[str, float]) -> None:
        if stated:
            self._note(f"{key}: {listed(stated)} given, other entries computed, of least norm")

    def _all_positions(self, q: np.ndarray) -> np.ndarray:
        open_by = self._gaps(q)
        widest = max(open_by.values(), default=0.0)
        if widest <= ROUNDING:
            return q
        if widest > ROUGH:
            worst = sorted((x for x in open_by.items() if x[1] > ROUGH), key=lambda x: -x[1])
            off = ", ".join(f"{name!r} is off by {gap:.3g}" for name, gap in worst[:4])
            raise InputError(
                f"--q does not satisfy the constraints: {off}; give only independent coordinates by name, "
                f"such as --q {self.mechanism.q_names[0]}=..., and the others are computed",
                option="--q",
            )
        self._note(f"q: was off by {widest:.1e}, assembled")
        return self._assembled(q)

    def _gaps(self, q: np.ndarray) -> dict[str, float]:
        """Gap of each constraint [m] or [rad]."""
        residual = np.abs(self.mechanism.constraint_residual(q, time=self.time))
        every = constraints_of(self.mechanism.model)
        parts = np.split(residual, np.cumsum([x.holonomic for x in every])[:-1])
        return {x.name: float(part.max(initial=0.0)) for x, part in zip(every, parts, strict=True)}

    def _all(self, key: str, stated: np.ndarray, nearest: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """All the numbers, if they obey the constraints but for the digits left out."""
        solution = nearest(stated)
        size = 1.0 + np.abs(stated).max(initial=0.0)
        off = np.abs(solution - stated).max(initial=0.0) / size
        if off > ROUGH:
            change = int(np.abs(solution - stated).argmax())
            raise InputError(
                f"--{key} does not satisfy the constraints: the nearest solution differs by "
                f"{abs(solution - stated)[change]:.3g} at {self.mechanism.v_names[change]}; give only "
                f"independent entries by name, such as --{key} {self.mechanism.v_names[0]}=..., and the "
                "others are computed",
                option=f"--{key}",
            )
        if off > ROUNDING:
            self._note(f"{key}: was off by {off * size:.1e}, corrected")
        return solution if off > ROUNDING else stated


AXES = ("x", "y", "z")


def start_of(m: Mechanism, words: list[str] | None) -> np.ndarray:
    """Coordinates at the start."""
    option = Option("--q", m.q_names, m.start())
    if is_constrained(m.model.description):
        return Obeying(m, 0.0).positions(option.stated(words))
    return option.read(words)


def motion_of(
    owner: str,
    m: Mechanism,
    start: np.ndarray,
    to: list[str] | None,
    by: list[str] | None,
    frame: str | None,
    duration: float,
    law: str,
) -> Any:
    """The motion that the options say."""
    if (to is None) == (frame is None):
        raise InputError("give --to coordinates, or --frame and --by a displacement")
    from kinpair.motion.joints import straight  # planning is imported by the commands that plan
    from kinpair.motion.laws import law_of

    timed = law_of(owner, law, duration)
    if frame is not None:
        if by is None:
            raise InputError("--frame needs --by, its displacement x,y,z [m]", option="--by")
        move = Option("--by", AXES, np.zeros(3)).read(by)
        pose = m.pose(start, frame)
        return {
            frame: kinpair.motion.line(
                pose, FramePose(pose.rotation, pose.position + move), duration, law=law
            )
        }
    if by is not None:
        raise InputError("--by moves a frame; name it with --frame", option="--by")
    option = Option("--to", m.q_names, start)
    if is_constrained(m.model.description):
        named = option.stated(to)
        if isinstance(named, np.ndarray):
            raise InputError(
                f"{m.name}: coordinates depend on each other by constraints; give independent ones by name, "
                f"such as --to {m.q_names[0]}=0.5",
                option="--to",
            )
        entries = {name: start[m.q_names.index(name)] for name in named}
        return {name: straight(here, np.asarray(named[name]), timed) for name, here in entries.items()}
    return straight(start, option.read(to), timed)
