"""What vLLM's scheduler does with a request that the workers dropped, stock and patched.

Usage: ENGINE/bin/python tests/wheels/dropped_request.py stock|patched   (run in the project)
No file of the environment changes: the scheduler's text is patched in memory. Prints JSON.
"""

import importlib.util
import json
import logging
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LENGTH, BLOCK = 1024, 16
SCHEDULER = "vllm/v1/core/sched/scheduler.py"


def main(which: str, patch: dict[str, Any]) -> dict[str, Any]:
    """Drop one of four requests and run the others to their end."""
    load_scheduler(which, patch)
    scheduler, request = make_scheduler()
    pool = scheduler.kv_cache_manager.block_pool
    idle = pool.get_num_free_blocks()
    for number in range(4):
        scheduler.add_request(request(number))
    step = scheduler.schedule()
    outputs = scheduler.update_from_output(step, worker_output(["r0", "r2", "r3"]))
    ends = {out.request_id: str(out.finish_reason) for out in outputs[0].outputs}
    forgotten, steps = set[str](), 0
    while scheduler.requests and steps < 50:
        step, steps = scheduler.schedule(), steps + 1
        forgotten |= set(step.finished_req_ids)
        scheduler.update_from_output(step, worker_output(list(step.num_scheduled_tokens)))
    return {
        "ends": ends,
        "workers_forget": "r1" in forgotten,
        "unfinished": scheduler.get_num_unfinished_requests(),
        "blocks_lost": idle - pool.get_num_free_blocks(),
    }


def load_scheduler(which: str, patch: dict[str, Any]) -> None:
    """Import the scheduler from its stock text, or from that text patched."""
    from glmstead.patching.engine import apply, revert

    spec = importlib.util.find_spec(SCHEDULER.removesuffix(".py").replace("/", "."))
    assert spec is not None and spec.origin is not None
    text = revert(patch, SCHEDULER, Path(spec.origin).read_bytes())
    if which == "patched":
        text = apply(patch, SCHEDULER, text)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    exec(compile(text or b"", spec.origin, "exec"), module.__dict__)


def make_scheduler() -> tuple[Any, Any]:
    """A scheduler with 1000 KV blocks for glm-nano, and a maker of requests."""
    config, caches = vllm_config(), engine("v1.kv_cache_interface")
    layer = caches.FullAttentionSpec(
        block_size=BLOCK, num_kv_heads=1, head_size=1, dtype=import_module("torch").float32
    )
    group = caches.KVCacheGroupSpec(["layer"], layer)
    scheduler = engine("v1.core.sched.scheduler").Scheduler(
        vllm_config=config,
        kv_cache_config=caches.KVCacheConfig(1000, [], [group]),
        structured_output_manager=engine("v1.structured_output").StructuredOutputManager(config),
        block_size=BLOCK,
    )
    sha256, blocks = engine("utils.hashing").sha256, engine("v1.core.kv_cache_utils")
    blocks.init_none_hash(sha256)

    def request(number: int) -> Any:
        return engine("v1.request").Request(
            request_id=f"r{number}",
            prompt_token_ids=[number] * 40,
            sampling_params=engine("sampling_params").SamplingParams(max_tokens=8, ignore_eos=True),
            pooling_params=None,
            block_hasher=blocks.get_request_block_hasher(BLOCK, sha256),
        )

    return scheduler, request


def vllm_config() -> Any:
    """The configuration of glm-nano on CPU."""
    make, nano = engine("config"), str(ROOT / "files/models/glm-nano")
    config = make.VllmConfig(
        model_config=make.ModelConfig(model=nano, dtype="bfloat16", max_model_len=LENGTH),
        scheduler_config=make.SchedulerConfig(
            max_num_seqs=16,
            max_num_batched_tokens=LENGTH,
            max_model_len=LENGTH,
            is_encoder_decoder=False,
        ),
        cache_config=make.CacheConfig(block_size=BLOCK, enable_prefix_caching=False),
        device_config=make.DeviceConfig("cpu"),
    )
    config.cache_config.num_gpu_blocks = 1000
    return config


def engine(name: str) -> Any:
    """A module of the environment's vLLM, which no type checker sees."""
    return import_module(f"vllm.{name}")


def worker_output(requests: list[str]) -> Any:
    """One token for each of these requests, none for any other."""
    return engine("v1.outputs").ModelRunnerOutput(
        req_ids=requests,
        req_id_to_index={name: index for index, name in enumerate(requests)},
        sampled_token_ids=[[7]] * len(requests),
        logprobs=None,
        prompt_logprobs_dict={},
        pooler_output=[],
    )


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(ROOT))
    print(json.dumps(main(sys.argv[1], json.load(sys.stdin))))
