"""`kinpair.constraint`: a constraint by the keys of a TOML file, for `with_constraints`, events and systems.

>>> from kinpair import constraint
>>> constraint.rolling("disk", "wheel", "disk", radius=0.1).size
(0.1,)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec
from warnings import warn

from kinpair.description import builder_keys as calls
from kinpair.description.builder_keys import Call
from kinpair.description.constraint_schema import constraint_from
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionWarning

P = ParamSpec("P")

__all__ = [
    "coupling",
    "custom",
    "distance",
    "drive",
    "guide",
    "knife_edge",
    "loop",
    "momentum",
    "rolling",
    "surface",
]


def _part(call: Callable[P, Call]) -> Callable[P, Any]:
    """The function that makes the part; what is doubtful in it is warned of."""

    @wraps(call)
    def form(*arguments: P.args, **keys: P.kwargs) -> Any:
        word, stated = call(*arguments, **keys)
        warnings = WarningList()
        part = constraint_from(word, stated, Place(warnings, part=f"{word} {stated.get('name')!r}"))
        for sentence in warnings.sentences:
            warn(sentence, DescriptionWarning, stacklevel=2)
        return part

    vars(form)["__signature__"] = signature(call).replace(return_annotation="Constraint")
    return form


loop = _part(calls.loop)
coupling = _part(calls.coupling)
distance = _part(calls.distance)
surface = _part(calls.surface)
rolling = _part(calls.rolling)
knife_edge = _part(calls.knife_edge)
drive = _part(calls.drive)
guide = _part(calls.guide)
momentum = _part(calls.momentum)
custom = _part(calls.custom)
