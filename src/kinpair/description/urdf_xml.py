"""The XML of a URDF file: no document type, no entities, nothing fetched; and the numbers in it.

Start of an XML file: harmless slips that a strict parser refuses are corrected, each with a warning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from xml.parsers import expat

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]

from kinpair.description.fields import counted
from kinpair.description.mjcf_schema import wrong_root
from kinpair.description.parts import Numbers, Shape
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError

_START = re.compile(r"(?P<space>[ \t\r\n\ufeff]*)(?P<declaration><\?xml\s[^>]*\?>)")
_VERSION = re.compile(r"""(?<=version)\s*=\s*["'](?P<version>[^"']*)["']""")


def declaration_line(text: str) -> int:
    """The line on which the first thing of a text stands."""
    return 1 + text[: len(text) - len(text.lstrip("\ufeff \t\r\n"))].count("\n")


def mended_start(text: str, source: str, warnings: WarningList) -> str:
    """Return the text with <?xml ...?> at its very start and of version 1.0; every element stays on its line."""
    start = _START.match(text)
    if start is None:
        return text
    where = f"{source}:{declaration_line(text)}"
    space, declaration = start["space"], start["declaration"]
    if space.strip("\ufeff") or space.count("\ufeff") > 1:
        warnings.add(
            f"{where}: has space before <?xml ...?>, which belongs at the very start of a file; read without it"
        )
    written = _VERSION.search(declaration)
    if written and written["version"] != "1.0":
        warnings.add(f"{where}: declares XML of version {written['version'][:20]!r}; read as 1.0")
        declaration = f'{declaration[: written.start()]}="1.0"{declaration[written.end() :]}'
    return declaration + space.replace("\ufeff", "") + text[start.end() :]


_UTF8 = {"utf-8", "utf8", "us-ascii", "ascii"}
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_OTHER_ROOTS = {
    "mujoco": "is MJCF (its root is <mujoco>), not URDF; give its name the ending .xml",
    "sdf": "is SDF (its root is <sdf>), not URDF; give its name the ending .sdf",
}


class _PrologEndsError(Exception):
    """The root element begins: a document type can no longer follow."""


def robot_element(text: str, source: str, warnings: WarningList) -> Any:
    """The <robot> element of a URDF text, or an error that says what the text is instead."""
    root = root_element(text, source, "URDF", warnings)
    if (macro := next(filter(_is_xacro, root.iter()), None)) is not None:
        raise DescriptionError(
            f"{source}:{macro.sourceline}: is a xacro file (found <{_name(macro)}>), not URDF; "
            "give its name the ending .xacro",
            found=_name(macro),
        )
    if (name := _name(root)) != "robot":
        either = source.lower().endswith(".xml")  # an ending that both have
        form = ("URDF or MJCF", "robot> or <mujoco") if either else ("URDF", "robot")
        reason = _OTHER_ROOTS.get(name) or wrong_root(name, *form)
        raise DescriptionError(f"{source}:{root.sourceline}: {reason}", found=name)
    return root


def root_element(text: str, source: str, form: str, warnings: WarningList) -> Any:
    """The root element of an XML text in this form of description; anything dangerous in it is refused."""
    raw = mended_start(text, source, warnings).encode("utf-8", "surrogatepass")
    _check_prolog(raw, source, form, declaration_line(text))
    return _parse(raw, source)


def finite(word: str) -> float | None:
    """The number that a word is, if it is a plain finite one."""
    return value if _NUMBER.fullmatch(word) and math.isfinite(value := float(word)) else None


def _check_prolog(raw: bytes, source: str, form: str, line: int) -> None:
    """Refuse a document type or a foreign encoding before any of it is acted on."""
    parser = expat.ParserCreate("UTF-8")
    parser.XmlDeclHandler = _check_encoding(f"{source}:{line}")
    parser.StartDoctypeDeclHandler = lambda *_: _refuse_doctype(f"{source}:{parser.CurrentLineNumber}", form)
    parser.StartElementHandler = _end_prolog
    try:
        parser.Parse(raw, True)
    except _PrologEndsError:
        return
    except expat.ExpatError as reason:
        raise not_xml(source, reason.lineno, expat.ErrorString(reason.code)) from None


def _check_encoding(where: str) -> Callable[[str, str | None, int], None]:
    def check(version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _UTF8:
            raise DescriptionError(
                f"{where}: declares the encoding {encoding!r}; save it as UTF-8 and declare that",
                found=encoding,
            )

    return check


def _refuse_doctype(where: str, form: str) -> None:
    raise DescriptionError(
        f"{where}: has a document type (<!DOCTYPE>), which could pull in other files or grow without bound; "
        f"{form} needs none, delete it",
        found="<!DOCTYPE>",
    )


def _end_prolog(name: str, attributes: dict[str, str]) -> None:
    raise _PrologEndsError


def _parse(raw: bytes, source: str) -> Any:
    """The root element. Prefixes that nobody declared are let through, as other readers do."""
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        recover=True,
    )
    root = etree.fromstring(raw, parser)
    for reason in parser.error_log:
        if reason.type != etree.ErrorTypes.NS_ERR_UNDEFINED_NAMESPACE:
            raise not_xml(source, reason.line, reason.message)
    return root


def not_xml(source: str, line: int, reason: str) -> DescriptionError:
    """Return an error about a text that is not well-formed, to be raised."""
    if reason.startswith("Excessive depth"):
        return DescriptionError(
            f"{source}:{line}: elements are nested deeper than the XML parser accepts (256 levels); describe this "
            "chain of bodies in URDF, by [[chain]] in TOML, or by Builder.chain",
            line=line,
            reason=reason,
        )
    message = f"{source}:{line}: is not well-formed XML ({' '.join(reason.split())}); correct it there"
    return DescriptionError(message, line=line, reason=reason)


def _name(element: Any) -> str:
    """The name as written; a default namespace changes nothing."""
    local = element.tag.rpartition("}")[2]
    return f"{element.prefix}:{local}" if element.prefix else local


def _is_xacro(element: Any) -> bool:
    return "xacro" in element.tag.rpartition("}")[0] or _name(element).startswith("xacro:")


@dataclass(frozen=True, slots=True)
class Node:
    """An element of the file that belongs to `part` ("link 'arm'") of the robot."""

    element: Any
    source: str
    warnings: WarningList
    part: str = ""

    @property
    def name(self) -> str:
        """The name of the element."""
        return _name(self.element)

    @property
    def where(self) -> str:
        """Place of the node, "file:line"."""
        return f"{self.source}:{self.element.sourceline}"

    def of(self, part: str) -> Node:
        """Return the element as belonging to this part."""
        return replace(self, part=part)

    def each(self, name: str | None = None) -> list[Node]:
        """The elements of this name (or all) directly inside."""
        return [replace(self, element=e) for e in self.element if name in (None, _name(e))]

    def first(self, name: str) -> Node | None:
        """The first element of this name directly inside; a second one is doubtful."""
        nodes = self.each(name)
        if len(nodes) > 1:
            nodes[1].warn(f"has {len(nodes)} <{name}>; the first is taken, from {nodes[0].where}")
        return nodes[0] if nodes else None

    def has(self, attribute: str) -> bool:
        """True if an attribute is written, be it empty."""
        return attribute in self.element.attrib

    def text(self, attribute: str) -> str:
        """Text of an attribute; nothing, if it is not there."""
        return self.element.get(attribute, "")

    @property
    def content(self) -> str:
        """The text between the start and the end of the element."""
        return (self.element.text or "").strip()

    def content_numbers(self, count: int) -> Numbers:
        """The numbers between the start and the end of the element, exactly `count`."""
        written = " ".join(self.content.split())
        return self._parsed(written, f"<{self.name}>{_cut(written)}</{self.name}>", count)

    def number(self, attribute: str, default: float) -> float:
        """Number of an attribute."""
        return self.numbers(attribute, 1, (default,))[0]

    def numbers(self, attribute: str, count: int, default: Numbers = ()) -> Numbers:
        """The numbers of an attribute, exactly `count`, or the default if it is not there."""
        written = self.element.get(attribute)
        if written is None:
            return default
        return self._parsed(written, self._shown(attribute), count, attribute=attribute)

    def _parsed(self, written: str, shown: str, count: int, **parts: object) -> Numbers:
        words = written.replace(",", " ").split()
        values = tuple(self._value(word, shown, **parts) for word in words)
        if len(values) != count:
            raise self.error(
                f"has {shown}: {counted(len(values), 'number')}; expected {count}", **parts, found=written
            )
        if "," in written:
            self.warn(f"has {shown}: read as {' '.join(words)}", **parts)
        return values

    def error(self, sentence: str, **parts: object) -> DescriptionError:
        """An error about this part, to be raised."""
        return DescriptionError(f"{self.where}: {self.part} {sentence}", part=self.part, **parts)

    def warn(self, sentence: str, **parts: object) -> None:
        """Warn about this part."""
        self.warnings.add(f"{self.where}: {self.part} {sentence}", part=self.part, **parts)

    def _value(self, word: str, shown: str, **parts: object) -> float:
        if (value := finite(word)) is not None:
            return value
        remedy = "run xacro on the file" if "${" in word else "write a plain finite number in SI units"
        raise self.error(
            f"has {shown}: {_cut(word)!r} is not a number; {remedy}",
            **parts,
            found=word,
        )

    def _shown(self, attribute: str) -> str:
        return f'<{self.name} {attribute}="{_cut(self.text(attribute))}">'


def drawn(visual: Node, shape: Callable[[Node], Shape | None]) -> Shape | None:
    """Return the shape of a <visual>. Whatever is wrong with it is a warning: the dynamics do not depend on it."""
    try:
        return shape(visual)
    except DescriptionError as reason:
        if visual.warnings.strict:
            raise
        return visual.warnings.add(f"{reason}; left undrawn", **reason.parts)


def colour_of(text: str) -> Numbers:
    """Return the numbers of a colour, between 0 and 1; nothing if a word is not a number."""
    values = [finite(word) for word in text.split()]
    return tuple(min(max(x, 0.0), 1.0) for x in values if x is not None) if None not in values else ()


def _cut(text: str, length: int = 60) -> str:
    return text if len(text) <= length else f"{text[:length]}..."
