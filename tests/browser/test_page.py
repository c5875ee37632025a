"""The 3-D page in a real browser."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from chromium import until, visit

import kinpair as kp
from kinpair.viewer.page import Page, follow

PORT = 18_080


@cache
def linkage() -> kp.Mechanism:
    return kp.example("four-bar")


def quiet(_: str) -> None:
    """Says nothing."""


@pytest.fixture(scope="module")
def shown(chromium):
    """A page and the browser on it: opening one takes seconds, so the tests share it."""
    page = Page(linkage(), port=PORT, browser=False, say=quiet)
    with visit(chromium, page.url) as seen:
        seen.page.wait_for_selector("text=back to the start")
        settle(seen)
        yield page, seen
    page.close()


def settle(seen):
    """Until two pictures after each other are the same and not empty."""
    before = [b""]

    def still():
        now = seen.pixels()
        same, before[0] = now == before[0], now
        return same

    until(still, "the picture stands still", seen.page)
    return before[0]


def press(seen, key, times=1, slider=0):
    thumb = seen.page.locator("[role=slider]").nth(slider)
    for _ in range(times):
        thumb.press(key)


def test_it_loads_without_a_complaint_and_asks_nobody_else(shown):
    page, seen = shown
    assert seen.complaints == []
    own = (page.url, "data:", f"blob:{page.url}")
    assert [url for url in seen.requests if not url.startswith(own)] == []
    assert seen.page.locator("text=1 of 3 coordinates are free").count() == 1


def test_a_slider_moves_a_body(shown):
    page, seen = shown
    page.replace(kp.example("double-pendulum"))
    seen.page.wait_for_selector("text=2 of 2 coordinates are free")
    before, start = settle(seen), page.mechanism.pose(page.q, "lower").position
    press(seen, "ArrowRight", 40)
    until(lambda: page.q[0] > 0.01, "the coordinate has changed", seen.page)
    assert settle(seen) != before
    assert np.abs(page.mechanism.pose(page.q, "lower").position - start).max() > 1e-3
    seen.page.get_by_text("back to the start").click()
    until(lambda: page.q[0] == 0.0, "it is back", seen.page)


def test_a_dragged_linkage_stays_closed(shown):
    page, seen = shown
    page.replace(linkage())
    seen.page.wait_for_selector("text=1 of 3 coordinates are free")
    before = settle(seen)
    for key in ("Home", "End", "ArrowLeft", "Home"):
        was = page.q
        press(seen, key)
        until(lambda: (page.q != was).any(), "the crank has moved", seen.page)  # noqa: B023
        until(lambda: np.abs(linkage().constraint_residual(page.q)).max() < 1e-9, "it is closed", seen.page)
    until(lambda: abs(page.q[0] + np.pi) < 0.01, "the crank is at its lower end", seen.page)
    assert np.abs(linkage().constraint_residual(page.q)).max() < 1e-9
    assert settle(seen) != before


def test_sliders_of_many_joints_are_grouped_and_within_reach(shown):
    page, seen = shown
    page.replace(kp.example("biped"))
    seen.page.wait_for_selector("text=left-hip-yaw … left-ankle-roll")
    for text in ("back to the start", "base", "trunk", "right-hip-yaw … right-ankle-roll", "show"):
        box = seen.page.get_by_text(text, exact=True).bounding_box()
        assert 0 <= box["y"] < 2 * seen.page.viewport_size["height"]
    assert seen.page.locator("[role=slider]:visible").count() == 6  # of the base: the other groups are closed
    seen.page.get_by_text("left-hip-yaw … left-ankle-roll").click()
    until(lambda: seen.page.locator("[role=slider]:visible").count() == 12, "the group is open", seen.page)
    page.replace(linkage())
    seen.page.wait_for_selector("text=1 of 3 coordinates are free")
    assert seen.complaints == []


def test_a_notebook_keeps_the_view_after_it_is_exported(shown, chromium, tmp_path):
    page, _ = shown
    running = '<script id="jupyter-config-data" type="application/json">{}</script>'
    for name, head in (("exported", ""), ("running", running)):
        file = tmp_path / f"{name}.html"
        file.write_text(f'<!doctype html><meta charset="utf-8">{head}{page._repr_html_()}', "utf-8")
        with visit(chromium, file.as_uri()) as seen:
            if head:
                seen.page.wait_for_selector(f'iframe[src="{page.url}"]')
                continue
            frame = seen.page.frame_locator("iframe")
            frame.locator("body[data-ready=yes]").wait_for()
            assert frame.locator("#scene").is_visible()
            assert not frame.locator("#bar").is_visible()
            assert [url for url in seen.requests if not url.startswith(("file:", "data:", "about:"))] == []
            assert seen.complaints == []


TOML = """name = "arm"
[[link]]
name = "upper"
mass = 1.0
com = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.001]
visual = [{ box = [0.05, 0.05, LENGTH] }]
[[joint]]
name = "shoulder"
kind = "revolute"
parent = "ground"
child = "upper"
axis = "y"
"""


def test_a_file_is_read_again_when_it_is_saved_and_says_what_is_wrong(shown, tmp_path):
    page, seen = shown
    file = tmp_path / "arm.toml"
    file.write_text(TOML.replace("LENGTH", "1.0"))
    page.replace(kp.load(file))
    ended = follow(page, file, lambda: kp.load(file))
    before, first = settle(seen), page.mechanism
    file.write_text(TOML.replace("LENGTH", "2.5"))
    until(lambda: page.mechanism is not first, "the file is read again", seen.page)
    until(lambda: seen.pixels() != before, "it looks different", seen.page)
    second = page.mechanism
    file.write_text(TOML.replace("LENGTH", "1.0").replace("mass = 1.0", "mas = 1.0"))
    seen.page.wait_for_selector("text=unknown key 'mas'; did you mean 'mass'?")
    assert page.mechanism is second
    file.write_text(TOML.replace("LENGTH", "1.5"))
    until(lambda: page.mechanism is not second, "it is well again", seen.page)
    until(lambda: not seen.page.locator("text=unknown key").is_visible(), "the message is gone", seen.page)
    ended.set()


def test_a_motion_plays_and_its_slider_moves_it(chromium):
    m = linkage()
    run = kp.simulate(m, m.start(), [0.0, 0.0, 0.0], duration=1.0, output=0.01)
    page = run.view(port=PORT, browser=False, wait=False)
    with visit(chromium, page.url) as seen:
        seen.page.wait_for_selector("text=time [s]")
        start = settle(seen)
        seen.page.get_by_role("button", name="play").click()
        until(lambda: page.player.playing and float(page.player.slider.value) > 0.1, "it plays", seen.page)
        seen.page.get_by_role("button", name="pause").click()
        until(lambda: not page.player.playing, "it pauses", seen.page)
        assert settle(seen) != start
        press(seen, "Home")
        until(lambda: float(page.player.slider.value) == 0.0, "the slider is at the start", seen.page)
        assert seen.page.locator("text=coordinates q [rad]").count() >= 1
        assert seen.complaints == []
    page.close()
