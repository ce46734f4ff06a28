"""Does it fit: arithmetic from a config and settings alone; no I/O on hosts. See docs/model.md.

``cards`` (known checkpoints), ``weights`` and ``cache`` (bytes a GPU), ``reserve`` (what a start
takes besides, from public logs), ``kernels`` (head counts), ``verdict`` (all together).
"""
