"""The report in a real browser, from disk."""

from __future__ import annotations

import numpy as np
import pytest
from chromium import until, visit

import kinpair as kp


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    m = kp.example("four-bar")
    run = kp.simulate(m, m.start(), [0.0, 0.0, 0.0], duration=1.0, output=0.01, torque=[0.02, 0.0, 0.0])
    return run, run.report(tmp_path_factory.mktemp("report") / "run.html")


def pose(seen, link):
    position, quaternion, _ = seen.page.evaluate(f"kinpair.pose({link!r})")
    return np.array(position), np.array(quaternion)


def test_it_opens_from_disk_plays_and_moves_scene_and_curves_together(chromium, report):
    run, file = report
    with visit(chromium, file.as_uri()) as seen:
        page = seen.page
        page.wait_for_selector("body[data-ready=yes]")
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
        first, cursor = seen.pixels("#scene"), page.locator(".cursor").first
        at_start = float(cursor.get_attribute("x1"))
        page.evaluate("() => { const s = document.getElementById('time'); s.value = 0.3; s.oninput(); }")
        assert page.evaluate("kinpair.time()") == pytest.approx(0.3, abs=1e-3)
        assert seen.pixels("#scene") != first
        xs = [float(x.get_attribute("x1")) for x in page.locator(".cursor").all()]
        assert len(set(xs)) == 1
        assert xs[0] > at_start + 100
        k = int(np.argmin(np.abs(run.time - page.evaluate("kinpair.time()"))))
        expected = run.mechanism.pose(run.q[k], "coupler").position
        assert pose(seen, "coupler")[0] == pytest.approx(
            expected, abs=2e-3
        )  # between samples it is interpolated
        page.get_by_role("button", name="play").click()
        until(lambda: page.evaluate("kinpair.time()") > 0.4, "it plays", page)
        page.get_by_role("button", name="pause").click()
        assert not page.evaluate("kinpair.playing()")
        panel = page.locator(".panel svg").first
        panel.scroll_into_view_if_needed()
        box = panel.bounding_box()
        panel.click(position={"x": 0.9 * box["width"], "y": 0.5 * box["height"]})
        assert page.evaluate("kinpair.time()") > 0.8
        assert seen.complaints == []


def test_what_is_played_is_what_was_computed(chromium, report):
    run, file = report
    with visit(chromium, file.as_uri()) as seen:
        seen.page.wait_for_selector("body[data-ready=yes]")
        for k in (0, 50, 100):
            seen.page.evaluate(f"kinpair.go({run.time[k]})")
            position, quaternion = pose(seen, "output")
            exact = run.mechanism.pose(run.q[k], "output")
            assert position == pytest.approx(exact.position, abs=1e-6)  # single precision in the page
            x, y, z, w = quaternion
            axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
            assert axis == pytest.approx(exact.rotation[:, 2], abs=1e-6)


def test_a_lamp_tells_whether_a_joint_sticks(chromium, tmp_path):
    m = kp.example("stick-slip")
    run = kp.simulate(m, [0.0], [0.0], duration=2.0, output=0.01, torque=lambda t, q, qd: 100 * (0.1 * t - q))
    sticks = run.friction["belt"].sticks
    with visit(chromium, run.report(tmp_path / "run.html").as_uri()) as seen:
        seen.page.wait_for_selector("body[data-ready=yes]")
        looks = {}
        for k in (20, int(np.flatnonzero(~sticks)[5])):
            seen.page.evaluate(f"kinpair.go({run.time[k]})")
            assert seen.page.evaluate("kinpair.sticks('belt')") == bool(sticks[k])
            looks[bool(sticks[k])] = seen.pixels("#scene")
        assert looks[True] != looks[False]
        assert seen.complaints == []
