"""Two G4 hosts. Change these: what SSH reaches, user and key, private addresses, interfaces.

All of G4's settings are in group_data/g4.py; a setting beside a host, as below, wins over them.
Host keys are taken on first sight; for more, add "ssh_strict_host_key_checking": "yes" and
"ssh_known_hosts_file".
"""

_first, _second = "192.0.2.11", "192.0.2.12"
_ssh = {"ssh_user": "ubuntu", "ssh_key": "~/.ssh/id_ed25519", "_sudo": True}
_nics = {"cluster_interface": "ens4", "nccl_socket_interfaces": ["enp128s4", "ens4"]}

head = [(_first, {**_ssh, **_nics, "cluster_address": "10.0.0.11"})]
worker = [(_second, {**_ssh, **_nics, "cluster_address": "10.0.0.12"})]
gateway = [_first]
g4 = [_first, _second]
