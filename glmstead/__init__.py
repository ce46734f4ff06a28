"""Serve GLM-5.2 on your own GPUs, and keep it served.

Layers, from pure to outward:

* ``settings``, ``layer_map``, ``patching``: values in, values out; no I/O on hosts, no pyinfra state.
* ``facts``, ``operations``: thin pyinfra shells over the pure layers.
* ``answers``: the questions asked of a live endpoint, and how they are judged.
* ``lab``: throw-away systemd hosts on this machine.
* ``cli``: the front door.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The checkout: holds deploy.py, group_data/, files/ and templates/."""
