"""One host with eight A100 80 GB: GLM-5.2 in AWQ INT4, sparse attention by Triton.

The kernels are those of vLLM's pull request 38476, which no release holds. Its three modules come
from the site's own source (overlay_source), pinned by files/overlays/pr38476.json; what they need
in vLLM's own files is merged by patches. 0.23.0 is the release the modules were made for: from
0.24 on the indexer of a layer may be absent, from 0.26 on their base class is gone.
See docs/routes/a100.md.
"""

# Host
gpu_count = 8
gpu_model = "A100"
gpu_capability = "8.0"
gpu_memory_gib = 79.0
driver_source = "image"
driver_minimum = "580.65"
system_packages = ["ca-certificates", "g++", "libnuma1", "python3-dev", "python3-venv"]
system_disk_free_gb = 60.0
system_memory_gb = 256.0
system_shm_gb = 32.0

# Engine: one host, so no Ray
engine_kind = "single"
engine_python = "3.12"
engine_package = "vllm"
engine_version = "0.23.0"
engine_lock = "a100"
overlay_name = "pr38476"
engine_env = {
    "CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7",  # 410 GiB of weights need all eight
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "OMP_NUM_THREADS": "16",
    "VLLM_ENGINE_READY_TIMEOUT_S": "1800",
}

patches_tags = [
    "AMPERE_SPARSE_BACKEND",
    "AMPERE_SPARSE_PRIORITY",
    "AMPERE_SPARSE_INDEXER",
    "AMPERE_INDEXER_GUARD",
    "AMPERE_LAZY_INIT",
    "ABORT_RACE_FIX",
]

# Checkpoint: its commit is for you to choose (model_revision, beside the host)
model_name = "GLM-5.2-AWQ-INT4"
model_source = "hub"
model_repo = "cyankiwi/GLM-5.2-AWQ-INT4"
model_size_gb = 440.0
model_attention_heads = 64
model_quantization = "compressed-tensors"

vllm_tensor_parallel_size = 8
vllm_max_model_len = 32768
vllm_max_num_seqs = 32
vllm_gpu_memory_utilization = 0.90
vllm_kv_cache_dtype = "auto"  # bf16: SM80 has no fp8
vllm_attention_backend = (
    "TRITON_MLA_SPARSE"  # chosen by itself too; a missing edit then stops the start
)
vllm_tool_call_parser = "glm47"
vllm_reasoning_parser = "glm45"  # 0.23 knows no glm47 here
vllm_args = {"trust-remote-code": True, "no-async-scheduling": True}
vllm_load_timeout_s = 1800  # seven minutes cold
