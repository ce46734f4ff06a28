"""One G4 host with eight RTX PRO 6000: GLM-5.2-504B in the b12x image, cache in eight parts.

From b12x4; differences after the two public runs on this machine. See docs/routes/b12x8.md.
"""

from glmstead.routes import route_data as _route_data

globals().update(
    _route_data(
        "b12x4",
        engine_env={"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"},
        vllm_args={"decode-context-parallel-size": 8, "max-cudagraph-capture-size": 32},
    )
)

# Host
gpu_count = 8
system_memory_gb = 512.0
image_shm_gb = 64.0

# Checkpoint
model_name = "GLM-5.2-504B"
model_repo = "0xSero/GLM-5.2-504B"
model_revision = "cb6b1e0451b9d560cda864f84187869c9a679712"
model_size_gb = 308.8

vllm_served_aliases = ["GLM-5.2-504B", "GLM-5.2"]
vllm_tensor_parallel_size = 8
vllm_max_num_seqs = 8
