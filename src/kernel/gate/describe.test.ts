import { expect, test } from "vitest";
import { type AskDecision, describe as describeCall } from "./describe.ts";
import type { Effectful } from "./effectful.ts";

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

test("describe() shows in the detail what the line leaves out of the parameters", () => {
  const command = `echo a # \nrm -r x; echo ${"b".repeat(400)}`;
  const operation = `${command.replace("\n", " ").slice(0, 100)} [...] bbb`;
  const params = { command, working_dir: "/other", timeout: 5 };
  const { text, detail } = describeCall("bash", { ...base, view: { tool: "bash", operation, params } });
  expect(text).toBe(`bash: ${operation}`);
  expect(detail).toBe(`command:\n${command}\nworking_dir: /other`);
  const hidden = "make # /evil";
  const elsewhere = { tool: "bash", operation: hidden, params: { command: hidden, working_dir: "/evil" } };
  expect(describeCall("bash", { ...base, view: elsewhere }).detail).toBe("working_dir: /evil");
  const whole = { tool: "bash", operation: "npm test", params: { command: "npm test" } };
  expect(describeCall("bash", { ...base, view: whole }).detail).toBe("");
});
