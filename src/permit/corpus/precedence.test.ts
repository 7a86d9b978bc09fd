import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { PERMISSION_MODES } from "../../abi/process.ts";
import { ALL_RIGHTS, type Rights } from "../../abi/rights.ts";
import { RULE_SOURCES, type RuleText } from "../../abi/rules.ts";
import { allowed, asked, bash, denied, mcp, read, rule, run, subject, write } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";

beforeAll(() => loadParser());

const make = (rules: readonly RuleText[], isTrusted = true) =>
  makePermit({
    rules,
    isTrusted,
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    realPath: (path) => path,
    exists: () => false,
  });

/** A call, and rules that bear on it: each of them, and others that do not. */
const CALLS = [
  {
    tool: "bash",
    effect: bash("git push origin"),
    texts: ["bash", "Bash", "bash(git push:*)", "bash(git *)"],
  },
  {
    tool: "edit",
    effect: write("/ws/src/a"),
    texts: ["edit", "edit(src/**)", "Edit(//ws/src/a)", "write(a)"],
  },
  { tool: "view", effect: read("/ws/src/a"), texts: ["view", "view(src/**)", "Read(//ws/**)"] },
  {
    tool: "fetch",
    effect: { kind: "network", host: "a.h.io", port: 443, method: "GET" },
    texts: ["fetch", "fetch(domain:a.h.io)", "WebFetch(domain:*.h.io)"],
  },
  { tool: "mcp__s__t", effect: mcp("s", "t"), texts: ["mcp__s", "mcp__s__*", "/mnt/mcp/s", "mcp__s__t"] },
  {
    tool: "agent",
    effect: { kind: "spawn", program: "x", background: false },
    texts: ["agent(x)", "spawn(x)"],
  },
  { tool: "send", effect: { kind: "message", to: "7" }, texts: ["send", "send(7)", "SendMessage(7)"] },
  {
    tool: "skill",
    effect: { kind: "spawn", program: "deploy", background: false },
    texts: ["skill(deploy)", "skill(deploy:*)", "Skill(deploy)"],
  },
] as const;

const anyCall = fc.constantFrom(...CALLS).chain((call) =>
  fc.record({
    call: fc.constant(call),
    text: fc.constantFrom<string>(...call.texts),
    others: fc.array(
      fc.record({
        source: fc.constantFrom(...RULE_SOURCES),
        behavior: fc.constantFrom("allow" as const, "ask" as const),
        text: fc.constantFrom<string>(...CALLS.flatMap(({ texts }) => [...texts])),
      }),
      { maxLength: 6 },
    ),
  }),
);
const anySource = fc.constantFrom(...RULE_SOURCES);
const anyMode = fc.constantFrom(...PERMISSION_MODES);

test("no deny is outvoted, whatever its source, the other rules, the mode, grants and rights", () => {
  fc.assert(
    fc.property(anyCall, anySource, anyMode, fc.nat(), ({ call, text, others }, source, mode, at) => {
      const deny = rule("deny", source)(text);
      const rules = [...others.slice(0, at % 7), deny, ...others.slice(at % 7)];
      const grants = [...call.texts];
      const who = subject({ mode, grants, rights: { ...ALL_RIGHTS, allow: grants.map(allowed) } });
      expect(run(make(rules), call.tool, [call.effect], who).behavior).toBe("deny");
      const inherited: Rights = { ...ALL_RIGHTS, deny: [deny], allow: grants.map(allowed) };
      expect(run(make(others), call.tool, [call.effect], { ...who, rights: inherited }).behavior).toBe(
        "deny",
      );
    }),
    { numRuns: 2000 },
  );
});

test("nothing silences an ask rule: a person is asked, or it is refused", () => {
  // a shipped question is a default, which a person's own rule answers
  const anyWritten = anySource.filter((source) => source !== "shipped");
  fc.assert(
    fc.property(anyCall, anyWritten, anyMode, ({ call, text, others }, source, mode) => {
      const ask = rule("ask", source)(text);
      const allows = others.map((each) => ({ ...each, behavior: "allow" as const }));
      const who = subject({ mode, grants: [...call.texts] });
      const expected = mode === "dont_ask" || (mode === "plan" && call.tool !== "view") ? "deny" : "ask";
      for (const [rules, rights] of [
        [[...allows, ask], ALL_RIGHTS],
        [allows, { ...ALL_RIGHTS, ask: [ask] }],
      ] as const) {
        const decision = run(make(rules), call.tool, [call.effect], { ...who, rights });
        expect(decision.behavior).toBe(expected);
        if (decision.behavior === "ask") expect(decision).toMatchObject({ isHard: true, always: null });
      }
    }),
    { numRuns: 2000 },
  );
});

test("the reason names the rule and where it comes from", () => {
  const permit = make([denied("bash(git push:*)"), rule("ask", "policySettings")("view(src/**)")]);
  expect(run(permit, "bash", [bash("git push")]).reason).toEqual({
    kind: "rule",
    detail: "rule bash(git push:*) of user settings",
    fact: { kind: "rule", rule: "bash(git push:*)", source: "userSettings" },
  });
  expect(run(permit, "view", [read("/ws/src/a")])).toMatchObject({
    behavior: "ask",
    reason: { kind: "rule", detail: "rule view(src/**) of policy settings" },
  });
  const mine = subject({ rights: { ...ALL_RIGHTS, allow: [rule("allow", "cliArg")("bash(npm test)")] } });
  expect(run(permit, "bash", [bash("npm test")], mine)).toMatchObject({
    behavior: "allow",
    reason: { detail: "rule bash(npm test) of the command line" },
  });
});

test("what a directory or a skill brings allows nothing in a workspace that is not trusted, and forbids all the same", () => {
  for (const source of ["projectSettings", "localSettings", "command"] as const) {
    const [may, mayNot, asks] = [
      rule("allow", source)("bash"),
      rule("deny", source)("bash"),
      rule("ask", source)("bash"),
    ];
    const at = (rules: readonly RuleText[], isTrusted: boolean, rights: Rights = ALL_RIGHTS) =>
      run(make(rules, isTrusted), "bash", [bash("npm test")], subject({ rights })).behavior;
    expect([at([may], false), at([may], true)]).toEqual(["ask", "allow"]);
    expect([
      at([], false, { ...ALL_RIGHTS, allow: [may] }),
      at([], true, { ...ALL_RIGHTS, allow: [may] }),
    ]).toEqual(["ask", "allow"]);
    expect([at([mayNot], false), at([asks, allowed("bash")], false)]).toEqual(["deny", "ask"]);
  }
});

test("a policy that cannot be understood refuses all but the process's own state and questions to a person", () => {
  const broken = make([rule("allow", "policySettings")("bash(")]);
  const options = { rules: [], defaultMode: "default", additionalDirectories: [], home: "/home/u" } as const;
  const unread = makePermit({
    ...options,
    kernelPaths: [],
    realPath: (path) => path,
    policyProblems: ["INVALID /etc/crux/settings.json: no JSON"],
  });
  for (const permit of [broken, unread]) {
    for (const effect of [
      read("/ws/a"),
      bash("ls"),
      { kind: "llm", device: "/dev/llm/x", maxTokens: 1 } as const,
    ])
      expect(run(permit, "t", [effect], subject({ mode: "bypass" })).behavior).toBe("deny");
    expect(run(permit, "t", [{ kind: "state", path: "/proc/self" }]).behavior).toBe("allow");
    expect(run(permit, "t", [{ kind: "person", question: "?" }]).behavior).toBe("allow");
  }
  expect(run(unread, "t", [read("/ws/a")])).toMatchObject({
    reason: { detail: expect.stringContaining("/etc/crux") },
  });
});

test("settings that cannot be read make every tool ask, but not the model nor a process's own state", () => {
  const permit = makePermit({
    rules: [allowed("view")],
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: [],
    realPath: (path) => path,
    unreadable: ["INVALID /home/u/.config/crux/settings.json: no JSON"],
  });
  const who = subject({ mode: "bypass" });
  expect(run(permit, "view", [read("/ws/a")], who)).toMatchObject({
    behavior: "ask",
    isHard: true,
    message: expect.stringContaining("settings.json"),
  });
  expect(run(permit, "script", [{ kind: "llm", device: "/dev/llm/x", maxTokens: 1 }], who).behavior).toBe(
    "allow",
  );
  expect(run(permit, "todo", [{ kind: "state", path: "/proc/self" }], who).behavior).toBe("allow");
});

test("an ask rule on a tool never asks about the process's own state", () => {
  expect(run(make([asked("todo")]), "todo", [{ kind: "state", path: "/x" }]).behavior).toBe("allow");
  expect(run(make([denied("todo")]), "todo", [{ kind: "state", path: "/x" }]).behavior).toBe("deny");
});
