"""Runs a program through the kernel, feeds it, and prints what it writes, line by line; then claims a device and uses it."""
import sys

from crux_ipc import Client, Fault

with Client(sys.argv[1] if len(sys.argv) > 1 else None) as kernel:
    hello = kernel.call("kernel.hello", {"client": {"name": "example", "version": "1"}, "features": ["streams"]})
    print(hello["server"]["name"], hello["protocol"], hello["authority"]["kind"])
    try:
        kernel.call("process.status", {"pid": 999999999})
    except Fault as fault:
        print(fault.code, fault.retryable)
    job = kernel.call("process.spawn", {"id": "python:sort", "command": ["sort"]})
    kernel.call("process.stream.subscribe", {"pid": job["pid"], "filter": "stdout", "mode": "line", "from": "start"})
    kernel.call("process.stdin.write", {"pid": job["pid"], "data": b"b\na\nc\n", "eof": True})
    chunk = kernel.pushed()
    while "end" not in chunk:
        print(*chunk["lines"], sep="\n")
        chunk = kernel.pushed()
    print(kernel.call("process.wait", {"pid": job["pid"]})["exitCode"])
    own = kernel.call("device.claim", {"device": "virtual/loop0"})
    kernel.call("device.write", {"claim": own["claim"], "data": b"round trip"})
    print(kernel.call("device.read", {"claim": own["claim"], "length": 64})["data"].decode())
    print(kernel.call("device.release", {"claim": own["claim"]})["released"])
