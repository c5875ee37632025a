"""A model as a table of plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import numpy as np

from kinpair.description.actuator_parts import Actuator
from kinpair.description.parts import Spring
from kinpair.model.model import FrictionData, Model

SPRING_HEADINGS = ("spring", "parent", "child", "kind", "N/m", "N s/m", "rest [m]", "preload [N]")
HEADINGS = ("body", "on", "joint", "kind", "q", "mass [kg]", "limits")


MOST, FIRST, LAST = 100, 20, 5  # rows of a table; those shown of a longer one
Row: TypeAlias = tuple[str, ...]
T = TypeVar("T")


def shortened(items: Sequence[T], cells: Callable[[T], Row]) -> list[Row]:
    """Return one row for each item; of a long table the first and the last rows, and how many there are between."""
    if len(items) <= MOST:
        return [cells(x) for x in items]
    first, last = ([cells(x) for x in some] for some in (items[:FIRST], items[-LAST:]))
    gap = (f"... {len(items) - FIRST - LAST} more", *("...",) * (len(first[0]) - 1))
    return [*first, gap, *last]


def table_rows(model: Model) -> list[Row]:
    """Return one row for each moving body, in the order of the coordinates; see `shortened`."""
    welds = [i for i in model.moving if not model.body[i].pair.nv]
    return shortened([*model.in_order, *welds], partial(_cells, model))


def _cells(model: Model, i: int) -> Row:
    return (
        model.names[i],
        model.names[model.parent[i]],
        model.joint_names[i],
        model.body[i].pair.kind,
        _span(model.q_span[i]),
        f"{model.body[i].m:.6g}",
        _limits(model, model.q_span[i]),
    )


def head(model: Model, counted: str = "") -> str:
    """Name and sizes; `counted` says more about the degrees of freedom."""
    carried = model.carried
    mass = sum(model.body[i].m for i in carried)
    return (
        f"{model.name}: {len(carried)} moving bodies, {model.nv} degrees of freedom{counted} "
        f"(nq {model.nq}, nv {model.nv}), {mass:.6g} kg"
    )


def table(model: Model, counted: str = "") -> str:
    """Name, sizes, and a row a moving body."""
    springs = shortened(model.description.springs, spring_cells)
    between = ["", *aligned([SPRING_HEADINGS, *springs])] if springs else []
    actuators = shortened(model.description.actuators, actuator_cells)
    driving = ["", *aligned([ACTUATOR_HEADINGS, *actuators])] if actuators else []
    brakes = shortened(brakes_of(model), partial(brake_cells, model))
    braking = ["", *aligned([BRAKE_HEADINGS, *brakes])] if brakes else []
    rows = aligned([HEADINGS, *table_rows(model)])
    return "\n".join([head(model, counted), *rows, *between, *driving, *braking])


BRAKE_HEADINGS = ("brake", "joint", "level")


def brakes_of(model: Model) -> list[FrictionData]:
    """Friction of joints that has a name of its own."""
    return [x for x in model.frictions if not x.name.startswith(f"{model.v_names[x.v]}.friction")]


def brake_cells(model: Model, brake: FrictionData) -> tuple[str, ...]:
    """The row of a brake."""
    level, signal = f"{brake.numbers['level']:.6g}", brake.signals.get("level")
    by = "" if signal is None else f" {signal.text}" if signal.input else f" ({signal.text})"
    return (brake.name, model.v_names[brake.v], level + by)


ACTUATOR_HEADINGS = ("actuator", "joint", "kind", "gear")


def actuator_cells(part: Actuator) -> tuple[str, ...]:
    """The row of an actuator."""
    gear = dict(part.gear)
    words = f"{gear.get('ratio', 1.0):g}" + (", elastic" if "stiffness" in gear else "")
    return (part.name, part.joint, part.kind, words if gear else "-")


def spring_cells(spring: Spring) -> tuple[str, ...]:
    """The row of a spring between points."""
    values = (spring.stiffness, spring.damping, spring.rest_length, spring.preload)
    numbers = ["-" if x is None else f"{x:.6g}" for x in values] if spring.law is None else ["-"] * 4
    kind = "rope" if spring.tension_only else "spring" if spring.law is None else "law"
    return (spring.name, spring.parent, spring.child, kind, *numbers)


def aligned(cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table; the first row has the headings."""
    widths = [max(len(row[k]) for row in cells) for k in range(len(cells[0]))]
    lines = ["  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in cells]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]


def _span(span: slice) -> str:
    size = span.stop - span.start
    return "-" if not size else str(span.start) if size == 1 else f"{span.start}-{span.stop - 1}"


def _limits(model: Model, span: slice) -> str:
    low, high = model.joints.lower[span], model.joints.upper[span]
    if not len(low) or not np.isfinite([*low, *high]).any():
        return "-"
    return ", ".join(f"{a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True))
