"""Faults under traffic, on the lab that all lab tests of a run share."""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.lab.conftest import Deployed
from tests.lab.faults import table
from tests.lab.faults.cluster import KEY, Cluster

_PASSED = pytest.StashKey[bool]()
_ROWS = pytest.StashKey[list[table.Row]]()


@pytest.fixture(scope="session")
def cluster(deployed: Deployed) -> Cluster:
    """The deployed hosts, which serve."""
    name = deployed.env["GLMSTEAD_LAB_NAME"]
    head, worker = f"{name}1", f"{name}2"
    address = deployed.ssh(head, "hostname -I").split()[0]
    found = Cluster(deployed, head, worker, f"http://{address}:4000", deployed.ssh(head, KEY))
    found.whole_again()
    return found


@pytest.fixture
def rows(request: pytest.FixtureRequest) -> Iterator[list[table.Row]]:
    """What a test measures; it counts when the test passes."""
    measured: list[table.Row] = []
    yield measured
    if request.node.stash[_PASSED]:
        request.config.stash.setdefault(_ROWS, []).extend(measured)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the fixtures know how their test ended."""
    report = yield
    item.stash[_PASSED] = report.passed
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Show the table, and write it where --faults-table says."""
    measured = config.stash.get(_ROWS, [])
    for line in table.lines(measured):
        terminalreporter.write_line(line)
    page = config.getoption("--faults-table")
    if page is not None and measured:
        table.write(Path(page), measured)
