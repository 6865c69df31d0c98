"""The rights of this process: an administrator's are put aside, so that the system refuses what modes forbid."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_CALLS = {"x86_64": (125, 126), "aarch64": (90, 91)}
"""The numbers of `capget` and `capset`, which the C library does not export, by machine."""
_VERSION = 0x20080522
_OVERRIDES = 1 << 1 | 1 << 2
"""`CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`: the modes of files bind nobody who has these."""


@contextmanager
def ordinary_rights() -> Iterator[None]:
    """Let the modes of files bind this thread, whoever runs it."""
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    get, put = _CALLS[platform.machine()]
    libc = ctypes.CDLL(None, use_errno=True)
    head, data = (ctypes.c_uint32 * 2)(_VERSION, 0), (ctypes.c_uint32 * 6)()
    if libc.syscall(get, head, data) != 0:
        raise OSError(ctypes.get_errno(), "capget")
    before = data[0]
    data[0] = before & ~_OVERRIDES
    if libc.syscall(put, head, data) != 0:
        raise OSError(ctypes.get_errno(), "capset")
    try:
        yield
    finally:
        data[0] = before
        libc.syscall(put, head, data)
