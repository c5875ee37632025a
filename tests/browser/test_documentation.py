"""Pages of the five sources in a browser, in English and Chinese: widths, pictures, formulas, glyphs, links."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chromium import visit
from lxml import html

ROOT = Path(__file__).parents[2]
NAMES = ("saha", "pan", "zhao_gu", "vukobratovic", "zhao")
PAGES = [f"{folder}/{name}" for folder in ("sources", "zh/sources") for name in NAMES]
NEEDED = "code.md,sources/*,zh/sources/*"
WIDTHS = (1280, 400)  # px: a desk, a telephone
ABSENT = "\U000f0001"  # private use: no font has it

# Elements of the text beyond the edge of the window, outside of boxes that scroll.
BEYOND = """() => {
  const edge = document.documentElement.clientWidth + 1, scrolls = new Set(["auto", "scroll"]);
  const boxed = e => e && e !== document.body && (scrolls.has(getComputedStyle(e).overflowX) || boxed(e.parentElement));
  const beyond = [...document.querySelectorAll("article *")].filter(e => !e.closest("mjx-assistive-mml")
    && e.getBoundingClientRect().width > 1 && e.getBoundingClientRect().right > edge && !boxed(e.parentElement));
  return beyond.map(e => `${e.tagName} ${e.textContent.trim().slice(0, 40)}`);
}"""
BROKEN = "() => [...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).map(i => i.src)"
FORMULAS = """() => ["article .math", "article .math > mjx-container", "mjx-merror, [data-mjx-error]"].map(
  found => document.querySelectorAll(found).length)"""

# Characters of the text, and those added, that look in the font of their place like a character that no font has.
MISSING = """added => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 48, height: 48});
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  const drawn = (font, character) => {
    pen.clearRect(0, 0, 48, 48);
    pen.font = font;
    pen.fillText(character, 12, 34);
    return pen.getImageData(0, 0, 48, 48).data.join();
  };
  const used = new Map();
  const note = (element, text) => {
    const style = getComputedStyle(element), font = `${style.fontWeight} 20px ${style.fontFamily}`;
    if (!used.has(font)) used.set(font, new Set());
    for (const character of text) if (character.trim()) used.get(font).add(character);
  };
  const walk = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!element.closest("mjx-container, script, style")) note(element, walk.currentNode.data + added);
  }
  const missing = new Set();
  for (const [font, characters] of used) {
    const box = drawn(font, "\\u{F0000}");
    for (const character of characters) if (drawn(font, character) === box) missing.add(character);
  }
  return [[...missing], [...used.values()].reduce((sum, characters) => sum + characters.size, 0)];
}"""


@pytest.fixture(scope="module")
def built(chromium, tmp_path_factory):
    """Folder of the built pages of the sources and their code; from a copy of docs, because conf.py writes files."""
    folder = tmp_path_factory.mktemp("documentation")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("notebooks", "__pycache__"))
    (folder / "src").symlink_to(ROOT / "src")
    settings = {"nb_execution_mode": "off", "include_patterns": NEEDED, "root_doc": "sources/index"}
    options = [word for key, value in settings.items() for word in ("-D", f"{key}={value}")]
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", *options, "docs", "html"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_and_shows_every_picture_formula_and_character(chromium, built, name):
    with visit(chromium, (built / f"{name}.html").as_uri()) as seen:
        page = seen.page
        page.wait_for_function("window.MathJax?.startup?.promise")
        page.evaluate("MathJax.startup.promise.then(() => true)")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate(BEYOND) == []
        assert page.evaluate(BROKEN) == []
        formulas, shown, wrong = page.evaluate(FORMULAS)
        assert formulas > 0
        assert (shown, wrong) == (formulas, 0)
        missing, looked_at = page.evaluate(MISSING, ABSENT)
        assert missing == [ABSENT]  # which shows that a missing glyph is found
        assert looked_at > 100
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.parametrize("name", PAGES)
def test_each_row_of_a_page_leads_to_the_code_of_its_function(built, name):
    code = html.parse(built / "code.html")
    rows = html.parse(built / f"{name}.html").xpath("//article//td//a[contains(@href, 'code.html#')]")
    assert len(rows) > 20
    for row in rows:
        [place] = code.xpath("//*[@id=$anchor]", anchor=row.get("href").partition("#")[2])
        function = row.text_content().rpartition(".")[2]
        assert re.search(rf"(def|class) {function}\b", place.text_content())


@pytest.mark.parametrize("name", ["sources/saha", "zh/sources/zhao"])
def test_two_clicks_lead_from_the_list_of_sources_to_the_code_of_an_equation(chromium, built, name):
    from playwright.sync_api import expect

    with visit(chromium, (built / "sources" / "index.html").as_uri()) as seen:
        page = seen.page
        page.set_viewport_size({"width": 1280, "height": 900})
        page.locator(f"article td a[href='{os.path.relpath(f'{name}.html', 'sources')}']").click()
        page.wait_for_url(f"**/{name}.html")
        page.locator("article td a[href*='code.html#']").first.click()
        page.wait_for_url("**/code.html#*")
        heading = page.locator(f"[id='{page.evaluate('location.hash.slice(1)')}'] > h2")
        expect(heading).to_be_in_viewport()
