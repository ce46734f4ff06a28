"""The plan of driver and compiler alone, for hosts whose packages are stand-ins."""

from pyinfra import host, inventory

from glmstead.settings import cluster_of, settings_for
from tasks import cuda, driver

settings, cluster = settings_for(host), cluster_of(inventory)
# pyinfra types a deploy as an operation without arguments of its own.
driver.drive_gpus(settings, cluster)  # type: ignore[call-arg, arg-type]
cuda.install_compiler(settings, cluster)  # type: ignore[call-arg, arg-type]
