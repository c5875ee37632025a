"""Standard output for a person, in the language of the command: English, or Chinese.

The language of the command: English, or Chinese by `--lang zh` or KINPAIR_LANG=zh; never guessed from the locale.

One table (zh.toml) has the translations by the English sentence. What is not in it is shown in English.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, final

from rich.console import Console
from rich.table import Table

from kinpair.errors import InputError, listed

OPTION, VARIABLE = "--lang", "KINPAIR_LANG"
LANGUAGES = ("en", "zh")
_MARK = re.compile(r"(\s*(?:- |→ )?)(.*?)(\s*)", re.DOTALL)  # what may stand around a sentence
_BETWEEN = re.compile(r"(?<=[^.]\.) ")  # sentences
_spoken: ContextVar[str] = ContextVar("language of the command", default="en")


class Chosen(NamedTuple):
    """A language, and the words of the command line without the option that chose it."""

    language: str
    words: list[str]


def chosen(words: Sequence[str], environment: Mapping[str, str]) -> Chosen:
    """Find the language in the words of a command line, or in the environment."""
    rest = list(words)
    for k, word in enumerate(rest):
        if word == OPTION and k + 1 < len(rest):
            return Chosen(_known(rest[k + 1], OPTION), rest[:k] + rest[k + 2 :])
        if word.startswith(f"{OPTION}="):
            return Chosen(_known(word.partition("=")[2], OPTION), rest[:k] + rest[k + 1 :])
    return Chosen(_known(environment.get(VARIABLE) or "en", VARIABLE), rest)


def _known(language: str, where: str) -> str:
    if language not in LANGUAGES:
        raise InputError(
            f"{where}: no language {language!r}; languages: {listed(LANGUAGES)}", language=language
        )
    return language


@contextmanager
def speaking(language: str) -> Generator[None]:
    """Let `translated` answer in this language."""
    token = _spoken.set(language)
    try:
        yield
    finally:
        _spoken.reset(token)


@cache
def table() -> Mapping[str, str]:
    """The Chinese sentences by the English ones."""
    return tomllib.loads(files("kinpair.cli").joinpath("zh.toml").read_text("utf-8"))


@cache
def _patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    """Sentences with places for numbers and names, those with most fixed text first."""
    keys = sorted((key for key in table() if "{}" in key), key=lambda key: -len(key.replace("{}", "")))
    return [(re.compile(re.escape(key).replace(r"\{\}", "(.+?)"), re.DOTALL), table()[key]) for key in keys]


def translated(text: str) -> str:
    """Return a text in the language of the command; sentences without a translation stay as they are."""
    if _spoken.get() == "en":
        return text
    found = _MARK.fullmatch(text)
    assert found is not None
    before, sentence, after = found.groups()
    whole = _sentence(sentence)
    if whole is None:
        whole = "".join(_sentence(x) or f"{x} " for x in _BETWEEN.split(sentence)).rstrip()
    return before + whole + after


def _sentence(english: str) -> str | None:
    if english in table():
        return table()[english]
    for pattern, chinese in _patterns():
        found = pattern.fullmatch(english)
        if found and not any(map(_BETWEEN.search, found.groups())):  # a place takes no end of a sentence
            return chinese.format(*found.groups())
    return None


def in_language(show: Callable[..., Any]) -> Callable[..., Any]:
    """A formatter of help whose titles and descriptions are translated."""

    def shown(console: Any, options: Any, panel: Any) -> None:
        if isinstance(panel.title, str):
            panel.title = translated(panel.title)
        for entry in panel.entries:
            text = getattr(entry.description, "primary_renderable", None)
            if text is not None and hasattr(text, "plain"):
                text.plain = translated(" ".join(text.plain.split()))
        show(console, options, panel)

    return shown


@final
class Screen(Console):
    """Standard output; text is shown as it is, and a reader that has gone is left to the caller."""

    def __init__(self) -> None:
        super().__init__(markup=False, highlight=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Called while a BrokenPipeError is handled."""
        raise BrokenPipeError

    def say(self, text: str = "") -> None:
        """A line of text, never folded."""
        self.print(translated(text), soft_wrap=True)

    def heading(self, text: str) -> None:
        """A line that starts a part."""
        self.print(translated(text), style="bold", soft_wrap=True)

    def print(self, *objects: Any, **options: Any) -> None:
        """Show objects as Rich does, headings of tables in the language of the command."""
        for x in objects:
            if isinstance(x, Table):
                for column in x.columns:
                    column.header = (
                        translated(column.header) if isinstance(column.header, str) else column.header
                    )
        super().print(*objects, **options)
