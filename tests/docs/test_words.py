"""Docstrings, messages, help and pages use no retired word of docs/glossary.md, and names of classes are unique."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import kinpair as kp

ROOT = Path(__file__).parents[2]
SRC = Path(kp.__file__).parent
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text("utf-8")
KEPT = {
    "Limits.way",
    "Limits(way)",
    "motion.vessel(way)",
}  # named in the glossary; a rename would break calls
ALLOWED = re.compile(
    r"(capital|lower-case) letters|letters(,| and) digits|letter of the alphabet"
    r"|(is|are|be|first) loaded|loaded (from|;|mechanism)|optimised, loaded|\w+, loaded first",
    re.IGNORECASE,
)
OVERLOADED = ("Answer", "Part", "Solution", "Terms")  # names that several classes once shared


def table(heading: str) -> list[str]:
    """First cells of the table of a section of the glossary."""
    section = re.search(rf"^## {heading}$(.*?)(?=^## |\Z)", GLOSSARY, re.MULTILINE | re.DOTALL)[1]
    return [row[1] for row in re.finditer(r"^\| ([^|]+?) \|", section, re.MULTILINE)][1:]


RETIRED = [word for cell in table("Retired") for word in cell.split(", ")]
PLAIN = re.compile(rf"\b(?:{'|'.join(RETIRED)})\b", re.IGNORECASE)
WORD = re.compile(rf"(?<![\w\"'./-])({'|'.join(RETIRED)})(?![\w(])", re.IGNORECASE)


def prose(text: str) -> str:
    """Text without code in backquotes, fields of docstrings (`name: ...`) and first columns of lists of modules."""
    text = re.sub(r"`[^`]*`", "", text)
    text = re.sub(r"(?m)(^|[.;\]] )\s*\w+: ", " ", text)
    text = re.sub(r"(?m)^\s*\w+ {2,}", " ", text)
    text = re.sub(r"(?:of|\|) \(?(?:\w+, )+\w+(?:\)| \|)", "", text)  # arguments: of (q, qd), | q, qd |
    return ALLOWED.sub("", text)


def retired(text: str) -> list[str]:
    return [found[1] for found in WORD.finditer(prose(text))] if PLAIN.search(text) else []


FILES = {str(x.relative_to(SRC)): x.read_text("utf-8") for x in sorted(SRC.rglob("*.py"))}


def texts(source: str) -> Iterator[tuple[int, str]]:
    """Line and text of every string that has words: docstrings, messages and help."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def test_sources_use_no_retired_word():
    assert len(FILES) > 300
    found = {
        f"{name}:{line}": words
        for name, source in FILES.items()
        if PLAIN.search(source)
        for line, text in texts(source)
        if (words := retired(text))
    }
    assert found == {}


def test_pages_use_no_retired_word():
    pages = [x for x in (ROOT / "docs").rglob("*.md") if "zh" not in x.parts and x.name != "glossary.md"]
    pages += [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    assert len(pages) > 80
    found = {x.name: retired(re.sub(r"```.*?```", "", x.read_text("utf-8"), flags=re.DOTALL)) for x in pages}
    assert {name: words for name, words in found.items() if words} == {}


def test_help_in_english_uses_no_retired_word():
    sentences = tomllib.loads((SRC / "cli" / "zh.toml").read_text("utf-8"))
    assert len(sentences) > 300
    assert [sentence for sentence in sentences if retired(sentence)] == []


def test_public_names_use_no_retired_word():
    lines = (ROOT / "tests" / "architecture" / "public_signatures.txt").read_text("utf-8").splitlines()
    found = set()
    for line in lines:
        name, _, arguments = line.partition("(")
        words = {*re.split(r"[._]", name.lower())}
        found |= {name} if words & {*RETIRED} else set()
        found |= {f"{name}({x})" for x in re.findall(r"\w+", arguments) if {*x.split("_")} & {*RETIRED}}
    assert found == KEPT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The way to the goal.", ["way"]),
        ("Halfway, `way` and way_of.", []),
        ("Wrenches\n\nway: which one", []),
        ("It is loaded from a file; a loaded joint.", ["loaded"]),
        ("Letters and digits; Told.", ["Told"]),
        ("held        how it goes", []),
    ],
)
def test_what_counts_as_a_retired_word(text, words):
    assert retired(text) == words


def test_each_word_has_one_place_in_the_glossary():
    words = [*RETIRED, *table("One meaning")]
    assert len(words) == len(set(words)) > 30


def test_names_of_classes_are_unique_inside_a_layer():
    names = Counter(
        (name.split("/")[0], found)
        for name, source in FILES.items()
        for found in re.findall(rf"^class ({'|'.join(OVERLOADED)})\b", source, re.MULTILINE)
    )
    assert names, "the names are still in use, each once"
    assert [place for place, number in names.items() if number > 1] == []
