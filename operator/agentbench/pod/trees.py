"""Folders that an agent filled."""

import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


def remove_tree(folder: Path) -> None:
    """Remove a folder, or a file, whatever modes an agent gave to what is in it.

    Raises:
        OSError: something in it cannot be removed.
    """
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return

    def unlock(function: Any, path: str, error: BaseException) -> None:
        if isinstance(error, FileNotFoundError):
            return
        for locked in (Path(path).parent, Path(path)):
            with suppress(OSError):
                if not locked.is_symlink():
                    locked.chmod(locked.stat().st_mode | stat.S_IRWXU)
        if function is os.open or function is os.scandir:
            shutil.rmtree(path)
        else:
            function(path)

    def unlock_before_3_12(function: Any, path: str, error: Any) -> None:
        unlock(function, path, error[1])

    if sys.version_info >= (3, 12):
        shutil.rmtree(folder, onexc=unlock)
    else:
        shutil.rmtree(folder, onerror=unlock_before_3_12)
