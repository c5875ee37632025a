"""A subject as bytes, for other processes: functions of the user's own program travel with their code."""

from __future__ import annotations

import pickle
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from kinpair.errors import InputError
from kinpair.sweeps.subject import Subject

INSTALLED = ("stdlib", "platstdlib", "purelib", "platlib")


def packed(subject: Subject) -> bytes:
    """With the code of functions from modules that are not installed, since a worker elsewhere has no such files."""
    import cloudpickle

    with ExitStack() as stack:
        for module in set(_loose_modules(subject.own)):
            cloudpickle.register_pickle_by_value(module)
            stack.callback(cloudpickle.unregister_pickle_by_value, module)
        try:
            return cloudpickle.dumps(subject)
        except Exception as reason:
            raise InputError(
                f"{subject.name} cannot be sent to another process: {reason}; workers=0 computes in this one"
            ) from None


def _loose_modules(things: tuple[Any, ...]) -> Iterator[ModuleType]:
    installed = [Path(sysconfig.get_path(name)) for name in INSTALLED]
    for thing in things:
        module = sys.modules.get(getattr(thing, "__module__", "") or "")
        file = getattr(module, "__file__", None)
        if module is None or file is None or module.__name__.startswith(("kinpair.", "__main__")):
            continue
        if not any(folder in Path(file).parents for folder in installed):
            yield module


@lru_cache(maxsize=4)
def unpacked(parcel: bytes) -> Subject:
    """Kept, so that what it has compiled serves all chunks."""
    return pickle.loads(parcel)
