"""``python -m glmstead.lab``: the commands of the lab alone."""

from glmstead.lab.cli import lab

if __name__ == "__main__":
    lab(prog_name="glmstead lab")
