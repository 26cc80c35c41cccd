"""On a terminal commands print what fits on it; in a pipe, with ``--full`` and for selections, everything."""

import re
import sys

import pytest
from click.testing import CliRunner

from negotiator.cli import main
from negotiator.cli.bars import most_used, used_part
from negotiator.cli.screen import ScreenTable, print_tables
from terminals import on_terminal, rows_of

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


def lines_of(words):
    """Return the lines that a command prints to a pipe."""
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code in {0, 1}, done.output
    return done.stdout.rstrip("\n").splitlines()


#: The commands that list, with what they print about the rest.
LISTS = [
    (("queues",), "Details: --full, or the PATH of a queue"),
    (("usage", "users"), "Details: --full, --queue PATH, or the NAME of one"),
    (("place",), "Details: --full, or --user NAME, --queue PATH, --job ID"),
]


@pytest.mark.parametrize(("height", "width"), [(24, 80), (32, 120), (24, 200)])
@pytest.mark.parametrize(("command", "details"), LISTS)
def test_on_a_terminal_the_output_fits_and_says_how_to_see_the_rest(
    site, tmp_path, command, details, height, width
):
    lines = on_terminal(*command, *site, cwd=tmp_path, lines=height, columns=width)
    assert height - 8 <= rows_of(lines, width) < height  # a line is for the prompt
    assert lines[-1] == details
    assert max(map(len, lines)) <= width
    full = on_terminal(*command, *site, "--full", cwd=tmp_path, lines=height, columns=width)
    assert rows_of(full, width) > height
    assert details not in full


@pytest.mark.parametrize(
    "variables", [{}, {"FORCE_COLOR": "1", "LINES": "10"}, {"LINES": "5", "COLUMNS": "20"}]
)
@pytest.mark.parametrize("command", [command for command, _ in LISTS])
def test_in_a_pipe_the_output_is_whole_whatever_the_environment_says(site, monkeypatch, command, variables):
    whole = lines_of([*command, *site, "--full"])
    assert len(whole) > 40
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = lines_of([*command, *site])
    if "FORCE_COLOR" in variables:  # wrapped in the width, with nothing left out
        assert len(done) >= len(whole)
    else:
        assert done == whole


def test_each_of_125_queues_is_found_in_a_pipe(site):
    lines = lines_of(["queues", *site])
    assert sum(re.match(r" +t\d+ ", line) is not None for line in lines) == DEPARTMENTS * TEAMS


def test_of_the_queues_the_upper_levels_are_printed_and_the_most_used_limits(site, tmp_path):
    lines = on_terminal("queues", *site, cwd=tmp_path)
    tree = lines[lines.index("Queues") + 3 : lines.index("Usage") - 1]
    assert [line.split()[0] for line in tree[:-1]] == ["root", "d0", "d1", "d2", "d3"][: len(tree) - 1]
    assert any(re.fullmatch(r"  and \d+ more queues", line) for line in lines)


def test_the_most_used_limits_of_users_come_first(site, tmp_path):
    rows = [line.split() for line in on_terminal("usage", "users", *site, cwd=tmp_path)[3:-2]]
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


def shortened(monkeypatch, capsys, *tables):
    """Return the lines of tables on a terminal of 24 lines."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("LINES", "24")
    print_tables(tables, full=False, details="Details")
    return re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).rstrip("\n").splitlines()


@pytest.mark.parametrize(("rows", "printed"), [(19, 19), (20, 18)])
def test_tables_that_fit_are_complete(monkeypatch, capsys, rows, printed):
    lines = shortened(monkeypatch, capsys, table(rows))
    assert len(lines) < 24
    assert sum("row" in line and "more" not in line for line in lines) == printed
    assert (lines[-1] == "Details") is (printed < rows)


def test_short_tables_are_complete_and_the_others_share_the_rest(monkeypatch, capsys):
    lines = shortened(monkeypatch, capsys, table(50, "X"), table(2, "Y"), table(90, "Z", noun="queue"))
    assert len(lines) < 24
    x, y, z = (lines.index(title) for title in "XYZ")
    assert lines[y + 3 : z - 1] == ["row0", "row1"]
    assert abs((y - x) - (len(lines) - 2 - z)) <= 2
    assert lines[y - 2].startswith("  and ")
    assert lines[-2].endswith("more queues")
