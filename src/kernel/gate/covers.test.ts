import { describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { covers } from "./covers.ts";

const read = (real: string, subtree = false): Effect => ({ kind: "read", path: real, real, subtree });
const write = (real: string, change: "create" | "modify" | "delete"): Effect => ({
  kind: "write",
  path: real,
  real,
  change,
});
const exec = (argv: string[], cwd = "/w"): Effect => ({ kind: "exec", argv, cwd, certain: true });
const network = (host: string, port = 443): Effect => ({ kind: "network", host, port, method: "GET" });
const spawn = (program: string): Effect => ({ kind: "spawn", program, background: false });
const llm = (device: string): Effect => ({ kind: "llm", device, maxTokens: 1 });

describe("covers()", () => {
  test.each<[Effect, Effect, boolean]>([
    [read("/a"), read("/a"), true],
    [read("/a"), read("/a/b"), false],
    [read("/a"), read("/a", true), false],
    [read("/a", true), read("/a/b"), true],
    [read("/a", true), read("/a/b", true), true],
    [read("/a", true), read("/ab"), false],
    [read("/a", true), write("/a/b", "modify"), false],
    [write("/a", "modify"), read("/a"), true],
    [write("/a", "modify"), read("/a", true), false],
    [write("/a", "modify"), write("/a", "modify"), true],
    [write("/a", "create"), write("/a", "modify"), true],
    [write("/a", "modify"), write("/a", "delete"), false],
    [write("/a", "delete"), write("/a", "delete"), true],
    [write("/a", "modify"), write("/a/b", "modify"), false],
    [exec(["ls", "-l"]), exec(["ls", "-l"]), true],
    [exec(["ls", "-l"]), exec(["ls"]), false],
    [exec(["ls"]), exec(["ls", "-l"]), false],
    [exec(["ls"]), exec(["ls"], "/etc"), false],
    [network("a.org"), network("a.org"), true],
    [network("a.org"), network("b.a.org"), false],
    [network("a.org"), network("a.org", 80), false],
    [spawn("x"), spawn("x"), true],
    [spawn("x"), spawn(""), false],
    [llm("/dev/llm/a"), llm("/dev/llm/a"), true],
    [llm("/dev/llm/a"), llm("/dev/llm/b"), false],
    [{ kind: "unknown", what: "x" }, { kind: "unknown", what: "x" }, false],
  ])("%j, %j: %s", (grant, wanted, expected) => {
    expect(covers([grant], wanted)).toBe(expected);
  });

  test("a process's own lists need no grant; nothing else is covered by nothing", () => {
    expect(covers([], { kind: "state", path: "/proc/self" })).toBe(true);
    expect(covers([], read("/a"))).toBe(false);
  });

  test("a path that lies elsewhere than the granted one is not covered, though it is spelt alike", () => {
    expect(covers([{ ...read("/a"), real: "/x" } as Effect], read("/a"))).toBe(false);
  });
});
