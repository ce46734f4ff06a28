"""One host with four RTX PRO 6000. Change: what SSH reaches, user and key, address, interface.

All settings are in group_data/b12x4.py. For the small fast profile put the host in b12x4_fast, in a
copy of this file that is named like no route: a file's name is a group too.
model_revision: the commit of the checkpoint that you have read and want.
"""

_host = "192.0.2.21"
_ssh = {"ssh_user": "ubuntu", "ssh_key": "~/.ssh/id_ed25519", "_sudo": True}

head = [(_host, {**_ssh, "cluster_address": "10.0.0.21", "cluster_interface": "eno1"})]
gateway = [_host]
b12x4 = [_host]
