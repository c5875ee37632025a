"""Loading of a Mechanism from a file, a bundled example or a builder."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, overload
from warnings import warn

from kinpair.constraints.rows.mobility import checked
from kinpair.description.fields import gravity as gravity_from
from kinpair.description.files import file_path, read_text
from kinpair.description.parts import Contacts, Description, Three, without_actuators, without_constraints
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import (
    DescriptionError,
    DescriptionWarning,
    InputError,
    caller_level,
    known_keywords,
    listed,
    nearest,
)
from kinpair.mechanism import Mechanism
from kinpair.model.build import build as build_model
from kinpair.model.build import freed

if TYPE_CHECKING:
    from kinpair.description.builder import Builder
    from kinpair.system import System

Base = Literal["fixed", "free"]
SHOWN = 3  # sentences in a warning; all are in `Mechanism.warnings`


@known_keywords
def load(
    path: str | os.PathLike[str],
    *,
    base: Base = "fixed",
    strict: bool = False,
    snap: float = 0.0,
    merge_fixed: bool = True,
    gravity: Three | None = None,
    constraints: bool = True,
    actuators: bool = True,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    contacts: bool | None = None,
) -> Mechanism:
    """The mechanism in a URDF, xacro, SDF, MJCF, USD or TOML file, or a DH table (TOML or CSV).

    base: "free" lets the root link float. strict: refuse what would otherwise be accepted with a warning.
    snap: make rotations within this distance of quarter turns exact (1e-5 corrects a file that writes
    1.5708 for π/2). merge_fixed: False keeps welded links as bodies of their own; all quantities are the
    same. gravity: instead of the file's. constraints: False leaves loops open and mimic joints free, as
    engines without them do. actuators: False puts efforts on the joints in their place. packages: where
    `package://name` is, by name. arguments: values of <xacro:arg> in a xacro file, which is code.
    contacts: False lets nothing touch; True lets collision shapes of URDF files touch, which by default they do not.

    Units: everything in the mechanism is SI: [m], [kg], [s], [rad].
    """
    description = read(path, strict=strict, packages=packages, arguments=arguments, contacts=bool(contacts))
    return build(
        description,
        base=base,
        strict=strict,
        snap=snap,
        merge_fixed=merge_fixed,
        gravity=gravity,
        constraints=constraints,
        actuators=actuators,
        contacts=contacts is not False,
    )


@known_keywords
def build(
    what: Description | Builder,
    *,
    base: Base = "fixed",
    strict: bool = False,
    snap: float = 0.0,
    merge_fixed: bool = True,
    gravity: Three | None = None,
    constraints: bool = True,
    actuators: bool = True,
    contacts: bool = True,
) -> Mechanism:
    """The mechanism of a description or builder; options as for `load`.

    Units: gravity [m/s²].
    """
    description = what if isinstance(what, Description) else _built(what)
    if not constraints:
        description = without_constraints(description)
    if not actuators:
        description = without_actuators(description)
    if not contacts:
        description = replace(description, contacts=Contacts())
    return _with_warning(_mechanism(description, base, strict, snap, merge_fixed, gravity))


def _built(what: Builder) -> Description:
    """Return the description of a builder; InputError for anything else."""
    from kinpair.description.builder import Builder  # files are read without it

    if not isinstance(what, Builder):  # type: ignore[redundant-expr]
        raise InputError(
            f"build takes a Description or a Builder, not {type(what).__name__}; load() takes files, example() names"
        )
    return what.description()


def _mechanism(
    description: Description, base: str, strict: bool, snap: float, merge_fixed: bool, gravity: Any
) -> Mechanism:
    if base not in ("fixed", "free"):
        raise InputError(f"base is {base!r}; it is 'fixed' or 'free'", base=base)
    if not isinstance(snap, (int, float)) or not 0.0 <= snap < 0.1:  # type: ignore[redundant-expr]
        raise InputError(f"snap is {snap!r}; it is a small distance between 0 and 0.1", snap=snap)
    if gravity is not None:
        description = description.with_gravity(gravity_from(gravity, Place(WarningList()).at("gravity")))
    if base == "free":
        description = freed(description)
    model = build_model(description, strict=strict, snap=snap, merge_fixed=merge_fixed)
    return Mechanism(checked(model, strict=strict))


def _with_warning(mechanism: Mechanism) -> Mechanism:
    """The mechanism, its warnings given as one Python warning at the line that called kinpair."""
    if mechanism.warnings:
        warn(_summary(mechanism), DescriptionWarning, stacklevel=caller_level())
    return mechanism


def _summary(mechanism: Mechanism) -> str:
    """The only sentence; or how many there are, and the first of them."""
    sentences = mechanism.warnings
    if len(sentences) == 1:
        return sentences[0]
    first = "; ".join((*sentences[:SHOWN], *("...",) * (len(sentences) > SHOWN)))
    whose = mechanism.model.description.source or mechanism.name
    return f"{whose}: {len(sentences)} warnings: {first} (all in .warnings)"


def read(
    path: str | os.PathLike[str],
    *,
    strict: bool = False,
    packages: Mapping[str, str] | None = None,
    arguments: Mapping[str, Any] | None = None,
    contacts: bool = False,
) -> Description:
    """Read a file, unchecked as a whole; the reader is chosen by the ending of its name.

    contacts: read collision shapes of URDF files too.
    """
    if packages is not None and not isinstance(packages, Mapping):  # type: ignore[redundant-expr]
        raise InputError(f"packages is {packages!r}; give a dict: name of a package → its folder")
    suffix = file_path(path, "load", "; kp.example('four-bar') is a bundled mechanism").suffix.lower()
    readers = (*_READERS, ".xacro")
    if suffix not in readers:
        read_text(path)  # says so if there is no such file, or none to read
        named = f"named *{suffix}" if suffix else "without an ending"
        raise DescriptionError(
            f"{path}: files {named} are not read; kinpair reads {listed(readers)}", path=str(path)
        )
    if suffix == ".xacro":
        from kinpair.description.xacro_file import read_xacro

        return read_xacro(
            path, warnings=WarningList(strict), packages=packages, arguments=arguments, contacts=contacts
        )
    if arguments:
        raise InputError(
            f"arguments are for xacro files, and {os.fspath(path)} is not one", arguments=arguments
        )
    return _READERS[suffix](path, WarningList(strict), packages, contacts)


def _urdf(path: Any, warnings: WarningList, packages: Any, contacts: bool) -> Description:
    from kinpair.description.urdf import read_urdf

    return read_urdf(path, warnings=warnings, packages=packages, contacts=contacts)


def _mjcf(path: Any, warnings: WarningList, packages: Any, contacts: bool) -> Description:
    from kinpair.description.mjcf import read_mjcf

    return read_mjcf(path, warnings=warnings)


def _xml(path: Any, warnings: WarningList, packages: Any, contacts: bool) -> Description:
    """URDF or MJCF, by the root of the file."""
    from kinpair.description.mjcf_xml import is_mjcf

    return (_mjcf if is_mjcf(read_text(path), os.fspath(path)) else _urdf)(path, warnings, packages, contacts)


def _sdf(path: Any, warnings: WarningList, packages: Any, contacts: bool) -> Description:
    from kinpair.description.sdf import read_sdf

    return read_sdf(path, warnings=warnings, packages=packages)


def _usd(path: Any, warnings: WarningList, packages: Any, contacts: bool) -> Description:
    from kinpair.description.usd import read_usd

    return read_usd(path, warnings=warnings)


def _toml(path: Any, warnings: WarningList, packages: Any, contacts: bool) -> Description:
    from kinpair.description.toml_reader import read_toml

    return read_toml(path, warnings=warnings)


def _csv(path: Any, warnings: WarningList, packages: Any, contacts: bool) -> Description:
    from kinpair.description.dh import read_dh_csv

    return read_dh_csv(path, warnings=warnings)


_READERS: dict[str, Callable[..., Description]] = {
    ".urdf": _urdf,
    ".xml": _xml,
    ".sdf": _sdf,
    ".toml": _toml,
    ".csv": _csv,
    **dict.fromkeys((".usd", ".usda", ".usdc", ".usdz"), _usd),
}


def examples(*, systems: bool = True) -> dict[str, str]:
    """Names of the bundled examples, and a line about each; systems=False: mechanisms alone."""
    endings = (".toml", ".py") if systems else (".toml",)
    by_name = {_example_name(f): f for f in _bundled().iterdir() if f.name.endswith(endings)}
    by_name.pop("--init--", None)
    return {name: _first_line(by_name[name].read_text("utf-8")) for name in sorted(by_name)}


def _example_name(file: Any) -> str:
    return file.name.rpartition(".")[0].replace("_", "-")


@overload
def example(name: Literal["omni-robot-system", "space-robot-printed"]) -> System: ...  # type: ignore[overload-overlap]


@overload
def example(
    name: str,
    *,
    base: Base = "fixed",
    strict: bool = False,
    snap: float = 0.0,
    merge_fixed: bool = True,
    gravity: Three | None = None,
) -> Mechanism: ...


def example(name: str, **options: Any) -> Mechanism | System:
    """A bundled example by name, see `examples()`; options of a mechanism as for `load`: base, strict, snap,
    merge_fixed, gravity."""
    from kinpair.description.toml_reader import parse_toml

    text = example_text(name)
    if name not in examples(systems=False):
        if options:
            raise InputError(f"{name} is given by its energy, without bodies, and takes no {listed(options)}")
        return importlib.import_module(f"kinpair.bundled.{name.replace('-', '_')}").system()
    warnings = WarningList(options.get("strict", False))
    return build(parse_toml(text, source=f"{name}.toml", warnings=warnings), **options)


def example_text(name: str) -> str:
    """The file of a bundled example, to read or to start from: TOML, or Python of a system given by its energy."""
    names = examples()
    if name not in names:
        raise InputError(
            f"no bundled example {name!r}; {nearest(str(name), names)}Examples: {listed(names)}", example=name
        )
    file = f"{name}.toml" if name in examples(systems=False) else f"{name.replace('-', '_')}.py"
    return (_bundled() / file).read_text("utf-8")


def _bundled() -> Any:
    return files("kinpair") / "bundled"


def _first_line(text: str) -> str:
    """The first line of the comment or docstring a file starts with."""
    return text.lstrip().split("\n", 1)[0].lstrip('# "').rstrip()
