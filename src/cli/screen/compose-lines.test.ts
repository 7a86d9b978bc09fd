import { expect, test } from "vitest";
import type { ProjectEventWire } from "../../abi/compose/wire.ts";
import { LogPrefix, projectLine } from "./compose-lines.ts";
import { composeTable, type ReplicaRow } from "./table/compose-table.ts";
import { COLOURED, PLAIN } from "./text/paint.ts";

test.each<[line: string, event: Exclude<ProjectEventWire, { event: "log" }>]>([
  ["notes: starting 2 services", { event: "starting", project: "notes", services: 2 }],
  ["notes: starting 1 service", { event: "starting", project: "notes", services: 1 }],
  ["notes: nothing to start", { event: "starting", project: "notes", services: 0 }],
  ["collector-1: started (PID 4)", { event: "started", child: "collector-1", pid: 4 }],
  [
    "writer-1: waiting for collector (completed)",
    { event: "waiting", child: "writer-1", on: "collector", condition: "completed" },
  ],
  ["collector-1: exited(0)", { event: "exited", child: "collector-1", code: 0, reason: "completed" }],
  [
    "writer-1: restarting in 2.0s (1/5)",
    { event: "restarting", child: "writer-1", delay_ms: 2000, restarts: 1, max: 5 },
  ],
  [
    "writer-1: skipped (collector failed)",
    { event: "skipped", child: "writer-1", reason: "collector failed" },
  ],
  ["notes: up (PID 3)", { event: "up", project: "notes", pid: 3 }],
  [
    "notes: done | tokens: 812 | elapsed: 4.0s",
    { event: "done", project: "notes", tokens: 812, elapsed_ms: 4000, code: 0 },
  ],
  [
    "notes: failed (restart intensity exceeded: writer-1)",
    { event: "failed", project: "notes", reason: "restart intensity exceeded: writer-1", code: 1 },
  ],
  ["notes: stopped", { event: "stopped", project: "notes" }],
])("projectLine() is [compose] %s", (line, event) => {
  expect(projectLine(event, PLAIN, false)).toBe(`[compose] ${line}`);
});

test("projectLine() tells why a service exited where it is asked to, and lets nothing steer the terminal", () => {
  const event = { event: "exited", child: "w-1", code: 3, reason: "bad\x1b[2J" } as const;
  expect(projectLine(event, PLAIN, true)).toBe("[compose] w-1: exited(3) | bad\\x1b[2J");
  expect(projectLine(event, COLOURED, false)).toBe("[compose] w-1: \x1b[31mexited(3)\x1b[39m");
});

test("LogPrefix is as wide as the longest name, in a colour for each service", () => {
  const children = ["collector-1", "writer-1", "writer-2"];
  const plain = new LogPrefix(children, PLAIN);
  expect(plain.line("collector-1", "3f2a1c0 fix\tparser")).toBe("collector-1 | 3f2a1c0 fix\tparser");
  expect(plain.line("writer-1", "[agent/5] reasoning step 1...")).toBe(
    "writer-1    | [agent/5] reasoning step 1...",
  );
  expect(plain.line("a-stranger-of-length-1", "x\x1b]0;t\x07\n")).toBe(
    "a-stranger-of-length-1 | x\\x1b]0;t\\x07\\n",
  );
  const coloured = new LogPrefix(children, COLOURED);
  expect(coloured.line("collector-1", "x")).toBe("\x1b[36mcollector-1 |\x1b[39m x");
  expect(coloured.line("writer-1", "x")).toBe("\x1b[33mwriter-1    |\x1b[39m x");
  expect(coloured.line("writer-2", "x")).toBe("\x1b[33mwriter-2    |\x1b[39m x");
});

const row = (change: Partial<ReplicaRow>): ReplicaRow => ({
  service: "collector",
  replica: 1,
  pid: 4,
  state: "dead",
  exit_code: 0,
  restarts: 0,
  tokens_used: 0,
  elapsed_ms: 100,
  ...change,
});

test("composeTable() is the sample of the manual", () => {
  const writer = row({
    service: "writer",
    pid: 5,
    state: "running",
    exit_code: null,
    tokens_used: 812,
    elapsed_ms: 4000,
  });
  expect(composeTable([row({}), writer])).toBe(`\
SERVICE              N     PID   STATE       EXIT   RESTARTS     TOKENS    ELAPSED
────────────────   ───   ─────   ─────────   ────   ────────   ────────   ────────
collector            1       4   dead           0          0          0       0.1s
writer               1       5   running        —          0        812       4.0s`);
});

test("composeTable() keeps its columns for what has no process yet, and lets long names push", () => {
  const waiting = row({
    service: "web",
    replica: 64,
    pid: null,
    state: "waiting",
    exit_code: null,
    elapsed_ms: 0,
  });
  const long = row({
    service: "a-service-with-a-long-name",
    state: "restarting",
    restarts: 3,
    exit_code: 137,
  });
  expect(composeTable([waiting, long]).split("\n").slice(2)).toEqual([
    "web                 64       —   waiting        —          0          0       0.0s",
    "a-service-with-a-long-name     1       4   restarting    137          3          0       0.1s",
  ]);
});
