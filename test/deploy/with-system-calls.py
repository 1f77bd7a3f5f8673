"""Runs a command that may use the system calls of a list only, as systemd's SystemCallFilter: others fail with EPERM.

with-system-calls.py <file with a name per line> <command> [arguments]
"""

import ctypes
import os
import sys

ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050001, -1

with open(sys.argv[1], encoding="ascii") as file:
    names = file.read().split()

library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p
filter = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(REFUSE)))
for name in names:
    number = library.seccomp_syscall_resolve_name(name.encode())
    # A list also has calls of other processors.
    if number != UNKNOWN:
        library.seccomp_rule_add(filter, ctypes.c_uint32(ALLOW), number, 0)
if library.seccomp_load(filter) != 0:
    sys.exit("the filter was not loaded")
os.execvp(sys.argv[2], sys.argv[2:])
