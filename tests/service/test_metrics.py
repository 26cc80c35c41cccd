"""Metrics for Prometheus: valid by its own tools, scraped by a real server, and complete for the rules that ship."""

import json
import re
import socket
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

ROOT = Path(__file__).parents[2]
RULES = ROOT / "examples" / "prometheus" / "rules.yaml"
LABELS = {"station", "verdict", "code", "outcome", "resource", "queue", "version"}


@pytest.fixture(scope="session")
def prometheus(debian_program):
    return debian_program("prometheus", "prometheus")


@pytest.fixture(scope="session")
def promtool(debian_program):
    return debian_program("promtool", "prometheus")


@pytest.fixture(scope="module")
def text(client):
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert client.get("/ws/v1/metrics").status_code == 200
    return answer.text


@pytest.fixture(scope="module")
def values(text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_every_metric_has_the_prefix_a_description_and_known_labels_only(text):
    families = list(text_string_to_metric_families(text))
    assert families
    for family in families:
        assert family.name.startswith("negotiator_")
        assert family.documentation.endswith((".", "units."))
        assert {label for sample in family.samples for label in sample.labels} <= LABELS


def test_metrics_agree_with_the_other_answers(client, values):
    (partition,) = client.get("/ws/v1/partitions").json()
    assert values["negotiator_hosts",] == partition["totalNodes"]
    assert values["negotiator_running_jobs",] == partition["totalContainers"]
    capacity = partition["capacity"]
    assert values["negotiator_resource_capacity", ("resource", "memory")] == capacity["capacity"]["memory"]
    assert (
        values["negotiator_resource_capacity", ("resource", "vcore")] == capacity["capacity"]["vcore"] / 1000
    )
    assert (
        values["negotiator_resource_used", ("resource", "vcore")] == capacity["usedCapacity"]["vcore"] / 1000
    )


def test_the_service_says_that_it_lives_and_is_ready(client):
    assert client.get("/livez").text == "alive\n"
    assert client.get("/readyz").text == "ready\n"


def test_promtool_finds_no_fault(promtool, text):
    done = subprocess.run(
        [promtool, "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr + done.stdout) == (0, "")


def test_the_alert_rules_that_ship_are_valid(promtool):
    done = subprocess.run(
        [promtool, "check", "rules", RULES], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_alert_rules_and_the_dashboard_read_metrics_that_exist():
    described = (ROOT / "docs" / "rest.md").read_text()
    known = set(re.findall(r"`(negotiator_\w+)`", described))
    dashboard = json.loads((ROOT / "examples" / "prometheus" / "dashboard.json").read_text())
    read = {
        name
        for text in (RULES.read_text(), json.dumps(dashboard))
        for name in re.findall(r"negotiator_\w+", text)
    }
    assert read <= known


def test_all_metrics_are_documented(values):
    described = (ROOT / "docs" / "rest.md").read_text()
    assert {name for name, *_ in values} <= set(re.findall(r"`(negotiator_\w+)`", described))


def scraped(url):
    """Return the value that a Prometheus server has, once it has one."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            found = httpx.get(url, timeout=10)
            result = found.json()["data"]["result"] if found.status_code == 200 else ()
        except httpx.TransportError:  # it does not listen yet
            result = ()
        for each in result:
            return each["value"][1]
        time.sleep(0.2)
    raise AssertionError("the server has no value")


def test_a_real_prometheus_scrapes_them(prometheus, client, tmp_path):
    target = f"{client.base_url.host}:{client.base_url.port}"
    (tmp_path / "prometheus.yml").write_text(
        f"scrape_configs: [{{job_name: negotiator, scrape_interval: 1s, static_configs: [{{targets: ['{target}']}}]}}]\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [
        prometheus,
        "--config.file=prometheus.yml",
        "--storage.tsdb.path=data",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert scraped(f"http://127.0.0.1:{port}/api/v1/query?query=negotiator_hosts") == "5"
        finally:
            process.terminate()
