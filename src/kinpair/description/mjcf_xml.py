"""The XML of an MJCF file: elements as plain data, included files in place, the numbers and words in them, and the
attributes that the <default> classes give to elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from kinpair.description.fields import counted
from kinpair.description.files import read_text
from kinpair.description.mjcf_schema import ACTUATORS, ATTRIBUTES, OTHER_ACTUATORS, wrong_root
from kinpair.description.parts import Numbers
from kinpair.description.urdf_xml import finite, root_element
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, listed, nearest

T = TypeVar("T")
LARGEST = 1e30  # beyond it, squares and products of sizes would overflow
YES_NO = {"true": True, "false": False}
_PLURALS = {"body": "bodies", "class": "classes", "mesh": "meshes"}


@dataclass(frozen=True, slots=True)
class Tag:
    """An element of the file: `name`, what is written in it, what stands inside; `part` is what it belongs to."""

    name: str
    attributes: Mapping[str, str]
    inside: tuple[Tag, ...]
    where: str
    warnings: WarningList
    part: str = ""

    def called(self, part: str) -> Tag:
        """Return the element and all inside it, as belonging to this part."""
        return replace(self, part=part)

    def over(self, attributes: Mapping[str, str]) -> Tag:
        """Return the element with these attributes."""
        return replace(self, attributes=attributes)

    def known(self) -> Tag:
        """Return the element; a warning about each attribute that has no meaning in it."""
        names = ATTRIBUTES[self.name]
        for attribute in self.attributes:
            if attribute not in names:
                self.warn(f"has the unknown attribute {attribute!r}; {nearest(attribute, names)}left out")
        return self

    def each(self, *names: str) -> list[Tag]:
        """The elements of these names directly inside."""
        return [tag for tag in self.inside if tag.name in names]

    def has(self, attribute: str) -> bool:
        """True if an attribute is written."""
        return attribute in self.attributes

    def text(self, attribute: str, default: str = "") -> str:
        """Text of an attribute."""
        return self.attributes.get(attribute, default)

    def word(self, attribute: str, meanings: Mapping[str, T], default: str) -> T:
        """Meaning of the word of an attribute, of a few that it may be."""
        written = self.text(attribute, default)
        if written not in meanings:
            known = listed(meanings)
            raise self.error(f"has {self._shown(attribute)}; {nearest(written, meanings)}Known: {known}")
        return meanings[written]

    def number(self, attribute: str, default: float) -> float:
        """Number of an attribute."""
        return self.numbers(attribute, 1, default=(default,))[0]

    def numbers(self, attribute: str, least: int, most: int | None = None, default: Numbers = ()) -> Numbers:
        """The numbers of an attribute, at least and at most so many; the default fills up what is not given."""
        most = most or least
        if not self.has(attribute):
            return default
        values = self.values(attribute)
        if not least <= len(values) <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise self.error(
                f"has {self._shown(attribute)}: {counted(len(values), 'number')}; expected {wanted}",
                attribute=attribute,
            )
        return values + default[len(values) :]

    def values(self, attribute: str) -> Numbers:
        """All the numbers of an attribute, however many."""
        return tuple(self._value(attribute, word) for word in self.text(attribute).split())

    def error(self, sentence: str, **parts: object) -> DescriptionError:
        """An error about this element, to be raised."""
        return DescriptionError(self._says(sentence), part=self.part, **parts)

    def warn(self, sentence: str, **parts: object) -> None:
        """Warn about this element."""
        self.warnings.add(self._says(sentence), part=self.part, **parts)

    def lead(self, sentence: str, **parts: object) -> None:
        """Warn about this element before all others."""
        self.warnings.lead(self._says(sentence), part=self.part, **parts)

    def warn_once(self, sentence: str) -> None:
        """Warn about the first element that the sentence is true of; others like it go unsaid."""
        if not any(known.endswith(sentence) for known in self.warnings.sentences):
            self.warn(sentence)

    def note_once(self, sentence: str) -> None:
        """Report the first element that the sentence is true of, never as an error."""
        if not any(known.endswith(sentence) for known in self.warnings.sentences):
            self.warnings.note(self._says(sentence))

    def unknown(self, what: str, name: str, names: Iterable[str]) -> DescriptionError:
        """An error about a name that means nothing, to be raised."""
        every = list(names)
        plural = _PLURALS.get(what, f"{what}s").capitalize()
        there = f"{plural}: {listed(every)}" if every else f"there is no {what} at all"
        return self.error(
            f"names the {what} {name!r}, which does not exist; {nearest(name, every)}{there}", name=name
        )

    def _says(self, sentence: str) -> str:
        return f"{self.where}: {self.part or f'<{self.name}>'} {sentence}"

    def _value(self, attribute: str, word: str) -> float:
        if (value := finite(word)) is None or abs(value) > LARGEST:
            raise self.error(
                f"has {self._shown(attribute)}: {word[:60]!r} is not a number of a sensible size; write a plain number",
                attribute=attribute,
                found=word,
            )
        return value

    def _shown(self, attribute: str) -> str:
        written = self.text(attribute)
        return f'<{self.name} {attribute}="{written[:60]}{"..." * (len(written) > 60)}">'


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns elements into tags; a file is included at most once."""

    folder: Path | None
    warnings: WarningList
    included: set[Path] = field(default_factory=set[Path])

    def tag(self, element: Any, source: str) -> Tag:
        """An element and all inside it."""
        where = f"{source}:{element.sourceline}"
        inside = tuple(tag for child in element for tag in self._tags(child, source))
        return Tag(_name(element), dict(element.attrib), inside, where, self.warnings)

    def _tags(self, element: Any, source: str) -> Iterator[Tag]:
        if _name(element) != "include":
            yield self.tag(element, source)
            return
        tag = Tag("include", dict(element.attrib), (), f"{source}:{element.sourceline}", self.warnings)
        path = self._included(tag)
        if path in self.included:
            raise tag.error(f"takes in the file {tag.text('file')!r} a second time; once is all there can be")
        self.included.add(path)
        for child in root_element(read_text(path), str(path), "MJCF", self.warnings):
            yield from self._tags(child, str(path))

    def _included(self, tag: Tag) -> Path:
        """The file of an <include>, which is sought from the folder of the main file."""
        if not tag.text("file"):
            raise tag.error('names no file; write <include file="..."/>')
        if self.folder is None:
            raise tag.error(f"takes in {tag.text('file')!r}, but this text lies in no folder; load a file")
        path = self.folder / tag.text("file")
        if not path.is_file():
            raise tag.error(f"takes in the file {str(path)!r}, which is not there", path=str(path))
        return path


def mjcf_element(text: str, source: str, folder: Path | None, warnings: WarningList) -> Tag:
    """The <mujoco> element of a text; files that it includes are sought from `folder`."""
    root = root_element(text, source, "MJCF", warnings)
    if (name := _name(root)) != "mujoco":
        reason = wrong_root(name, "MJCF", "mujoco")
        raise DescriptionError(f"{source}:{root.sourceline}: {reason}", found=name)
    return _Reader(folder, warnings).tag(root, source)


def is_mjcf(text: str, source: str) -> bool:
    """True if the root of an XML text is <mujoco>."""
    return _name(root_element(text, source, "XML", WarningList())) == "mujoco"


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2]


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
