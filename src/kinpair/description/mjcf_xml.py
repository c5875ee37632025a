"""The XML of an MJCF file: elements as plain data, included files in place, and the numbers and words in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from kinpair.description.doubts import Doubts
from kinpair.description.mjcf_schema import ATTRIBUTES
from kinpair.description.parts import Numbers
from kinpair.description.text import read_text
from kinpair.description.urdf_xml import finite, root_element
from kinpair.errors import DescriptionError, listed, nearest

T = TypeVar("T")
LARGEST = 1e30  # beyond it, squares and products of sizes would overflow
YES_NO = {"true": True, "false": False}
_PLURALS = {"body": "bodies", "class": "classes", "joint": "joints", "mesh": "meshes", "site": "sites"}


@dataclass(frozen=True, slots=True)
class Tag:
    """An element of the file: `name`, what is written in it, what stands inside; `part` is what it belongs to."""

    name: str
    attributes: Mapping[str, str]
    inside: tuple[Tag, ...]
    where: str
    doubts: Doubts
    part: str = ""

    def called(self, part: str) -> Tag:
        """The same element and all inside it, as belonging to this part."""
        return replace(self, part=part)

    def over(self, attributes: Mapping[str, str]) -> Tag:
        """The same element with these attributes."""
        return replace(self, attributes=attributes)

    def known(self) -> Tag:
        """The same element; a doubt about each attribute that has no meaning in it."""
        names = ATTRIBUTES[self.name]
        for attribute in self.attributes:
            if attribute not in names:
                self.doubt(f"has the unknown attribute {attribute!r}; {nearest(attribute, names)}left out")
        return self

    def each(self, *names: str) -> list[Tag]:
        """The elements of these names directly inside."""
        return [tag for tag in self.inside if tag.name in names]

    def has(self, attribute: str) -> bool:
        """Whether an attribute is written."""
        return attribute in self.attributes

    def text(self, attribute: str, default: str = "") -> str:
        """What an attribute says."""
        return self.attributes.get(attribute, default)

    def word(self, attribute: str, meanings: Mapping[str, T], default: str) -> T:
        """What the word of an attribute means, of a few that it may be."""
        written = self.text(attribute, default)
        if written not in meanings:
            known = listed(meanings)
            raise self.error(f"has {self._shown(attribute)}; {nearest(written, meanings)}Known: {known}")
        return meanings[written]

    def number(self, attribute: str, default: float) -> float:
        """The one number of an attribute."""
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
                f"has {self._shown(attribute)}: {len(values)} numbers, where {wanted} would do",
                attribute=attribute,
            )
        return values + default[len(values) :]

    def values(self, attribute: str) -> Numbers:
        """All the numbers of an attribute, however many."""
        return tuple(self._value(attribute, word) for word in self.text(attribute).split())

    def error(self, sentence: str, **parts: object) -> DescriptionError:
        """An error about this element, to be raised."""
        return DescriptionError(self._says(sentence), part=self.part, **parts)

    def doubt(self, sentence: str, **parts: object) -> None:
        """A doubt about this element."""
        self.doubts.add(self._says(sentence), part=self.part, **parts)

    def doubt_once(self, sentence: str) -> None:
        """A doubt about the first element that the sentence is true of; others like it go unsaid."""
        if not any(said.endswith(sentence) for said in self.doubts.sentences):
            self.doubt(sentence)

    def unknown(self, what: str, name: str, names: Iterable[str]) -> DescriptionError:
        """An error about a name that means nothing, to be raised."""
        every = list(names)
        there = f"{_PLURALS[what].capitalize()}: {listed(every)}" if every else f"there is no {what} at all"
        return self.error(
            f"names the {what} {name!r}, which does not exist; {nearest(name, every)}{there}", name=name
        )

    def _says(self, sentence: str) -> str:
        return f"{self.where}: {self.part or f'<{self.name}>'} {sentence}"

    def _value(self, attribute: str, word: str) -> float:
        if (value := finite(word)) is None or abs(value) > LARGEST:
            raise self.error(
                f"has {self._shown(attribute)}: {word[:60]!r} is no number of a sensible size; write a plain one",
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
    doubts: Doubts
    included: set[Path] = field(default_factory=set[Path])

    def tag(self, element: Any, source: str) -> Tag:
        """An element and all inside it."""
        name = element.tag.rpartition("}")[2]
        where = f"{source}:{element.sourceline}"
        inside = tuple(tag for child in element for tag in self._tags(child, source))
        return Tag(name, dict(element.attrib), inside, where, self.doubts)

    def _tags(self, element: Any, source: str) -> Iterator[Tag]:
        if element.tag.rpartition("}")[2] != "include":
            yield self.tag(element, source)
            return
        tag = Tag("include", dict(element.attrib), (), f"{source}:{element.sourceline}", self.doubts)
        path = self._included(tag)
        if path in self.included:
            raise tag.error(f"takes in the file {tag.text('file')!r} a second time; once is all there can be")
        self.included.add(path)
        for child in root_element(read_text(path), str(path), "MJCF"):
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


def mjcf_element(text: str, source: str, folder: Path | None, doubts: Doubts) -> Tag:
    """The <mujoco> element of a text; files that it includes are sought from `folder`."""
    root = _Reader(folder, doubts).tag(root_element(text, source, "MJCF"), source)
    if root.name != "mujoco":
        raise DescriptionError(
            f"{root.where}: is not MJCF: its root is <{root.name}>, and should be <mujoco>", found=root.name
        )
    return root


def is_mjcf(text: str, source: str) -> bool:
    """Whether the root of an XML text is <mujoco>."""
    return root_element(text, source, "XML").tag.rpartition("}")[2] == "mujoco"
