"""Calls of the last release stay valid: its public signatures, one a line in public_signatures.txt.

`python tests/architecture/test_signatures.py` writes the file anew, at a release. It refuses while a call of the
last release is no longer valid.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import kinpair as kp

FILE = Path(__file__).with_name("public_signatures.txt")
RETURNED = {  # classes whose objects only the library makes
    *(
        "Arrays",
        "Comparison",
        "ConstrainedEquations",
        "Energy",
        "Equations",
        "Equilibrium",
        "FramePose",
        "Kernel",
    ),
    *("LinearModel", "Mechanism", "Result", "Table", "Tracking", "Transmission"),
}
ANY = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


class Parameters(NamedTuple):
    """Names of positional and of keyword-only parameters; those ending in = are optional."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    rest: tuple[str, ...]  # *, ** where any number is taken


def parameters(call: Any) -> Parameters:
    positional, keywords, rest = [], [], []
    for x in inspect.signature(call).parameters.values():
        if x.name in ("self", "cls"):
            continue
        if x.kind in ANY:
            rest.append(ANY[x.kind])
            continue
        name = x.name + ("" if x.default is x.empty else "=")
        (keywords if x.kind is x.KEYWORD_ONLY else positional).append(name)
    return Parameters(tuple(positional), tuple(sorted(keywords)), tuple(rest))


def line(name: str, x: Parameters) -> str:
    parts = [*x.positional, *(["|", *x.keywords] if x.keywords else []), *x.rest]
    return f"{name}({', '.join(parts)})"


def parsed(text: str) -> Parameters:
    words = [x for x in text.split(", ") if x]
    cut = words.index("|") if "|" in words else len(words)
    rest = tuple(x for x in words if x in ANY.values())
    after = [x for x in words[cut + 1 :] if x not in rest]
    return Parameters(tuple(x for x in words[:cut] if x not in rest), tuple(after), rest)


def still_valid(old: Parameters, new: Parameters) -> bool:
    """True if each call of the old signature is one of the new."""
    plain = [x.rstrip("=") for x in new.positional]
    if "*" not in new.rest and [x.rstrip("=") for x in old.positional] != plain[: len(old.positional)]:
        return False
    known = {x.rstrip("=") for x in (*new.positional, *new.keywords)}
    if "**" not in new.rest and not {x.rstrip("=") for x in (*old.positional, *old.keywords)} <= known:
        return False
    required = {x for x in (*new.positional, *new.keywords) if not x.endswith("=")}
    return required <= {x for x in (*old.positional, *old.keywords) if not x.endswith("=")}


def public() -> Iterator[tuple[str, Parameters | None]]:
    """Public names with their parameters; None for attributes."""
    for name in kp.__all__:
        value = getattr(kp, name)
        if isinstance(value, ModuleType):
            for key in value.__all__:
                inside = getattr(value, key)
                if inspect.isroutine(inside):
                    yield f"{name}.{key}", parameters(inside)
                else:
                    yield f"{name}.{key}", None
        elif inspect.isclass(value):
            yield from members(name, value)
        elif callable(value):
            yield name, parameters(value)


def members(name: str, kind: type) -> Iterator[tuple[str, Parameters | None]]:
    if name in RETURNED or issubclass(kind, (Exception, Warning)):
        yield name, None
    else:
        yield name, parameters(kind)
    ours = [x for x in kind.__mro__ if x.__module__.startswith("kinpair")]
    for key in sorted({key for x in ours for key in (*vars(x), *vars(x).get("__annotations__", ()))}):
        if not key.startswith("_"):
            member = getattr(kind, key, None)
            yield f"{name}.{key}", parameters(member) if callable(member) else None


def lines() -> list[str]:
    return [name if x is None else line(name, x) for name, x in public()]


NOW = dict(public())
BEFORE = [x for x in FILE.read_text("utf-8").splitlines() if x and not x.startswith("#")]


def broken() -> list[str]:
    """Lines of the last release that are no longer valid."""
    out = []
    for text in BEFORE:
        name, _, rest = text.partition("(")
        if name not in NOW:
            out.append(text)
        elif rest and ((new := NOW[name]) is None or not still_valid(parsed(rest[:-1]), new)):
            out.append(f"{text}, now {line(name, new) if new else name}")
    return out


def test_calls_of_the_last_release_are_valid():
    assert broken() == [], "deprecate a name before it is removed, see docs/stability.md"


def test_one_version_everywhere():
    root = Path(__file__).parents[2]
    assert f"\nversion: {kp.__version__}\n" in (root / "CITATION.cff").read_text("utf-8")
    assert FILE.read_text("utf-8").startswith(f"# public signatures of kinpair {kp.__version__}\n")
    assert f"\n## {kp.__version__}\n" in (root / "CHANGELOG.md").read_text("utf-8")


def test_the_files_of_the_package_are_small():
    files = [x for x in Path(kp.__file__).parent.rglob("*") if x.is_file() and x.suffix != ".pyc"]
    assert sum(x.stat().st_size for x in files) <= 8e6, "docs/install.md promises it"


def test_the_file_has_the_calls_that_everybody_writes():
    names = {x.partition("(")[0] for x in BEFORE}
    assert {"load", "simulate", "Mechanism.inverse_dynamics", "motion.cycloid", "Builder.joint"} <= names


@pytest.mark.parametrize(
    ("old", "new", "valid"),
    [
        ("a", "a, b=", True),
        ("a", "a, b", False),
        ("a, b=", "a", False),
        ("a, b", "b, a", False),
        ("a", "a, |, b=", True),
        ("a", "a, |, b", False),
        ("a, |, b=", "a, b=", True),
        ("a, |, b=", "a, **", True),
        ("a, b", "a, b=", True),
        ("a, b=", "a, b", False),
    ],
)
def test_which_changes_keep_calls_valid(old, new, valid):
    assert still_valid(parsed(old), parsed(new)) is valid


if __name__ == "__main__":
    if broken() and "--force" not in sys.argv:
        sys.exit("no longer valid:\n" + "\n".join(broken()))
    FILE.write_text("\n".join([f"# public signatures of kinpair {kp.__version__}", *lines()]) + "\n", "utf-8")
