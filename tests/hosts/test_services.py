"""The services as their own hosts see them: units, processes, limits, environment."""

from testinfra.host import Host

from glmstead import places
from glmstead.settings import Settings

MEASURING = (places.NODE_EXPORTER, places.PROMETHEUS)


def shown(machine: Host, unit: str, name: str) -> str:
    return machine.check_output("systemctl show --value -p %s %s.service", name, unit).strip()


def processes(machine: Host, unit: str) -> list[str]:
    """Process ids of a unit's control group, or of its main process alone."""
    group = shown(machine, unit, "ControlGroup")
    return machine.check_output("cat /sys/fs/cgroup%s/cgroup.procs", group).split()


def test_units_are_enabled_and_running(machine: Host, units: list[str]) -> None:
    for unit in units:
        service = machine.service(unit)

        assert service.is_enabled, unit
        assert service.is_running, unit


def test_units_of_other_roles_are_absent(machine: Host, units: list[str]) -> None:
    found = machine.check_output("cd /etc/systemd/system && ls glmstead-*.service")

    assert {name.removesuffix(".service") for name in found.split()} == set(units)


def test_no_unit_of_the_host_has_failed(machine: Host) -> None:
    assert machine.check_output("systemctl list-units --failed --quiet --plain 'glmstead*'") == ""


def test_units_pass_systemd_s_own_verification(machine: Host, units: list[str]) -> None:
    paths = " ".join(f"/etc/systemd/system/{unit}.service" for unit in units)
    verdict = machine.run(f"systemd-analyze verify --man=no {paths}")

    assert verdict.rc == 0
    assert [line for line in verdict.stderr.splitlines() if "glmstead" in line] == []


def test_processes_have_the_declared_file_limit(
    machine: Host, units: list[str], settings: Settings
) -> None:
    """Without CAP_SYS_RESOURCE (the lab) no limit can exceed the one systemd itself has."""
    ceiling = file_limits(machine, ["1"]).pop()
    wanted = settings.system.nofile
    for unit in [one for one in units if "ray" in one or one == "glmstead-vllm"]:
        assert shown(machine, unit, "LimitNOFILE") == str(wanted)
        assert file_limits(machine, processes(machine, unit)) <= {wanted, min(wanted, ceiling)}


def file_limits(machine: Host, pids: list[str]) -> set[int]:
    """Hard limits on open files that processes have."""
    files = " ".join(f"/proc/{pid}/limits" for pid in pids)
    lines = machine.check_output(f"grep -h 'Max open files' {files} 2>/dev/null || true")
    return {int(line.split()[4]) for line in lines.splitlines()}


def test_ray_and_vllm_see_this_host_s_own_addresses(
    machine: Host, units: list[str], settings: Settings
) -> None:
    cluster = settings.cluster
    for unit in [one for one in units if "ray" in one or one == "glmstead-vllm"]:
        pid = shown(machine, unit, "MainPID")
        text = machine.check_output("tr '\\0' '\\n' </proc/%s/environ", pid)
        environment = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)

        assert environment["VLLM_HOST_IP"] == cluster.address
        assert environment["GLOO_SOCKET_IFNAME"] == cluster.interface
        assert environment["NCCL_SOCKET_IFNAME"].split(",")[0] != ""
        assert environment["RAY_AUTH_MODE"] == "token"
        assert "RAY_AUTH_TOKEN" not in environment


def test_nothing_runs_as_root(machine: Host, units: list[str], settings: Settings) -> None:
    # The watch reads other users' stacks and kills hung units.
    for unit in [one for one in units if one != "glmstead-watch"]:
        folders = " ".join(f"/proc/{pid}" for pid in processes(machine, unit))
        owners = machine.check_output(f"stat -c %U {folders} 2>/dev/null || true").split()
        # The gate has no process any more; what measures has a user without secrets.
        assert set(owners) <= ({"prometheus"} if unit in MEASURING else {settings.system.user}), (
            unit
        )
