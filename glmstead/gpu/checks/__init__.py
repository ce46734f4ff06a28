"""Parts of ``gpu.fitness``: each yields one line a reason, with its fix."""
