"""The cache of machine code stays under a size; what was used least recently goes first."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from kinpair.compiler import cache
from kinpair.compiler.cache import GROWTH, LIMIT, Store, clear, contents, limit_from
from kinpair.errors import CacheWarning

KIB = 1024
ENTRY = bytes(10 * KIB)


@pytest.fixture(autouse=True)
def _short_surroundings(monkeypatch):
    monkeypatch.setattr("kinpair.compiler.cache.surroundings", lambda: "")


def aged(store: Store, *keys: str) -> None:
    """Make the entries old, the first one the oldest."""
    for k, key in enumerate(keys):
        os.utime(store.path(key), (1000.0 + k, 1000.0 + k))


def kept(store: Store, *keys: str) -> list[str]:
    return [key for key in keys if store.path(key).exists()]


def size(store: Store) -> int:
    return sum(path.stat().st_size for path in store.directory.iterdir())


def test_the_directory_stays_under_its_limit(tmp_path):
    store = Store(tmp_path, limit=100 * KIB)
    for k in range(50):
        store.put(str(k), ENTRY)
        assert size(store) <= 100 * KIB
        assert store.path(str(k)).exists()
    assert len(contents(tmp_path)) > 5


def test_what_was_used_least_recently_goes_first(tmp_path):
    store = Store(tmp_path, limit=200 * KIB)
    names = [str(k) for k in range(8)]
    for name in names:
        store.put(name, ENTRY)
    aged(store, *names)
    assert store.get("0") == ENTRY  # it is young again
    small = Store(tmp_path, limit=60 * KIB)
    small.put("new", ENTRY)
    assert kept(small, "0", "new") == ["0", "new"]
    assert kept(small, "1", "2", "3") == []


def test_a_put_seldom_looks_through_the_directory(tmp_path, monkeypatch):
    looks: list[Path] = []
    monkeypatch.setattr(cache, "contents", lambda directory: looks.append(directory) or [])
    store = Store(tmp_path, limit=LIMIT)
    for k in range(100):
        store.put(str(k), ENTRY)
    assert len(looks) == 1  # the first, since nobody knows what was there before


def test_a_full_cache_of_old_is_cut_at_the_first_put(tmp_path):
    large = Store(tmp_path, limit=LIMIT)
    names = [str(k) for k in range(20)]
    for name in names:
        large.put(name, ENTRY)
    (tmp_path / GROWTH).unlink()
    Store(tmp_path, limit=100 * KIB).put("new", ENTRY)
    assert size(large) <= 100 * KIB


def test_an_entry_larger_than_the_limit_is_not_kept(tmp_path):
    store = Store(tmp_path, limit=100 * KIB)
    store.put("a", ENTRY)
    store.put("b", bytes(101 * KIB))
    assert kept(store, "a", "b") == ["a"]


def test_files_of_others_are_left_alone(tmp_path):
    """Neither counted nor removed, whatever the limit and when all is cleared."""
    own = tmp_path / "thesis.tex"
    own.write_bytes(bytes(500 * KIB))
    os.utime(own, (0.0, 0.0))
    store = Store(tmp_path, limit=50 * KIB)
    for k in range(10):
        store.put(str(k), ENTRY)
    assert clear(tmp_path) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_what_a_killed_process_left_is_removed_and_what_is_being_written_is_not(tmp_path):
    store = Store(tmp_path, limit=30 * KIB)
    store.put("a", ENTRY)
    left, writing = tmp_path / "new-abcdefgh", tmp_path / "new-12345678"
    for path in (left, writing):
        path.write_bytes(ENTRY)
    os.utime(left, (0.0, 0.0))
    store.put("b", ENTRY)
    assert (left.exists(), writing.exists()) == (False, True)


def fill(directory: str, first: int) -> int:
    store = Store(directory, limit=100 * KIB)
    for k in range(first, first + 40):
        store.put(str(k), ENTRY)
        assert store.get(str(k)) in (ENTRY, None)
    return first


def test_several_processes_fill_one_cache(tmp_path):
    """Each put of another may come between a look and the removal: one entry a process above the limit, no more."""
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(fill, [(str(tmp_path), 100 * k) for k in range(3)])
    assert size(Store(tmp_path)) <= 100 * KIB + 3 * (len(ENTRY) + KIB)
    (tmp_path / GROWTH).unlink()
    Store(tmp_path, limit=100 * KIB).put("last", ENTRY)
    assert size(Store(tmp_path)) <= 100 * KIB


@pytest.mark.parametrize(
    ("text", "size"),
    [("", LIMIT), ("1000", 1000), ("10K", 10 * KIB), ("1.5 M", 1536 * KIB), ("2g", 2 * KIB**3), ("0", 0)],
)
def test_the_limit_follows_the_environment(monkeypatch, text, size):
    monkeypatch.setenv("KINPAIR_CACHE_SIZE", text)
    assert Store("x").limit == size == limit_from(text)


@pytest.mark.parametrize("text", ["much", "-3", "1T", "nan", "inf"])
def test_a_limit_that_is_no_size_is_told(monkeypatch, text):
    monkeypatch.setenv("KINPAIR_CACHE_SIZE", text)
    with pytest.warns(CacheWarning) as caught:
        assert Store("x").limit == LIMIT
    assert str(caught[0].message) == (
        f"KINPAIR_CACHE_SIZE is {text!r}; give bytes, or a number with K, M or G such as 500M; 1 GiB is used"
    )


def test_a_limit_of_zero_keeps_nothing(tmp_path):
    store = Store(tmp_path, limit=0)
    store.put("a", ENTRY)
    assert store.get("a") is None
