"""``negotiator.yaml``: its values with their places, and all of its problems at once."""

import os
import subprocess
from pathlib import Path

import pytest

from negotiator.app.service_checks import check_settings
from negotiator.app.service_file import read_service_file
from negotiator.app.service_settings import (
    KEYS,
    LogLevel,
    Origin,
    PoolDriver,
    ServiceSettings,
    SettingOrigin,
)
from negotiator.records import Source


@pytest.fixture
def read(tmp_path):
    """Return a function that reads a file with a text."""

    def read(text):
        path = tmp_path / "negotiator.yaml"
        path.write_text(text)
        return read_service_file(path)

    return read


def shown(file):
    """Return each problem as line, column, message and hint."""
    return [(each.source.line, each.source.column, each.message, each.hint) for each in file.problems]


def test_each_key_is_read_with_its_type_and_its_place(read, tmp_path):
    file = read(
        "bundle: site\npool: [a, /b]\ndisable: [csv]\nevery: 2\nwatch: true\n"
        "bind_port: 0\npool_driver: files\nlog_level: error\nscheduler_acl: boss admins\n"
    )
    assert file.problems == ()
    assert file.values == {
        "bundle": tmp_path / "site",
        "pool": (tmp_path / "a", Path("/b")),
        "disable": ("csv",),
        "every": 2.0,
        "watch": True,
        "bind_port": 0,
        "pool_driver": PoolDriver.FILES,
        "log_level": LogLevel.ERROR,
        "scheduler_acl": "boss admins",
    }
    assert file.sources["pool"] == Source(str(tmp_path / "negotiator.yaml"), 2, 1)


def test_all_problems_are_reported_at_once_in_the_order_of_lines(read):
    file = read(
        'bundel: site\nweb_bind_port: 65536\nbind_port: "9614"\nwatch: yes\nevery: -1\nlog_format: xml\n'
        "web_bind_host: a b\nstate:\nscheduler_acl: a b c\npool: folder\nevery: 3\n"
    )
    lines = [(line, column) for line, column, *_ in shown(file)]
    assert lines == [
        (1, 1),
        (2, 16),
        (3, 12),
        (4, 8),
        (5, 8),
        (6, 13),
        (7, 16),
        (8, 7),
        (9, 16),
        (10, 7),
        (11, 1),
    ]
    texts = [f"{message} ({hint})" for _, _, message, hint in shown(file)]
    for text, expected in zip(
        texts,
        (
            "unknown key 'bundel' (did you mean bundle?)",
            "web_bind_port: 65536 is not a port (write 0 to 65535",
            "bind_port: expected a whole number, got '9614' (remove the quotes)",
            "watch: YAML reads 'yes' as a boolean (write true or false",
            "every: expected a number of seconds from 0 on, got -1",
            "log_format: expected one of text, json, got 'xml'",
            "web_bind_host: invalid host 'a b' (write a name or an address",
            "state: expected a file name, got nothing",
            "scheduler_acl: more than one space in 'a b c'",
            "pool: expected a list, got 'folder' (begin each item with -)",
            "duplicate key 'every'; the first is in line 5",
        ),
        strict=True,
    ):
        assert text.startswith(expected)
    assert file.invalid == {*KEYS} & {
        *("web_bind_port", "bind_port", "watch", "every", "log_format", "web_bind_host", "state"),
        *("scheduler_acl", "pool"),
    }


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("containers_at_once", "match: fill"),
        ("preemption_threshold", "queue_preemption: threshold"),
        ("preemption_interval", "queue_preemption: interval"),
    ],
)
def test_a_setting_that_decides_about_jobs_is_named_with_its_place_in_the_bundle(read, key, expected):
    ((_, _, message, hint),) = shown(read(f"{key}: 1\n"))
    assert message == f"unknown key '{key}'"
    assert hint == f"write {expected} into pool.yaml of the bundle: it decides about jobs"


@pytest.mark.parametrize(
    ("key", "meant"), [("scheduleracl", "scheduler_acl"), ("audit_key", "key_file"), ("reload", "watch")]
)
def test_the_name_that_another_file_has_for_a_key_is_suggested(read, key, meant):
    assert shown(read(f"{key}: 1\n"))[0][3] == f"did you mean {meant}?"


def test_a_name_that_can_never_match_is_a_problem(read):
    ((*_, message, _),) = shown(read("scheduler_acl: boss,1st\n"))
    assert message == "scheduler_acl: invalid names of users or groups: 1st"


def test_an_empty_list_of_administrators_is_a_value(read):
    """As the specification has it: nobody but the owner of the process."""
    assert [read(f"scheduler_acl: {text}\n").values["scheduler_acl"] for text in ('""', '" "')] == ["", " "]


def test_an_empty_file_has_no_settings_and_no_problems(read):
    assert (read("").values, read("# nothing\n").problems) == ({}, ())


def test_a_file_that_is_missing_or_no_file_is_a_problem(tmp_path):
    for path, reason in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        assert [str(each) for each in read_service_file(path).problems] == [
            f"{path}: error: the file cannot be read: {reason}"
        ]


def test_a_file_that_another_user_could_have_written_is_refused(read, tmp_path):
    """It names folders of plugins, which the service runs."""
    read("watch: true\n")
    (tmp_path / "negotiator.yaml").chmod(0o666)
    (problem,) = read_service_file(tmp_path / "negotiator.yaml").problems
    assert problem.message == "world-writable, so any user could have written it"


def test_bytes_that_are_not_utf_8_are_a_problem(tmp_path):
    path = tmp_path / "negotiator.yaml"
    path.write_bytes(b"state: a\nbundle: \xff\n")
    (problem,) = read_service_file(path).problems
    assert (problem.source.line, problem.source.column) == (2, 9)


WEB = {"web_bind_port": SettingOrigin(Origin.OPTION, Source("--set web_bind_port=..."))}


def faults(*, origins=WEB, **settings):
    """Return the problems of settings without their hints; requests are answered over HTTP."""
    settings["origins"] = origins
    return [f"{each.source}: {each.message}" for each in check_settings(ServiceSettings(**settings))]


def test_keys_that_need_another_one_are_reported(tmp_path):
    file = tmp_path / "file"
    file.touch(0o600)
    assert faults(web_certificate=file) == ["--set web_certificate=...: web_certificate: web_key is missing"]
    assert faults(web_key=file) == ["--set web_key=...: web_key: web_certificate is missing"]
    assert faults(bind_port=1) == ["--set bind_port=...: bind_port: bind_host is missing"]
    assert faults(bind_host="h") == ["--set bind_host=...: bind_host: bind_port is missing"]
    assert faults(bind_host="h", bind_port=1) == []


def test_a_key_is_not_missing_if_its_value_is_reported_already():
    settings = ServiceSettings(bind_host="h")
    assert list(check_settings(settings, {"bind_port"})) == []


def test_the_driver_of_files_needs_files_and_has_no_port(tmp_path):
    files = PoolDriver.FILES
    assert faults(pool_driver=files, pool=(tmp_path,)) == []
    (missing,) = faults(pool_driver=files)
    assert missing.startswith("--set pool_driver=...: pool_driver: pool is missing")
    (useless,) = faults(pool_driver=files, pool=(tmp_path,), bind_host="h", bind_port=1)
    assert useless == "--set bind_port=...: bind_port: has no effect with pool_driver: files"


def test_web_keys_without_an_address_are_reported(tmp_path):
    """A variable may be meant for ``negotiator serve --pages``."""
    (useless,) = faults(web_assets=tmp_path, origins={})
    assert useless == "--set web_assets=...: web_assets: has no effect without web_bind_host or web_bind_port"
    origins = {"web_assets": SettingOrigin(Origin.VARIABLE, Source("NEGOTIATOR_WEB_ASSETS"))}
    assert faults(web_assets=tmp_path, origins=origins) == []


def test_an_address_that_others_reach_needs_tokens_and_a_certificate():
    origins = {"web_bind_host": SettingOrigin(Origin.OPTION, Source("--set web_bind_host=..."))}
    (problem,) = faults(web_bind_host="10.0.0.1", origins=origins)
    assert problem == "--set web_bind_host=...: web_bind_host: web_tokens and web_certificate missing"
    assert [faults(web_bind_host=host, origins=origins) for host in ("127.0.0.1", "::1", "localhost")] == [
        []
    ] * 3


def test_the_live_pool_takes_no_files(tmp_path):
    """A variable may be meant for other commands."""
    (useless,) = faults(pool=(tmp_path,))
    assert useless == "--pool: pool: has no effect with pool_driver: live"
    origins = {"pool": SettingOrigin(Origin.VARIABLE, Source("NEGOTIATOR_POOL"))}
    assert faults(pool=(tmp_path,), origins=origins) == []


def test_files_and_folders_that_cannot_be_read_are_reported_at_the_line_of_their_key(tmp_path):
    file, none = tmp_path / "file", tmp_path / "none"
    file.touch(0o600)
    os.mkfifo(tmp_path / "fifo", 0o600)
    assert faults(bundle=none) == [f"--bundle: bundle: {none}: cannot be read: No such file or directory"]
    assert faults(web_assets=file) == [f"--set web_assets=...: web_assets: {file}: not a folder"]
    assert faults(key_file=tmp_path / "fifo") == [
        f"--key-file: key_file: {tmp_path / 'fifo'}: not a regular file"
    ]
    origins = {"plugins_dir": SettingOrigin(Origin.FILE, Source(str(file), 1, 1))}
    file.write_text("plugins_dir: [none]\n")
    (problem,) = check_settings(ServiceSettings(plugins_dir=(none,), origins=origins))
    assert (problem.source.line, problem.excerpt) == (1, "plugins_dir: [none]")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A folder with certificates and their keys: ``one``, ``two``, and ``locked`` with a password."""
    folder = tmp_path_factory.mktemp("certificates")
    for name, password in (("one", ["-nodes"]), ("two", ["-nodes"]), ("locked", ["-passout", "pass:hello"])):
        files = ["-keyout", f"{name}.key", "-out", f"{name}.pem"]
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                *password,
                *files,
                "-subj",
                "/CN=pool",
                "-days",
                "2",
            ],
            cwd=folder,
            check=True,
            capture_output=True,
        )
    return folder


def tls(folder, certificate, key):
    return faults(web_certificate=folder / f"{certificate}.pem", web_key=folder / f"{key}.key")


def test_a_certificate_with_its_key_is_valid(certificates):
    assert tls(certificates, "one", "one") == []


def test_a_key_of_another_certificate_or_with_a_password_is_refused(certificates):
    assert "the key belongs to another certificate" in tls(certificates, "one", "two")[0]
    assert "the key has a password" in tls(certificates, "locked", "locked")[0]


def test_a_key_that_everybody_may_read_is_refused(certificates, tmp_path):
    for name in ("one.pem", "one.key"):
        (tmp_path / name).write_bytes((certificates / name).read_bytes())
    (tmp_path / "one.key").chmod(0o644)
    (problem,) = tls(tmp_path, "one", "one")
    assert problem.endswith("one.key: every user may read or write this key")


def test_no_problem_shows_the_contents_of_a_key(certificates):
    problems = faults(web_certificate=certificates / "one.key", web_key=certificates / "one.key")
    text = (certificates / "one.key").read_text()
    assert problems
    assert not any(line in "\n".join(problems) for line in text.splitlines())
