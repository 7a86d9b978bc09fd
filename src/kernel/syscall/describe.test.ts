import { expect, test } from "vitest";
import { type AskDecision, describe as describeCall } from "./describe.ts";
import type { Effectful } from "./guard.ts";

const base = { syscall: "Write", device: "/bin/edit", effects: [], effectClass: "probe", input: "" } as const;
const asks = (kind: AskDecision["reason"]["kind"]): AskDecision => ({
  behavior: "ask",
  message: "write .git/config: a protected path",
  always: null,
  reason: { kind, detail: "" },
});

test("describe() names the tool once and shows its operation", () => {
  const view = { tool: "bash", operation: "npm test", params: {} };
  expect(describeCall("bash", { ...base, view }).text).toBe("bash: npm test");
  const edit = { tool: "edit", operation: "edit file: a.ts", params: {} };
  expect(describeCall("edit", { ...base, view: edit }).text).toBe("edit file: a.ts");
});

test("describe() tells why it asks only where it is more than the mode", () => {
  const effectful: Effectful = {
    ...base,
    view: { tool: "edit", operation: "edit file: a", params: {}, diff: "-a\n+b" },
  };
  expect(describeCall("edit", effectful, asks("mode")).detail).toBe("-a\n+b");
  expect(describeCall("edit", effectful, asks("protected")).detail).toBe(
    "-a\n+b\n! write .git/config: a protected path",
  );
});

test("describe() without a view reads the effects", () => {
  const effects = [{ kind: "exec", argv: ["ls"], cwd: "/w", certain: true }] as const;
  expect(describeCall("shell", { ...base, effects }).text).toBe("shell: ls");
});
