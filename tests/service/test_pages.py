"""The pages: their values are those of the REST interface, and nothing that a user names becomes HTML."""

import html
import re
import shutil
import signal
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lively_pool import QUEUES
from negotiator.queues.quantities import format_quantity

ROOT = Path(__file__).parents[2]
POOL = ROOT / "examples" / "first-pool"
PATHS = (
    *("", "/queues", "/queues/root", "/usage", "/hosts", "/applications", "/configuration"),
    *("/configuration/change", "/decisions", "/login"),
    *("/cycles", "/policies", "/shares", "/plugins", "/why", "/why?user=tester", "/why?queue=root"),
    *("/idle", "/idle?by=user&queue=root"),
)
PARTITION = "/ws/v1/partition/default"
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)


class Page(HTMLParser):
    """A page: the rows of its tables by their captions (texts of the cells), its links, elements and ids."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.links, self.elements, self.ids, self.text = {}, [], [], [], ""
        self._caption = self._cell = None
        self._rows = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.elements.append((tag, values))
        self.links += [values[key] for key in ("href", "src", "action") if values.get(key)]
        if "id" in values:
            self.ids.append(values["id"])
        if tag == "caption":
            self._caption, self._rows = "", []
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"td", "th"}:
            self._cell = ""

    def handle_endtag(self, tag):
        if tag == "caption":
            self.tables[self._caption], self._caption = self._rows, None
        elif tag in {"td", "th"}:
            self._rows[-1].append(" ".join(self._cell.split()))
            self._cell = None

    def handle_data(self, data):
        self.text += data
        if self._caption is not None:
            self._caption += data
        if self._cell is not None:
            self._cell += f" {data}"

    def rows(self, caption):
        """Return the rows of the table whose caption begins like this, as values by column."""
        (found,) = (rows for name, rows in self.tables.items() if name.startswith(caption))
        head, *rows = found
        return [dict(zip(head, row, strict=True)) for row in rows]


def read(client, path=""):
    """Return a page."""
    answer = client.get(f"/pool{path}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Page(answer.text)


def walk(queue):
    yield queue
    for child in queue["children"]:
        yield from walk(child)


def used_of(resource, used, most=None):
    """Return how a bar begins in words."""
    return format_quantity(resource, used) + (f" of {format_quantity(resource, most)}" if most else "")


def test_pool_now_has_the_figures_of_the_metrics_and_the_capacity_of_the_partition(lively):
    metrics = lively.get("/metrics").text
    page = read(lively)
    for name, metric in (
        ("jobs running", "running_jobs"),
        ("jobs idle", "idle_jobs"),
        ("jobs rejected", "rejected_jobs"),
        ("machines", "hosts"),
    ):
        value = float(re.search(rf"^negotiator_{metric} (\S+)$", metrics, re.MULTILINE)[1])
        assert re.search(rf"{name}\s*{value:.0f}", page.text), name
    (partition,) = lively.get("/ws/v1/partitions").json()
    capacity = partition["capacity"]
    for name, amount in capacity["capacity"].items():
        expected = used_of(name, capacity["usedCapacity"][name], amount)
        share = f"{capacity['utilization'][name]} %"
        assert f"{name}{expected}{share}" in page.text


def test_pool_now_has_the_health_checks(lively):
    health = lively.get("/ws/v1/scheduler/healthcheck").json()
    page = read(lively)
    for check in health["HealthChecks"]:
        assert f"{check['Name']}: {'passed' if check['Succeeded'] else 'failed'}" in page.text


def test_the_tree_has_every_queue_with_its_use_pending_requests_and_maxima(lively):
    queues = list(walk(lively.get(f"{PARTITION}/queues").json()))
    rows = read(lively, "/queues").rows("What the jobs")
    assert [row["Queue"].split()[0] for row in rows] == [
        each["queuename"].rpartition(".")[2] for each in queues
    ]
    for queue, row in zip(queues, rows, strict=True):
        assert row["State"] == queue["status"]
        assert row["Running applications"].split()[0] == str(queue.get("runningApps", 0))
        for name, used in queue.get("allocatedResource", {}).items():
            most = queue.get("maxResource", {}).get(name)
            if used or most:
                assert row[name].startswith(used_of(name, used, most))
            if most:
                assert f" {queue['absUsedCapacity'][name]} %" in row[name]
        for name, pending in queue.get("pendingResource", {}).items():
            assert f"{format_quantity(name, pending)} pending" in row[name] or not pending


def test_a_queue_has_its_applications_and_limits(lively):
    page = read(lively, "/queues/root.biology.sequencing")
    found = lively.get(f"{PARTITION}/queue/root.biology.sequencing/applications").json()
    rows = page.rows("The applications")
    assert {row["Application"] for row in rows} == {each["applicationID"] for each in found}
    (limit,) = page.rows("Of each user")
    assert limit == {
        "Limit": "each user",
        "Users": "*",
        "Groups": "",
        "Resources": "vcore 48",
        "Applications": "6",
    }


def test_limits_come_by_their_used_share_and_agree_with_the_usage(lively):
    rows = read(lively, "/usage").rows("Limits")
    shares = [int(re.search(r"(\d+) %", row["Use of the limit"])[1]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    found = {(row["Name"], row["Queue"], row["Resource"]): row["Use of the limit"] for row in rows}
    count = 0
    for kind, key in (("users", "userName"), ("groups", "groupName")):
        for entry in lively.get(f"{PARTITION}/usage/{kind}").json():
            waiting = [entry["queues"]]
            for node in waiting:
                waiting += node.get("children", ())
                for name, most in node.get("maxResources", {}).items():
                    used = node.get("resourceUsage", {}).get(name, 0)
                    text = found[entry[key], node["queuePath"], name]
                    assert text.startswith(used_of(name, used, most))
                    count += 1
    assert count
    assert {row["State"] for row in rows if " 100 % " in f"{row['Use of the limit']} "} == {"at the limit"}


def test_machines_have_the_amounts_of_their_nodes_and_are_found_by_name(lively):
    nodes = {each["nodeID"]: each for each in lively.get(f"{PARTITION}/nodes").json()}
    rows = read(lively, "/hosts").rows(f"{len(nodes)} machines")
    assert [row["Machine"] for row in rows] == sorted(nodes)
    for row in rows:
        node = nodes[row["Machine"]]
        assert row["Jobs"] == str(len(node.get("allocations", ())))
        for name, amount in node["capacity"].items():
            assert row[name].startswith(used_of(name, node.get("allocated", {}).get(name, 0), amount))
    assert [row["Machine"] for row in read(lively, "/hosts?name=GPU01").rows("1 machine")] == [
        "gpu01.example.org"
    ]
    assert "There are none with this name." in read(lively, "/hosts?name=none").text


def test_applications_are_found_by_user_and_queue(lively):
    def found(query):
        return {
            (row["User"].split()[0], row["Queue"]) for row in read(lively, f"/applications{query}").rows("")
        }

    assert {user for user, _ in found("?user=bob")} == {"bob"}
    assert found("?user=bob&queue=root.physics.analysis") == {("bob", "root.physics.analysis")}
    assert {queue for _, queue in found("?queue=root.Physics")} == {
        "root.physics.analysis",
        "root.physics.simulation",
    }
    assert "There are none" in read(lively, "/applications?user=nobody").text


def test_the_configuration_is_the_file_line_by_line_with_the_placement_rules(lively):
    page = read(lively, "/configuration")
    assert page.text.count("# The departments of the pool.") == 1
    assert QUEUES.rstrip("\n") in page.text
    lines = QUEUES.splitlines()
    assert [each for each in page.ids if re.fullmatch(r"L\d+", each)] == [
        f"L{number}" for number in range(1, len(lines) + 1)
    ]
    rules = page.rows("In the order")
    assert [row["Rule"] for row in rules] == ["provided", "user", "fixed", "recovery"]
    assert rules[1]["Queue above by"] == "fixed (create: no, queue: root.interactive, qualified: yes)"


def test_every_link_of_every_page_leads_somewhere(lively):
    waiting, seen, ids, fragments = ["/pool"], set(), {}, set()
    while waiting:
        path = waiting.pop()
        answer = lively.get(path)
        assert answer.status_code == (401 if path.startswith("/pool/audit") else 200), path
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        page = Page(answer.text)
        ids[path] = page.ids
        for href in page.links:
            target = urlsplit(urljoin(path, href))
            assert not target.netloc, href
            address = target._replace(fragment="").geturl()
            if target.fragment:
                fragments.add((address, target.fragment))
            if address not in seen:
                seen.add(address)
                waiting.append(address)
    assert len(seen) > 25
    assert all(fragment in ids[address] for address, fragment in fragments)


@pytest.mark.parametrize(
    "path", [*PATHS, "/audit", "/queues/root.none", "/none", "/static/pages.css", "/static/none"]
)
def test_every_page_has_headers_that_restrict_the_browser(client, path):
    headers = client.get(f"/pool{path}").headers
    assert headers["content-security-policy"] == POLICY
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "content-security-policy" not in client.get("/ws/v1/clusters").headers


@pytest.mark.parametrize("path", PATHS)
def test_pages_have_landmarks_headings_in_order_and_no_styles_or_scripts_of_their_own(client, path):
    page = read(client, path)
    tags = [tag for tag, _ in page.elements]
    for tag in ("header", "main", "footer", "h1"):
        assert tags.count(tag) == 1
    assert page.links.index("#main") < page.links.index("/pool")
    levels = [int(tag[1]) for tag in tags if re.fullmatch(r"h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert len(page.ids) == len(set(page.ids))
    assert not {"script", "style"} & set(tags)
    assert not any(key == "style" or key.startswith("on") for _, values in page.elements for key in values)


@pytest.mark.parametrize("path", ["/none", "/queues/root.none", "/queues/", "/static/none", "/queues/ROOT"])
def test_what_does_not_exist_is_a_page_with_404(client, path):
    answer = client.get(f"/pool{path}")
    assert answer.status_code == 404
    assert Page(answer.text).links


def test_without_other_files_the_root_leads_to_the_pages(client):
    answer = client.get("/")
    assert answer.is_redirect
    assert answer.headers["location"] == "/pool"


PIECES = st.one_of(
    st.sampled_from(
        ("queues", "root", "hosts", "applications", "static", "..", "%2e%2e", "%00", "%ff%fe", "")
    ),
    st.binary(max_size=8).map(lambda data: quote(data, safe="")),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(PIECES, max_size=5),
    query=st.lists(st.tuples(st.sampled_from(("user", "queue", "name")), PIECES)),
)
def test_any_path_and_query_is_answered_without_an_internal_error(client, parts, query):
    asked = "&".join(f"{key}={value}" for key, value in query)
    answer = client.get(f"/pool/{'/'.join(parts)}?{asked}", follow_redirects=False)
    assert answer.status_code < 500
    assert "Traceback" not in answer.text


HOSTILE = ("<script>alert(1)</script>", "\"'><img src=x onerror=alert(1)>", "{{ 7 * 7 }}", "x" * 5000)


def hostile_job(number, owner):
    """Return a running job of such a user on a machine of such a name, in long form, and its slot."""
    name = owner.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f'MyType = "Job"\nClusterId = {number}\nProcId = 0\nOwner = "{name}"\nUser = "{name}@example.org"\n'
        f'GlobalJobId = "{name}#{number}.0#1"\nQueue = "{name}"\nJobStatus = 2\nRequestCpus = 1\nRequestMemory = 1\n'
        f'RemoteHost = "slot@{name}"\n\nMyType = "Machine"\nName = "slot@{name}"\nMachine = "{name}"\nCpus = 1\n'
        f'Memory = 1\nState = "Claimed"\nRemoteOwner = "{name}@example.org"\nJobId = "{number}.0"\n'
        f'GlobalJobId = "{name}#{number}.0#1"\n'
    )


def test_names_of_users_and_machines_are_never_html(serving, tmp_path):
    """Users write the ads of their jobs, and their names with them."""
    names = (*HOSTILE, "bell\x07\x1b[31mred", "right\u202eleft")
    (tmp_path / "pool.ads").write_text(
        "\n".join(hostile_job(number, name) for number, name in enumerate(names, 1))
    )
    command, client = serving("--pool", "pool.ads", cwd=tmp_path)
    with command, client:
        texts = {path: client.get(f"/pool{path}").text for path in PATHS}
        for path, text in texts.items():
            page = Page(text)
            assert not {"script", "img"} & {tag for tag, values in page.elements if values.get("alt") != ""}
            assert all(each.isprintable() or each == "\n" for each in text), path
            assert "x" * 1000 not in page.text
            for href in page.links:
                expected = 401 if href.startswith("/pool/audit") else 200  # for administrators only
                assert client.get(urljoin("/pool", href)).status_code == expected
        assert "bell\ufffd\ufffd[31mred" in texts["/hosts"]
        assert "right\ufffdleft" in texts["/hosts"]
        for name in HOSTILE[:3]:
            assert html.escape(name) in texts["/hosts"].replace("&#34;", "&quot;").replace("&#39;", "&#x27;")
            assert name in Page(texts["/applications"]).text
        echoed = Page(
            client.get(f"/pool/applications?user={quote(HOSTILE[1])}&queue={quote(HOSTILE[0])}").text
        )
        values = [values["value"] for tag, values in echoed.elements if tag == "input"]
        assert values == [HOSTILE[1], HOSTILE[0]]


def test_pool_now_lists_the_problems_of_ads(serving, tmp_path):
    (tmp_path / "pool.ads").write_text('MyType = "Machine"\nName = "a"\n\nMyType = "Machine"\nCpus = = 1\n')
    command, client = serving("--pool", "pool.ads", cwd=tmp_path)
    with command, client:
        page = read(client)
        assert re.search(r"Problems of ads\s+pool.ads:5", page.text)
        assert "All ads of the pool could be read." not in page.text


def test_of_long_lists_500_rows_are_shown_and_the_others_counted(serving, tmp_path):
    slots = (
        f'MyType = "Machine"\nName = "slot@host{number}"\nMachine = "host{number}"\nCpus = 1\nMemory = 1\n'
        for number in range(502)
    )
    jobs = (
        f'MyType = "Job"\nClusterId = {number}\nProcId = 0\nOwner = "ann"\nJobStatus = 1\nRequestCpus = 1\n'
        for number in range(1, 504)
    )
    (tmp_path / "pool.ads").write_text("\n".join((*slots, *jobs)))
    command, client = serving("--pool", "pool.ads", cwd=tmp_path)
    with command, client:
        hosts, applications = read(client, "/hosts"), read(client, "/applications")
        assert len(hosts.rows("502 machines")) == 500
        assert "2 more machines are not shown." in hosts.text
        total = int(re.search(r"(\d+) applications", applications.text)[1])
        assert len(applications.rows(f"{total} applications")) == min(total, 500)
        assert total <= 500 or f"{total - 500} more applications are not shown." in applications.text


def test_a_pool_that_cannot_be_read_is_shown_as_it_was_with_the_reason(serving, tmp_path):
    shutil.copytree(POOL, tmp_path / "pool")
    command, client = serving("--pool", "pool", cwd=tmp_path)
    with command, client:
        read(client, "/queues")
        shutil.rmtree(tmp_path / "pool")
        for _ in range(600):
            page = read(client, "/queues")
            if "cannot be read now" in page.text:
                break
            signal.sigtimedwait([], 0.1)
        assert "The pool cannot be read now:" in page.text
        assert "Pool: failed" in read(client).text
        assert page.rows("What the jobs")
