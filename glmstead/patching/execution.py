"""Does a module's body run under this interpreter? Some errors show only then, not in compiling.

Sent to hosts: standard library only, Python 3.10 and newer.
"""

import builtins
import sys
import types
from typing import Any


def syntax_error(path: str, data: bytes) -> str:
    """Why this interpreter cannot compile the bytes; empty when it can."""
    try:
        compile(data, path, "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    # a null byte, before Python 3.12; nesting deeper than the parser goes
    except (ValueError, MemoryError, RecursionError) as error:
        return str(error) or type(error).__name__
    return ""


def execution_error(path: str, data: bytes) -> str:
    """Why the module's body fails here; empty when it runs.

    Only the standard library is imported: everything else is a stub, so that no torch is needed.
    """
    module = types.ModuleType(path.removesuffix(".py").replace("/", "."))
    module.__dict__.update(
        __file__=path,
        __package__=module.__name__.rpartition(".")[0],
        __builtins__={**vars(builtins), "__import__": _import},
    )
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(data, path, "exec", dont_inherit=True), module.__dict__)
    except (Exception, SystemExit) as error:  # whatever the body raises is the answer
        return f"{type(error).__name__}: {error}"
    finally:
        del sys.modules[module.__name__]
    return ""


class _Stub(types.ModuleType):
    __all__: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> type:
        return type(name, (), {})


def _import(name: str, *args: Any, **kwargs: Any) -> types.ModuleType:
    level = kwargs.get("level", args[3] if len(args) > 3 else 0)
    if level or name.split(".", 1)[0] not in sys.stdlib_module_names:
        return _Stub(name)
    return builtins.__import__(name, *args, **kwargs)
