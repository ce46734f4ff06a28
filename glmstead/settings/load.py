"""The door to settings: the only place that reads ``host.data``."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path

from pyinfra.api.exceptions import DeployError
from pyinfra.api.host import Host

from glmstead import ROOT
from glmstead.settings.foreign import argument_problems, foreign_keys
from glmstead.settings.model import KEYS, Settings
from glmstead.settings.problem import UNSET, Problem, shown
from glmstead.settings.read import read, unknown
from glmstead.settings.roles import ROLES, cluster_of, group, own_groups
from glmstead.settings.rules import broken

GROUP_DATA = ROOT / "group_data"
# What may differ between hosts: the network and the file system are a host's own.
_PER_HOST = ("cluster_", "system_", "nccl_", "engine_env", "engine_index", "engine_find")
_ONE_HOST = ("gateway_", "smoke_")  # read on the gateway only


def settings_for(host: Host) -> Settings:
    """Return the settings of a host; raises DeployError, one line for each problem."""
    data = host.data.dict()
    _refuse(host, _absent(host, data))
    route = _route(host)
    _refuse(host, _data_problems(host, data))
    cluster = cluster_of(host.inventory)
    settings = read(route, data)
    if not isinstance(settings, Settings):
        raise DeployError(_lines(host, settings))
    _refuse(host, chain(_unequal(host, data), broken(settings, cluster)))
    return settings


def known_routes(folder: Path = GROUP_DATA) -> frozenset[str]:
    """Return the routes this project has data for: the files of group_data that are no role."""
    return frozenset(file.stem for file in folder.glob("*.py")) - {"all", *ROLES}


def _absent(host: Host, data: Mapping[str, object]) -> Iterator[Problem]:
    if not any(key in KEYS and not key.startswith("cluster_") for key in data):
        fix = f"run from {ROOT}, use glmstead deploy, or add --group-data {GROUP_DATA}"
        yield Problem("group_data", UNSET, "group_data not found", fix)


def _data_problems(host: Host, data: Mapping[str, object]) -> Iterator[Problem]:
    yield from unknown(data, foreign_keys())
    yield from argument_problems(data)
    yield from _contested(host)


def _route(host: Host) -> str:
    groups = own_groups(host)
    routes = sorted(known_routes().intersection(groups))
    if len(routes) == 1:
        return routes[0]
    wrong = "in no route"
    if routes:
        wrong = f"in routes {' and '.join(routes)} (the inventory's file name is a group too)"
    fix = f"put the host in exactly one of {', '.join(sorted(known_routes()))}"
    if len(routes) > 1:
        fix += ", in a file that is named like none of them"
    raise DeployError(Problem("groups", groups, wrong, fix).line(host.name))


def _contested(host: Host) -> Iterator[Problem]:
    """Yield keys that two groups of a host set differently: which one wins is a surprise."""
    seen: dict[str, tuple[str, object]] = {}
    for name in sorted(set(host.groups) - {"all"}):
        for key, value in host.inventory.get_group_data(name).items():
            first, other = seen.setdefault(key, (name, value))
            if key in KEYS and other != value:
                wrong = f"also set in group_data/{first}.py, to another value"
                yield Problem(key, value, f"{wrong} than in {name}.py", "keep it in one of them")


def _unequal(host: Host, data: Mapping[str, object]) -> Iterator[Problem]:
    """Yield keys that must be equal on all hosts and differ from the head's."""
    for head in group(host.inventory, "head")[:1]:
        theirs = head.data.dict()
        for key in KEYS:
            mine, other = data.get(key, UNSET), theirs.get(key, UNSET)
            if not key.startswith((*_PER_HOST, *_ONE_HOST)) and mine != other:
                wrong = f"{head.name} has {shown(key, other)}, and ranks must agree"
                yield Problem(key, mine, wrong, "set it for the whole route")


def _refuse(host: Host, problems: Iterable[Problem]) -> None:
    found = list(problems)
    if found:
        raise DeployError(_lines(host, found))


def _lines(host: Host, problems: list[Problem]) -> str:
    return "\n".join(problem.line(host.name) for problem in problems)
