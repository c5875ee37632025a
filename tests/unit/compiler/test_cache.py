import multiprocessing
import os
import stat
import warnings
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler.cache import GROWTH, Store, default_directory
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.program import Program
from kinpair.compiler.trace import trace
from kinpair.errors import CacheWarning


def traced() -> Program:
    return trace(lambda x: np.sin(x) * 2.0, {"x": (3,)}, name="f")


def never() -> Program:
    raise AssertionError("traced although the code was kept")


x = np.array([0.1, 0.2, 0.3])
rows = np.arange(15.0).reshape(5, 3)


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "cache")


@pytest.fixture
def kept(store) -> Store:
    Kernel(traced, key="f", store=store).compile()
    return store


def entries(store: Store) -> list[Path]:
    return sorted(path for path in store.directory.iterdir() if path.name != GROWTH)


def test_kept_code_runs_without_tracing(kept):
    again = Kernel(never, key="f", store=Store(kept.directory))
    assert again(x) == pytest.approx(2 * np.sin(x))
    assert again(rows) == pytest.approx(2 * np.sin(rows))
    assert again.signature.inputs == {"x": (3,)}


def test_directory_and_entries_are_private(kept):
    assert stat.S_IMODE(kept.directory.stat().st_mode) == 0o700
    assert [stat.S_IMODE(path.stat().st_mode) for path in entries(kept)] == [0o600] * 4


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "swap"])
def test_a_damaged_entry_is_compiled_again(kept, damage):
    for path in entries(kept):
        content = bytearray(path.read_bytes())
        if damage == "flip":
            content[-7] ^= 1
        path.write_bytes(
            {"cut": content[:-40], "empty": b"", "swap": b"\x7fELF" + content}.get(damage, content)
        )
    kernel = Kernel(traced, key="f", store=kept)
    with pytest.warns(CacheWarning, match="is damaged"):
        assert kernel(x) == pytest.approx(2 * np.sin(x))
    assert Kernel(never, key="f", store=kept)(x) == pytest.approx(2 * np.sin(x))


def test_an_entry_others_could_write_is_not_run(kept):
    for path in entries(kept):
        path.chmod(0o666)
    with pytest.warns(CacheWarning, match="is open to other users"):
        Kernel(traced, key="f", store=kept)(x)


def test_a_directory_others_could_write_is_not_used(kept):
    kept.directory.chmod(0o777)
    with pytest.warns(CacheWarning, match="is open to other users"):
        Kernel(traced, key="f", store=kept)(x)


def test_a_link_is_not_followed(kept, tmp_path):
    for path in entries(kept):
        path.rename(tmp_path / path.name)
        path.symlink_to(tmp_path / path.name)
    with pytest.warns(CacheWarning, match="cannot be read"):
        Kernel(traced, key="f", store=kept)(x)


def test_where_nothing_can_be_written_there_is_no_cache(tmp_path):
    (tmp_path / "file").write_text("in the way")
    kernel = Kernel(traced, key="f", store=Store(tmp_path / "file" / "cache"))
    with pytest.warns(CacheWarning, match="cannot be (written|read)"):
        assert kernel(x) == pytest.approx(2 * np.sin(x))


def test_a_full_disk_leaves_nothing_behind(store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CacheWarning, match="No space left on device"):
        Kernel(traced, key="f", store=store)(x)
    assert entries(store) == []


def test_the_warning_of_an_unwritable_cache_comes_once(store, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Kernel(traced, key="f", store=store).compile()
    assert len(caught) == 1


def compile_there(directory: str) -> list[float]:
    return Kernel(traced, key="f", store=Store(directory)).compile()(x).tolist()


def test_two_processes_do_not_disturb_each_other(store):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        result = pool.map(compile_there, [str(store.directory)] * 4)
    assert result == [result[0]] * 4
    assert len(entries(store)) == 5  # one state and batch, each with its facts, and the call from Python
    assert Kernel(never, key="f", store=store)(x).tolist() == result[0]


def test_keys_do_not_mix(kept):
    other = Kernel(lambda: trace(lambda x: x + 1.0, {"x": (3,)}), key="g", store=kept)
    assert other(x) == pytest.approx(x + 1.0)


def test_the_entry_of_a_light_pendulum_is_not_used_for_a_heavy_one(tmp_path, monkeypatch):
    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path / "cache"))

    def inertia(mass: float) -> float:
        b = kp.Builder("pendulum")
        b.link("ground").link("bob", mass=mass, com=(1.0, 0.0, 0.0))
        b.joint("pin", "revolute", "ground", "bob", axis=(0, 1, 0))
        return float(kp.build(b).mass_matrix([0.3])[0, 0])

    def new_entries(mass: float) -> list[Path]:
        before = set(entries(Store()))
        assert inertia(mass) == pytest.approx(mass)
        return sorted(set(entries(Store())) - before, key=lambda path: path.stat().st_size)

    assert inertia(3.0) == pytest.approx(3.0)  # also keeps the code that all calls share
    for light, heavy in zip(new_entries(1.0), new_entries(2.0), strict=True):  # the facts, the code
        own = heavy.read_bytes()
        heavy.write_bytes(light.read_bytes())
        with pytest.warns(CacheWarning, match="entry of another key"):
            assert inertia(2.0) == pytest.approx(2.0)
        assert heavy.read_bytes() == own


def test_equal_programs_share_their_code_whatever_other_sources_say(kept, monkeypatch):
    monkeypatch.setattr("kinpair.compiler.making.all_sources", lambda: "another source was edited")
    monkeypatch.setattr("kinpair.compiler.making.object_code", lambda text: pytest.fail("compiled again"))
    edited = Kernel(traced, key="f", store=kept)
    assert edited(x) == pytest.approx(2 * np.sin(x))
    assert Kernel(traced, store=kept)(rows) == pytest.approx(2 * np.sin(rows))


def test_an_entry_of_another_key_target_or_payload_is_rejected(store, monkeypatch):
    store.put("one", b"payload")
    store.put("two", b"payload")
    store.path("two").write_bytes(store.path("one").read_bytes())
    with pytest.warns(CacheWarning, match="entry of another key"):
        assert store.get("two") is None
    assert store.get("one") == b"payload"
    here = store.path("one").read_bytes()
    monkeypatch.setattr("kinpair.compiler.cache.surroundings", lambda: "another machine")
    store.put("one", b"payload")
    store.path("one").write_bytes(here)
    with pytest.warns(CacheWarning, match="entry of another key"):
        assert store.get("one") is None


def test_the_directory_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("KINPAIR_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "kinpair"
    monkeypatch.setenv("KINPAIR_CACHE", str(tmp_path / "mine"))
    assert default_directory() == tmp_path / "mine"
