"""A checkpoint on a host: fetched, copied, verified; these very files run on the hosts.

Standard library only, Python 3.10 and newer; ``hub`` alone needs huggingface_hub, and runs as a
process of its own under the engine's Python. See docs/model.md.
"""
