"""Every exception and warning of kinpair.

Each says which part, where, what was found and what would do, and carries the same as attributes,
so that a program can react to it without reading the sentence.
"""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from inspect import currentframe, signature
from itertools import takewhile
from traceback import walk_stack
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class KinpairError(Exception):
    """Base of all errors of kinpair; `parts` holds the names and values involved."""

    def __init__(self, message: str, **parts: object) -> None:
        super().__init__(message)
        self.parts = parts


class DescriptionError(KinpairError, ValueError):
    """A file, table or builder call describes no mechanism."""


class InputError(KinpairError, ValueError):
    """An argument of a call has the wrong shape, value or name."""


class ActuatorsError(InputError):
    """A closed mechanism does not specify which joints are actuated; `parts["choices"]` has sets of joints that can
    drive it, `parts["shell"]` the message with options of the command line."""


class SingularError(KinpairError, ArithmeticError):
    """The equations have no unique solution in this state."""


class MissingExtraError(KinpairError, ImportError):
    """An optional library is needed and not installed."""


class StorageError(KinpairError, OSError):
    """A file cannot be written, and what was written before is kept; or it does not hold what was written."""


class RunError(KinpairError):
    """A run failed: a function of the user, or the disk, ended it. `run` is the `Result` with all that was computed."""

    def __init__(self, message: str, *, run: Any = None, **parts: object) -> None:
        super().__init__(message, **parts)
        self.run = run


class TraceError(KinpairError, TypeError):
    """A function does something with symbols that cannot be recorded."""


class LengthError(InputError):
    """A formula has more operations than it was given room for."""


class ClosedFormError(KinpairError, ArithmeticError):
    """An expression has no closed form, or one that is too long."""


class AccuracyWarning(UserWarning):
    """A result has fewer correct digits than usual; the message gives its estimated error and the cause."""


class CacheWarning(UserWarning):
    """The store of compiled code was not used, and why; the code was compiled instead."""


class DescriptionWarning(UserWarning):
    """A description was accepted, and this is what was made of a doubtful part of it."""


class StorageWarning(UserWarning):
    """A stored part was found damaged, and this is what was used instead."""


class ClusterWarning(UserWarning):
    """The workers of a cluster are gone, and a sweep waits for others."""


class FrictionWarning(UserWarning):
    """Friction has several solutions in a state, and one of them was taken; or an impact left friction out."""


class PictureWarning(UserWarning):
    """A picture was drawn with less than it should show, and why."""


class RunWarning(UserWarning):
    """A run ended before its time, or its result is in doubt; `run.status` says why."""


class LimitWarning(UserWarning):
    """A position, a start or an effort is beyond the limits of a joint or an actuator."""


class RegulatorWarning(UserWarning):
    """A regulator leaves a motion free that its inputs move."""


class RecordingWarning(UserWarning):
    """A function of a user is called from Python, which is slow, and what to use instead of what cannot be compiled."""


class IdentificationWarning(UserWarning):
    """A log that parameters are identified from is suspicious: units, signs, order, joints that do not move."""


def caller_level() -> int:
    """The `stacklevel` at which a warning of the calling function points at the first line outside kinpair."""
    inside = os.path.dirname(__file__) + os.sep, contextlib.__file__  # context managers as decorators, too
    frames = (frame for frame, _ in walk_stack(currentframe()))
    return sum(1 for _ in takewhile(lambda frame: frame.f_code.co_filename.startswith(inside), frames))


def moved(module: str, names: Iterable[str], place: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module whose `names` are in `place` now; it warns of their use."""
    known = frozenset(names)

    def getattr_of(name: str) -> Any:
        if name not in known:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        text = f"{module}.{name} is in {place} now; the old place works until version 0.3"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return getattr(import_module(place), name)

    return getattr_of


@dataclass(frozen=True)
class FormerPlaces(MetaPathFinder, Loader):
    """Imports of packages by the names that documents of earlier versions showed: the same modules, with a warning."""

    places: Mapping[str, str]  # former name: present one

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return a spec for a module in a package that has another name now."""
        former = next((x for x in self.places if f"{fullname}.".startswith(f"{x}.")), None)
        if former is None:
            return None
        place = self.places[former] + fullname.removeprefix(former)
        return ModuleSpec(fullname, self, loader_state=place) if find_spec(place) is not None else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module at its present place."""
        text = f"{spec.name} is {spec.loader_state} now; the old place works until version 0.3"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return import_module(str(spec.loader_state))

    def exec_module(self, module: ModuleType) -> None:
        """Give the module, which is complete, the spec of its present place again."""
        package = sys.modules[module.__name__.rpartition(".")[0]]
        module.__spec__ = PathFinder.find_spec(module.__name__, package.__path__)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return `did you mean 'x'? ` if a similar name exists, else an empty string."""
    matches = get_close_matches(name, list(names), n=1)
    return f"did you mean {matches[0]!r}? " if matches else ""


def offered(name: str, what: str, names: Iterable[str]) -> str:
    """Offer names: `did you mean 'x'? Methods: x, y` if a similar name exists, else `methods: x, y`; `what` in lower
    case."""
    every = list(names)
    meant = nearest(name, every)
    return f"{meant}{what.capitalize() if meant else what}: {listed(every)}"


def installs(extra: str) -> str:
    """Return the end of a sentence about a missing library: how the extra that has it is installed."""
    return f'install it with pip install ".[{extra}]" in the folder of kinpair\'s sources'


def expect(owner: str, given: Any, *kinds: type, advice: str = "load() takes files, example() names") -> None:
    """Raise InputError where the first argument of a function is not of one of the kinds; `owner`: the function."""
    if not isinstance(given, kinds):
        known = " or ".join(f"a {x.__name__}" for x in kinds)
        raise InputError(f"{owner} takes {known}, not {given!r}; {advice}")


MEANT = {
    "tau": "torque",
    "u": "input",
    "t": "duration",
    "t_end": "duration",
    "step": "dt",
    "method": "integrator",
}


def known_keywords(call: Callable[P, T]) -> Callable[P, T]:
    """Return the function; an argument that it does not have raises InputError with the nearest one."""
    parameters = signature(call).parameters
    names = list(parameters)
    places = [name for name, x in parameters.items() if x.kind is not x.KEYWORD_ONLY]

    @wraps(call)
    def checked(*arguments: P.args, **keys: P.kwargs) -> T:
        for name in keys:
            if name not in names:
                meant = MEANT.get(name)
                advice = f"did you mean {meant!r}? " if meant in names else ""
                raise InputError(
                    f"{call.__name__} has no argument {name!r}; {advice or offered(name, 'arguments', names)}".rstrip(),
                    argument=name,
                )
        if len(arguments) > len(places):
            raise InputError(
                f"{call.__name__} takes {len(places)} arguments by place ({listed(places)}), not {len(arguments)}; "
                f"give the others by name: {listed(names[len(places) :])}"
            )
        return call(*arguments, **keys)

    return checked


def described(problem: BaseException) -> str:
    """`ValueError: text`, or the kind alone where an exception has no text."""
    kind, text = type(problem).__name__, str(problem)
    return f"{kind}: {text}" if text else kind


def listed(names: Iterable[str], limit: int = 20) -> str:
    """Names in a sentence, the tail of a long list as a count."""
    every = list(names)
    shown = ", ".join(every[:limit])
    return shown if len(every) <= limit else f"{shown}, ... ({len(every)} in all)"
