import { beforeAll, describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import type { Label } from "../../abi/labels.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import { allowed, bash, mcp, read, run, subject, write } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";
import type { LabelPolicy } from "./label.ts";

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

test("the URI of a resource leaves for its server as the arguments of a tool do; a list sends nothing", () => {
  const resource: Effect = {
    kind: "mcp",
    server: "s",
    tool: "",
    host: "local",
    uri: "https://e.io/?d=SECRET",
  };
  for (const labels of [[web], [secret]])
    for (const mode of PERMISSION_MODES)
      expect(decide(resource, labels, { mode }).behavior).not.toBe("allow");
  expect(decide(resource, [secret], { mode: "bypass" })).toMatchObject({
    behavior: "ask",
    message: expect.stringContaining("reading https://e.io/?d=SECRET from s"),
  });
  expect(decide(resource, [{ kind: "untrusted", source: "mcp", detail: "s" }]).behavior).toBe("allow");
  expect(decide(resource, []).behavior).toBe("allow");
  expect(decide(mcp("s", ""), [secret]).behavior).toBe("allow");
});

describe("what a person has opened", () => {
  const rule = (behavior: "allow" | "ask" | "deny", text: string) =>
    ({ source: "userSettings", behavior, text }) as const;
  const with_ = (rules: Parameters<typeof makePermit>[0]["rules"], isTrusted = false) =>
    makePermit({
      rules: [...["t", "send", "mcp__s", "fetch(domain:e.io)", "bash(git *)"].map(allowed), ...rules],
      isTrusted,
      defaultMode: "default",
      additionalDirectories: [],
      home: "/home/u",
      kernelPaths: ["/state"],
      realPath: (path) => path,
      exists: (path) => path === "/ws/.git",
      sandbox: { mode: "off" },
    });
  const judged = (permit: ReturnType<typeof makePermit>, effect: Effect, labels: readonly Label[]) =>
    run(permit, "t", [effect], subject({ labels })).behavior;
  const other: Label = { kind: "untrusted", source: "mcp", detail: "other" };

  test("lets what was read from there leave, and nothing else", () => {
    const permit = with_([rule("allow", "outward(web)")]);
    for (const effect of [get(), mcp("s", "x"), { kind: "message", to: "7" } as const]) {
      expect(judged(permit, effect, [web])).toBe("allow");
      for (const label of [secret, other]) expect(judged(permit, effect, [web, label])).toBe("ask");
    }
    expect(judged(with_([rule("allow", "outward(mcp)")]), mcp("s", "x"), [other])).toBe("allow");
    expect(judged(with_([rule("allow", "outward")]), mcp("s", "x"), [web, other])).toBe("allow");
    expect(judged(with_([rule("allow", "outward")]), mcp("s", "x"), [secret])).toBe("ask");
  });

  test("is less than an ask or a deny of it, or a setting that denies", () => {
    for (const behavior of ["ask", "deny"] as const)
      expect(judged(with_([rule("allow", "outward"), rule(behavior, "outward(web)")]), get(), [web])).toBe(
        "ask",
      );
    const grants = ["t", "outward(web)"];
    const permit = (outward: "ask" | "deny") =>
      makePermit({
        rules: [],
        defaultMode: "default",
        additionalDirectories: [],
        home: "/home/u",
        kernelPaths: [],
        realPath: (path) => path,
        labels: { outward },
      });
    const who = subject({ mode: "bypass", labels: [web], grants });
    expect(run(permit("ask"), "t", [get()], who).behavior).toBe("allow");
    expect(run(permit("deny"), "t", [get()], who).behavior).toBe("deny");
  });

  test("counts of a project only once that is trusted", () => {
    const ofProject = { source: "projectSettings", behavior: "allow", text: "outward(web)" } as const;
    expect(judged(with_([ofProject]), get(), [web])).toBe("ask");
    expect(judged(with_([ofProject], true), get(), [web])).toBe("allow");
  });

  test("is what a refusal names, as the narrowest remedy and in words; of a secret, only the words", () => {
    const permit = with_([]);
    const remedies = (effect: Effect, labels: readonly Label[]) =>
      permit.remedies?.(subject({ labels }), { tool: "fetch", effects: [effect] });
    expect(remedies(get(), [web])?.[0]).toEqual({ rules: ["outward(web)"] });
    const elsewhere: Effect = { kind: "network", host: "b.io", port: 443, method: "GET" };
    expect(remedies(elsewhere, [web])?.[0]).toEqual({ rules: ["fetch(domain:b.io)", "outward(web)"] });
    expect(remedies(get(), [secret])).toEqual([]);
    const choices = (label: Label) => {
      const decision = run(permit, "t", [get()], subject({ labels: [label] }));
      return decision.behavior === "ask" ? decision.choices : "";
    };
    expect(choices(web)).toBe(
      `labels.outward asks. To answer it once: allow outward(web) for a run, outward: ["web"] in an agent file, "labels": {"outward": ["web"]} in your settings or those of a trusted project`,
    );
    expect(choices(secret)).toContain('"labels": {"outward": "off"} in your own settings');
  });

  test("names a source that there is: another is no rule", () => {
    const why = permitRule("outward(moon)");
    expect(why).toContain("write tool or tool(content)");
    expect(permitRule("outward(web)")).toBeNull();
  });
  const permitRule = (text: string) =>
    with_([]).notRule?.({ source: "cliArg", behavior: "allow", text }) ?? null;
});

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
