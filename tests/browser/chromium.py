"""Debian's chromium through playwright: a page, and what it asked for and complained about."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 60.0  # s: software rendering on a loaded machine is slow
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
REQUIRED = os.environ.get("KINPAIR_BROWSER") == "required"


def absent() -> str:
    """Why there is no browser; empty where there is one."""
    if shutil.which("chromium") is None:
        return "chromium is not installed: apt-get install chromium"
    try:
        import playwright.sync_api  # noqa: F401
    except ImportError:
        return "playwright is not installed: pip install playwright"
    return ""


@dataclass
class Visit:
    """A page that is open."""

    page: Any
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def pixels(self, selector: str = "canvas") -> bytes:
        """What is seen of the first such element, as it comes to rest."""
        return self.page.locator(selector).first.screenshot()


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def visit(chromium: Any, url: str, before: str = "") -> Iterator[Visit]:
    """Open a page, after a script that runs `before` those of the page."""
    page = chromium.new_page(viewport={"width": 560, "height": 420})
    page.set_default_timeout(1000 * PATIENCE)
    seen = Visit(page)
    page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    page.on("console", lambda said: seen.complaints.append(said.text) if said.type == "error" else None)
    page.on("request", lambda request: seen.requests.append(request.url))
    page.add_init_script(before)
    page.goto(url)
    yield seen
    page.close()


def until(true: Callable[[], Any], what: str, page: Any = None) -> Any:
    """What it gives as soon as that is something; the events of the page are handled meanwhile."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := true():
            return found
        if page is None:
            time.sleep(0.05)
        else:
            page.wait_for_timeout(50)
    raise AssertionError(f"waited {PATIENCE:g} s in vain until {what}")
