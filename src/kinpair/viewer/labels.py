"""Texts in pictures: names as they are written, in a font that has their characters."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from kinpair.errors import PictureWarning, caller_level

LONGEST = 90  # characters of a title
ASCII = 127
NO_FONTS = ("Last Resort", "LastResort")  # draws a box for every character
KNOWN = (  # families that are tried first, the most usual ones for Chinese, Japanese and Korean
    "Noto Sans CJK",
    "Noto Sans SC",
    "Source Han Sans",
    "WenQuanYi",
    "Microsoft YaHei",
    "PingFang",
    "Hiragino Sans",
    "Yu Gothic",
    "SimHei",
    "Malgun Gothic",
    "Droid Sans Fallback",
)


def plain(text: str, longest: int = LONGEST) -> str:
    """Return a name on one line, without mathematics, its middle left out where it is longer than `longest`."""
    line, half = " ".join(text.split()), longest // 2
    line = line if len(line) <= longest else f"{line[:half]}…{line[-half:]}"
    return line.replace("$", r"\$")


@contextmanager
def missing_allowed() -> Generator[None]:
    """Measure or draw texts without matplotlib's warning for each missing character: `choose_fonts` reports them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing", UserWarning)
        yield


def choose_fonts(figure: Any) -> None:
    """Add fonts to the texts of a figure that have characters which their font does not have.

    Characters that no installed font has are reported in one PictureWarning.
    """
    from matplotlib.text import Text

    foreign = [x for x in figure.findobj(Text) if any(ord(c) > ASCII for c in x.get_text())]
    without: set[str] = set()
    for text in foreign:
        family = text.get_fontfamily()
        missing = frozenset(c for c in text.get_text() if ord(c) > ASCII) - _drawn_by(tuple(family))
        fonts, left = _fonts_for(missing) if missing else ((), missing)
        without |= left
        if fonts and fonts[-1] not in family:
            text.set_fontfamily([*family, *fonts])
    reported = getattr(figure, "characters_reported", frozenset[str]())
    if without - reported:
        figure.characters_reported = reported | without
        warnings.warn(
            f"no installed font has the characters {' '.join(sorted(without)[:12])}, so the picture shows boxes; "
            "install a font that has them, for Chinese, Japanese and Korean: apt-get install fonts-noto-cjk, or "
            "Noto Sans CJK from notofonts.github.io",
            PictureWarning,
            stacklevel=caller_level(),
        )


@cache
def _drawn_by(family: tuple[str, ...]) -> frozenset[str]:
    """Return the characters of the first font of a family list."""
    from matplotlib.font_manager import FontProperties, findfont

    return _characters(findfont(FontProperties(family=list(family))))


@cache
def _characters(file: str) -> frozenset[str]:
    from matplotlib.font_manager import get_font

    return frozenset(map(chr, get_font(file).get_charmap()))


@cache
def _fonts_for(characters: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the families that together have the characters, and the characters that no installed font has."""
    left, families = characters, list[str]()
    for family, file in _installed():
        if not left:
            break
        if own := left & _characters(file):
            families.append(family)
            left -= own
    return tuple(families), left


def _installed() -> Iterable[tuple[str, str]]:
    """Return the family and file of every installed font, the usual ones for foreign scripts first; also of those that
    were installed after matplotlib listed them."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    listed = {Path(x.fname).name for x in fontManager.ttflist}
    for file in findSystemFonts():
        if Path(file).name not in listed:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _add(fontManager, file)
    upright = [x for x in fontManager.ttflist if x.style == "normal" and not x.name.startswith(NO_FONTS)]
    ranks = {
        x.name: next((k for k, y in enumerate(KNOWN) if x.name.startswith(y)), len(KNOWN)) for x in upright
    }
    return [
        (x.name, x.fname) for x in sorted(upright, key=lambda x: (ranks[x.name], x.name, x.weight != 400))
    ]


def _add(fonts: Any, file: str) -> None:
    try:
        fonts.addfont(file)
    except (OSError, RuntimeError):  # a file that is no font matplotlib reads
        return
