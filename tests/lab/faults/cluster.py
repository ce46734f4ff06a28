"""The lab's cluster while it breaks and heals: what to break, and what is seen of it."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from tests.lab.conftest import Deployed
from tests.lab.faults.table import Row
from tests.lab.faults.traffic import Traffic, ask, right_answer

STABLE_S = 10.0
KEY = ". /etc/glmstead/gateway.env && echo $LITELLM_MASTER_KEY"
STARTING = "7d4958e842da4a758f6c1cdc7b36dcc5"  # systemd's message id of "a unit is starting"
UNITS = ("glmstead-ray-head", "glmstead-ray-worker", "glmstead-vllm", "glmstead-gateway")

# Processes of the service user that no unit of ours holds.
ORPHANS = (
    "ps -u glmstead -o pid=,cgroup:200=,args= | "
    "grep -vE 'glmstead-[a-z-]+[.]service|ps -u' | cut -c1-160 || true"
)
# Shared memory that nobody has mapped any more.
LEAKED = (
    "for file in $(find /dev/shm -user glmstead); do "
    "grep -qsl $file /proc/[0-9]*/maps || echo $file; done"
)
COUNT = "pgrep -u glmstead -cf {} || true"


@dataclass
class Cluster:
    """Head and worker of a deployed lab."""

    lab: Deployed
    head: str
    worker: str
    url: str
    key: str

    def ssh(self, host: str, command: str) -> str:
        """What a command on a host prints."""
        return self.lab.ssh(host, command)

    def signal(self, role: str, name: str, pattern: str) -> None:
        """Send a signal to the service user's processes whose command line has a pattern."""
        host = self.head if role == "head" else self.worker
        self.ssh(host, f"pkill -{name} -u glmstead -f '{pattern}'")

    def power(self, verb: str, host: str) -> None:
        """``kill`` pulls the plug of a host, ``start`` boots it again."""
        done = self.lab.run("glmstead", "lab", verb, host, timeout_s=180)
        assert done.returncode == 0, done.stderr

    def reboot(self, hosts: list[str]) -> None:
        """Reboot hosts at once, and wait until all are back."""
        before = {host: self.boot(host) for host in hosts}
        for host in hosts:
            self.lab.run("glmstead", "lab", "ssh", host, "systemctl reboot")
        deadline = time.monotonic() + 180
        while any(self.boot(host) in ("", before[host]) for host in hosts):
            assert time.monotonic() < deadline, f"{hosts} are not back"
            time.sleep(1)

    def boot(self, host: str) -> str:
        """Identity of a host's boot; empty while it does not answer."""
        command = "cat /proc/sys/kernel/random/boot_id"
        return self.lab.run("glmstead", "lab", "ssh", host, command).stdout.strip()

    def address(self, host: str) -> str:
        """Private address of a host."""
        return self.ssh(host, "hostname -I").split()[0]

    def learn_key(self) -> None:
        """Read the gateway's key, as a person does."""
        self.key = self.ssh(self.head, KEY)

    def evidence(self) -> list[str]:
        """Folders of evidence on the head."""
        return self.ssh(self.head, "ls -d /var/lib/glmstead/evidence/*/ || true").split()

    def answers(self) -> bool:
        """Whether the endpoint gives a right answer now."""
        return right_answer(self.url, self.key)

    def refusal(self) -> tuple[int, str]:
        """Status and Retry-After of the first question that is refused."""
        for _ in range(100):
            answer = ask(self.url, self.key, "Reply with exactly: READY", timeout_s=20)
            if answer.status_code != 200:
                return answer.status_code, answer.headers.get("Retry-After", "")
            time.sleep(0.1)
        raise AssertionError("nothing is refused")

    @contextmanager
    def long_request(self) -> Iterator[Future[int]]:
        """A request of 300 tokens that runs; its result is how many were answered."""

        def tokens() -> int:
            body = {"max_tokens": 300, "ignore_eos": True}
            answer = ask(self.url, self.key, "Count to 300.", timeout_s=300, **body)
            return int(answer.json()["usage"]["completion_tokens"])

        with ThreadPoolExecutor() as pool:
            running = pool.submit(tokens)
            metrics = "curl -s http://127.0.0.1:8000/metrics | grep num_requests_running{"
            while self.ssh(self.head, metrics).split()[-1] == "0.0":
                time.sleep(0.1)
            yield running

    def traffic(self, clients: int = 2) -> Traffic:
        """Clients of the endpoint."""
        return Traffic(self.url, self.key, clients)

    def seconds_to_heal(self, began: float, bound_s: float) -> float:
        """Seconds from ``began`` (Unix time) to the answers that stay right; fails after a bound."""
        right_since: float | None = None
        while time.time() - began < bound_s:
            asked = time.time()
            if not self.answers():
                right_since = None
            elif right_since is None:
                right_since = time.time() if asked - began > 1 else began
            if right_since is not None and time.time() - right_since > STABLE_S:
                return right_since - began
            time.sleep(1)
        raise AssertionError(f"no right answers {bound_s:.0f} s after the fault")

    def whole_again(self, bound_s: float = 600) -> None:
        """Wait for an answer: what heals too slowly fails its own test and not the next one's."""
        deadline = time.monotonic() + bound_s
        while not self.answers():
            assert time.monotonic() < deadline, f"no answer for {bound_s:.0f} s before the fault"
            time.sleep(1)

    def restarts(self, since: float) -> dict[str, int]:
        """How often each unit was started since a Unix time, on whichever host.

        A clock that was ahead has left lines of the future, which --since and --until do not bear.
        """
        counts = {}
        for unit in UNITS:
            host = self.worker if unit.endswith("worker") else self.head
            found = self.ssh(
                host,
                f"journalctl -q -o short-unix UNIT={unit}.service MESSAGE_ID={STARTING} | "
                f"awk '$1 >= {since:.3f} && $1 <= {time.time():.3f}' | wc -l",
            )
            counts[unit.removeprefix("glmstead-")] = int(found)
        return {unit: count for unit, count in counts.items() if count}

    def until_restarted(self, unit: str, since: float, bound_s: float) -> None:
        """Wait until a unit was started after a Unix time."""
        while unit not in self.restarts(since):
            assert time.time() - since < bound_s, f"{unit} was not restarted in {bound_s:.0f} s"
            time.sleep(1)

    def left_behind(self) -> dict[str, str]:
        """What must not be there after healing, by host and kind; empty when all is clean."""
        found = {}
        for host in (self.head, self.worker):
            found[f"{host} orphans"] = self.ssh(host, ORPHANS)
            found[f"{host} shared memory"] = self.ssh(host, LEAKED)
            failed = "systemctl list-units --failed --quiet --plain 'glmstead*'"
            found[f"{host} failed units"] = self.ssh(host, failed)
        engines = self.ssh(self.head, COUNT.format("^VLLM::EngineCore"))
        ranks = [
            self.ssh(host, COUNT.format("^ray::RayWorkerProc")) for host in (self.head, self.worker)
        ]
        if [engines, *ranks] != ["1", "1", "1"]:
            found["engines and ranks"] = f"{engines} engines, {ranks} ranks"
        return {what: lines for what, lines in found.items() if lines}

    def breaks(
        self,
        what: str,
        fault: Callable[[], object],
        bound_s: float,
        person: Callable[[], object] | None = None,
        healed_by: str = "units",
    ) -> Row:
        """Break something under traffic and see it heal, by itself or by what a person does."""
        self.whole_again()
        with self.traffic() as traffic:
            began = time.time()
            fault()
            if person is not None:
                person()
            seconds = self.seconds_to_heal(began, bound_s)
        restarts = self.restarts(began)
        lost, left = traffic.with_outcome("lost"), self.left_behind()
        assert not lost, f"lost requests: {lost}"
        assert not left, f"left behind: {left}"
        errors = [one.ended - max(one.began, began) for one in traffic.with_outcome("error")]
        return Row(what, healed_by, seconds, restarts, max(errors, default=0.0))
