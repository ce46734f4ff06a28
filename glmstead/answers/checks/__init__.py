"""The checks of a live endpoint: coroutines that yield one verdict after another."""
