import { beforeAll, describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { ALL_RIGHTS, NO_RIGHTS, type Rights } from "../../abi/rights.ts";
import { allowed, mcp, read, run, subject, write } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";

beforeAll(() => loadParser());

const permit = makePermit({
  rules: ["view", "edit", "fs", "fetch", "mcp__s", "mcp__t", "todo"].map(allowed),
  defaultMode: "default",
  additionalDirectories: [],
  home: "/home/u",
  kernelPaths: ["/state"],
  realPath: (path) => path,
});
const decide = (tool: string, effect: Effect, rights: Partial<Rights>) =>
  run(permit, tool, [effect], subject({ mode: "bypass", rights: { ...ALL_RIGHTS, ...rights } }));
const network = (host: string): Effect => ({ kind: "network", host, port: 443, method: "GET" });
const exec: Effect = { kind: "exec", argv: ["ls"], cwd: "/ws", certain: true };

test("a wall closes a checkout but for the worktree in it, in every mode, and leaves the git directory to be read", () => {
  const open = "/m/.crux/worktrees/x";
  const walls = [{ dir: "/m", open, gitDir: "/m/.git" }];
  const behavior = (effect: Effect) => decide("view", effect, { walls }).behavior;
  for (const effect of [read(`${open}/a`), write(`${open}/a`), read("/m/.git/HEAD"), read("/ws/a")])
    expect(behavior(effect)).toBe("allow");
  for (const effect of [
    read("/m/a"),
    read("/m"),
    write("/m/a"),
    write("/m/.git/config"),
    read("/m/.crux/worktrees/y/a"),
    { kind: "read", path: "/", subtree: true } as const,
    { kind: "read", path: `${open}/link`, real: "/m/secret" } as const,
  ])
    expect(behavior(effect)).toBe("deny");
  const denied = decide("view", read("/m/a"), { walls });
  expect(denied).toMatchObject({ reason: { kind: "ceiling" } });
});

describe("a list of tools", () => {
  const tools = ["view", "Grep", "mcp__s__*", "mcp__t__one"];

  test("is a ceiling that no rule and no mode passes, and knows published names", () => {
    expect(decide("view", read("/ws/a"), { tools }).behavior).toBe("allow");
    expect(decide("grep", read("/ws/a"), { tools }).behavior).toBe("allow");
    expect(decide("mcp__s__x", mcp("s", "x"), { tools }).behavior).toBe("allow");
    for (const [tool, effect] of [
      ["edit", write("/ws/a")],
      ["bash", exec],
      ["fetch", network("h.io")],
      ["mcp__t__two", mcp("t", "two")],
      ["mcp__ss__x", mcp("ss", "x")],
    ] as const)
      expect(decide(tool, effect, { tools })).toMatchObject({
        behavior: "deny",
        reason: { kind: "ceiling" },
        message: `tool not allowed here: ${tool}`,
      });
  });

  test("closes the bare devices that do the same", () => {
    expect(decide("fs", read("/ws/a"), { tools }).behavior).toBe("allow");
    expect(decide("fs", write("/ws/a"), { tools }).behavior).toBe("deny");
    expect(decide("fs", write("/ws/a"), { tools: ["edit"] }).behavior).toBe("allow");
    expect(decide("shell", exec, { tools }).behavior).toBe("deny");
  });

  test("leaves the model, a process's own state and questions alone", () => {
    for (const effect of [
      { kind: "llm", device: "/dev/llm/x", maxTokens: 1 },
      { kind: "state", path: "/proc/self" },
      { kind: "person", question: "?" },
    ] as const)
      expect(decide("x", effect, { tools: [] }).behavior).toBe("allow");
  });

  test("hides what it does not hold, as a deny of the whole tool does", () => {
    const who = (rights: Partial<Rights>) => subject({ rights: { ...ALL_RIGHTS, ...rights } });
    const hidden = (tool: string, rights: Partial<Rights>) => permit.hides?.(who(rights), tool);
    expect([hidden("view", { tools }), hidden("Read", { tools }), hidden("edit", { tools })]).toEqual([
      false,
      false,
      true,
    ]);
    const deny = ["bash", "mcp__s", "/mnt/mcp/t", "edit(src/**)", "Write"].map((text) => ({
      source: "userSettings" as const,
      behavior: "deny" as const,
      text,
    }));
    expect(
      ["bash", "mcp__s__x", "mcp__t__y", "mcp__u__z", "edit", "write", "view"].map((tool) =>
        hidden(tool, { deny }),
      ),
    ).toEqual([true, true, true, false, false, true, false]);
  });
});

test("devices of the rights are a ceiling beside those of the process", () => {
  expect(decide("bash", exec, { devices: ["/dev/fs"] })).toMatchObject({
    behavior: "deny",
    message: "device not allowed: /dev/shell",
  });
  expect(decide("view", read("/ws/a"), { devices: ["/dev/fs"] }).behavior).toBe("allow");
});

test("directories are a ceiling for what a path leads to, whatever it is called", () => {
  const roots = ["/ws/sub"];
  for (const effect of [
    read("/ws/sub/a"),
    write("/ws/sub"),
    read("/x", "/ws/sub/a"),
    write("/state/scratch/1/a"),
  ])
    expect(decide("view", effect, { roots }).behavior, JSON.stringify(effect)).toBe("allow");
  for (const effect of [read("/ws/a"), write("/ws/subway/a"), read("/ws/sub/l", "/etc/hosts")])
    expect(decide("view", effect, { roots }), JSON.stringify(effect)).toMatchObject({
      behavior: "deny",
      reason: { kind: "ceiling" },
    });
});

test("hosts are a ceiling, by whole labels", () => {
  const hosts = ["good.com", "*.api.io"];
  for (const host of ["good.com", "GOOD.com.", "a.api.io"])
    expect(decide("fetch", network(host), { hosts }).behavior, host).toBe("allow");
  for (const host of ["evilgood.com", "good.com.evil.io", "api.io", "sub.good.com"])
    expect(decide("fetch", network(host), { hosts }), host).toMatchObject({
      behavior: "deny",
      reason: { kind: "ceiling" },
    });
  const remote: Effect = { kind: "mcp", server: "s", tool: "x", host: "mcp.evil.io" };
  expect(decide("mcp__s__x", remote, { hosts }).behavior).toBe("deny");
});

test("who has no rights left reads, writes, runs and reaches nothing", () => {
  for (const effect of [read("/ws/a"), write("/ws/a"), exec, network("h.io"), mcp("s", "x")])
    expect(decide("view", effect, NO_RIGHTS).behavior, effect.kind).toBe("deny");
});
