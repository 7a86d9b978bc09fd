import { expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { asPid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { ALL_RIGHTS, type Rights } from "../../abi/rights.ts";
import { bash } from "../contract.ts";
import { makePermit, type PermitOptions } from "../policy.ts";

const MEMORY = "/home/u/.config/crux/memory";
const OWN = `${MEMORY}/projects/shop`;

interface Situation {
  readonly tool?: string;
  readonly rights?: Rights;
  readonly options?: Partial<PermitOptions>;
  readonly labels?: readonly Label[];
  readonly mode?: PermissionMode;
}

const permitOf = (options: Partial<PermitOptions> = {}) =>
  makePermit({
    rules: [],
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: [],
    realPath: (path) => (/link\.md$/.test(path) ? "/home/u/.bashrc" : path),
    ownMemory: [OWN, `${MEMORY}/user`],
    noteFolders: { local: OWN, user: `${MEMORY}/user` },
    ...options,
  });

const subjectOf = ({ labels = [], mode = "default", rights }: Situation) => ({
  ...{ pid: asPid(1), mode, cwd: "/ws", roots: ["/ws"], allowedDevices: null, grants: [], labels },
  ...(rights === undefined ? {} : { rights }),
});

const behavior = (effect: Effect, at: Situation = {}) =>
  permitOf(at.options).decide(subjectOf(at), { tool: at.tool ?? "write", effects: [effect] }).behavior;

const write = (path: string, change: "create" | "modify" | "delete" = "create"): Effect => ({
  kind: "write",
  path,
  change,
});
const web: Label = { kind: "untrusted", source: "web", detail: "https://h.io" };

test("notes in the own memory are read and written without a question, and nothing else is", () => {
  expect(behavior(write(`${OWN}/MEMORY.md`))).toBe("allow");
  expect(behavior({ kind: "read", path: `${OWN}/tests.md` })).toBe("allow");
  expect(behavior(write(`${OWN}/run.sh`))).toBe("ask");
  expect(behavior(write(OWN, "delete"))).toBe("ask");
  expect(behavior(write(`${OWN}/link.md`))).toBe("ask");
  expect(behavior(write(`${MEMORY}/projects/other/MEMORY.md`))).toBe("ask");
  expect(behavior({ kind: "read", path: `${MEMORY}/projects/other/MEMORY.md` })).toBe("ask");
});

test("a deny rule, plan mode and rights to fewer folders hold; labelled data asks", () => {
  const deny = { source: "userSettings", behavior: "deny", text: `edit(/${OWN}/**)` } as const;
  expect(behavior(write(`${OWN}/a.md`), { options: { rules: [deny] } })).toBe("deny");
  expect(behavior(write(`${OWN}/a.md`), { mode: "plan" })).toBe("deny");
  expect(behavior(write(`${OWN}/a.md`), { labels: [web] })).toBe("ask");
  expect(behavior(write(`${OWN}/a.md`), { labels: [{ ...web, kind: "secret" }] })).toBe("deny");
});

const keeping = (tools: readonly string[] | null, own: readonly string[] = []): Rights => ({
  ...ALL_RIGHTS,
  tools,
  notes: { scope: "user", folder: "reviewer", tools: own },
});
const MINE = `${MEMORY}/user/agents/reviewer`;

test("an agent keeps its own notes unasked, and those of another agent ask", () => {
  const rights = keeping(null);
  expect(behavior(write(`${MINE}/nits.md`), { rights })).toBe("allow");
  expect(behavior(write(`${MINE}/link.md`), { rights })).toBe("ask");
  expect(behavior(write(`${OWN}/tests.md`), { rights })).toBe("allow");
  for (const path of [`${MEMORY}/user/agents/other/a.md`, `${MINE}2/a.md`, `${OWN}/agents/reviewer/a.md`])
    expect(behavior(write(path), { rights })).toBe("ask");
  expect(behavior(write(`${MINE}/nits.md`))).toBe("ask");
  expect(behavior(write(`${MINE}/nits.md`), { rights, options: { ownMemory: [] } })).toBe("ask");
});

test("a tool that it has for its notes alone reaches nothing else, in any mode, by any rule", () => {
  const rights = keeping(["grep"], ["edit", "view", "write"]);
  const rule = { source: "userSettings", behavior: "allow", text: "write" } as const;
  for (const at of [{}, { mode: "bypass" }, { options: { rules: [rule] } }] as const) {
    expect(behavior(write(`${MINE}/nits.md`), { rights, ...at })).toBe("allow");
    expect(behavior({ kind: "read", path: `${MINE}/nits.md` }, { rights, tool: "view", ...at })).toBe(
      "allow",
    );
    for (const path of ["/ws/a.md", `${MEMORY}/user/a.md`, `${MINE}/link.md`, `${MINE}/../other/a.md`])
      expect(behavior(write(path), { rights, ...at })).toBe("deny");
    expect(behavior({ kind: "read", path: "/ws/a.md" }, { rights, tool: "view", ...at })).toBe("deny");
  }
  expect(behavior(write(`${MINE}/a.md`), { rights, tool: "multi_edit" })).toBe("deny");
  expect(behavior(write(`${MINE}/a.md`), { rights: keeping(["grep"], ["view"]) })).toBe("deny");
});

test("the tools for its notes reach nothing where memory is off, and are not seen there", () => {
  const rights = keeping(["grep"], ["write"]);
  const off = { ownMemory: [], noteFolders: undefined } as unknown as Partial<PermitOptions>;
  expect(behavior(write(`${MINE}/nits.md`), { rights, options: off })).toBe("deny");
  const hidden = (options: Partial<PermitOptions>, tool: string) =>
    permitOf(options).hides?.(subjectOf({ rights }), tool);
  expect(["write", "view", "grep"].map((tool) => hidden(off, tool))).toEqual([true, true, false]);
  expect(["write", "view", "grep"].map((tool) => hidden({}, tool))).toEqual([false, true, false]);
  const deny = { source: "userSettings", behavior: "deny", text: "write" } as const;
  expect(hidden({ rules: [deny] }, "write")).toBe(true);
});

test("where the user has turned memory off no path leads into it, in any mode", () => {
  const rights = { ...ALL_RIGHTS, noMemory: true } as const;
  for (const mode of ["default", "accept_edits", "bypass"] as const) {
    const at = { rights, mode };
    expect(behavior(write(`${OWN}/a.md`), at)).toBe("deny");
    expect(behavior({ kind: "read", path: `${OWN}/a.md` }, { ...at, tool: "view" })).toBe("deny");
    expect(behavior({ kind: "read", path: "/home/u", subtree: true }, { ...at, tool: "grep" })).toBe("deny");
    expect(behavior({ kind: "read", path: "/ws/a.md" }, { ...at, tool: "view" })).toBe("allow");
  }
  const profile = (given: Rights) =>
    permitOf().sandbox?.(subjectOf({ rights: given }), { tool: "bash", effects: [bash("ls")] })?.hide ?? [];
  expect(profile(rights)).toContain(MEMORY);
  expect(profile(ALL_RIGHTS)).not.toContain(MEMORY);
  const own = { ...keeping(null, ["view"]), noMemory: true } as const;
  expect(behavior({ kind: "read", path: `${MINE}/a.md` }, { rights: own, tool: "view" })).toBe("deny");
});
