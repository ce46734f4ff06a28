"""The engine as deployed: patches in the files, one code on all hosts, the cluster as Ray has it."""

import json
from hashlib import sha256

from testinfra.host import Host

from glmstead import places
from glmstead.settings import Cluster, Settings


def test_patched_files_carry_their_tags(machine: Host, settings: Settings) -> None:
    patches = json.loads(machine.file(places.PATCHES).content_string)

    assert set(patches) <= set(settings.patches.tags)
    for tag, entries in patches.items():
        for entry in entries:
            text = machine.file(entry["file"]).content
            assert tag.encode() in text, f"{tag} in {entry['file']}"
            assert sha256(text).hexdigest() == entry["sha256"]


def test_all_hosts_run_one_code(machines: dict[str, Host], cluster: Cluster) -> None:
    seen = {
        (
            machine.check_output("/opt/glmstead/engine/bin/python --version"),
            machine.file("/opt/glmstead/engine/glmstead.lock").sha256sum,
            machine.file(places.PATCHES).sha256sum,
            machine.file(places.MODEL_MANIFEST).sha256sum,
        )
        for name, machine in machines.items()
        if name in {member.name for member in cluster.members}
    }
    assert len(seen) == 1


def test_ray_holds_every_host_and_gpu(
    machine: Host, settings: Settings, member: str, cluster: Cluster
) -> None:
    if member != cluster.head.name:
        return
    root, gcs = settings.engine.root, f"{cluster.head.address}:{settings.ray.port}"
    status = machine.check_output(
        "env RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=%s %s/bin/ray status --address=%s",
        places.RAY_TOKEN,
        root,
        gcs,
    )
    active = status.partition("Active:")[2].partition("Idle:")[0].partition("Pending:")[0]
    idle = status.partition("Idle:")[2].partition("Pending:")[0]
    total = len(cluster.members) * settings.gpus_per_host

    assert (active + idle).count("node_") == len(cluster.members)
    assert f"/{float(total)} GPU" in status


def test_ray_admits_nobody_without_the_token(
    machine: Host, settings: Settings, cluster: Cluster
) -> None:
    gcs = f"{cluster.head.address}:{settings.ray.port}"
    answer = machine.run(
        f"env RAY_AUTH_MODE=token RAY_AUTH_TOKEN=wrong {settings.engine.root}/bin/ray status "
        f"--address={gcs}"
    )
    assert answer.rc != 0
    assert "AuthenticationError" in answer.stderr


def test_the_model_is_whole(machine: Host, settings: Settings) -> None:
    if settings.model.source == "controller":
        machine.check_output("sha256sum --check --quiet %s", places.MODEL_MANIFEST)
