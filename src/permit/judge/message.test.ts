import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import type { Label } from "../../abi/labels.ts";
import { NO_RIGHTS } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { Subject } from "../../kernel/ports/permit.ts";
import { allowed, asked, denied, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";

const to = (name: string): Effect => ({ kind: "message", to: name, member: ["writer", "writer-1", "7"] });
const outsider: Effect = { kind: "message", to: "writer" };
const web: Label = { kind: "untrusted", source: "web", detail: "https://e.io/page" };
const secret: Label = { kind: "secret", source: "file", detail: "/ws/.env" };

function judged(effect: Effect, rules: readonly RuleText[] = [], who: Partial<Subject> = {}, more = {}) {
  const permit = makePermit({
    rules,
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    realPath: (path) => path,
    sandbox: { mode: "off" },
    ...more,
  });
  return run(permit, "send", [effect], subject(who)).behavior;
}

describe("a message to a member of the same compose project", () => {
  test("asks nobody; the same words to anybody else do", () => {
    for (const name of ["writer", "writer-1", "7"]) expect(judged(to(name))).toBe("allow");
    expect(judged(outsider)).toBe("ask");
  });

  test("is held by an ask and a deny of any name of the receiver, however it is written to", () => {
    for (const text of ["send", "send(writer)", "send(writer-1)", "send(7)"])
      for (const name of ["writer", "writer-1", "7"]) {
        expect([text, name, judged(to(name), [denied(text)])]).toEqual([text, name, "deny"]);
        expect([text, name, judged(to(name), [asked(text)])]).toEqual([text, name, "ask"]);
        expect(judged(to(name), [denied(text), allowed("send")], { mode: "bypass" })).toBe("deny");
      }
    expect(judged(to("writer"), [denied("send(editor)")])).toBe("allow");
  });

  test("is held by what the rights of the process deny", () => {
    const deny = [denied("send(writer)")];
    expect(judged(to("7"), [], { rights: { ...NO_RIGHTS, deny } })).toBe("deny");
  });

  test("is held by the modes", () => {
    expect(judged(to("writer"), [], { mode: "plan" })).toBe("deny");
    expect(judged(to("writer"), [], { mode: "dont_ask" })).toBe("allow");
    expect(judged(to("writer"), [denied("send(writer)")], { mode: "dont_ask" })).toBe("deny");
    expect(judged(outsider, [], { mode: "dont_ask" })).toBe("deny");
  });

  test("is held by the labels of what the sender has read", () => {
    expect(judged(to("writer"), [], { labels: [web] })).toBe("ask");
    expect(judged(to("writer"), [], { labels: [web], mode: "bypass" })).toBe("ask");
    expect(judged(to("writer"), [], { labels: [web] }, { labels: { outward: "deny" } })).toBe("deny");
    expect(judged(to("writer"), [allowed("outward(web)")], { labels: [web] })).toBe("allow");
    expect(judged(to("writer"), [allowed("outward(web)")], { labels: [web, secret] })).toBe("ask");
  });

  test("is held by settings that cannot be read", () => {
    expect(judged(to("writer"), [], {}, { unreadable: ["settings.json: not JSON"] })).toBe("ask");
    expect(judged(to("writer"), [], {}, { policyProblems: ["policy: not JSON"] })).toBe("deny");
  });

  test("is one to a process of the own tree or group, too, and held by any of its names", () => {
    const near: Effect = { kind: "message", to: "digger", names: ["7", "agent-0123456789ab"] };
    expect(judged(near)).toBe("allow");
    expect(judged({ kind: "message", to: "digger", names: [] })).toBe("allow");
    for (const text of ["send", "send(digger)", "send(7)", "send(agent-0123456789ab)"])
      expect([text, judged(near, [denied(text)]), judged(near, [asked(text)])]).toEqual([
        text,
        "deny",
        "ask",
      ]);
    expect(judged(near, [], { labels: [web] })).toBe("ask");
    // an ancestor gets the result of the process in any case, with its labels
    expect(judged({ ...near, isAbove: true }, [], { labels: [web] })).toBe("allow");
    expect(judged({ ...near, isAbove: true }, [denied("send(7)")], { labels: [web] })).toBe("deny");
  });

  test("is refused for a stranger, by whatever rule and in whatever mode, and nobody is asked", () => {
    const far: Effect = { kind: "message", to: "7", isStranger: true };
    for (const mode of ["default", "auto", "bypass"] as const)
      expect(judged(far, [allowed("send"), allowed("send(7)")], { mode })).toBe("deny");
  });

  test("is no signal: that asks as before", () => {
    expect(judged({ kind: "message", to: "writer", signal: "SIGTERM", member: ["writer"] })).toBe("ask");
  });
});
