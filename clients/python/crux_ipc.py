"""A client of the kernel IPC of Crux, with nothing but the standard library.

    from crux_ipc import Client
    with Client() as kernel:
        print(kernel.call("system.get_metrics"))
"""
import os
import socket
import struct

REQUEST, RESPONSE, EVENT, CHUNK = 1, 2, 3, 4


class Fault(Exception):
    """A refusal of the kernel: `code`, `message`, `retryable`, and `details` where there are any."""

    def __init__(self, fault):
        super().__init__("[%s] %s" % (fault["code"], fault["message"]))
        self.code, self.message, self.retryable = fault["code"], fault["message"], fault["retryable"]
        self.details = fault.get("details", {})


def pack(value):
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return (b"\xcf" + struct.pack(">Q", value)) if value >= 0 else (b"\xd3" + struct.pack(">q", value))
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xdb" + struct.pack(">I", len(text)) + text
    if isinstance(value, (bytes, bytearray)):
        return b"\xc6" + struct.pack(">I", len(value)) + bytes(value)
    if isinstance(value, (list, tuple)):
        return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())
    raise TypeError("no MsgPack form: %r" % type(value))


NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
           0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
LENGTHS = {0xC4: ">B", 0xC5: ">H", 0xC6: ">I", 0xD9: ">B", 0xDA: ">H", 0xDB: ">I",
           0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}


def unpack(data, at=0):
    """The value at a position, and the position after it."""
    kind = data[at]
    at += 1
    if kind <= 0x7F:
        return kind, at
    if kind >= 0xE0:
        return kind - 256, at
    if kind in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[kind], at
    if kind in NUMBERS:
        return struct.unpack_from(NUMBERS[kind], data, at)[0], at + struct.calcsize(NUMBERS[kind])
    if kind in LENGTHS:
        count = struct.unpack_from(LENGTHS[kind], data, at)[0]
        at += struct.calcsize(LENGTHS[kind])
    else:
        count = kind & (0x1F if 0xA0 <= kind <= 0xBF else 0x0F)
    if kind in (0xC4, 0xC5, 0xC6):
        return data[at:at + count], at + count
    if 0xA0 <= kind <= 0xBF or kind in (0xD9, 0xDA, 0xDB):
        return data[at:at + count].decode(), at + count
    if 0x90 <= kind <= 0x9F or kind in (0xDC, 0xDD):
        items = []
        for _ in range(count):
            item, at = unpack(data, at)
            items.append(item)
        return items, at
    entries = {}
    for _ in range(count):
        key, at = unpack(data, at)
        entries[key], at = unpack(data, at)
    return entries, at


class Client:
    """One connection. `path`: the socket; by default that of the process that started this program."""

    def __init__(self, path=None):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(path or os.environ["CRUX_IPC_SOCKET"])
        self._file = self._socket.makefile("rwb")
        self._ids = 0
        self._pushed = []

    def call(self, method, params=None, meta=None):
        """The result of a method. Raises Fault."""
        self._ids += 1
        own = str(self._ids)
        self._send({"id": own, "method": method, "params": params or {}, "meta": meta or {}})
        while True:
            kind, message = self._read()
            if kind != RESPONSE:
                self._pushed.append(message)
            elif message["id"] == own:
                if "error" in message:
                    raise Fault(message["fault"])
                return message["result"]

    def pushed(self):
        """The next event or chunk; waits for one."""
        return self._pushed.pop(0) if self._pushed else self._read()[1]

    def close(self):
        self._file.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _send(self, message):
        body = pack(message)
        self._file.write(struct.pack(">2sBBI", b"KA", 1, REQUEST, len(body)) + body)
        self._file.flush()

    def _read(self):
        header = self._file.read(8)
        if len(header) < 8:
            raise EOFError("the kernel closed the connection")
        magic, version, kind, length = struct.unpack(">2sBBI", header)
        if magic != b"KA" or version != 1:
            raise ValueError("not the kernel IPC of version 1")
        return kind, unpack(self._file.read(length))[0]
