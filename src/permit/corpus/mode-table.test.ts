import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../abi/process.ts";
import { ALL_RIGHTS } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { PermitRequest, Subject } from "../../kernel/ports/permit.ts";
import { allowed, asked, bash, denied, mcp, read, subject, write } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";

beforeAll(() => loadParser());

const make = (rules: readonly RuleText[] = [], closedModes: readonly PermissionMode[] = []) =>
  makePermit({
    rules,
    closedModes,
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    realPath: (path) => path,
    exists: (path) => path === "/ws/.git",
  });

/** `judge`: an ask that a classifier may answer. `hard`: one that only a person does. */
type Cell = "allow" | "deny" | "ask" | "judge" | "hard";

function cell(
  rules: readonly RuleText[],
  effect: Effect,
  who: Partial<Subject>,
  more: Partial<PermitRequest> = {},
  closed: readonly PermissionMode[] = [],
): Cell {
  const decision = make(rules, closed).decide(subject(who), { tool: "t", effects: [effect], ...more });
  if (decision.behavior !== "ask") return decision.behavior;
  if (decision.isHard === true) return decision.isJudgeable ? "judge" : "hard";
  return decision.isJudgeable ? "judge" : "ask";
}

const network: Effect = { kind: "network", host: "h.io", port: 443, method: "GET" };
const message: Effect = { kind: "message", to: "7" };
const spawn: Effect = { kind: "spawn", program: "x", background: false };
const unknown: Effect = { kind: "unknown", what: "x" };

// plan, dont_ask, default, accept_edits, auto, bypass
const TABLE: readonly [string, Effect, readonly Cell[]][] = [
  ["read in roots", read("/ws/a"), ["allow", "allow", "allow", "allow", "allow", "allow"]],
  ["read-only shell", bash("git status | head -5"), ["allow", "allow", "allow", "allow", "allow", "allow"]],
  ["read outside", read("/srv/a"), ["ask", "deny", "ask", "ask", "judge", "allow"]],
  ["write in roots", write("/ws/a"), ["deny", "deny", "ask", "allow", "allow", "allow"]],
  ["static mkdir", bash("mkdir -p a && touch a/b"), ["deny", "deny", "ask", "allow", "allow", "allow"]],
  ["write outside", write("/srv/a"), ["deny", "deny", "ask", "ask", "judge", "allow"]],
  ["other shell", bash("npm test"), ["deny", "deny", "ask", "ask", "judge", "allow"]],
  ["network", network, ["deny", "deny", "ask", "ask", "judge", "allow"]],
  ["MCP", mcp("s", "t"), ["deny", "deny", "ask", "ask", "judge", "allow"]],
  ["send", message, ["deny", "deny", "ask", "ask", "judge", "allow"]],
  ["spawn", spawn, ["deny", "deny", "ask", "ask", "judge", "allow"]],
  ["unknown", unknown, ["deny", "deny", "ask", "ask", "judge", "allow"]],
  ["hard ask on a write", write("/ws/.git/config"), ["deny", "deny", "hard", "hard", "hard", "hard"]],
  ["hard ask on a read", read("/ws/.env"), ["hard", "deny", "hard", "hard", "hard", "hard"]],
  ["kernel path", read("/state/j"), ["deny", "deny", "deny", "deny", "deny", "deny"]],
  ["its own folder", write("/state/scratch/1/a"), ["allow", "allow", "allow", "allow", "allow", "allow"]],
  ["its own state", { kind: "state", path: "/proc/self" }, Array(6).fill("allow")],
  ["a question to a person", { kind: "person", question: "?" }, Array(6).fill("allow")],
  ["a model call", { kind: "llm", device: "/dev/llm/x", maxTokens: 1 }, Array(6).fill("allow")],
];

describe("modes, cell by cell", () => {
  for (const [row, effect, cells] of TABLE)
    PERMISSION_MODES.forEach((mode, i) => {
      test(`${row} in ${mode} is ${cells[i]}`, () => expect(cell([], effect, { mode })).toBe(cells[i]));
    });

  test("an ask rule is a hard ask in each mode, and a refusal where nobody is asked", () => {
    const rules = [asked("fetch(domain:h.io)"), allowed("fetch(domain:h.io)")];
    const cells = PERMISSION_MODES.map((mode) => cell(rules, network, { mode }));
    expect(cells).toEqual(["deny", "deny", "hard", "hard", "hard", "hard"]);
  });

  test("a deny rule is a deny in each mode", () => {
    for (const mode of PERMISSION_MODES)
      expect(cell([denied("fetch(domain:h.io)"), allowed("t")], network, { mode })).toBe("deny");
  });
});

describe("plan", () => {
  const plan = { mode: "plan" } as const;
  test("no allow rule and no grant lets anything be changed", () => {
    const rules = ["t", "bash", "edit", "edit(**)", "bash(npm test)", "fetch(domain:h.io)", "mcp__s"].map(
      allowed,
    );
    for (const effect of [write("/ws/a"), bash("npm test"), bash("touch a"), network, mcp("s", "t"), spawn])
      expect(cell(rules, effect, { ...plan, grants: ["t"] }), JSON.stringify(effect)).toBe("deny");
  });

  test("a tool that says it changes nothing is judged as in default", () => {
    expect(cell([], network, plan, { readOnly: true })).toBe("ask");
    expect(cell([allowed("fetch(domain:h.io)")], network, plan, { readOnly: true })).toBe("allow");
  });

  test("a server's tool needs its own word and a rule", () => {
    const tool = { tool: "mcp__s__t" };
    expect(cell([], mcp("s", "t"), plan, { ...tool, readOnly: true })).toBe("deny");
    expect(cell([allowed("mcp__s__t")], mcp("s", "t"), plan, tool)).toBe("deny");
    expect(cell([allowed("mcp__s__t")], mcp("s", "t"), plan, { ...tool, readOnly: true })).toBe("allow");
    expect(
      cell([denied("mcp__s"), allowed("mcp__s__t")], mcp("s", "t"), plan, { ...tool, readOnly: true }),
    ).toBe("deny");
  });

  test("a link in its own folder is no way out of it", () => {
    expect(cell([allowed("edit(**)")], write("/state/scratch/1/l", "/ws/a"), plan)).toBe("deny");
  });
});

describe("the mode that holds", () => {
  test("is the lower of the process's and its ceiling", () => {
    const who = (mode: PermissionMode, ceiling: PermissionMode) => ({
      mode,
      rights: { ...ALL_RIGHTS, mode: ceiling },
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...PERMISSION_MODES),
        fc.constantFrom(...PERMISSION_MODES),
        fc.constantFrom(...TABLE),
        (mode, ceiling, [, effect]) => {
          const lower = PERMISSION_MODES.indexOf(mode) < PERMISSION_MODES.indexOf(ceiling) ? mode : ceiling;
          expect(cell([], effect, who(mode, ceiling))).toBe(cell([], effect, { mode: lower }));
        },
      ),
    );
  });

  test("where settings close it, a running process is in default", () => {
    for (const mode of ["auto", "bypass"] as const) {
      expect(cell([], write("/ws/a"), { mode }, {}, [mode])).toBe("ask");
      expect(make([], [mode]).mayEnter?.(mode)).toBe(false);
    }
    const low = { mode: "bypass", rights: { ...ALL_RIGHTS, mode: "dont_ask" } } as const;
    expect(cell([], write("/ws/a"), low, {}, ["bypass"])).toBe("deny");
  });

  test("is raised by a person alone, and lowered by anybody", () => {
    const to = (mode: PermissionMode): Effect => ({ kind: "mode", to: mode });
    expect(cell([allowed("t")], to("bypass"), { mode: "plan" })).toBe("hard");
    expect(cell([], to("plan"), { mode: "bypass" })).toBe("allow");
    expect(cell([], to("default"), { mode: "dont_ask" })).toBe("deny");
  });
});
