"""The plan of the network alone."""

from pyinfra import host, inventory

from glmstead.settings import cluster_of, settings_for
from tasks import network

# pyinfra types a deploy as an operation without arguments of its own.
network.enlarge_packets(settings_for(host), cluster_of(inventory))  # type: ignore[call-arg, arg-type]
