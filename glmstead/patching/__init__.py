"""Source patches: judged, made and undone by a pure engine that runs here and on hosts alike.

* ``releases``, ``source``, ``edits``, ``rules``, ``execution``, ``verdicts``, ``engine``: pure, text in, text out
* ``packages``, ``writer``, ``store``, ``environment``, ``probe``: what runs on a host
* ``model``, ``catalogue``, ``policy``, ``request``, ``program``: this machine's side, no I/O on hosts
* ``guard``, ``report``, ``cli``: the check at a unit's start, and the ``patches`` command
"""
