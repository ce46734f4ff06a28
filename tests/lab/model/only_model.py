"""The plan of the model alone, for hosts whose engine environment holds the hub's client only."""

from pyinfra import host, inventory
from pyinfra.operations import server

from glmstead import places
from glmstead.operations.managed_files import ManagedFile, managed_files
from glmstead.settings import cluster_of, settings_for
from tasks import base, model

settings = settings_for(host)
server.user(
    name="Service user",
    user=settings.system.user,
    home="/nonexistent",
    system=True,
    create_home=False,
)
managed_files(
    name="Programs",
    files=[
        ManagedFile(f"{places.LIBEXEC}/{path}", program.read_text())
        for path, program in base.checkpoint_programs().items()
    ],
)
# pyinfra types a deploy as an operation
model.place_model(settings, cluster_of(inventory))  # type: ignore[arg-type, call-arg]
