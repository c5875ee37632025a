"""Reading xacro: macros are expanded without ROS, then the result is read as URDF or SDF.

xacro evaluates expressions of the file: a .xacro file is code. `$(find package)` is resolved by the search for packages
of this library. Every file that is read, included ones too, is checked as XML files are: no document type.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import threading
from collections.abc import Generator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any
from xml.dom import expatbuilder, minidom
from xml.parsers import expat

from kinpair.description.files import Files, read_text
from kinpair.description.parts import Description
from kinpair.description.sdf import parse_sdf
from kinpair.description.urdf import parse_urdf
from kinpair.description.urdf_xml import not_xml, root_element
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, InputError, MissingExtraError, installs, listed, nearest

_ONE_AT_A_TIME = threading.Lock()  # xacro keeps what it reads in its module
_PACKAGE = re.compile(r"package:/+(.+)")
_MACRO = re.compile(r"""<xacro:macro\s[^>]*?name\s*=\s*["']([^"']+)""")
_UNDEFINED = re.compile(r"Undefined substitution argument\W+(\w+)")


def read_xacro(
    path: str | os.PathLike[str],
    *,
    warnings: WarningList,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    arguments: Mapping[str, Any] | None = None,
    contacts: bool = False,
) -> Description:
    """The mechanism in a xacro file; `arguments` are the values of <xacro:arg>."""
    folder = Path(path).absolute().parent
    text = expanded(path, Files(folder, packages or {}), arguments or {}, warnings)
    parse = parse_sdf if "<sdf" in text[:2000] else partial(parse_urdf, contacts=contacts)
    description = parse(
        text, source=f"{os.fspath(path)} (expanded)", warnings=warnings, folder=folder, packages=packages
    )
    if not description.links:
        raise _without_links(os.fspath(path))
    return description


def _without_links(path: str) -> DescriptionError:
    """Return a sentence about a file that has no link after expansion; most such files only define macros."""
    text = read_text(path)
    macros = _MACRO.findall(text)
    uncalled = f" it defines {listed(map(repr, macros))}; load the file that calls them" if macros else ""
    return DescriptionError(
        f"{path}:{_line(text, '<robot')}: <robot> has no link after expansion;{uncalled or ' write one'}",
        macros=macros,
    )


def _line(text: str, part: str) -> int:
    """Return the line in which a part of a text first stands; 1 if it is not there."""
    return text[: max(text.find(part), 0)].count("\n") + 1


def expanded(
    path: str | os.PathLike[str], files: Files, arguments: Mapping[str, Any], warnings: WarningList
) -> str:
    """Return the XML text that xacro makes of a file."""
    read_text(path)  # a sentence if there is no such file
    values = _Arguments({str(name): _word(name, value) for name, value in arguments.items()})
    with _ONE_AT_A_TIME, _hooked(files, warnings) as xacro, contextlib.redirect_stderr(io.StringIO()):
        try:
            text = xacro.process_file(os.fspath(path), mappings=values).toprettyxml(indent="  ")
        except DescriptionError:
            raise
        except Exception as reason:
            raise _explained(os.fspath(path), reason, xacro.filestack) from None
    if unused := sorted({*arguments} - values.known):
        raise InputError(
            f"{os.fspath(path)}: has no argument {unused[0]!r}; {nearest(unused[0], values.known)}"
            f"Arguments: {listed(sorted(values.known)) or 'none'}",
            argument=unused[0],
        )
    return text


class _Arguments(dict[str, str]):
    """Values of <xacro:arg>, and the names that the files ask for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.known = set[str]()

    def __contains__(self, name: object) -> bool:
        self.known.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.known.add(name)
        return super().__getitem__(name)


def _missing(name: str, including: str) -> DescriptionError:
    """Return a sentence about an included file that is not there, with the line of its <xacro:include>."""
    line = _line(read_text(including), Path(name).name) if including else 1
    return DescriptionError(
        f"{including}:{line}: <xacro:include> takes in {name!r}, which is not there; correct its filename, "
        "or give packages={name: folder}",
        path=name,
    )


def _word(name: object, value: Any) -> str:
    if not isinstance(value, (str, int, float, bool)):
        raise InputError(f"arguments[{name!r}] is {value!r}; give a number or a text", argument=name)
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Lines(expatbuilder.ExpatBuilderNS):
    """Builder of a document whose elements have the line on which they begin."""

    def start_element_handler(self, name: Any, attributes: Any) -> None:
        """Begin an element."""
        super().start_element_handler(name, attributes)
        self.curNode.line = self._parser.CurrentLineNumber  # pyright: ignore[reportAttributeAccessIssue]


def _explained(path: str, reason: Exception, stack: Any) -> DescriptionError:
    """Return one sentence about what xacro did not like, with the file and the line it was in."""
    where = next((x for x in reversed(stack or []) if x), path)
    if line := _line_of(reason.__traceback__):
        where = f"{where}:{line}"
    if isinstance(reason, RecursionError):
        return DescriptionError(
            f"{where}: macros or included files call themselves without end; end them by <xacro:if>",
            path=path,
        )
    if missing := _UNDEFINED.search(str(reason)):
        name = missing[1]
        return DescriptionError(
            f"{where}: needs the argument {name!r}; give arguments={{{name!r}: value}}, or a default in "
            f'<xacro:arg name="{name}" default="..."/>',
            argument=name,
        )
    root, suffix = reason, ""
    while inner := getattr(root, "exc", None):  # an exception of xacro around another one
        root, suffix = inner, getattr(root, "suffix", "") or suffix
    message = " ".join(f"{root} {suffix}".split()).rstrip(".") or type(root).__name__
    return DescriptionError(
        f"{where}: {'' if isinstance(root, DescriptionError) else 'xacro: '}{message}", path=path
    )


def _line_of(trace: TracebackType | None) -> int:
    """Return the line of the innermost element that xacro was in; 0 if there is none."""
    line = 0
    while trace:
        for name in ("node", "elt"):
            line = getattr(trace.tb_frame.f_locals.get(name), "line", line)
        trace = trace.tb_next
    return line


@contextlib.contextmanager
def _hooked(files: Files, warnings: WarningList) -> Generator[Any]:
    """Provide xacro with our search for packages and our check of XML; both are undone afterwards."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError:
        raise MissingExtraError(f"xacro files need xacro; {installs('formats')}", extra="formats") from None

    def find(name: str) -> str:
        folder = next(iter(files.package(name)), None)
        if folder is None:
            raise DescriptionError(
                f"$(find {name}): there is no such package above the file or in ROS_PACKAGE_PATH; "
                f"give packages={{{name!r}: folder}}",
                package=name,
            )
        return str(folder)

    def parse(text: Any, filename: str | None = None) -> Any:
        if text is not None:
            return minidom.parseString(text) if isinstance(text, str) else text
        name = filename or ""
        if uri := _PACKAGE.search(name):  # xacro takes it for a path
            name = f"package://{uri[1]}"
            name = str(files.find(name) or name)
        if not Path(name).is_file():
            raise _missing(
                name, next((x for x in reversed(xacro.filestack or []) if x and x != filename), "")
            )
        content = read_text(name)
        root_element(content, name, "xacro", warnings)
        try:
            return _Lines().parseString(content)
        except expat.ExpatError as reason:
            raise not_xml(name, reason.lineno, expat.ErrorString(reason.code)) from None

    hooks: dict[tuple[Any, str], Any] = {(substitution_args, "_eval_find"): find, (xacro, "parse"): parse}
    before = [(module, name, getattr(module, name)) for module, name in hooks]
    try:
        for (module, name), hook in hooks.items():
            setattr(module, name, hook)
        yield xacro
    finally:
        for module, name, original in before:
            setattr(module, name, original)
