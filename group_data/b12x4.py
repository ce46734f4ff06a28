"""One host with four RTX PRO 6000 on plain PCIe: GLM-5.2-NVFP4-REAP-469B in the b12x image.

After 0xSero/glm-5.2-sm120 (launch.sh). The image is a fork of vLLM with sparse MLA kernels for
SM120 (B12X_MLA_SPARSE); no release holds them. See docs/routes/b12x4.md.
"""

# Host
gpu_count = 4
gpu_model = "RTX PRO 6000"
gpu_capability = "12.0"
gpu_memory_gib = 94.0
driver_source = "image"
driver_minimum = "580.65"  # the image is a CUDA 13.2 build
system_packages = ["ca-certificates", "python3-venv"]
system_disk_free_gb = 120.0  # the image unpacked, JIT caches
system_memory_gb = 256.0

# Engine
engine_kind = "container"
engine_version = "0.11.2.dev279"  # what the fork calls itself; it knows GLM-5.2 all the same
container_runtime = "docker"
image_name = "voipmonitor/vllm"
image_tag = (
    "black-benediction-b12xpr11-vllmbb6c5b7-b12xd90d89c-fi3395b41aa8d-dg324aced12c-cu132-20260608"
)
image_digest = "sha256:ce23a9b075bd7138ce3b12ee29609b98606e5050e2def4a29bbb917ad96e5997"
image_python = "/opt/venv/bin/python"
image_entry = ["/opt/venv/bin/vllm", "serve"]
# NCCL takes an empty NCCL_GRAPH_FILE for a file it cannot read: "unhandled system error".
image_unset = ["NCCL_GRAPH_FILE", "NCCL_GRAPH_DUMP_FILE", "VLLM_B12X_MLA_EXTEND_MAX_CHUNKS"]
image_cache_mounts = ["/cache/jit", "/root/.cache"]
image_shm_gb = 32.0
image_add_capabilities = ["SYS_NICE"]
engine_env = {
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "CUDA_VISIBLE_DEVICES": "0,1,2,3",
    "CUDA_DEVICE_MAX_CONNECTIONS": "32",
    "CUTE_DSL_ARCH": "sm_120a",
    "OMP_NUM_THREADS": "16",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "SAFETENSORS_FAST_GPU": "1",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    "VLLM_ENGINE_READY_TIMEOUT_S": "2400",  # 600 by default, and a first start compiles for longer
    # The fork's switches
    "VLLM_USE_B12X_SPARSE_INDEXER": "1",
    "VLLM_USE_B12X_MOE": "1",
    "VLLM_USE_B12X_FP8_GEMM": "1",
    "VLLM_USE_V2_MODEL_RUNNER": "1",
    "VLLM_USE_FLASHINFER_SAMPLER": "1",
    "VLLM_ENABLE_PCIE_ALLREDUCE": "0",
    "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS": "0",
    "VLLM_DISABLED_KERNELS": "MarlinFP8ScaledMMLinearKernel",
    "USES_B12X": "True",
    "B12X_DENSE_SPLITK_TURBO": "1",
    "B12X_W4A16_TC_DECODE": "1",
    "B12X_MOE_FORCE_A16": "1",
    # What is compiled is kept: half an hour at the first start, minutes later
    "XDG_CACHE_HOME": "/cache/jit",
    "CUDA_CACHE_PATH": "/cache/jit",
    "VLLM_CACHE_DIR": "/cache/jit/vllm",
    "TVM_FFI_CACHE_DIR": "/cache/jit/tvm-ffi",
    "FLASHINFER_WORKSPACE_BASE": "/cache/jit/flashinfer",
    "TORCH_EXTENSIONS_DIR": "/cache/jit/torch_extensions",
    "VLLM_CACHE_ROOT": "/root/.cache/vllm",
    "TRITON_CACHE_DIR": "/root/.cache/triton",
    "TORCHINDUCTOR_CACHE_DIR": "/root/.cache/torchinductor",
    "CUTE_DSL_CACHE_DIR": "/root/.cache/cutlass_dsl",
}

# Boards on a plain PCIe switch hang in P2P at NCCL's init
nccl_env = {
    "NCCL_P2P_LEVEL": "SYS",
    "NCCL_P2P_DISABLE": "1",
    "NCCL_SHM_DISABLE": "0",
    "NCCL_PROTO": "LL,LL128,Simple",
    "NCCL_IB_DISABLE": "1",
}

# Checkpoint: its commit is for you to choose (model_revision, beside the host)
model_name = "GLM-5.2-NVFP4-REAP-469B"
model_source = "hub"
model_repo = "0xSero/GLM-5.2-NVFP4-REAP-469B"
model_size_gb = 313.0
model_attention_heads = 64
model_quantization = "modelopt"

vllm_served_aliases = ["GLM-5.2-NVFP4-REAP-469B", "GLM-5.2"]
vllm_layer_map = "always"  # without it the fork builds 78 indexers: garbage at long context
vllm_thinking = True  # False: the answer comes at once, without a reasoning parser
vllm_tensor_parallel_size = 4
vllm_max_model_len = 250000
vllm_max_num_seqs = 2
vllm_max_num_batched_tokens = 8192
vllm_gpu_memory_utilization = 0.95
vllm_kv_cache_dtype = "fp8"  # anything else is garbage in these kernels
vllm_attention_backend = "B12X_MLA_SPARSE"
vllm_load_format = "fastsafetensors"
vllm_tool_call_parser = "glm47"
vllm_reasoning_parser = "glm45"
vllm_speculative_config = {
    "method": "mtp",
    "num_speculative_tokens": 3,
    "moe_backend": "b12x",
    "draft_sample_method": "probabilistic",
}
vllm_args = {
    "trust-remote-code": True,
    "decode-context-parallel-size": 4,  # the cache in four parts: 250k tokens fit
    "enable-chunked-prefill": True,
    "enable-prefix-caching": True,
    "async-scheduling": True,
    "compilation-config": {"pass_config": {"fuse_allreduce_rms": True}},
    "max-cudagraph-capture-size": 8,  # requests x (speculated tokens + 1)
    "quantization": "modelopt_fp4",
    "moe-backend": "b12x",
}
vllm_load_timeout_s = 2400  # six minutes; a first start that compiles everything takes far longer
gateway_thinking_tokens = 2000
