"""One lab for all of these tests on Debian 12; the other suites take its place after it."""

from collections.abc import Iterator

import pytest

from tests.lab.gpu.machines import Machines


@pytest.fixture(scope="session")
def machines(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Machines]:
    """Bare hosts: two of Debian 12, or one of the suite that a test asks for."""
    suite = getattr(request, "param", None)
    found = Machines(tmp_path_factory.mktemp("gpu"), suite or Machines.suite)
    found.up(1 if suite else 2)
    yield found
    found.down()
