"""b12x4 for one user in a hurry: no context parallelism, 131k tokens, about 81 tokens a second."""

from glmstead.routes import route_data as _route_data

globals().update(_route_data("b12x4", vllm_args={"decode-context-parallel-size": 1}))

vllm_max_model_len = 131072  # more than 177,728 does not fit with the whole cache on every GPU
