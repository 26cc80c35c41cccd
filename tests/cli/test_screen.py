"""What commands print by default fits on a screen, however much there is; ``--full`` and selections print everything."""

import re

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from negotiator.cli.bars import most_used, used_part
from negotiator.cli.screen import SCREEN, ScreenTable, print_tables

USERS, DEPARTMENTS, TEAMS = 40, 4, 30
QUEUES = "partitions:\n  - name: default\n    placementrules:\n"
QUEUES += "      - {name: tag, value: team, filter: {type: deny, users: [user1, user2]}}\n"
QUEUES += "    queues:\n      - name: root\n        submitacl: '*'\n"
QUEUES += "        limits: [{limit: all, users: ['*'], maxresources: {vcore: 10}}]\n        queues:\n"
QUEUES += "".join(
    f"          - name: d{d}\n            parent: true\n            queues:\n"
    + "".join(
        f"              - {{name: t{t}, submitacl: ' g{t}', maxapplications: {t + 1}}}\n"
        for t in range(TEAMS)
    )
    for d in range(DEPARTMENTS)
)


@pytest.fixture
def site(tmp_path):
    """Return the words that name a bundle of 125 queues and a pool of 40 users, with jobs of every number of cores."""
    bundle, pool = tmp_path / "bundle", tmp_path / "jobs.ads"
    bundle.mkdir(mode=0o755)
    (bundle / "queues.yaml").write_text(QUEUES)
    (bundle / "queues.yaml").chmod(0o644)
    jobs = [
        f'MyType = "Job"\nClusterId = {10 * n + status}\nProcId = 0\nOwner = "user{n}"\nJobStatus = {status}\n'
        f'RequestCpus = {n % 10 + 1}\nRequestMemory = 1\nteam = "root.d{n % 4}.t{n % 7}"\nNumber = {n}\n'
        for n in range(USERS)
        for status in (1, 2)
    ]
    jobs += [
        f'MyType = "Job"\nClusterId = {900 + n}\nProcId = {n}\nOwner = "user{n}"\nJobStatus = 1\n'
        for n in (1, 2)
    ]
    pool.write_text("\n".join(jobs))
    return ("--bundle", str(bundle), "--pool", str(pool))


def lines_of(words, monkeypatch=None, columns=None):
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", str(columns))) if columns else ():
        monkeypatch.setenv(name, value)
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code in {0, 1}, done.output
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).rstrip("\n").splitlines()


@pytest.mark.parametrize("columns", [None, 80, 120])
@pytest.mark.parametrize(
    ("command", "details"),
    [
        (("queues",), "Details: --full, or the PATH of a queue"),
        (("usage", "users"), "Details: --full, --queue PATH, or the NAME of one"),
        (("place",), "Details: --full, or --user NAME, --queue PATH, --job ID"),
    ],
)
def test_the_output_fits_on_a_screen_and_says_how_to_see_the_rest(
    site, monkeypatch, command, details, columns
):
    lines = lines_of([*command, *site], monkeypatch, columns)
    assert SCREEN - 6 <= len(lines) <= SCREEN
    assert lines[-1] == details
    assert columns is None or max(map(len, lines)) <= columns
    assert len(lines_of([*command, *site, "--full"])) > SCREEN


def test_of_the_queues_the_upper_levels_are_printed_and_the_most_used_limits(site):
    lines = lines_of(["queues", *site])
    tree = lines[lines.index("Queues") + 2 : lines.index("Usage") - 1]
    assert [line.split()[0] for line in tree[:-1]] == ["root", "d0", "d1", "d2", "d3"][: len(tree) - 1]
    assert any(re.fullmatch(r"  and \d+ more queues", line) for line in lines)


def test_the_most_used_limits_of_users_come_first(site):
    rows = [line.split() for line in lines_of(["usage", "users", *site])[2:-2]]
    assert [row[-1] for row in rows if row[1] == "root"][:4] == ["100%"] * 4
    parts = [int(row[-1].rstrip("%")) for row in rows if row[-1].endswith("%")]
    assert parts == sorted(parts, reverse=True)


def test_a_queue_selects_the_usage_in_it_and_below(site):
    rows = [line.split() for line in lines_of(["usage", "users", *site, "--queue", "root.D1"])[2:]]
    assert {row[1] for row in rows} == {"root.d1", *(f"root.d1.t{n}" for n in range(7))}
    assert lines_of(["usage", "users", *site, "--queue", "root.d1.t29"]) == [
        "Nothing is used or limited in root.d1.t29."
    ]


def placed(site, *words):
    """Return the rows of placements, without the number of jobs."""
    lines = lines_of(["place", *site, *words])
    return [line.split()[1:] for line in lines[lines.index("") + 3 :]]


def test_rejected_applications_come_first(site):
    assert [row[0] for row in placed(site)[:2]] == ["user1", "user2"]
    assert "rejected:" in placed(site)[0]


@pytest.mark.parametrize(
    ("words", "users"),
    [
        (("--user", "USER7"), ["user7"]),
        (("--user", "user1"), ["user1", "user1"]),
        (("--queue", "root.d3.t6"), ["user27"]),
        (("--queue", "root.d3", "--user", "user39"), ["user39"]),
        (("--job", "71.0"), ["user7"]),
        (("--job", "902"), ["user2"]),
        (("--job", "901.0"), []),
        (("--job", "72.0"), []),
    ],
)
def test_a_user_a_queue_or_a_job_selects_placements(site, words, users):
    rows = placed(site, *words) if users else []
    assert [row[0] for row in rows] == users
    if not users:
        assert (
            lines_of(["place", *site, *words])[-1] == "No application of this selection would be placed now."
        )


@pytest.mark.parametrize("words", [("--full",), ("--job", "7")])
def test_options_for_the_jobs_of_a_pool_need_a_pool(site, words):
    done = CliRunner().invoke(main, ["place", *site[:2], "--user", "sue", *words])
    assert (done.exit_code, "use --pool PATH" in done.stderr) == (2, True)


def test_rows_without_a_limit_come_last_the_most_used_first():
    amounts = {"idle": (0, None), "busy": (900, None), "used": (3, None), "half": (5, 10), "empty": (0, 10)}
    rows = [(used_part(*amounts[name]), (name,)) for name in amounts]
    assert most_used(rows)(4) == [("half",), ("empty",), ("busy",), ("used",)]


def table(rows, title="T", **more):
    return ScreenTable(title, ("A",), [(f"row{number}",) for number in range(rows)], **more)


@pytest.mark.parametrize(("rows", "printed"), [(21, 21), (22, 20)])
def test_tables_that_fit_are_complete(capsys, rows, printed):
    print_tables([table(rows)], full=False, details="Details")
    lines = capsys.readouterr().out.rstrip("\n").splitlines()
    assert len(lines) <= SCREEN
    assert sum("row" in line and "more" not in line for line in lines) == printed
    assert (lines[-1] == "Details") is (printed < rows)


def test_short_tables_are_complete_and_the_others_share_the_rest(capsys):
    print_tables([table(50, "X"), table(2, "Y"), table(90, "Z", noun="queue")], full=False, details="Details")
    lines = capsys.readouterr().out.rstrip("\n").splitlines()
    assert len(lines) <= SCREEN
    x, y, z = (lines.index(title) for title in "XYZ")
    assert lines[y + 2 : z - 1] == ["  row0", "  row1"]
    assert abs((y - x) - (len(lines) - 2 - z)) <= 2
    assert lines[y - 2].startswith("  and ")
    assert lines[-2].endswith("more queues")
