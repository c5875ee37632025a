"""Constants given by name, see `symbols.py`: are they those of bodies that can be? As descriptions are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kinpair.description.actuator_parts import GEAR, KINDS
from kinpair.description.actuator_schema import RULES
from kinpair.description.friction_laws import EFFICIENCIES
from kinpair.errors import InputError
from kinpair.model.check_inertia import turning_axes
from kinpair.model.check_numbers import LARGEST, too_large
from kinpair.model.friction_data import POSITIVE
from kinpair.model.model import Model
from kinpair.model.surface_data import efficiency_trouble
from kinpair.model.symbols import TENSOR, own_inertia
from kinpair.spatial.inertia import defect, is_moment_about


def check_constants(model: Model, new: Mapping[str, np.ndarray]) -> list[str]:
    """Refuse negative masses and moments, and what overflows, in numbers or batches (n,); return warnings."""
    _check_actuators(model, new)
    for name, values in new.items():
        link, _, what = name.rpartition(".")
        if (large := np.abs(values).max(initial=0.0)) > LARGEST:
            raise InputError(f"{model.name}: parameters: {too_large(name, large)}", parameter=name)
        if what == "mass" and (values < 0.0).any():
            raise InputError(
                f"{model.name}: parameters: link {link!r} has mass {values.min():g} kg; a mass is zero or positive",
                link=link,
            )
        if what in ("damping", "rest_length") and (values < 0.0).any():
            raise InputError(
                f"{model.name}: parameters: spring {link!r} has {what} {values.min():g}; it is zero or above",
                spring=link,
            )
    _check_frictions(model, new)
    warnings: list[str] = []
    for link in dict.fromkeys(name.split(".inertia.")[0] for name in new if ".inertia." in name):
        part = f"{model.name}: parameters: link {link!r}"
        tensors = _tensors(model, link, new)
        negative = defect(_worst(tensors, lambda J: J[:, 0]))
        if negative and "not positive" in negative:
            raise InputError(f"{part}: inertia {negative}", link=link)
        judged = tensors[~is_moment_about(turning_axes(model, link), tensors)]
        if len(judged) and (flat := defect(_worst(judged, lambda J: J[:, 0] + J[:, 1] - J[:, 2]))):
            warnings.append(f"{part}: inertia {flat}; taken as it is")
    return warnings


def _check_actuators(model: Model, new: Mapping[str, np.ndarray]) -> None:
    """Refuse what a description of the actuator would not be read with."""
    gear = {f"gear.{key}": number for key, number in GEAR.items()}
    for x in model.actuators:
        for key, number in {**KINDS[x.kind], **gear}.items():
            fits, advice = RULES[number.rule]
            values = np.ravel(new.get(f"{x.name}.{key}", ())).tolist()
            if wrong := [value for value in values if not fits(value)]:
                raise InputError(
                    f"{model.name}: parameters: {x.name}.{key} is {wrong[0]:g}; {advice}",
                    parameter=f"{x.name}.{key}",
                )


def _check_frictions(model: Model, new: Mapping[str, np.ndarray]) -> None:
    """Refuse negative numbers of friction, and a static level below that of sliding."""
    for x in (*model.frictions, *model.surfaces):
        own = {key: new[name] for key in x.numbers if (name := f"{x.name}.{key}") in new}
        for key, values in own.items():
            if key in EFFICIENCIES:
                _check_efficiency(model, f"{x.name}.{key}", key, values)
                continue
            least = 0.0 if key not in POSITIVE else np.nextafter(0.0, 1.0)
            if (values < least).any():
                raise InputError(
                    f"{model.name}: parameters: {x.name}.{key} is {values.min():g}; it is "
                    f"{'above zero' if least else 'zero or above'}",
                    parameter=f"{x.name}.{key}",
                )
        for key in ("level", "mu"):
            moving, static = ({**x.numbers, **own}.get(name) for name in (key, f"{key}_static"))
            if own and static is not None and np.any(static < moving):
                raise InputError(
                    f"{model.name}: parameters: {x.name}.{key}_static is below {x.name}.{key}; it takes at least as "
                    "much to leave rest as to slide",
                    parameter=f"{x.name}.{key}_static",
                )


def _check_efficiency(model: Model, name: str, key: str, values: np.ndarray) -> None:
    """Refuse an efficiency above one, and one of zero or less where the motor drives."""
    for value in np.ravel(values).tolist():
        if trouble := efficiency_trouble(key, value):
            raise InputError(f"{model.name}: parameters: {name} is {value:g}; {trouble}", parameter=name)


def _tensors(model: Model, link: str, new: Mapping[str, np.ndarray]) -> np.ndarray:
    """All tensors of a link (n, 3, 3), in its axes."""
    own = own_inertia(model, link).I
    values = {place: new.get(f"{link}.inertia.{x}") for x, place in TENSOR.items()}
    columns = np.broadcast_arrays(*(own[place] if x is None else x for place, x in values.items()))
    I = np.zeros((*columns[0].shape, 3, 3))
    for place, column in zip(values, columns, strict=True):
        I[..., *place] = I[..., *place[::-1]] = column
    return I.reshape(-1, 3, 3)


def _worst(tensors: np.ndarray, reality: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The tensor of which `reality`, a function of its principal moments J (n, 3), is the smallest part of its size."""
    J = np.linalg.eigvalsh(tensors)
    size = np.maximum(np.abs(J).max(axis=-1), 1e-300)
    return tensors[np.argmin(reality(J) / size)]
