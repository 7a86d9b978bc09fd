import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import type { PermissionMode } from "../../abi/process.ts";
import type { Permit } from "../../kernel/ports/permit.ts";
import { flagsOf } from "../../wire/codec/error.ts";
import { allowed, bash, denied, mcp, run, subject, write } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";

beforeAll(() => loadParser());

const permitWith = (...rules: Parameters<typeof makePermit>[0]["rules"]): Permit =>
  makePermit({
    rules,
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    realPath: (path) => path,
    exists: (path) => path === "/ws/.git",
    sandbox: { mode: "off" },
  });
const permit = permitWith();
const ways = (tool: string, effects: readonly Effect[], mode: PermissionMode = "default", of = permit) =>
  (of.remedies?.(subject({ mode }), { tool, effects }) ?? []).map(flagsOf);
const net: Effect = { kind: "network", host: "docs.io", port: 443, method: "GET" };

describe("remedies()", () => {
  test.each<[string, readonly Effect[], string]>([
    ["bash", [bash("rm -r b")], "--allow 'bash(rm -r b)'"],
    ["bash", [bash("rm 'two words' '*'")], `--allow 'bash(rm '\\''two words'\\'' '\\''*'\\'')'`],
    ["bash", [bash("touch a.txt && npm test")], "--allow 'bash(touch a.txt)' --allow 'bash(npm test)'"],
    ["bash", [bash('echo "$(npm test)"')], "--allow 'bash(npm test)'"],
    ["bash", [bash('frob "$(npm test)"')], "--allow 'bash(npm test)' --allow 'bash(frob:*)'"],
    ["edit", [write("/ws/a (1).txt")], "--allow 'edit(//ws/a \\(1\\).txt)'"],
    ["fetch", [net], "--allow 'fetch(domain:docs.io)'"],
    ["mcp__s__x", [mcp("s", "x")], "--allow mcp__s__x"],
    ["send", [{ kind: "message", to: "web-1" }], "--allow 'send(web-1)'"],
    ["supervise", [{ kind: "spawn", program: "reviewer", background: false }], "--allow 'agent(reviewer)'"],
  ])("%s %j: the narrowest first", (tool, effects, flag) => {
    expect(run(permit, tool, effects).behavior).toBe("ask");
    expect(ways(tool, effects)[0]).toBe(flag);
    expect(ways(tool, effects, "dont_ask")[0]).toBe(flag);
  });

  test("none for what no flag lifts: a deny, a protected file, the files of crux itself", () => {
    const refusing = permitWith(denied("bash(rm:*)"));
    expect(ways("bash", [bash("rm -r b")], "default", refusing)).toEqual([]);
    expect(ways("edit", [write("/home/u/.bashrc")])).toEqual([]);
    expect(ways("view", [{ kind: "read", path: "/state/x", real: "/state/x" }])).toEqual([]);
    expect(ways("edit", [write("/ws/a.txt")], "plan")).toEqual([]);
  });

  test("each way that is named allows the call, by itself", () => {
    const text = fc.constantFrom(
      "rm",
      "mv",
      "npm",
      "cp",
      "a b",
      "*",
      "it's",
      "$(date)",
      "-r",
      "(x)",
      ":*",
      "é",
      "[a]",
    );
    const quoted = text.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    const command = fc
      .tuple(fc.constantFrom("rm", "touch", "npm", "make", "mv"), fc.array(quoted, { maxLength: 3 }))
      .map(([name, words]) => bash([name, ...words].join(" ")));
    const path = fc
      .constantFrom("/ws/a", "/ws/a b", "/ws/[x]", "/out/(y)", "/out/z*")
      .map((each) => write(each));
    fc.assert(
      fc.property(fc.oneof(command, path), (effect) => {
        const tool = effect.kind === "exec" ? "bash" : "edit";
        for (const way of ways(tool, [effect]))
          expect([way, works(tool, effect, way)]).toEqual([way, "allow"]);
      }),
      { numRuns: 25 },
    );
  });
});

function works(tool: string, effect: Effect, way: string): string {
  const mode = /^--permission-mode (\w+)$/.exec(way)?.[1] as PermissionMode | undefined;
  if (mode !== undefined) return run(permit, tool, [effect], subject({ mode })).behavior;
  const rules = wordsOf(way).filter((word) => word !== "--allow");
  const given = permitWith(...rules.map(allowed));
  return run(given, tool, [effect]).behavior;
}

/** As a shell would split it. */
function wordsOf(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|\\.|[^\s'\\])+/g) ?? [];
  return words.map((word) => word.replace(/'([^']*)'|\\(.)/g, "$1$2"));
}
