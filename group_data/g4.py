"""Two hosts with eight RTX PRO 6000 each: GLM-5.2 in FP8, dense attention, Ray over Ethernet.

The one window in which all four patches apply and have effect: vLLM 0.27 to 0.28 with FlashInfer
0.6.16.post3 on Python 3.11. A newer release makes DENSE_FALLBACK inert. See docs/routes/g4.md.
"""

# Host: Google's accelerator images bring driver 580; "apt" with driver_version installs one
gpu_count = 8
gpu_model = "RTX PRO 6000"
gpu_capability = "12.0"
gpu_memory_gib = 94.0  # 97,887 MiB
driver_source = "image"
driver_minimum = "580.65"
cluster_mtu = 8896  # of the VPC too, which starts at 1460
system_shm_gb = 32.0
system_packages = ["ca-certificates", "g++", "libnuma1", "python3-dev", "python3-venv"]
system_disk_free_gb = 100.0
system_memory_gb = 512.0  # g4-standard-384 has 1,440; weights are read through the page cache

# Engine
engine_python = "3.11"
engine_package = "vllm"
engine_version = "0.28.0"
engine_ray_version = "2.58.0"
engine_lock = "g4"
cuda_source = "wheel"  # the images have no nvcc; kernels are compiled at start
cuda_version = "13.0"  # torch's
cuda_architecture = "sm_120a"
engine_env = {
    "TORCH_CUDA_ARCH_LIST": "12.0a",
    "FLASHINFER_CUDA_ARCH_LIST": "12.0f",
    "CUTE_DSL_ARCH": "sm_120a",
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "OMP_NUM_THREADS": "24",
    "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True",
    "SAFETENSORS_FAST_GPU": "1",
    "VLLM_ENGINE_READY_TIMEOUT_S": "1800",  # 600 by default: a cold start compiles for longer
    # DeepGEMM's block-FP8 kernels fail on this GPU: "Unknown SF transformation".
    "VLLM_USE_DEEP_GEMM": "0",
    "VLLM_MOE_USE_DEEP_GEMM": "0",
}

patches_tags = [
    "DENSE_FALLBACK",
    "ABORT_RACE_FIX",
    "PATCHED-NO-CROSSNODE-SYMM",
    "FD_EXCHANGE_ANNOTATIONS",
]

# Checkpoint: 141 shards
model_name = "GLM-5.2-FP8"
model_source = "hub"
model_repo = "zai-org/GLM-5.2-FP8"
model_revision = "70311cfa0158cce7dd2cf5d2e04f68e3fdc3efc1"
model_size_gb = 755.7
model_attention_heads = 64
model_quantization = "fp8"

# 16 ranks: FP8 weights take 47 GB of each GPU, and a single host's eight cannot hold them
ray_gpus_per_host = 8
ray_object_store_gb = 8.0
vllm_tensor_parallel_size = 16

# Ethernet without RDMA. G4 has a P2P fabric of its own, so P2P stays on; boards on a plain PCIe
# switch hang in P2P and need NCCL_P2P_DISABLE=1 instead of the level.
nccl_env = {
    "NCCL_P2P_LEVEL": "SYS",
    "NCCL_IB_DISABLE": "1",
    "NCCL_MIN_NCHANNELS": "8",
    "NCCL_ALLOC_P2P_NET_LL_BUFFERS": "1",
    "NCCL_NVLS_ENABLE": "0",
    "NCCL_CUMEM_ENABLE": "0",
    "NCCL_SOCKET_NTHREADS": "8",
    "NCCL_NSOCKS_PERTHREAD": "8",
}

vllm_max_model_len = 262144  # dense KV in bf16: 21.9 GiB a GPU for one request of this length
vllm_max_num_seqs = 8
vllm_max_num_batched_tokens = 8192
vllm_block_size = 64
vllm_gpu_memory_utilization = 0.92
vllm_attention_backend = "TRITON_MLA"  # also the alarm: it refuses to start without the patch
vllm_load_format = "fastsafetensors"
vllm_tool_call_parser = "glm47"
vllm_reasoning_parser = "glm45"  # glm47 is another name of it, from 0.24 on
vllm_disable_custom_all_reduce = True  # never used across hosts; the patch covers a start without
vllm_args = {"enable-chunked-prefill": True}
vllm_load_timeout_s = 1800  # six to ten minutes are usual, the first start compiles
