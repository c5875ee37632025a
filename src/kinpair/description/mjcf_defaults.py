"""The <default> classes of an MJCF file: attributes that elements have unless they say otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from kinpair.description.mjcf_schema import ACTUATORS, OTHER_ACTUATORS
from kinpair.description.mjcf_xml import Tag

Attributes: TypeAlias = Mapping[str, str]
Class: TypeAlias = Mapping[str, Attributes]  # element: its attributes

MAIN = "main"
_TAKEN = ("joint", "geom", "site", "mesh", "tendon", "equality")
_TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
_PARTIAL = ("size",)  # a shorter list overrides the first numbers only


class Actuating(NamedTuple):
    """Elements that say one after another what an actuator is, and the last one with the attributes of all."""

    elements: tuple[Tag, ...]
    tag: Tag


@dataclass(frozen=True, slots=True)
class Defaults:
    """Classes by name; the first is that of elements without a class."""

    classes: Mapping[str, Class]
    actuators: Mapping[str, tuple[Tag, ...]]  # elements about actuators in a class and around it, in order
    main: str = MAIN

    def of(self, tag: Tag, child_class: str, element: str = "") -> Tag:
        """The element with the attributes of its class; `child_class` is what its body says about a class."""
        name = tag.text("class") or child_class or self.main
        if name not in self.classes:
            raise tag.unknown("class", name, self.classes)
        inherited = self.classes[name].get(element or tag.name, {})
        return tag.over(merged(inherited, tag.attributes))

    def actuator(self, tag: Tag) -> Actuating:
        """An actuator with what its class says before it."""
        name = tag.text("class") or self.main
        if name not in self.actuators:
            raise tag.unknown("class", name, self.classes)
        elements = (*self.actuators[name], tag)
        attributes = {key: text for element in elements for key, text in element.attributes.items()}
        return Actuating(elements, tag.over(attributes))

    def named(self, tag: Tag, child_class: str) -> str:
        """The class that a body or frame gives to what is inside it."""
        name = tag.text("childclass")
        if name and name not in self.classes:
            raise tag.unknown("class", name, self.classes)
        return name or child_class


def merged(inherited: Attributes, own: Attributes) -> dict[str, str]:
    """Attributes of a class below those of an element or a class inside it."""
    turned = any(turn in own for turn in _TURNS)
    kept = {name: text for name, text in inherited.items() if not (turned and name in _TURNS)}
    for name in _PARTIAL:
        if name in kept and name in own:
            first = own[name].split()
            own = {**own, name: " ".join([*first, *kept[name].split()[len(first) :]])}
    return {**kept, **own}


def defaults(root: Tag) -> Defaults:
    """The classes of all <default> sections."""
    classes: dict[str, Class] = {}
    actuators: dict[str, tuple[Tag, ...]] = {}
    main = next((name for tag in root.each("default") if (name := tag.text("class"))), MAIN)
    classes[main], actuators[main] = {}, ()
    for tag in root.each("default"):
        if tag.text("class", main) != main:
            raise tag.error(f"is the class {tag.text('class')!r}, but the outermost one is {main!r} already")
        _add(tag, main, classes[main], classes)
        _add_actuators(tag, main, actuators[main], actuators)
    return Defaults(MappingProxyType(classes), MappingProxyType(actuators), main)


def _add(tag: Tag, name: str, inherited: Class, classes: dict[str, Class]) -> None:
    """A class and those inside it, which inherit from it."""
    own = {child.name: child.known() for child in tag.each(*_TAKEN)}
    classes[name] = {
        **inherited,
        **{element: merged(inherited.get(element, {}), child.attributes) for element, child in own.items()},
    }
    for inner in tag.each("default"):
        called = inner.text("class")
        if not called:
            raise inner.error('has no class; a <default> inside another is <default class="...">')
        if called in classes:
            raise inner.error(
                f"is the class {called!r}, which exists already; rename one of them", name=called
            )
        _add(inner, called, classes[name], classes)


def _add_actuators(
    tag: Tag, name: str, inherited: tuple[Tag, ...], classes: dict[str, tuple[Tag, ...]]
) -> None:
    """Add what a class and classes inside it say about actuators."""
    own = (
        child.known() if child.name in ACTUATORS else child
        for child in tag.each(*ACTUATORS, *OTHER_ACTUATORS)
    )
    classes[name] = (*inherited, *own)
    for inner in tag.each("default"):
        _add_actuators(inner, inner.text("class"), classes[name], classes)
