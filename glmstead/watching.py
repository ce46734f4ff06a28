"""What the watch of one host is told, computed from settings; no I/O."""

from typing import Any

from glmstead import places
from glmstead.serving import gateway_url
from glmstead.settings import Cluster, Settings
from glmstead.status_report import GAVE_UP_AFTER


def watch_config(settings: Settings, cluster: Cluster, name: str) -> dict[str, Any]:
    """The document of ``glmstead.watch.main`` on one host; times in seconds."""
    watch, vllm = settings.watch, settings.vllm
    is_head = name == cluster.head.name
    names = ("idle_ask_s", "failures", "compile_s", "restarts", "window_s")
    return {
        "watched": [places.VLLM, places.GATEWAY] if is_head else [places.RAY_WORKER],
        "units": [f"glmstead-{one}" for one in ("ray-*", "vllm", "gateway", "gate", "watch")],
        "interval_s": watch.interval_s,
        "answer_s": watch.answer_timeout_s,
        "limits": {one: getattr(watch, one) for one in names},
        "url": f"http://127.0.0.1:{vllm.port}",
        "gateway_url": gateway_url(settings),
        "idle": idle_config(settings) if is_head and settings.idle.after_s else None,
        "key_file": places.GATEWAY_ENV,
        "model": vllm.served_model_name,
        "address": settings.cluster.address,
        "ray": ray_question(settings, cluster),
        "environment": places.ENGINE_ENV,
        "evidence": places.EVIDENCE,
        "py_spy": f"{settings.engine.root}/bin/py-spy",
        "figures": figures_config(settings) if settings.metrics.enabled else None,
    }


def figures_config(settings: Settings) -> dict[str, Any]:
    """What the watch writes for the node exporter."""
    return {
        "file": places.FIGURES,
        "interval_s": settings.metrics.interval_s,
        "failed_starts": GAVE_UP_AFTER,
        "gpus": settings.gpu.count,
        "patches": places.PATCHES if settings.engine.kind != "container" else None,
    }


def idle_config(settings: Settings) -> dict[str, Any]:
    """When the engine falls asleep, and how it is stopped and started."""
    names = ("after_s", "stop_command", "start_command")
    return {
        "folder": places.GATEWAY_FOLDER,
        **{name: getattr(settings.idle, name) for name in names},
    }


def ray_question(settings: Settings, cluster: Cluster) -> list[str]:
    """Words that say, without waiting, how Ray differs from the declared cluster."""
    return [
        f"{settings.engine.root}/bin/python",
        f"{places.LIBEXEC}/wait_ray_nodes.py",
        f"{cluster.head.address}:{settings.ray.port}",
        str(settings.gpus_per_host),
        "0",  # do not wait
        *(member.address for member in cluster.members),
    ]
