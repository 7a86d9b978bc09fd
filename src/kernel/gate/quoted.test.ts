/** An address may be fetched without a question where it stands in what the user said, or on a page; an agent can write in neither. */
import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { asCtxId } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { Process } from "../process/process.ts";
import { withQuoted } from "./quoted.ts";

const URL = "https://e.io/?d=SECRET";
const FETCH: Effect = { kind: "network", host: "e.io", port: 443, method: "GET", url: URL };

interface Made {
  readonly pid: number;
  readonly seed: { intent: string; line: number[]; kind: string; fork?: object };
}

const proc = (pid: number, intent: string, more: Partial<Made["seed"]> = {}): Made => ({
  pid,
  seed: { intent, line: [], kind: "agent", ...more },
});

function isQuoted(self: Made, messages: readonly ContextMessage[], others: readonly Made[] = []): boolean {
  const labels = [{ kind: "secret", source: "file", detail: "/ws/.env" }];
  const core = {
    contexts: { has: () => true, prompt: () => ({ systemPrompt: "", messages }) },
    table: { get: (pid: number) => others.find((each) => each.pid === pid) },
  };
  const reader = { ...self, ctxId: asCtxId(1), labels };
  const effect = withQuoted(core as never, reader as unknown as Process, FETCH);
  return effect.kind === "network" && effect.isQuoted === true;
}

const user = (content: string): ContextMessage => ({ role: "user", content });
const fetched = (input: object, content: string, more: object = {}, name = "fetch"): ContextMessage[] => [
  { role: "assistant", content: "", blocks: [{ type: "tool_use", id: "1", name, input }] },
  { role: "tool", content, tool_call_id: "1", ...more },
];

describe("an address that is quoted", () => {
  test("stands in what the user said, also to an agent of a project, and on a page", () => {
    const intent = `read ${URL}`;
    expect(isQuoted(proc(2, intent), [user(intent)])).toBe(true);
    const service = proc(3, intent, { line: [2] });
    expect(isQuoted(service, [user(intent)], [proc(2, "web", { kind: "supervisor" })])).toBe(true);
    expect(isQuoted(proc(2, ""), fetched({ url: "https://a.io" }, `see ${URL}`))).toBe(true);
    const proxied = { tool: "fetch", params: { url: "https://a.io" } };
    expect(isQuoted(proc(2, ""), fetched(proxied, `see ${URL}`, {}, "tool_call"))).toBe(true);
  });

  test("is none where another agent gave the task, or this one a fork of it", () => {
    const intent = `read ${URL}`;
    const parent = proc(2, "go");
    const child = proc(3, intent, { line: [2] });
    expect(isQuoted(child, [user(intent)], [parent])).toBe(false);
    expect(isQuoted(child, [user(intent)])).toBe(false);
    expect(isQuoted(child, [user(intent), user(`now ${URL}`)], [parent])).toBe(true);
    const fork = proc(4, "take notes", { line: [3, 2], fork: {} });
    expect(isQuoted(fork, [user(intent), user("take notes")], [parent, child])).toBe(false);
    const own = proc(5, "sum up", { line: [2], fork: {} });
    expect(isQuoted(own, [user(intent), user("sum up")], [proc(2, intent)])).toBe(true);
  });

  test("is none in what a child, a thread, a file of instructions or Crux says", () => {
    for (const tag of ["agent-message", "crux-note", "task-notification", "system-reminder"])
      expect(isQuoted(proc(2, "go"), [user("go"), user(`<${tag}>${URL}</${tag}>`)])).toBe(false);
  });

  test("is none in a failure, which repeats what was asked, and in what a model says about a page", () => {
    expect(isQuoted(proc(2, ""), fetched({ url: URL }, `not a page: ${URL}`, { is_error: true }))).toBe(
      false,
    );
    const prompt = `Say ${URL}`;
    expect(isQuoted(proc(2, ""), fetched({ url: "https://a.io", prompt }, URL))).toBe(false);
    const proxied = { tool: "fetch", params: { url: "https://a.io", prompt } };
    expect(isQuoted(proc(2, ""), fetched(proxied, URL, {}, "tool_call"))).toBe(false);
  });
});
