"""Inventories of @fake hosts: real inventory files, real group_data, no host."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from glmstead.inventory import InventoryError, load, settings_of
from glmstead.settings import Settings

Data = dict[str, Any]
Inventories = Callable[..., Path]
Refusals = Callable[..., list[str]]


@pytest.fixture
def inventory_file(tmp_path: Path) -> Inventories:
    """Write an inventory: `hosts` hosts in one route, `data` on all, `first`/`second` on one."""

    def write(
        *,
        hosts: int = 2,
        route: str = "lab",
        name: str = "fleet",
        data: Data | None = None,
        first: Data | None = None,
        second: Data | None = None,
        **groups: list[str],
    ) -> Path:
        names = [f"@fake/h{number}" for number in range(1, hosts + 1)]
        own: list[Data] = [first or {}, second or {}, *({} for _ in names)]
        members = [
            (host, {**_place(number), **(data or {}), **own[number - 1]})
            for number, host in enumerate(names, start=1)
        ]
        roles: dict[str, object] = {
            route: members,
            "head": names[:1],
            "worker": names[1:],
            "gateway": names[:1],
            **groups,
        }
        path = tmp_path / f"{name}.py"
        path.write_text("".join(f"{group} = {value!r}\n" for group, value in roles.items()))
        return path

    return write


@pytest.fixture
def refusals(inventory_file: Inventories) -> Refusals:
    """Return the lines that the settings of such an inventory are refused with."""

    def lines(**wanted: Any) -> list[str]:
        try:
            settings_of(load(inventory_file(**wanted)))
        except InventoryError as error:
            return str(error).splitlines()
        return []

    return lines


@pytest.fixture
def settings(inventory_file: Inventories) -> Callable[..., dict[str, Settings]]:
    """Return the settings of every host of such an inventory."""
    return lambda **wanted: settings_of(load(inventory_file(**wanted)))


def _place(number: int) -> Data:
    return {"cluster_address": f"10.77.42.{number}", "cluster_interface": "host0"}
