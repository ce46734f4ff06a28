"""How ranks talk best on the hosts at hand: measured, never copied from another machine.

``candidates`` are the settings that are tried, ``verdict`` picks one from figures. No I/O.
"""
