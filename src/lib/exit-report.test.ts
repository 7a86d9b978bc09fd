import { expect, it } from "vitest";
import { exitReport } from "./exit-report.ts";

it.each([
  [
    { code: 0, reason: "completed", kind: "done" },
    { kind: "done", signal: null },
  ],
  [
    { code: 3, reason: "exit 3", kind: "fault" },
    { kind: "fault", signal: null },
  ],
  [
    { code: 143, reason: "killed: SIGTERM", kind: "killed" },
    { kind: "killed", signal: "SIGTERM" },
  ],
  [
    { code: 137, reason: "lost", kind: "killed" },
    { kind: "killed", signal: "SIGKILL" },
  ],
  [
    { code: 1, reason: "timeout", kind: "done" },
    { kind: "killed", signal: null },
  ],
] as const)("exitReport() of %j", (exit, told) => {
  const { code: exitCode, reason } = exit;
  const report = exitReport({ id: "a", pid: 7, usage: null }, { exit, endedAt: 5 });
  expect(report).toMatchObject({ id: "a", pid: 7, exitCode, reason, endedAt: 5, ...told });
});
