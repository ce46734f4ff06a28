"""One host with eight A100 80 GB, served from an image built there.

All settings are in group_data/a100_docker.py. Beside the host: overlay_source and model_revision as
in inventories/a100.py, and image_base_digest; see docs/routes/a100_docker.md.
"""

_host = "192.0.2.24"
_ssh = {"ssh_user": "ubuntu", "ssh_key": "~/.ssh/id_ed25519", "_sudo": True}

head = [(_host, {**_ssh, "cluster_address": "10.0.0.24", "cluster_interface": "eno1"})]
gateway = [_host]
a100_docker = [_host]
