import { expect, test } from "vitest";
import type { SyscallEventWire } from "../../abi/wire.ts";
import { SAMPLE_TRACE, SAMPLE_TRACE_LINES } from "../testing/sample-trace.ts";
import { DevicePaths } from "./device-paths.ts";
import { wordsOf } from "./text/language.ts";
import { PLAIN } from "./text/paint.ts";
import { shortError, traceJson, traceLine } from "./trace-line.ts";

const chinese = wordsOf({ LANG: "zh" });
const english = wordsOf({});
const line = (change: Partial<SyscallEventWire>, verbose = false): string =>
  traceLine(
    { timestamp_ms: 14, pid: 1, syscall: "Write", args: { fd: 3 }, duration_ms: 0, ...change },
    english,
    PLAIN,
    verbose,
  );

test("traceLine() is the sample of the manual, with and without devices named by the daemon", () => {
  const paths = new DevicePaths();
  const bare = SAMPLE_TRACE.map(({ device: _device, traffic: _traffic, ...event }) => paths.follow(event));
  expect(bare.map((event) => traceLine(event, chinese, PLAIN, false))).toEqual(SAMPLE_TRACE_LINES);
  expect(SAMPLE_TRACE.map((event) => traceLine(event, chinese, PLAIN, false))).toEqual(SAMPLE_TRACE_LINES);
});

test.each([
  [0, "    0µs"],
  [0.999, "    999µs"],
  [1, "    1ms"],
  [1.999, "    1ms"],
  [999, "    999ms"],
  [999.999, "    999ms"],
  [1000, "    1.00s"],
  [1000.001, "    1.00s  ← slow operation"],
  [72_409.999, "    72.40s  ← slow operation"],
])("traceLine() rounds %d ms down", (duration_ms, end) => {
  expect(line({ duration_ms }).split("<nil>")[1]).toBe(end);
});

test("traceLine() has one mark at most, and the model's comes first", () => {
  const model = { device: "/dev/llm/claude" };
  expect(line({ ...model, duration_ms: 5200 })).toMatch(/ {4}5\.20s {2}← LLM call$/);
  expect(line({ ...model, duration_ms: 0.1 })).toMatch(/ {4}100µs {2}← LLM call$/);
  expect(line({ ...model, syscall: "Read", duration_ms: 5200 })).toMatch(/5\.20s {2}← slow operation$/);
});

test("traceLine() sorts arguments, quotes and cuts texts at 64 characters", () => {
  const text = `"${"长".repeat(63)}`;
  expect(line({ syscall: "Open", args: { path: text, flags: 2 }, result: `${text}x` })).toBe(
    `[  0.014s] Open(flags=2, path="\\"${"长".repeat(63)}") → "\\"${"长".repeat(63)}…"    0µs`,
  );
});

test("traceLine() shows a failed call by its code and cause", () => {
  expect(line({ error: "[NOT_FOUND] PID 1 Open: /dev/unknown (device not found: /dev/unknown)" })).toContain(
    "→ [NOT_FOUND] device not found: /dev/unknown    0µs",
  );
});

test.each([
  ["[NOT_FOUND] CtxID 1 CtxFree: context not found", "[NOT_FOUND] context not found"],
  ["[DRIVER] Write: /dev/llm/claude (exec: command not found)", "[DRIVER] exec: command not found"],
  ["[INVALID] note: keep this", "[INVALID] note: keep this"],
  ["something else", "something else"],
])("shortError() of %s", (printed, short) => {
  expect(shortError(printed)).toBe(short);
});

test("traceLine() pads sizes from message devices and leaves those of byte devices", () => {
  const read = { syscall: "Read", result: 892 };
  expect(line({ ...read, device: "/mnt/mcp/git/tools/log" })).toContain("→ 892B      0µs");
  expect(line({ ...read, device: "/dev/x", traffic: "message" })).toContain("→ 892B      0µs");
  expect(line({ ...read, device: "/dev/shellfish" })).toContain("→ 892    0µs");
  expect(line({ ...read, device: "/proc/1/status" })).toContain("→ 892    0µs");
});

test("traceLine() verbose cuts nothing and adds the raw values", () => {
  const path = "x".repeat(80);
  expect(line({ syscall: "Open", args: { path, flags: 1 }, result: 3 }, true)).toBe(
    `[  0.014s] Open(flags=1, path="${path}") → 3    0µs\n           args={"path": "${path}", "flags": 1} result=3`,
  );
});

test("traceJson() is the line of the manual, without the screen's own keys", () => {
  const [first] = SAMPLE_TRACE;
  expect(traceJson({ ...first!, device: "/dev/llm/claude", traffic: "message", quiet: false })).toBe(
    '{"timestamp_ms": 13, "pid": 1, "syscall": "Open", "args": {"flags": 2, "path": "/dev/llm/claude"}, "result": 3, "duration_ms": 1.0}',
  );
});
