"""GPUs in real containers of real Docker, on a host whose GPU is a stand-in device.

nvidia-ctk is a stand-in that describes one device; CDI itself, Docker, runc, systemd and the
device rules of the control group are real.
"""

import pytest

from glmstead.serving import exec_program
from tests.lab.gpu.driver_host import DriverHost
from tests.lab.gpu.machines import Machines, Outcome

pytestmark = [
    pytest.mark.lab,
    pytest.mark.parametrize("machines", ["trixie"], indirect=True, scope="session"),
]
FREE = exec_program("gpus_free.py", "240", "1024")
UNIT = f"""[Service]
ExecStartPre={FREE}
ExecStartPre=-/usr/bin/docker rm --force glmstead-vllm
ExecStart=/usr/bin/docker run --rm --name=glmstead-vllm {{device}} stand-in sleep 1000000
ExecStop=/usr/bin/docker stop --time 1 glmstead-vllm
"""
INSIDE = "docker exec glmstead-vllm nvidia-smi --list-gpus"
DEVICE = "--device=nvidia.com/gpu=all"


@pytest.fixture(scope="module")
def host(machines: Machines) -> DriverHost:
    """A host with a driver repository, which also has NVIDIA's container toolkit."""
    one = DriverHost(machines)
    kernels = ("linux-image-6.1.0-22-amd64", "linux-image-amd64")
    old = " ".join(f"{name}_6.1.99-1_amd64.deb" for name in kernels)
    one.prepare(old, "580.159.03", alone=False)
    return one


def deploy(host: DriverHost, **changed: object) -> Outcome:
    data = {**host.data, "container_runtime": "docker", **changed}
    return host.machines.deploy("only_container.py", 1, data=data)


def serve(host: DriverHost, device: str, restart: bool) -> None:
    """Write the unit of the engine's container, and start it with that."""
    host.ssh("cat >/etc/systemd/system/glmstead-vllm.service", stdin=UNIT.format(device=device))
    host.ssh("systemctl daemon-reload")
    if restart:
        host.ssh(
            "systemctl restart glmstead-vllm; until docker exec glmstead-vllm true; do :; done"
        )


def test_docker_and_toolkit_are_installed_and_the_gpu_described_once(host: DriverHost) -> None:
    changed = deploy(host).changed

    assert {"Docker", "NVIDIA's toolkit", "GPU devices for containers"} <= set(changed)
    assert "libcuda.so.580.159.03" in host.ssh("cat /etc/cdi/nvidia.yaml")
    assert deploy(host).changed == []


def test_C1_C2_a_container_keeps_its_GPU_over_a_reload(host: DriverHost) -> None:
    host.machines.install(1, "busybox-static")
    host.ssh(
        "mkdir -p /tmp/image/bin && cd /tmp/image && cp /bin/busybox bin/ && "
        "for name in sh sleep true; do ln -sf busybox bin/$name; done && "
        "tar -c . | docker import - stand-in >/dev/null"
    )
    serve(host, "", restart=True)
    assert "GPU 0" not in host.ssh(f"{INSIDE} 2>&1 || true")  # the control

    serve(host, DEVICE, restart=True)
    assert "GPU 0" in host.ssh(INSIDE)
    host.ssh("systemctl daemon-reload")

    assert "GPU 0" in host.ssh(INSIDE)
    assert deploy(host).changed == []


def test_C1_a_container_that_lost_its_GPU_is_restarted(host: DriverHost) -> None:
    serve(host, "", restart=True)
    serve(host, DEVICE, restart=False)

    assert deploy(host).changed == ["The container has its GPUs"]
    host.ssh("until docker exec glmstead-vllm true; do :; done")

    assert "GPU 0" in host.ssh(INSIDE)
    assert deploy(host).changed == []


def test_C4_C5_a_start_waits_until_a_removed_container_gave_its_memory_back(
    host: DriverHost,
) -> None:
    host.ssh("echo 22528 >/run/gpu-held; docker rm --force glmstead-vllm >/dev/null")
    host.ssh("systemctl start --no-block glmstead-vllm")

    host.ssh("journalctl -f -u glmstead-vllm -o cat | grep -m 1 'GPU 0 holds 22528 MiB, VLLM::'")
    assert host.ssh("systemctl show -P SubState glmstead-vllm") == "start-pre"
    host.ssh("rm /run/gpu-held; until docker exec glmstead-vllm true 2>/dev/null; do :; done")

    assert "GPU 0" in host.ssh(INSIDE)


def test_another_driver_is_described_anew(host: DriverHost) -> None:
    host.publish("580.159.04")

    assert "GPU devices for containers" in deploy(host, driver_version="580.159.04").changed
    assert "libcuda.so.580.159.04" in host.ssh("cat /etc/cdi/nvidia.yaml")
