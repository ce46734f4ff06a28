"""The lab's hosts: the ones that are up, else the two that `glmstead lab up` would make."""

from glmstead.lab.config import LabConfig
from glmstead.lab.state import planned_lab, read_lab

_config = LabConfig.from_environment()
_lab = read_lab(_config) or planned_lab(_config, count=2)
_hosts = [
    (
        host.name,
        {
            "cluster_address": host.address,
            "cluster_interface": host.interface,
            "cluster_allow_from": [f"{one.address}/32" for one in _lab.hosts],
            "ssh_hostname": host.address,
            "ssh_user": "root",
            "ssh_key": str(_lab.ssh_key),
            "ssh_known_hosts_file": str(_lab.known_hosts),
            "ssh_strict_host_key_checking": "yes",
            "ssh_allow_agent": False,
            "ssh_look_for_keys": False,
            "ssh_connect_retries": 2,
        },
    )
    for host in _lab.hosts
]

head = _hosts[:1]
worker = _hosts[1:]
gateway = _hosts[:1]
lab = _hosts
