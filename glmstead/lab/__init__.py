"""Throw-away systemd hosts on this machine: systemd-nspawn containers on a bridge of their own.

* ``config``, ``state``, ``nspawn``, ``conflicts``: pure; names, the record, command lines, clashes.
* ``process``, ``progress``: running programs, saying how far they are.
* ``image``, ``host_root``, ``packages``, ``wheels``: what is on the hosts' disks, and the caches.
* ``network``, ``machine``, ``ssh``: bridge and masquerading, running containers, connections.
* ``preflight``, ``lock``, ``lifecycle``, ``cli``: refusals before any change, up and down, commands.
"""
