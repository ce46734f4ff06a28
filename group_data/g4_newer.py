"""g4 on the newest release: the registry's class has no dense path, so the old one is named.

Read in the released wheel and patched in tests; never run on a GPU. See docs/routes/g4.md.
"""

from glmstead.routes import route_data as _route_data

globals().update(
    _route_data(
        "g4",
        vllm_args={
            "model-class-overrides": {
                "GlmMoeDsaForCausalLM": "vllm.model_executor.models.deepseek_v2:GlmMoeDsaForCausalLM"
            }
        },
    )
)

engine_version = "0.33.0"
engine_lock = "g4_newer"
patches_tags = ["DENSE_OLD_CLASS", "ABORT_RACE_FIX"]  # the deadlock and the annotations are mended
