"""The page on results lists every field and property of every object, and none that is not there."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path

import pytest

from kinpair.constraints.assembly.forces import ConstraintForces
from kinpair.constraints.rows.mobility import Mobility
from kinpair.mechanism import (
    AccelerationDerivatives,
    ActuatorDerivatives,
    EffortDerivatives,
    Energy,
    FramePose,
    FrictionSolutions,
)
from kinpair.runs.result import Result
from kinpair.simulation.events.events import EventRecord
from kinpair.simulation.held import Residual, Singular
from kinpair.simulation.monitors.momentum import Momentum
from kinpair.simulation.monitors.verdict import Balance, Ledger
from kinpair.simulation.status import Status

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text("utf-8")
CLASSES = (
    Energy, FramePose, EffortDerivatives, ActuatorDerivatives, AccelerationDerivatives, Mobility, ConstraintForces,
    FrictionSolutions, Result, Status, EventRecord, Balance, Ledger, Momentum, Residual, Singular,
)  # fmt: skip


def members(kind: type) -> set[str]:
    own = [x.name for x in fields(kind)] if is_dataclass(kind) else list(kind._fields)
    every = {name: x for base in kind.__mro__ for name, x in vars(base).items() if not name.startswith("_")}
    return {*own, *(name for name, x in every.items() if isinstance(x, (property, cached_property)))}


def listed(name: str) -> set[str]:
    (section,) = re.findall(rf"^### {name}\n(.*?)(?=^##|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    cells = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
    return {word for cell in cells for word in re.findall(r"`(\w+)`", cell)}


@pytest.mark.parametrize("kind", CLASSES)
def test_every_field_is_on_the_page(kind):
    assert listed(kind.__name__) == members(kind)
