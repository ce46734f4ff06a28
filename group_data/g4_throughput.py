"""g4 for many users: tensor parallel within a host, two pipeline stages across the Ethernet link.

Only activations cross the link, once a token instead of 156 times; one user alone is slower.
Proven for this hardware with another engine (docs/routes/g4.md); here as data.
"""

from glmstead.routes import route_data as _route_data

globals().update(_route_data("g4"))

vllm_tensor_parallel_size = 8
vllm_pipeline_parallel_size = 2
vllm_max_num_seqs = 64
vllm_max_model_len = 131072
