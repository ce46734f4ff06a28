"""What all routes have in common; every key is explained in docs/settings.md.

Routes (group_data/<route>.py) override these, and a host's own data in the inventory overrides
both. Keys are flat and prefixed: vllm_port is the port of the section vllm.
"""

# Review before the first run ------------------------------------------------------------------
gateway_bind = "0.0.0.0"  # where clients reach the gateway; "127.0.0.1" for a tunnel only
gateway_port = 4000
gateway_max_tokens = None  # cap on an answer's tokens
vllm_served_model_name = "glm-5.2"

# Hosts ----------------------------------------------------------------------------------------
system_user = "glmstead"
system_nofile = 1048576  # Ray and 141 shards each need many files
model_root = "/var/lib/glmstead/models"

# Versions -------------------------------------------------------------------------------------
engine_root = "/opt/glmstead/engine"
gateway_root = "/opt/glmstead/gateway"
gateway_lock = "gateway"
gateway_version = "1.105.0"  # 1.107 and later want a package that no index has

# Gateway: Claude Code asks for these ids, for its main and its small model
gateway_claude_models = [
    "claude-opus-4-5",
    "claude-opus-4-5-20251101",
    "claude-sonnet-4-5",
    "claude-sonnet-4-5-20250929",
    "claude-haiku-4-5",
    "claude-haiku-4-5-20251001",
]

# Questions at the end of every deploy
smoke_enabled = True
smoke_gate = True  # nobody is served before they were answered well
