"""Every YAML file beside this one is a test of one operation: facts in, commands out."""

from pathlib import Path

from pyinfra_testing.operations import make_operation_tests

_HERE = Path(__file__).parent

for _folder in sorted(path for path in _HERE.iterdir() if (path / "absent.yaml").exists()):
    _name = f"Test_{_folder.name.replace('.', '_')}"
    globals()[_name] = make_operation_tests("glmstead.operations", _folder.name, _folder)
