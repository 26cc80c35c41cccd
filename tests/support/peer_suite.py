"""HTCondor's own tests of the negotiator, with condor_negotiator and with this program in its place; prints both results.

The tests are those of a copy of HTCondor's sources (repository htcondor/htcondor), which is read only and does not
belong to this project. Each daemon gets a private copy of a root folder with the package ``condor``, in namespaces of its own; the
tests run there as an ordinary user, and start pools of their own. It needs root, and takes about half an hour for each daemon.

    make test-peer HTCONDOR_SOURCES=/path/to/htcondor [PEER_TESTS="test_ocu_basic job_core_niceuser_van"]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs
import click
import yaml
from defusedxml import ElementTree

from condor_pool import PoolUnavailableError, root_folder

ROOT: Final = Path(__file__).parents[2]
PROGRAM: Final = Path(sys.executable).with_name("negotiator-daemon")
CHOSEN: Final = Path(__file__).with_suffix(".yaml")
_REAL, _OURS = "condor_negotiator", "negotiator"

#: The first process of the namespaces; FOLDERS are seen in the copy under the same paths, RESULTS takes what the tests print.
_SCRIPT: Final = """set -eu
mount -t tmpfs -o mode=755 peer "$PLACE"
mkdir "$PLACE/changes" "$PLACE/work" "$PLACE/root"
mount -t overlay -o "lowerdir=$CONDOR,upperdir=$PLACE/changes,workdir=$PLACE/work" peer "$PLACE/root"
cd "$PLACE/root"
mount -t proc proc proc
mount --bind /dev dev
hostname pool.example.org
ip link set lo up
echo "127.0.0.1 localhost pool.example.org pool" > etc/hosts
rm -rf etc/condor/config.d/*; : > etc/condor/condor_config.local
printf %s "$CONFIGURATION" > etc/condor/condor_config
sed -i '/^tester:/d' etc/passwd; echo 'tester:x:5001:5001::/home/tester:/bin/sh' >> etc/passwd
rm -rf home/tester tmp results
mkdir -p home/tester tmp results
chmod 1777 tmp results
cp -r "$SOURCES/src/condor_tests" home/tester/condor_tests
cp "$SOURCES"/src/condor_scripts/*.pm "$SOURCES"/src/condor_scripts/run_test.pl home/tester/condor_tests
chown -R 5001:5001 home/tester
printf %s "$FOLDERS" | while IFS= read -r folder || [ -n "$folder" ]; do
  mkdir -p ".$folder"
  mount --bind "$folder" ".$folder"
  above=$folder
  while above=$(dirname "$above"); [ "$above" != / ]; do chmod a+x ".$above"; done
done
mount --bind "$RESULTS" results
printf %s "$COMMANDS" > tmp/commands
exec chroot . setpriv --reuid 5001 --regid 5001 --clear-groups sh /tmp/commands
"""
_CONFIGURATION: Final = """RELEASE_DIR = /usr
BIN = /usr/bin
SBIN = /usr/sbin
LIB = /usr/lib/condor
LIBEXEC = /usr/libexec/condor
SHARE = /usr/share/condor
ETC = /etc/condor
LOCAL_DIR = /tmp
use security:HOST_BASED
CONDOR_HOST = 127.0.0.1
# a test may start a pool beside that of the harness
COLLECTOR_HOST = $(CONDOR_HOST):0
SHARED_PORT_PORT = 0
LOCAL_CONFIG_FILE = /etc/condor/condor_config.local
# tests submit files with several statements `queue`
SUBMIT_PREVENT_MULTI_QUEUE = False
"""
#: Ends the pools that a test left, whose ports the next one needs.
_END: Final = """for process in /proc/[0-9]*; do
  if [ "$(cat $process/comm 2> /dev/null)" = condor_master ]; then
    kill -QUIT ${process#/proc/}
    for i in $(seq 100); do [ -d $process ] || break; sleep 0.2; done
  fi
done"""


@attrs.frozen
class Outcome:
    """The tests of one file that passed and that did not, by name; ``whole`` is what happened to the file if it has no report."""

    passed: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    whole: str = ""

    @classmethod
    def of(cls, name: str, results: Path) -> Outcome:
        """Read what a file's tests left."""
        code = (
            (results / f"{name}.code").read_text().strip() if (results / f"{name}.code").exists() else "none"
        )
        report = results / f"{name}.xml"
        if not report.exists():
            whole = "passed" if code == "0" else "took too long" if code == "124" else f"exit code {code}"
            passed = code == "0"
            return cls(frozenset({name} if passed else ()), frozenset(() if passed else {name}), whole)
        found: dict[bool, set[str]] = {True: set(), False: set()}
        for case in ElementTree.parse(report).iter("testcase"):
            if case.find("skipped") is None:
                failed = case.find("failure") is not None or case.find("error") is not None
                found[not failed].add(case.get("name", ""))
        return cls(frozenset(found[True]), frozenset(found[False]))

    def __str__(self) -> str:
        return self.whole or f"{len(self.passed)} passed" + (
            f", {len(self.failed)} failed" if self.failed else ""
        )


def main() -> int:
    """Run the tests with both daemons, and print the table; return 0 if every difference has its reason in ``peer_suite.yaml``."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "tests", nargs="*", help="names of files without suffix; by default those of peer_suite.yaml"
    )
    parser.add_argument("--sources", type=Path, required=True, help="a folder with HTCondor's sources")
    parser.add_argument("--seconds", type=int, default=600, help="the most for one file")
    parser.add_argument("--daemon", choices=(_REAL, _OURS), action="append", help="only this one")
    parser.add_argument("--keep", type=Path, help="a folder that gets the output of the tests")
    arguments = parser.parse_args()
    folder = arguments.sources / "src" / "condor_tests"
    chosen = yaml.safe_load(CHOSEN.read_text())
    names = arguments.tests or list(chosen["tests"])
    missing = [
        name for name in names if not any((folder / f"{name}{end}").exists() for end in (".py", ".run"))
    ]
    if missing:
        parser.error(
            f"{folder} has no {', '.join(missing)}: name a folder with the sources of HTCondor 25 (--sources)"
        )
    daemons = arguments.daemon or [_REAL, _OURS]
    outcomes = {}
    for daemon in daemons:
        try:
            outcomes[daemon] = dict(_run(daemon, names, arguments.sources, arguments.seconds, arguments.keep))
        except PoolUnavailableError as error:
            parser.exit(2, f"{error}\n")
    return _print(names, outcomes, chosen["differences"])


def _run(
    daemon: str, names: Sequence[str], folder: Path, seconds: int, keep: Path | None
) -> Iterator[tuple[str, Outcome]]:
    root = root_folder()
    with tempfile.TemporaryDirectory(prefix="negotiator-peer-") as temporary:
        place, results = Path(temporary, "place"), (keep or Path(temporary)) / daemon
        place.mkdir()
        results.mkdir(parents=True, exist_ok=True)
        results.chmod(0o777)
        environment = {
            **os.environ,
            "CONDOR": str(root),
            "PLACE": str(place),
            "SOURCES": str(folder.absolute()),
            "RESULTS": str(results.absolute()),
            "FOLDERS": "\n".join(map(str, dict.fromkeys((ROOT, Path(sys.prefix), Path(sys.base_prefix))))),
            "CONFIGURATION": _CONFIGURATION,
            "COMMANDS": "\n".join(_commands(daemon, names, folder / "src" / "condor_tests", seconds)),
        }
        namespaces = ("--mount", "--pid", "--uts", "--net", "--fork", "--kill-child")
        command = ("setpriv", "--pdeathsig=KILL", "unshare", *namespaces, "sh", "-c", _SCRIPT)
        done = subprocess.run(command, env=environment, check=False)  # noqa: S603 - the script above
        if done.returncode:
            raise PoolUnavailableError(
                f"the tests could not be started with {daemon}: exit code {done.returncode}"
            )
        for name in names:
            yield name, Outcome.of(name, results)


def _commands(daemon: str, names: Sequence[str], folder: Path, seconds: int) -> Iterator[str]:
    """Yield the lines of the script that runs the tests, as an ordinary user in the root folder."""
    yield "export HOME=/home/tester USER=tester LOGNAME=tester PYTHONPATH=/home/tester/condor_tests PYTHONDONTWRITEBYTECODE=1"
    yield f"export PATH={PROGRAM.parent}:/usr/sbin:/usr/bin:/sbin:/bin PERL5LIB=/home/tester/condor_tests TZ=UTC"
    if daemon == _OURS:
        yield f"export _CONDOR_NEGOTIATOR={PROGRAM}"
    yield "mkdir -p /home/tester/condor_tests/RunningTests; export BASE_DIR=/home/tester"  # the perl tests expect it
    yield "cd /home/tester/condor_tests"
    for name in names:
        if (folder / f"{name}.py").exists():
            options = f"-p no:cacheprovider -p no:negotiator -p no:xdist -q --base-test-dir /tmp/{name} --junitxml /results/{name}.xml"
            program = f"{sys.executable} -m pytest {options} {name}.py"
        else:
            program = f"env CONDOR_CONFIG=/etc/condor/condor_config perl run_test.pl {name}.run"  # in the pool that it asks for
        yield f"rm -f /results/{name}.*; echo '{daemon}: {name}' >&2"
        yield f"timeout -k 10 {seconds} {program} > /results/{name}.out 2>&1 < /dev/null; echo $? > /results/{name}.code"
        yield f"if [ -f {name}.run.out ]; then cat {name}.run.out >> /results/{name}.out; fi"
        yield _END


def _print(names: Sequence[str], outcomes: dict[str, dict[str, Outcome]], reasons: dict[str, str]) -> int:
    click.echo(f"| test of HTCondor | {' | '.join(outcomes)} | |")
    click.echo(f"| --- {'| --- ' * len(outcomes)}| --- |")
    unexplained = 0
    for name in names:
        found = [outcomes[daemon][name] for daemon in outcomes]
        only: frozenset[str] = frozenset()
        if len(found) > 1:
            only = (
                found[0].passed
                if found[-1].whole and found[-1].failed
                else found[0].passed & found[-1].failed
            )
        reason = reasons.get(name, "**no reason known**") if only else ""
        unexplained += bool(only) and name not in reasons
        click.echo(f"| `{name}` | {' | '.join(map(str, found))} | {reason} |")
        for each in sorted(only) if name not in reasons else ():
            click.echo(f"  fails with {_OURS} only: {name}::{each}", err=True)
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
