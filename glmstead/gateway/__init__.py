"""What stands before LiteLLM in its own process: rules for clients, and the gate."""
