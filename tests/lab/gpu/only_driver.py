"""The plan of the driver alone, for hosts whose driver is a stand-in."""

from pyinfra import host, inventory

from glmstead.settings import cluster_of, settings_for
from tasks import driver

settings = settings_for(host)
# pyinfra types a deploy as an operation without arguments of its own.
driver.drive_gpus(settings, cluster_of(inventory))  # type: ignore[call-arg, arg-type]
