"""The folder of a bundle: the files that count, the digest, and errors of reading."""

import hashlib
import os
import types

import pytest

from negotiator.bundle import BundleError, check_bundle, default_bundle, examine_bundle, load_bundle


def digest(*files):
    """Return the digest of names and contents as the documentation of ``read_folder`` defines it."""
    framed = (b"%d:%b%d:%b" % (len(name), name, len(content), content) for name, content in files)
    return hashlib.sha256(b"".join(framed)).hexdigest()


def test_the_digest_covers_names_and_contents_in_order(bundle):
    """It can be computed from the files, including those that only a plugin reads, and the list of the plugins."""
    bundle.write("pool.yaml", "number: 1\n")
    bundle.write("a.conf", "")
    bundle.write("b/c.txt", "x")
    bundle.write("b.txt", b"\xff")
    loaded = bundle.load()
    plugins = "".join(f"{plugin}\n" for plugin in sorted(loaded.hooks.plugin_set)).encode()
    files = ((b"a.conf", b""), (b"b.txt", b"\xff"), (b"b/c.txt", b"x"), (b"pool.yaml", b"number: 1\n"))
    assert loaded.digest == digest((b".plugins", plugins), *files)


def test_the_digest_covers_the_plugins_and_their_versions(tmp_path):
    (tmp_path / "pool.yaml").write_text("")
    versions = [types.ModuleType("site"), types.ModuleType("site")]
    versions[1].__version__ = "2"
    found = [load_bundle(tmp_path, extra_plugins={"site": each}).digest for each in versions]
    found += [load_bundle(tmp_path, disable=["condor"]).digest, load_bundle(tmp_path).digest]
    assert len(set(found)) == 4
    assert load_bundle(tmp_path).digest == found[-1]


def test_every_change_of_a_file_changes_the_digest(bundle):
    """A byte, a name, a further file, or a byte that moves from one file to the next."""
    bundle.write("pool.yaml", "")
    seen = {bundle.load().digest}
    changes = [("b.txt", "ab"), ("b.txt", "ac"), ("c.txt", ""), ("b.txt", "a"), ("c.txt", "c")]
    for name, text in changes:
        bundle.write(name, text)
        seen.add(bundle.load().digest)
    assert len(seen) == len(changes) + 1


@pytest.mark.parametrize("name", [".hidden", "pool.yaml~", "__pycache__/x.pyc", ".git/config", "sub/.x"])
def test_hidden_files_backups_and_caches_do_not_count(bundle, name):
    """An open editor, or Python, does not change the bundle."""
    bundle.write("pool.yaml", "")
    before = bundle.load().digest
    bundle.write(name, "x")
    assert bundle.load().digest == before


def test_the_default_bundle_has_no_problems():
    """It is part of the program and can be copied."""
    assert check_bundle(default_bundle()) == ()
    assert load_bundle(default_bundle()).problems == ()


def test_a_folder_without_settings_is_refused(bundle):
    """A wrong folder is not taken for a pool without policies."""
    bundle.write("README", "x")
    assert bundle.problems() == [
        (
            "pool.yaml: error: not a policy bundle: none of pool.yaml, queues.yaml, *.conf in this folder "
            "(is it the right folder?)"
        )
    ]
    with pytest.raises(BundleError, match=r"not a policy bundle"):
        bundle.load()


def test_a_missing_folder_is_a_problem(tmp_path):
    """And so is a file in its place."""
    (tmp_path / "file").write_text("")
    for name in ("nowhere", "file"):
        (problem,) = check_bundle(tmp_path / name)
        assert "this folder can't be read: " in problem.message


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_a_path_that_is_not_a_regular_file_does_not_block(bundle, make):
    """A FIFO called pool.yaml neither blocks nor is ignored; a folder of that name is just a folder."""
    make(bundle.path / "pool.yaml")
    (problem,) = bundle.problems()
    assert "pool.yaml: error: " in problem


def test_a_link_out_of_the_bundle_is_refused(bundle, tmp_path):
    """Its content could change without a change in the bundle."""
    (tmp_path / "elsewhere.yaml").write_text("number: 1")
    (bundle.path / "pool.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert bundle.problems() == ["pool.yaml: error: this file can't be read: a link leads out of the bundle"]
    (bundle.path / "pool.yaml").unlink()
    bundle.write("real.yaml", "number: 5")
    (bundle.path / "pool.yaml").symlink_to("real.yaml")
    assert bundle.settings().number == 5


def test_a_dangling_link_is_reported(bundle):
    """And so is one that leads to itself."""
    bundle.write("pool.yaml", "")
    (bundle.path / "x").symlink_to("nowhere")
    (bundle.path / "y").symlink_to("y")
    assert [problem.split(":")[0] for problem in bundle.problems()] == ["x", "y"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission_is_reported(bundle):
    """The error has its name."""
    bundle.write("pool.yaml", "").chmod(0)
    assert bundle.problems() == ["pool.yaml: error: this file can't be read: Permission denied"]


def test_a_file_that_is_too_large_is_reported(bundle):
    """It is not read to its end."""
    bundle.write("pool.yaml", "")
    with (bundle.path / "large").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert bundle.problems() == [
        "large: error: this file is larger than 16777216 bytes (keep large files elsewhere)"
    ]


def test_a_broken_bundle_still_has_a_digest(bundle):
    """So that refused bundles can be distinguished."""
    bundle.write("pool.yaml", "number: x")
    examination = examine_bundle(bundle.path, extra_folders=[bundle.plugins], entry_points=False)
    assert examination.bundle is None
    assert examination.digest == digest((b"pool.yaml", b"number: x"))
