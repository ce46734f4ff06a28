"""The plan of driver and container engine alone, and the check at the end of a deploy."""

from pyinfra import host, inventory

from glmstead.settings import cluster_of, settings_for
from tasks import container, driver

settings, cluster = settings_for(host), cluster_of(inventory)
# pyinfra types a deploy as an operation without arguments of its own.
driver.drive_gpus(settings, cluster)  # type: ignore[call-arg, arg-type]
container.install_engine(settings, cluster)  # type: ignore[call-arg, arg-type]
container.keep_gpus(settings)  # type: ignore[call-arg, arg-type]
