"""Throw-away systemd hosts on this machine: systemd-nspawn containers on a bridge of their own.

* ``config``, ``state``, ``nspawn``, ``conflicts``: pure; what a lab is called, where it is, what refuses it.
* ``process``, ``progress``: running programs, saying how far they are.
* ``image``, ``host_root``, ``packages``, ``wheels``: what is on the hosts' disks, and the caches.
* ``network``, ``machine``, ``ssh``: bridge and masquerading, running containers, connections.
* ``preflight``, ``lifecycle``, ``cli``: refusals before anything changes, up and down, the commands.
"""
