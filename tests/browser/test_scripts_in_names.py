"""Scripts in names, notes and messages of a file: pages show them as text and run none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from chromium import until, visit

import kinpair as kp
from kinpair.viewer.looks import Panel
from kinpair.viewer.page import Page
from kinpair.viewer.recording import Recording

PORT = 18_280
IMAGE = "<img src=x onerror=top.hit()>"
PAYLOADS = (
    "<script>top.hit()</script>",
    IMAGE,
    "<svg onload=top.hit()>",
    "<svg><script>top.hit()</script></svg>",
    "<iframe srcdoc='<script>top.hit()</script>'>",
    "<details open ontoggle=top.hit()>x</details>",
    "<video><source onerror=top.hit()></video>",
    "<input autofocus onfocus=top.hit()>",
    "<a href='javascript:top.hit()'>press</a>",
    "[press](javascript:top.hit())",
    f'![x](x"{IMAGE})',
    f'">{IMAGE}',
    f"'>{IMAGE}",
    f"</script>{IMAGE}",
    f"</title></style></textarea>{IMAGE}",
    f"-->]]>{IMAGE}",
    f"`` ` ``\n\n{IMAGE}\n\n",
    "&lt;img src=x onerror=top.hit()&gt;",
    "&#60;img src=x onerror=top.hit()&#62;",
    "{top.hit()} ${top.hit()} {{constructor.constructor('top.hit()')()}}",
)
ORDERS = ("\n\n".join(PAYLOADS), "\n\n".join(reversed(PAYLOADS)))
TEXTS = (
    pytest.param(ORDERS[0], id="forwards"),
    pytest.param(
        ORDERS[1], id="backwards", marks=pytest.mark.long(reason="the same payloads in another order")
    ),
)
WATCH = "window.hits = 0; window.hit = () => { window.hits += 1; };"
FOREIGN = (
    "img[src=x], iframe[srcdoc], details[open], source, input[autofocus], a[href^=javascript], svg[onload]"
)


def named(text: str) -> kp.Mechanism:
    """A mechanism with a text in the name of everything that has one."""
    return kp.build(
        kp.Builder(f"{text} name")
        .link(f"{text} upper", mass=1.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.01])
        .link(f"{text} lower", mass=1.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.01])
        .joint(f"{text} shoulder", "revolute", "ground", f"{text} upper", axis="y", friction=0.1)
        .joint(f"{text} elbow", "revolute", f"{text} upper", f"{text} lower", xyz=[0, 0, -1.0], axis="y")
        .frame(f"{text} tip", f"{text} lower", xyz=[0, 0, -1.0])
        .spring(
            f"{text} spring", "ground", f"{text} lower", stiffness=9.0, rest_length=1.0, child_xyz=[0, 0, -1]
        )
        .actuator(f"{text} motor", f"{text} elbow", "effort", effort=1.0)
    )


def recording(text: str) -> Recording:
    """A motion with a text in its note, its curve, its marks and its names."""
    m, time = named(text), np.linspace(0.0, 1.0, 5)
    return Recording(
        m,
        time,
        np.outer(time, [1.0, 1.0]),
        name=text,
        panel_time=time,
        panels=(Panel(f"{text} title", f"{text} quantity", {f"{text} curve": time}),),
        notes=((0.0, f"{text} note"),),
        arrows={f"{text} arrow": lambda: np.tile([[[0.0] * 3, [0.1] * 3]], (5, 1, 1, 1))},
        sticks={f"{text} shoulder": np.zeros(5, dtype=bool)},
        points={f"{text} point": np.zeros((5, 3))},
    )


def harmless(seen, *sentences: str) -> None:
    """The page shows these sentences as they are, and nothing of them became an element or ran.

    A payload that is interpreted is missing from the text, so several in one name cannot hide each other.
    """
    for sentence in map(one_line, sentences):
        until(lambda: sentence in one_line(seen.page.inner_text("body")), sentence, seen.page)  # noqa: B023
    assert seen.page.evaluate("window.hits") == 0
    assert seen.page.locator(FOREIGN).count() == 0


def one_line(text: str) -> str:
    return " ".join(text.split())


def quiet(_: str) -> None:
    """Print nothing."""


def test_the_page_shows_names_and_errors_as_text(chromium):
    page = Page(kp.example("double-pendulum"), port=PORT, browser=False, say=quiet)
    with visit(chromium, page.url, before=WATCH) as seen:
        seen.page.wait_for_selector("text=back to the start")
        for text in ORDERS:
            page.replace(named(text))
            page.trouble(f"{text} error")
            joints = f"{text} shoulder", f"{text} elbow"
            harmless(seen, f"{text} name · 2 of 2 coordinates are free", f"⚠ {text} error", *joints)
    page.close()


@pytest.mark.parametrize("text", TEXTS)
def test_the_page_that_plays_shows_notes_curves_and_marks_as_text(chromium, text):
    own = recording(text)
    page = Page(own.mechanism, recordings=[own], port=PORT, browser=False, say=quiet)
    with visit(chromium, page.url, before=WATCH) as seen:
        seen.page.wait_for_selector("text=time [s]")
        page.player.arrows[f"{text} arrow"].value = True
        page.player.trail.value = f"{text} upper"
        harmless(seen, *(f"{text} {x}" for x in ("note", "title", "quantity", "curve", "point", "arrow")))
    page.close()


@pytest.mark.parametrize("text", TEXTS)
def test_reports_and_tables_show_names_as_text(chromium, tmp_path, text):
    m = named(text)
    run = kp.simulate(m, [0.1, 0.2], [0.0, 0.0], duration=0.1, output=0.05)
    model = kp.linearise(m, [0.1, 0.2], [0.1, 0.1])
    comparison = replace(
        kp.compare(m, quantities=["mass_matrix"], time=False, states=2), rows=(), mechanism=text
    )
    documents = {
        "run": (run.report, f"Motion of {text} name"),
        "mode": (model.report, f"{text} name, mode 1"),
        "comparison": (comparison.to_html, f"Formulations of {text}"),
    }
    tables = "".join(x._repr_html_() for x in (m, run, model, comparison, run.animation(), model.animation()))
    with visit(chromium, "about:blank", before=WATCH) as seen:
        for name, (write, title) in documents.items():
            seen.page.goto(write(tmp_path / f"{name}.html").as_uri())
            harmless(seen, title)
        file = tmp_path / "tables.html"
        file.write_text(f'<!doctype html><meta charset="utf-8">{tables}')
        seen.page.goto(file.as_uri())
        assert seen.page.evaluate("window.hits") == 0
        assert seen.page.locator("img[src=x], details[open], source, a[href^=javascript]").count() == 0
        assert one_line(f"{text} name: 2 moving bodies") in one_line(seen.page.inner_text("body"))
        assert seen.page.locator("iframe").count() == 2  # the animations, whose frames are their own
