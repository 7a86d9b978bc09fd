/** The contract of every permit, run by the test of each implementation. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Effect } from "../abi/effects.ts";
import { asPid } from "../abi/ids.ts";
import type { RuleSource, RuleText } from "../abi/rules.ts";
import { enterEffect, leaveEffect } from "../abi/worktree.ts";
import type { Decision, Permit, Subject } from "../kernel/ports/permit.ts";

/** A permit with home /home/u, kernel path /state; its subjects have the free directory /state/scratch/1. */
export type MakePermit = (rules: readonly RuleText[], realPath?: (path: string) => string) => Permit;

export function subject(more: Partial<Subject> = {}): Subject {
  const base = { pid: asPid(1), mode: "default", cwd: "/ws", roots: ["/ws"], allowedDevices: null } as const;
  return { ...base, free: ["/state/scratch/1"], grants: [], ...more };
}

export const read = (path: string, real = path): Effect => ({ kind: "read", path, real });
export const write = (path: string, real = path): Effect => ({ kind: "write", path, change: "modify", real });
export const mcp = (server: string, tool: string): Effect => ({ kind: "mcp", server, tool, host: "local" });
export const bash = (shell: string): Effect => ({
  kind: "exec",
  argv: ["bash", "-c", shell],
  cwd: "/ws",
  certain: false,
  shell,
});

export const rule =
  (behavior: "allow" | "ask" | "deny", source: RuleSource = "userSettings") =>
  (text: string): RuleText => ({ source, behavior, text });
export const [allowed, asked, denied] = [rule("allow"), rule("ask"), rule("deny")];

export function run(permit: Permit, tool: string, effects: readonly Effect[], who = subject()): Decision {
  return permit.decide(who, { tool, effects });
}

const SOURCES: readonly RuleSource[] = [
  "userSettings",
  "projectSettings",
  "localSettings",
  "flagSettings",
  "policySettings",
  "cliArg",
  "command",
  "session",
];
const MODES = ["default", "accept_edits", "bypass"] as const;

const anySource = fc.constantFrom(...SOURCES);
const anyMode = fc.constantFrom(...MODES);
const anyText = fc.constantFrom(
  ...["bash", "bash(npm test)", "bash(git *)", "bash(rm:*)", "bash(*)", "edit", "edit(src/**)", "edit(/src)"],
  ...[
    "view(secrets/**)",
    "view(*.pem)",
    "view(//etc/**)",
    "fetch(domain:h.io)",
    "agent(helper)",
    "mcp__s",
    "mcp__s__t",
    "/mnt/mcp/s",
    "mcp__s__t(x)",
    "bash(",
    "view()",
  ],
);
const anyRule = fc.record({
  source: anySource,
  behavior: fc.constantFrom("allow", "ask", "deny"),
  text: anyText,
});
const anyEffect: fc.Arbitrary<Effect> = fc.oneof(
  fc
    .constantFrom("/ws/src/a", "/ws/secrets/k", "/etc/passwd", "/ws/x.pem", "/state/j", "/state/scratch/1/a")
    .map((path) => read(path)),
  fc
    .constantFrom("/ws/src/a", "/ws/secrets/k", "/etc/passwd", "/state/j", "/ws/.git/config", "/ws/.crux/x")
    .map((path) => write(path)),
  fc
    .constantFrom(
      "npm test",
      "git log",
      "rm -rf x",
      "ls; rm x",
      "cat secrets/k",
      "echo $(rm x)",
      "ls | wc -l",
    )
    .map(bash),
  fc.constant<Effect>({ kind: "network", host: "h.io", port: 443, method: "GET" }),
  fc.constant<Effect>({ kind: "spawn", program: "helper", background: false }),
  fc.constantFrom("t", "u", "").map((tool) => mcp("s", tool)),
  fc.constant<Effect>({ kind: "unknown", what: "something" }),
  fc.constant<Effect>({ kind: "state", path: "/proc/self" }),
);
const anyCall = fc.record({
  tool: fc.constantFrom("bash", "edit", "view", "fetch", "agent", "mcp__s__t"),
  effects: fc.array(anyEffect, { minLength: 1, maxLength: 3 }),
});

const order = { allow: 0, ask: 1, deny: 2 } as const;

export function permitContract(name: string, make: MakePermit): void {
  describe(`${name}: permit contract`, () => {
    test("deny wins over ask, ask over allow, whatever the source", () => {
      fc.assert(
        fc.property(anySource, anySource, anySource, anyMode, (a, b, c, mode) => {
          const rules = [rule("allow", a)("bash(npm test)"), rule("ask", b)("bash(npm *)")];
          const who = subject({ mode });
          expect(run(make(rules), "bash", [bash("npm test")], who).behavior).toBe("ask");
          const all = [...rules, rule("deny", c)("bash(npm:*)")];
          expect(run(make(all), "bash", [bash("npm test")], who).behavior).toBe("deny");
        }),
      );
    });

    test("adding a deny or ask rule never makes a decision weaker", () => {
      fc.assert(
        fc.property(
          fc.array(anyRule, { maxLength: 5 }),
          anyRule.filter((added) => added.behavior !== "allow"),
          anyMode,
          anyCall,
          (rules, added, mode, call) => {
            const before = make(rules).decide(subject({ mode }), call).behavior;
            const after = make([...rules, added]).decide(subject({ mode }), call).behavior;
            expect(order[after]).toBeGreaterThanOrEqual(order[before]);
          },
        ),
        { numRuns: 1000 },
      );
    });

    test("the strictest effect decides: a call is allowed only if each of its effects is", () => {
      fc.assert(
        fc.property(fc.array(anyRule, { maxLength: 4 }), anyMode, anyCall, (rules, mode, call) => {
          const permit = make(rules);
          const behavior = permit.decide(subject({ mode }), call).behavior;
          const single = call.effects.map(
            (effect) => permit.decide(subject({ mode }), { tool: call.tool, effects: [effect] }).behavior,
          );
          expect(order[behavior]).toBe(Math.max(...single.map((each) => order[each])));
        }),
        { numRuns: 500 },
      );
    });

    test("a denied command is never allowed in any composition, in any mode", () => {
      const joined = fc.constantFrom(" && ", " || ", "; ", " | ", "\n", " & ", " |& ");
      const benign = fc.constantFrom("git status", "ls", "echo 'a b'", "npm test", "cat src/a");
      const wrap = fc.constantFrom<(command: string) => string>(
        ...[
          (c: string) => c,
          (c: string) => `env ${c}`,
          (c: string) => `nice -n 5 ${c}`,
          (c: string) => `sh -c '${c}'`,
        ],
        ...[(c: string) => `timeout 5 ${c}`, (c: string) => `xargs ${c}`, (c: string) => `echo $(${c})`],
        ...[(c: string) => `(${c})`, (c: string) => `if true; then ${c}; fi`, (c: string) => `X=1 ${c}`],
        ...[(c: string) => `/usr/bin/${c}`, (c: string) => `\\${c}`, (c: string) => `${c} > out`],
      );
      const parts = fc.array(fc.oneof(benign, fc.constant("DENIED")), { minLength: 1, maxLength: 4 });
      const permit = make([denied("bash(frob:*)"), allowed("bash"), allowed("bash(*)")]);
      fc.assert(
        fc.property(parts, fc.nat(), joined, wrap, anyMode, (others, at, joiner, wrapped, mode) => {
          const place = at % (others.length + 1);
          const all = [...others.slice(0, place), "DENIED", ...others.slice(place)];
          const text = all.map((part) => (part === "DENIED" ? wrapped("frob x") : part)).join(joiner);
          expect(run(permit, "bash", [bash(text)], subject({ mode })).behavior, text).not.toBe("allow");
        }),
        { numRuns: 1000 },
      );
    });

    test("a ceiling denies what it does not hold, before any rule, in every mode", () => {
      const permit = make([allowed("bash"), allowed("view")]);
      for (const mode of MODES) {
        const who = subject({ mode, allowedDevices: ["/dev/fs", "/dev/shellfish"] });
        expect(run(permit, "bash", [bash("ls")], who)).toMatchObject({
          behavior: "deny",
          message: "device not allowed: /dev/shell",
          reason: { kind: "ceiling" },
        });
        expect(run(permit, "view", [read("/ws/a")], who).behavior).toBe("allow");
        const none = subject({ mode, allowedDevices: [] });
        expect(run(permit, "view", [read("/ws/a")], none)).toMatchObject({
          message: "device not allowed: /dev/fs",
        });
      }
    });

    test("kernel paths are closed in every mode and to every rule, kept outputs too", () => {
      const permit = make([allowed("view"), allowed("edit(//state/**)"), allowed("bash")]);
      for (const mode of MODES) {
        const who = subject({ mode });
        for (const effect of [
          read("/state/journal.db"),
          write("/state/outputs/x"),
          write("/ws/link", "/state/x"),
        ])
          expect(run(permit, "view", [effect], who).behavior).toBe("deny");
        for (const text of [
          "cat /state/key",
          "rm -rf /state",
          "tee /state/x",
          "echo x > /state/x",
          "cp a /state/b",
        ])
          expect(run(permit, "bash", [bash(text)], who).behavior, text).toBe("deny");
        expect(run(permit, "view", [read("/state/outputs/1/c_1")], who).behavior).toBe("deny");
      }
      expect(run(make([]), "bash", [bash("cat /state/outputs/1/c_1")]).behavior).toBe("deny");
    });

    test("modes decide what no rule does", () => {
      const permit = make([]);
      const table: [Effect, Decision["behavior"], Decision["behavior"], Decision["behavior"]][] = [
        [read("/ws/a"), "allow", "allow", "allow"],
        [read("/etc/hosts"), "ask", "ask", "allow"],
        [read("/workspace2/a"), "ask", "ask", "allow"],
        [read("/ws/link", "/etc/hosts"), "ask", "ask", "allow"],
        [write("/ws/a"), "ask", "allow", "allow"],
        [write("/ws/link", "/srv/a"), "ask", "ask", "allow"],
        [write("/srv/a"), "ask", "ask", "allow"],
        [enterEffect("/ws"), "ask", "allow", "allow"],
        [leaveEffect("/ws", false), "allow", "allow", "allow"],
        [leaveEffect("/ws", true), "ask", "ask", "allow"],
        [write("/etc/hosts"), "ask", "ask", "ask"],
        [write("/ws/link", "/etc/hosts"), "ask", "ask", "ask"],
        [write("/ws/.git/config"), "ask", "ask", "ask"],
        [read("/ws/.env"), "ask", "ask", "ask"],
        [read("/ws/.env.example"), "allow", "allow", "allow"],
        [write("/state/scratch/1/a"), "allow", "allow", "allow"],
        [read("/state/scratch/1/a"), "allow", "allow", "allow"],
        [write("/state/scratch/2/a"), "deny", "deny", "deny"],
        [read("/state/scratch/2/a"), "deny", "deny", "deny"],
        [bash("mkdir -p a/b && touch a/b/c"), "ask", "allow", "allow"],
        [bash("cp a b c"), "ask", "ask", "allow"],
        [bash("git status | head -5"), "allow", "allow", "allow"],
        [bash("npm test"), "ask", "ask", "allow"],
        [bash("echo $UNKNOWN"), "allow", "allow", "allow"],
        [bash("cat $UNKNOWN"), "ask", "ask", "allow"],
        [{ kind: "network", host: "h", port: 1, method: "GET" }, "ask", "ask", "allow"],
        [{ kind: "spawn", program: "x", background: false }, "ask", "ask", "allow"],
        [mcp("s", "t"), "ask", "ask", "allow"],
        [mcp("s", ""), "allow", "allow", "allow"],
        [{ kind: "unknown", what: "x" }, "ask", "ask", "allow"],
        [{ kind: "llm", device: "/dev/llm/x", maxTokens: 1 }, "allow", "allow", "allow"],
        [{ kind: "state", path: "/proc/self" }, "allow", "allow", "allow"],
      ];
      for (const [effect, ...expected] of table)
        MODES.forEach((mode, i) => {
          const { behavior } = run(permit, "t", [effect], subject({ mode }));
          expect(behavior, `${JSON.stringify(effect)} in ${mode}`).toBe(expected[i]);
        });
    });

    test("an ask rule is answered by no mode and no grant, and suggests nothing", () => {
      const permit = make([asked("bash(git push:*)"), asked("edit(*.lock)")]);
      const who = subject({ mode: "bypass", grants: ["bash(git push:*)", "edit"] });
      expect(run(permit, "bash", [bash("git push")], who)).toMatchObject({ behavior: "ask", always: null });
      expect(run(permit, "edit", [write("/ws/a.lock")], who)).toMatchObject({
        behavior: "ask",
        always: null,
      });
    });

    test("a grant allows what it covers, wholly, and nothing else", () => {
      const who = subject({ grants: ["bash(npm test:*)", "not a rule(", "edit(src/**)"] });
      const permit = make([]);
      expect(run(permit, "bash", [bash("npm test -- --x")], who).behavior).toBe("allow");
      expect(run(permit, "bash", [bash("npm test && npm publish")], who).behavior).toBe("ask");
      expect(run(permit, "multi_edit", [write("/ws/src/a")], who).behavior).toBe("allow");
      expect(run(permit, "edit", [write("/ws/src/a"), write("/ws/b")], who).behavior).toBe("ask");
      expect(run(permit, "edit", [write("/ws/src/a", "/ws/b")], who).behavior).toBe("ask");
    });

    test("what an ask suggests as always answers exactly such a call", () => {
      const permit = make([]);
      const calls: [string, Effect][] = [
        ["bash", bash("npm test")],
        ["bash", bash("tsc --noEmit")],
        ["edit", write("/ws/[id]/(a) b.ts")],
        ["view", read("/etc/hosts")],
        ["fetch", { kind: "network", host: "h.io", port: 443, method: "GET" }],
        ["supervise", { kind: "spawn", program: "helper", background: false }],
        ["mcp__s__t", mcp("s", "t")],
      ];
      for (const [tool, effect] of calls) {
        const decision = run(permit, tool, [effect]);
        const always = (decision.behavior === "ask" ? decision.always : null) ?? "";
        expect(always, tool).not.toBe("");
        expect(run(permit, tool, [effect], subject({ grants: [always] })).behavior, always).toBe("allow");
      }
    });

    test("an exception is an ask, never an allow, in every mode", () => {
      for (const mode of MODES) {
        const permit = make([allowed("view")]);
        const broken = new Proxy(read("/ws/a"), {
          get: () => {
            throw new Error("broken");
          },
        });
        expect(run(permit, "view", [broken], subject({ mode }))).toMatchObject({
          behavior: "ask",
          always: null,
          reason: { kind: "error" },
        });
        const odd = { kind: "teleport" } as unknown as Effect;
        expect(run(permit, "view", [odd], subject({ mode })).behavior).toBe("ask");
      }
    });
  });
}
