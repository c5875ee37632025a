"""Names in pictures: drawn as they are written, in a font that has their characters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinpair as kp
from kinpair.viewer import looks as labels
from kinpair.viewer.curves import draw_curves, figure_of
from kinpair.viewer.looks import Panel

TIME = np.linspace(0.0, 1.0, 5)
NAMES = ("机器人", "ロボット")
MESSAGE = (
    "no installed font has the characters ト 人 器 機, so the picture shows boxes; install a font that has them, for "
    "Chinese, Japanese and Korean: apt-get install fonts-noto-cjk, or Noto Sans CJK from notofonts.github.io"
)
OF_MATPLOTLIB = ("DejaVu", "STIX", "cm", "Last")  # fonts that it brings


@pytest.fixture
def fonts(monkeypatch):
    """List the fonts that matplotlib brings, none of the system; restore the list afterwards."""
    from matplotlib import font_manager

    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    before = list(font_manager.fontManager.ttflist)
    font_manager.fontManager.ttflist[:] = [x for x in before if x.name.startswith(OF_MATPLOTLIB)]
    _forget()
    yield font_manager.fontManager
    font_manager.fontManager.ttflist[:] = before
    _forget()


def _forget() -> None:
    from matplotlib import font_manager

    labels._fonts_for.cache_clear()
    labels._drawn_by.cache_clear()
    font_manager.fontManager._findfont_cached.cache_clear()


def font_with(characters, file):
    """Write a font that has a square for each character."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((0, 0))
    for corner in ((0, 700), (700, 700), (700, 0)):
        pen.lineTo(corner)
    pen.closePath()
    names = [".notdef", *(f"glyph{k}" for k in range(len(characters)))]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(names)
    font.setupCharacterMap({ord(c): name for c, name in zip(characters, names[1:], strict=True)})
    font.setupGlyf(dict.fromkeys(names, pen.glyph()))
    font.setupHorizontalMetrics(dict.fromkeys(names, (1000, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(file)
    return file


def figure(names):
    return figure_of(
        TIME, [[Panel("title", "[rad]", dict.fromkeys(names, TIME), own_legend=False)]], title=names[0]
    )


def test_names_in_chinese_and_japanese_are_drawn_with_an_installed_font(fonts, tmp_path):
    fonts.addfont(font_with("".join(NAMES), tmp_path / "squares.ttf"))
    picture = figure(NAMES)  # warnings are errors here
    picture.savefig(tmp_path / "a.png")
    legend = picture.legends[0].get_texts()
    assert [x.get_text() for x in legend] == list(NAMES)
    assert all(x.get_fontfamily()[-1] == "Squares" for x in legend)


def test_a_font_that_was_installed_later_is_used(fonts, tmp_path, monkeypatch):
    from matplotlib import font_manager

    file = str(font_with("".join(NAMES), tmp_path / "later.ttf"))
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [file, __file__])
    picture = figure(NAMES)
    picture.savefig(tmp_path / "a.png")
    assert all(x.get_fontfamily()[-1] == "Squares" for x in picture.legends[0].get_texts())


def test_characters_without_a_font_are_reported_once_with_the_remedy(fonts, tmp_path):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        picture = figure(("人器機", "ト器"))
        picture.savefig(tmp_path / "a.png")
        picture.savefig(tmp_path / "a.svg")
    assert [(x.category, str(x.message)) for x in caught] == [(kp.PictureWarning, MESSAGE)]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", ["$", "a$b$", r"$\frac$", "$x_1", "two\nlines"])
def test_a_name_is_no_mathematics(tmp_path, name):
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        curves = {name: TIME, f"{name} 2": TIME}
        file = draw_curves(tmp_path / "a.svg", TIME, [Panel(name, name, curves)], title=name)
    assert file.read_text("utf-8").count(f">{' '.join(name.split())}<") == 4
