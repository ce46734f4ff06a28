"""Watches that the engine makes progress; saves evidence and restarts it when it does not.

Usage: python -m glmstead.watch.main CONFIG FOLDER (glmstead-watch.service, as root). What must
outlast this process lies in FOLDER/UNIT.json: the restarts of the window, so that they stay bounded.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from glmstead.watch import evidence, figures
from glmstead.watch.idle import Idle
from glmstead.watch.liveness import Limits, Liveness
from glmstead.watch.looks import answer, compiling, gateway_key, is_ray_member, look, properties
from glmstead.watch.notify import notify

JOIN_S = 300  # a raylet may take this long to join


class Watch:
    """One unit that is watched; restarts are remembered over the death of this process."""

    def __init__(self, config: dict[str, Any], folder: Path, unit: str) -> None:
        self.config, self.unit, self.file = config, unit, folder / f"{unit}.json"
        known = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.live = Liveness(Limits(**config["limits"]), known.get("restarts", []))
        self.alive_at = known.get("alive_at")
        self.invocation, self.joined = "", False  # joined: a worker the head has counted in
        self.state = "starting"

    def tell(self, state: str) -> None:
        """Leave the state for `glmstead status`, and a line in the journal when it changes."""
        if state != self.state and not (state[:5] == self.state[:5] == "alive"):
            print(f"{self.unit}: {state}", flush=True)
        self.state = state
        if state.startswith("alive") and state != "alive: idle":
            self.alive_at = time.time()
        document = {"state": state, "alive_at": self.alive_at, "restarts": self.live.restarts}
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(document))
        new.rename(self.file)

    def is_up(self) -> bool:
        """Whether the unit is active; a new start begins with a clean record."""
        shown = properties(self.unit)
        if shown.get("ActiveState") != "active":
            self.tell(f"{shown.get('ActiveState', 'unknown')}: not watched")
            if self.joined and shown.get("Result", "success") != "success":
                self.save_evidence(f"ended: {shown['Result']}")
            self.joined = False
            return False
        if shown["InvocationID"] != self.invocation:
            self.invocation = shown["InvocationID"]
            self.joined = False
            self.live.begin(time.monotonic())
        return True

    def save_evidence(self, reason: str) -> None:
        """Save what is known; what cannot be saved, as on a full disk, keeps nobody from healing."""
        try:
            saved = f"{evidence.save(self.config, f'{self.unit} {reason}')}"
        except Exception as error:
            saved = f"not saved: {error}"
        print(f"evidence: {saved}", flush=True)

    def restart(self, reason: str) -> None:
        """Save evidence, then kill: what hangs does not end when it is asked to."""
        limits = self.live.limits
        if not self.live.may_restart(time.time()):
            hours = limits.window_s / 3600
            self.tell(f"gave up: {limits.restarts} restarts in {hours:g} h did not help, {reason}")
            return
        print(f"<3>{self.unit}: {reason}: restarting it", flush=True)
        self.live.restarts.append(time.time())
        self.save_evidence(reason)
        self.tell(f"restarted: {reason}")
        words = ["systemctl", "kill", "--signal=KILL", f"{self.unit}.service"]
        subprocess.run(words, check=False, timeout=60)
        self.live.alive(time.monotonic())  # what dies slowly is not killed again for its silence


def watch_engine(engine: Watch, gateway: Watch) -> None:
    """One look at the server, and questions, its own first, when the look is not enough."""
    config, live = engine.config, engine.live
    seen = look(config["url"], config["answer_s"])
    if live.moved(seen):
        engine.tell("alive: it works")
        return
    if not live.must_ask(seen):
        engine.tell("alive: idle")
        return
    question = (config["model"], config["answer_s"])
    said = answer(config["url"], *question)
    if said == "answered":
        live.moved(look(config["url"], config["answer_s"]))
        live.alive(time.monotonic())
        engine.tell("alive: it answered")
        if gateway.is_up():
            key = gateway_key(config["key_file"])
            watch_gateway(gateway, answer(config["gateway_url"], *question, key))
    elif seen.counter is not None and live.moved(look(config["url"], config["answer_s"])):
        engine.tell("alive: busy")
    else:
        live.silent(time.monotonic(), compiling())
        engine.tell(f"silent {live.failures} times of {live.limits.failures}: {said}")
        if live.dead():
            engine.restart("no progress and no answer")


def watch_gateway(gateway: Watch, front: str) -> None:
    """The engine answers: does the gateway? A closed gate is its own way of answering."""
    if front in ("answered", "closed") or front.startswith("HTTP 4"):  # no key: still an answer
        gateway.live.alive(time.monotonic())
        gateway.tell(f"alive: {front}")
        return
    gateway.live.silent(time.monotonic(), compiling=False)
    gateway.tell(f"silent {gateway.live.failures} times: {front}")
    if gateway.live.dead():
        gateway.restart("no answer, though the engine has one")


def watch_member(ray: Watch) -> None:
    """A worker: does the head count this host in?"""
    now, live = time.monotonic(), ray.live
    if ray.joined and not live.failures and now - live.progress_at < live.limits.idle_ask_s:
        return  # asking imports Ray, a second of work
    if is_ray_member(ray.config) is not False:
        live.alive(now)
        ray.joined = True
        ray.tell("alive: a member")
        return
    if not ray.joined and now - live.progress_at < JOIN_S:
        ray.tell("joining")
        return
    live.silent(time.monotonic(), compiling=False)
    ray.tell(f"not a member, {live.failures} times of {live.limits.failures}")
    if live.dead():
        ray.restart("the head does not count it in")


def main(config_path: str, folder: str) -> None:
    config = json.loads(Path(config_path).read_text())
    watches = {unit: Watch(config, Path(folder), unit) for unit in config["watched"]}
    first, *others = watches.values()
    idle = Idle(config["idle"], first.unit) if config["idle"] else None
    if config["figures"]:
        figures.start(config["figures"], config["watched"], Path(folder))
    notify(READY="1")
    while True:
        if idle is not None and idle.wake_up():
            first.tell("waking")
        if first.is_up():
            watch_engine(first, others[0]) if others else watch_member(first)
            if idle is not None and idle.fall_asleep(look(config["url"], 5)):
                first.tell("asleep")
        status = "; ".join(f"{unit}: {one.state}" for unit, one in watches.items())
        notify(WATCHDOG="1", STATUS=status)
        time.sleep(config["interval_s"])


if __name__ == "__main__":
    main(*sys.argv[1:])
