"""A bundle with a manifest is complete, or refused."""

import hashlib

import pytest

from negotiator.bundle import examine_bundle

FILES = {"pool.yaml": "scheduleracl: boss\n", "site.conf": "", "notes/why.txt": "because"}


def sums(files, mark="  "):
    return "".join(
        f"{hashlib.sha256(text.encode()).hexdigest()}{mark}{name}\n" for name, text in files.items()
    )


@pytest.fixture
def folder(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "SHA256SUMS").write_text(sums(FILES))
    return tmp_path


def errors(folder):
    return [(each.source.file, each.message) for each in examine_bundle(folder).problems]


def test_a_bundle_that_agrees_with_its_manifest_is_loaded(folder):
    assert examine_bundle(folder).bundle


@pytest.mark.parametrize("mark", [" *", "  ./"])
def test_all_forms_of_sha256sum_are_read(folder, mark):
    """It may have listed an older manifest as well."""
    (folder / "SHA256SUMS").write_text(sums({**FILES, "SHA256SUMS": "old"}, mark))
    assert examine_bundle(folder).bundle


def test_a_prefix_of_a_file_is_refused(folder):
    (folder / "pool.yaml").write_text("")
    assert errors(folder) == [("pool.yaml", "the contents of this file differ from what SHA256SUMS lists")]


def test_missing_and_unlisted_files_are_refused(folder):
    (folder / "site.conf").rename(folder / "notes" / "more.conf")
    assert errors(folder) == [
        ("notes/more.conf", "this file is not listed in SHA256SUMS"),
        ("site.conf", "this file is listed in SHA256SUMS, and missing"),
    ]


def test_a_line_cut_short_is_refused_with_its_number(folder):
    """The manifest itself may be half-written."""
    text = sums(FILES)
    (folder / "SHA256SUMS").write_text(text[: text.index("site.conf") - 4])
    found = {(each.source.file, each.source.line) for each in examine_bundle(folder).problems}
    assert ("SHA256SUMS", 2) in found
