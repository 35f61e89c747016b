"""The raw content store."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from auditor.errors import StoreError
from auditor.model import digest
from auditor.store.raw import RawStore


@pytest.fixture
def raw(tmp_path: Path) -> RawStore:
    return RawStore(tmp_path / "raw")


@pytest.mark.parametrize("body", ["", "show version\r\n\x00\x1b[31m", "Temperatur 40 °C", "lone \udcff surrogate"])
def test_what_is_put_is_got_by_its_digest(raw: RawStore, body: str) -> None:
    name = raw.put(body)
    assert name == digest(body)
    assert raw.get(name) == body


def test_a_text_lies_compressed_under_the_first_two_digits(raw: RawStore) -> None:
    name = raw.put("interface Ethernet0\n" * 10_000)
    path = raw.folder / name[:2] / f"{name}.zst"
    assert path.stat().st_size < 1_000
    assert list(raw.folder.rglob("*.*")) == [path]


def test_putting_again_leaves_the_file_alone(raw: RawStore) -> None:
    path = raw.path(raw.put("same"))
    before = path.stat()
    raw.put("same")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_an_empty_file_left_by_a_power_cut_is_written_anew(raw: RawStore) -> None:
    path = raw.path(raw.put("body"))
    path.write_bytes(b"")
    assert raw.get(raw.put("body")) == "body"


def test_what_was_never_put_is_none(raw: RawStore) -> None:
    assert raw.get("0" * 64) is None


@pytest.mark.parametrize("damage", [b"", b"no zstandard", None])
def test_a_damaged_file_is_an_error_that_names_it(raw: RawStore, damage: bytes | None) -> None:
    path = raw.path(raw.put("body"))
    path.write_bytes(raw.path(raw.put("other")).read_bytes() if damage is None else damage)
    with pytest.raises(StoreError, match=path.name):
        raw.get(digest("body"))


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "0" * 63])
def test_only_digests_name_files(raw: RawStore, name: str) -> None:
    with pytest.raises(StoreError, match="no digest"):
        raw.get(name)


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("a file stands where the folder should be")
    with pytest.raises(StoreError, match="cannot be kept"):
        RawStore(tmp_path / "raw").put("body")


def test_threads_may_put_the_same_text_at_once(raw: RawStore) -> None:
    bodies = [f"answer {at % 5}\n" * 500 for at in range(60)]
    with ThreadPoolExecutor(8) as pool:
        names = list(pool.map(raw.put, bodies))
    assert [raw.get(name) for name in names] == bodies
    assert len(list(raw.folder.rglob("*.*"))) == 5
