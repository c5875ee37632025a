"""Files of descriptions: the one that a name means (package://, model://, file:// or a plain path), and its text, or a
sentence that says why not.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from reprlib import repr as shown
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kinpair.errors import DescriptionError, InputError

if TYPE_CHECKING:
    from kinpair.description.parts import Link
    from kinpair.description.warning_list import WarningList


def file_path(path: Any, call: str, otherwise: str = "") -> Path:
    """Return an argument of `call` as a path; raise InputError if it is not one. `otherwise`: the remedy to name."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{call} takes the path of a file, not {shown(path)}{otherwise}", argument="path")
    return Path(path)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a description file."""
    file = Path(path)
    if "\0" in str(file):
        raise DescriptionError(f"{str(file)!r} is not the name of a file", path=str(file))
    if file.is_dir():
        raise DescriptionError(f"{file}: is a directory; give the file in it", path=str(file))
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise DescriptionError(f"{file}: no such file", path=str(file)) from None
    except OSError as reason:
        raise DescriptionError(f"{file}: cannot be read ({reason.strerror})", path=str(file)) from None


def read_text(path: str | os.PathLike[str]) -> str:
    """The UTF-8 text of a description file."""
    file, raw = Path(path), read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        raise DescriptionError(
            f"{file}:{line}: is not UTF-8 text (byte 0x{raw[reason.start]:02x}); save it as UTF-8",
            path=str(file),
        ) from None
    if not text.strip():
        raise DescriptionError(f"{file}: is empty", path=str(file))
    return text


_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def toml_table(text: str, source: str) -> dict[str, object]:
    """The keys of a TOML text; `source` is its name in messages."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as reason:
        match = _AT.search(str(reason))
        line = match[1] or str(text.count("\n") + 1) if match else ""
        trouble = _AT.sub("", str(reason))
        raise DescriptionError(
            f"{source}{':' if line else ''}{line}: is not TOML: {trouble}", path=source, line=line
        ) from None


_IN_PACKAGES = ("package:", "model:")
_HINT = ", packages={name: folder} says where a package is"
_PACKAGE_NAME = re.compile(r"<name>\s*([^<\s]+)\s*</name>")
_DRIVE = re.compile(r"^/(?=[A-Za-z]:)")  # file:///C:/mesh.stl


@dataclass(frozen=True, slots=True)
class Files:
    """Looks files up for a description that lies in `folder`; `packages` says where packages are."""

    folder: Path | None = None
    packages: Mapping[str, str | os.PathLike[str]] = field(default_factory=dict[str, str])
    _roots: dict[str, tuple[Path, ...]] = field(default_factory=dict[str, tuple[Path, ...]])

    def find(self, uri: str) -> Path | None:
        """The file, or None if there is no such file on this machine. Nothing is fetched."""
        scheme, mark, rest = uri.partition("://")
        places = _SCHEMES.get(scheme) if mark else _beside
        if places is None:
            return None
        return next((p for p in places(self, rest if mark else uri) if os.path.isfile(p)), None)

    def climbs(self, uri: str) -> bool:
        """True if it leads out of the package that it names, or out of the one that the description lies in."""
        scheme, mark, rest = uri.partition("://")
        if mark and scheme in ("package", "model"):
            return _leaves(rest.lstrip("/").partition("/")[2])
        path = Path(unquote(rest if mark else uri))
        if self.folder is None or path.is_absolute():
            return False
        home = _home(self.folder)
        return home is not None and not Path(os.path.normpath(self.folder / path)).is_relative_to(home)

    def report_missing_meshes(self, links: Iterable[Link], warnings: WarningList) -> None:
        """Warn of each mesh outside its package, and once of all others that are not there."""
        shown = [(link.name, shape) for link in links for shape in link.shapes if shape.kind == "mesh"]
        missing = [(name, shape) for name, shape in shown if self.find(shape.mesh) is None]
        for link, shape in [x for x in missing if self.climbs(x[1].mesh)]:
            warnings.add(
                f"{shape.where}: link {link!r} shows the mesh {shape.mesh!r}, which lies outside its package; "
                "not read, left undrawn",
                link=link,
                mesh=shape.mesh,
            )
            missing.remove((link, shape))
        if missing:
            name, shape = missing[0]
            meshes = tuple(dict.fromkeys(shape.mesh for _, shape in missing))
            warnings.add(
                f"{shape.where}: link {name!r} shows the mesh {shape.mesh!r}, which is not there "
                f"({len(meshes)} missing in all); left undrawn{_HINT * shape.mesh.startswith(_IN_PACKAGES)}",
                link=name,
                meshes=meshes,
            )

    def package(self, name: str) -> tuple[Path, ...]:
        """Every folder that can be meant by a package, best first."""
        if name not in self._roots:
            self._roots[name] = tuple(dict.fromkeys(_package_folders(self, name)))
        return self._roots[name]


def _in_package(files: Files, rest: str) -> Iterator[Path]:
    name, _, inner = rest.lstrip("/").partition("/")
    for root in files.package(name) if not _leaves(inner) else ():
        yield from (root / inner, root / unquote(inner))


def _leaves(inner: str) -> bool:
    """True if a path inside a package leads out of it."""
    written = (os.path.normpath(x.replace("\\", "/")) for x in (inner, unquote(inner)))
    return any(x.startswith("..") or os.path.isabs(x) for x in written)


def _home(folder: Path) -> Path | None:
    """The package that a folder belongs to: the nearest one above with a package.xml."""
    return next((x for x in (folder, *folder.parents) if (x / "package.xml").is_file()), None)


def _beside(files: Files, name: str) -> Iterator[Path]:
    for path in (Path(name), Path(_DRIVE.sub("", unquote(name)))):
        if path.is_absolute():
            yield path
        elif files.folder is not None and not files.climbs(name):
            yield files.folder / path


_SCHEMES: dict[str, Callable[[Files, str], Iterator[Path]]] = {
    "package": _in_package,
    "model": _in_package,
    "file": _beside,
}


def _package_folders(files: Files, name: str) -> Iterator[Path]:
    """Folders of packages: the one given, then those of the environment, then those above the description."""
    if name in files.packages:
        yield Path(files.packages[name]).absolute()
    for root in _listed("ROS_PACKAGE_PATH"):
        yield from (folder for folder in (root, root / name, *_children(root)) if _is_package(folder, name))
    yield from (root / "share" / name for root in _listed("AMENT_PREFIX_PATH"))
    if files.folder is not None:
        for above in (files.folder, *files.folder.parents):
            yield from (folder for folder in (above, above / name) if _is_package(folder, name))


def _listed(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def _children(folder: Path) -> list[Path]:
    return sorted(manifest.parent for manifest in folder.glob("*/package.xml"))


def _is_package(folder: Path, name: str) -> bool:
    return os.path.isdir(folder) and name in (folder.name, _manifest_name(folder))


def _manifest_name(folder: Path) -> str | None:
    """The name in package.xml."""
    try:
        match = _PACKAGE_NAME.search((folder / "package.xml").read_text("utf-8", errors="replace"))
    except OSError:
        return None
    return match.group(1) if match else None
