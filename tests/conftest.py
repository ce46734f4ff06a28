"""Options of the whole suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--inventory", help="inventory whose live hosts tests/hosts asks")
    parser.addoption("--faults-table", help="page whose table of faults tests/lab/faults rewrites")
    parser.addoption(
        "--step-clock", action="store_true", help="faults may step this machine's clock"
    )


def pytest_ignore_collect(collection_path: object, config: pytest.Config) -> bool | None:
    """tests/hosts needs live hosts: collected only where an inventory names them."""
    named = config.getoption("--inventory") or "tests/hosts" in " ".join(config.args)
    return True if str(collection_path).endswith("tests/hosts") and not named else None
