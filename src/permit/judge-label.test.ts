import { beforeAll, describe, expect, test } from "vitest";
import type { Effect } from "../abi/effects.ts";
import type { Label } from "../abi/labels.ts";
import { PERMISSION_MODES, type PermissionMode } from "../abi/process.ts";
import { allowed, bash, mcp, read, run, subject, write } from "./contract.ts";
import type { LabelPolicy } from "./judge-label.ts";
import { makePermit } from "./policy.ts";
import { loadParser } from "./shell/parser.ts";

beforeAll(() => loadParser());

const web: Label = { kind: "untrusted", source: "web", detail: "https://e.io/page" };
const secret: Label = { kind: "secret", source: "file", detail: "/ws/.env" };

const decide = (
  effect: Effect,
  labels: readonly Label[],
  more: { mode?: PermissionMode; policy?: Partial<LabelPolicy>; sandbox?: "on" | "off" } = {},
) => {
  const permit = makePermit({
    rules: ["t", "bash", "edit", "send", "mcp__s", "fetch(domain:e.io)", "bash(git *)"].map(allowed),
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    realPath: (path) => path,
    exists: (path) => path === "/ws/.git",
    sandbox: { mode: more.sandbox ?? "off" },
    ...(more.policy === undefined ? {} : { labels: more.policy }),
  });
  return run(permit, "t", [effect], subject({ mode: more.mode ?? "bypass", labels, grants: ["t", "bash"] }));
};
const get = (isQuoted?: boolean): Effect => ({
  kind: "network",
  host: "e.io",
  port: 443,
  method: "GET",
  ...(isQuoted === undefined ? {} : { isQuoted }),
});
const OUTWARD: readonly Effect[] = [get(), mcp("s", "x"), { kind: "message", to: "7" }, bash("git push")];

describe("labels at a sink", () => {
  test.each(OUTWARD)("%j asks a person and names the origin, whatever allows it", (effect) => {
    for (const label of [web, secret])
      for (const mode of ["default", "accept_edits", "auto", "bypass"] as const) {
        const decision = decide(effect, [label], { mode });
        expect(decision).toMatchObject({
          behavior: "ask",
          isHard: true,
          always: null,
          reason: { kind: "label" },
        });
        expect(decision.behavior === "ask" && decision.message).toContain(label.detail);
        expect(decision).not.toHaveProperty("isJudgeable");
      }
    expect(decide(effect, [web], { mode: "dont_ask" }).behavior).toBe("deny");
    expect(decide(effect, []).behavior).toBe("allow");
  });

  test("a GET of an address that a person or a page gave carries nothing out; a POST does", () => {
    expect(decide(get(true), [web, secret]).behavior).toBe("allow");
    expect(decide({ ...get(true), method: "POST" } as Effect, [web]).behavior).toBe("ask");
  });

  test("a command that changes something asks after untrusted data, one that only reads does not", () => {
    expect(decide(bash("npm test"), [web])).toMatchObject({ behavior: "ask", reason: { kind: "label" } });
    expect(decide(bash("git status"), [web]).behavior).toBe("allow");
    expect(decide(bash("npm test"), [secret]).behavior).toBe("allow");
  });

  test("a command that can be read and runs without network does not ask; one that would publish does all the same", () => {
    expect(decide(bash("npm test"), [web], { sandbox: "on" }).behavior).toBe("allow");
    expect(decide(bash("npm publish"), [web], { sandbox: "on" })).toMatchObject({
      reason: { kind: "label" },
    });
    expect(decide(bash("npm test $X; $Y"), [web], { sandbox: "on" })).toMatchObject({
      behavior: "ask",
      isHard: true,
    });
  });

  test("what instructs agents asks under any label; other files do not", () => {
    for (const path of [
      "/ws/AGENTS.md",
      "/ws/sub/claude.md",
      "/ws/.claude/agents/x.md",
      "/ws/skills/a/SKILL.md",
    ])
      for (const label of [web, secret]) expect(decide(write(path), [label]).behavior, path).toBe("ask");
    expect(decide(write("/ws/l", "/ws/AGENTS.md"), [web])).toMatchObject({ reason: { kind: "label" } });
    expect(decide(write("/ws/AGENTS.md"), []).behavior).toBe("allow");
    expect(decide(write("/ws/readme.md"), [web, secret]).behavior).toBe("allow");
    expect(decide(read("/ws/AGENTS.md"), [web, secret]).behavior).toBe("allow");
  });

  test("memory asks after untrusted data, and never takes a secret", () => {
    const memory = write("/home/u/.config/crux/memory/a.md");
    expect(decide(memory, []).behavior).toBe("allow");
    expect(decide(memory, [web])).toMatchObject({ behavior: "ask", isHard: true });
    for (const mode of PERMISSION_MODES) expect(decide(memory, [secret], { mode }).behavior).toBe("deny");
  });

  test("settings say what a sink does", () => {
    expect(decide(get(), [web], { policy: { outward: "deny" } })).toMatchObject({
      behavior: "deny",
      reason: { kind: "label" },
    });
    expect(decide(get(), [web], { policy: { outward: "off" } }).behavior).toBe("allow");
    expect(decide(bash("npm test"), [web], { policy: { exec: "deny" } }).behavior).toBe("deny");
    expect(decide(bash("npm test"), [web], { policy: { exec: "off" } }).behavior).toBe("allow");
    expect(decide(bash("git push"), [web], { policy: { exec: "off" } }).behavior).toBe("ask");
  });

  test("many origins are named with their number", () => {
    const labels = Array.from({ length: 9 }, (_, i): Label => ({ ...web, detail: `https://p${i}.io` }));
    expect(decide(get(), [...labels, secret]).reason.detail).toBe(
      "untrusted data (web: https://p0.io, web: https://p1.io, web: https://p2.io, 6 more) and a secret (file: /ws/.env)",
    );
  });
});
