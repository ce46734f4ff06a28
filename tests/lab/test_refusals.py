"""What only a host knows is refused in one line, before anything changes on any host."""

from pathlib import Path

import pytest

from glmstead import ROOT
from tests.lab.conftest import INVENTORY, Deployed, Run

pytestmark = pytest.mark.lab
HEAD, WORKER = "test1", "test2"
_STATE = "find /etc/glmstead /etc/systemd/system -type f -exec sha256sum {} + | sort"


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    """The lab's inventory as a file of the user's own, to be changed."""
    path = tmp_path / "mine.py"
    path.write_text(INVENTORY.read_text())
    return path


def with_data(inventory: Path, **data: object) -> Path:
    """Give every host further data."""
    inventory.write_text(
        inventory.read_text() + f"\nfor _name, _data in _hosts:\n    _data.update({data!r})\n"
    )
    return inventory


def refused(deployed: Deployed, inventory: Path) -> Run:
    """Deploy, and make sure that it failed without a change and without a traceback."""
    before = deployed.ssh(HEAD, "systemctl show -p InvocationID 'glmstead-*'")
    done = deployed.run("glmstead", "deploy", inventory, timeout_s=120)

    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "Success" not in done.stdout.partition("--> Results")[0]
    assert deployed.ssh(HEAD, "systemctl show -p InvocationID 'glmstead-*'") == before
    return done


def test_no_space_for_the_model(deployed: Deployed, declared: Path) -> None:
    done = refused(deployed, with_data(declared, system_disk_free_gb=90000.0))

    assert (
        "GB free for /var/lib/glmstead/models/glm-nano, 90000.0 needed (0 for the model, "
        "90000 reserve): free space or set model_root"
    ) in done.stdout


def test_a_port_that_somebody_else_holds(deployed: Deployed, declared: Path) -> None:
    deployed.ssh(
        HEAD,
        "systemd-run --quiet --unit=foreign python3 -m http.server 8123 --bind 127.0.0.1; "
        "timeout 10 sh -c 'until ss -Hltn | grep -q :8123; do sleep 0.1; done'",
    )
    try:
        done = refused(deployed, with_data(declared, vllm_port=8123))
    finally:
        deployed.ssh(HEAD, "systemctl stop foreign")

    pid_and_rest = done.stdout.partition("port 8123 is taken by python3 (pid ")[2]
    assert pid_and_rest.partition(")")[2].startswith(
        " of foreign.service: stop it or set vllm_port"
    )


def test_an_engine_environment_of_another_python(deployed: Deployed, declared: Path) -> None:
    done = refused(deployed, with_data(declared, engine_python="3.12"))

    assert "/opt/glmstead/engine holds Python 3.11" in done.stdout
    assert "engine_python is 3.12: set engine_python, or stop the services" in done.stdout


def test_an_address_that_the_host_does_not_have(deployed: Deployed, declared: Path) -> None:
    done = refused(deployed, with_data(declared, cluster_interface="eth7"))

    assert "10.77.48.12 is not on eth7" in done.stdout
    assert "set cluster_address and cluster_interface of this host" in done.stdout


def test_a_host_with_another_host_key(deployed: Deployed, declared: Path, tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    own = Path("/var/lib/glmstead-test/known_hosts").read_text().splitlines()
    head, worker = (line.split() for line in own[:2])
    known.write_text(f"{worker[0]} {worker[1]} {head[2]}\n{head[0]} {head[1]} {head[2]}\n")

    done = refused(deployed, with_data(declared, ssh_known_hosts_file=str(known)))

    assert "test2" in done.stdout and "Host key" in done.stdout


def test_plain_pyinfra_from_another_folder_says_what_is_missing(
    deployed: Deployed, tmp_path: Path
) -> None:
    done = deployed.run("pyinfra", "-y", INVENTORY, ROOT / "deploy.py", cwd=tmp_path)

    assert done.returncode == 1
    assert "group_data not found" in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_the_front_door_works_from_another_folder(deployed: Deployed, tmp_path: Path) -> None:
    done = deployed.run("glmstead", "drift", INVENTORY, cwd=tmp_path, timeout_s=120)

    assert (done.returncode, done.stdout.strip()) == (0, "no drift")


def test_a_host_whose_plug_was_pulled_stops_the_run_and_is_brought_back(
    deployed: Deployed,
) -> None:
    deployed.run("glmstead", "lab", "kill", WORKER)
    before = deployed.ssh(HEAD, _STATE)

    done = deployed.run("glmstead", "deploy", INVENTORY, timeout_s=120)

    assert done.returncode == 1
    assert WORKER in done.stdout and "Traceback" not in done.stdout + done.stderr
    assert deployed.ssh(HEAD, _STATE) == before
    assert deployed.run("glmstead", "lab", "up", timeout_s=120).returncode == 0
    deployed.deploy()
    assert deployed.deploy() == {}
