"""a100 from git: upstream at a pinned commit, the pull request picked onto it.

Set the three commits beside the host, or here: git_commit (upstream), git_pick_commit (the pull
request's head as you read it), model_revision. See docs/routes/a100.md.
"""

from glmstead.routes import route_data as _route_data

globals().update(_route_data("a100"))

system_packages = [
    *("ca-certificates", "g++", "git", "libnuma1", "python3-dev", "python3-venv"),
]
engine_source = "git"
overlay_name = None
git_url = "https://github.com/vllm-project/vllm"
git_pick_ref = "pull/38476/head"
git_drop = ["csrc/*nvfp4_quant_entry.cu"]  # a link shim that upstream has made obsolete
git_ours = ["vllm/model_executor/layers/sparse_attn_indexer.py"]  # AMPERE_SPARSE_INDEXER mends it
patches_tags = [
    "AMPERE_SPARSE_INDEXER",
    "AMPERE_INDEXER_GUARD",
    "AMPERE_LAZY_INIT",
    "ABORT_RACE_FIX",
]
