"""One host with eight A100 80 GB. Change: what SSH reaches, user and key, address, interface.

All settings are in group_data/a100.py. For the checkout put the host in a100_git, for released parts
only in a100_dense, in a copy of this file that is named like no route: a file's name is a group too.
overlay_source: where the pull request's files are; model_revision: the
checkpoint's commit; see docs/routes/a100.md for both.
"""

_host = "192.0.2.23"
_ssh = {"ssh_user": "ubuntu", "ssh_key": "~/.ssh/id_ed25519", "_sudo": True}

head = [(_host, {**_ssh, "cluster_address": "10.0.0.23", "cluster_interface": "eno1"})]
gateway = [_host]
a100 = [_host]
