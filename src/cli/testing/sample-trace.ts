import type { SyscallEventWire } from "../../abi/wire.ts";

const model = { device: "/dev/llm/claude", traffic: "message" } as const;
const file = { device: "/dev/fs/./src/main.go", traffic: "byte" } as const;

/** The events behind the sample of the manual. */
export const SAMPLE_TRACE: readonly SyscallEventWire[] = [
  {
    timestamp_ms: 13,
    pid: 1,
    syscall: "Open",
    args: { flags: 2, path: "/dev/llm/claude" },
    result: 3,
    duration_ms: 1,
  },
  { timestamp_ms: 14, pid: 1, syscall: "Write", args: { fd: 3, size: 1234 }, duration_ms: 5200, ...model },
  {
    timestamp_ms: 5214,
    pid: 1,
    syscall: "Read",
    args: { fd: 3, length: 65536 },
    result: 892,
    duration_ms: 2,
    ...model,
  },
  {
    timestamp_ms: 5216,
    pid: 1,
    syscall: "Open",
    args: { flags: 2, path: "/dev/fs/./src/main.go" },
    result: 4,
    duration_ms: 1,
  },
  { timestamp_ms: 5217, pid: 1, syscall: "Write", args: { fd: 4, size: 56 }, duration_ms: 0, ...file },
  {
    timestamp_ms: 5217,
    pid: 1,
    syscall: "Read",
    args: { fd: 4, length: 1048576 },
    result: 2048,
    duration_ms: 1,
    ...file,
  },
  { timestamp_ms: 5218, pid: 1, syscall: "Close", args: { fd: 4 }, duration_ms: 0, ...file },
];

/** The call lines of these events, in Chinese. */
export const SAMPLE_TRACE_LINES: readonly string[] = [
  '[  0.013s] Open(flags=2, path="/dev/llm/claude") → 3    1ms',
  "[  0.014s] Write(fd=3, size=1234) → <nil>    5.20s  ← LLM 调用",
  "[  5.214s] Read(fd=3, length=65536) → 892B      2ms",
  '[  5.216s] Open(flags=2, path="/dev/fs/./src/main.go") → 4    1ms',
  "[  5.217s] Write(fd=4, size=56) → <nil>    0µs",
  "[  5.217s] Read(fd=4, length=1048576) → 2048    1ms",
  "[  5.218s] Close(fd=4) → <nil>    0µs",
];
