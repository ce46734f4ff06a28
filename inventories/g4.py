"""Two G4 hosts. Change these: the names or addresses SSH reaches, user, key, private addresses."""

_first, _second = "192.0.2.11", "192.0.2.12"  # what SSH reaches
_ssh = {"ssh_user": "ubuntu", "ssh_key": "~/.ssh/id_ed25519", "_sudo": True}
_nics = {"cluster_interface": "ens4", "nccl_socket_interfaces": ["enp128s4", "ens4"]}

head = [(_first, {**_ssh, **_nics, "cluster_address": "10.0.0.11"})]
worker = [(_second, {**_ssh, **_nics, "cluster_address": "10.0.0.12"})]
gateway = [_first]
g4 = [_first, _second]
