"""One G4 host with eight RTX PRO 6000. Change: what SSH reaches, user and key, address, interface.

All settings are in group_data/b12x8.py.
"""

_host = "192.0.2.22"
_ssh = {"ssh_user": "ubuntu", "ssh_key": "~/.ssh/id_ed25519", "_sudo": True}

head = [(_host, {**_ssh, "cluster_address": "10.0.0.22", "cluster_interface": "ens4"})]
gateway = [_host]
b12x8 = [_host]
