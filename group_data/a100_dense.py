"""One host with eight A100 80 GB, from released parts only: dense attention, as on g4.

No file of an open pull request is needed: DENSE_FALLBACK leaves the indexer and DeepGEMM out.
A request reads its whole context, so long ones are slower than on a100. See docs/routes/a100.md.
"""

from glmstead.routes import route_data as _route_data

globals().update(_route_data("a100"))

# Engine: the lock of g4; its compiler for sm_120 lies idle
engine_python = "3.11"
engine_version = "0.28.0"
engine_lock = "g4"
overlay_name = None
patches_tags = ["DENSE_FALLBACK", "ABORT_RACE_FIX", "FD_EXCHANGE_ANNOTATIONS"]
vllm_attention_backend = "TRITON_MLA"
vllm_max_model_len = 32768
