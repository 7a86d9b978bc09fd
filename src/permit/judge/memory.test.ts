import { expect, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { asPid } from "../../abi/ids.ts";
import type { Label } from "../../abi/labels.ts";
import type { PermissionMode } from "../../abi/process.ts";
import { makePermit, type PermitOptions } from "../policy.ts";

const MEMORY = "/home/u/.config/crux/memory";
const OWN = `${MEMORY}/projects/shop`;

interface Situation {
  readonly options?: Partial<PermitOptions>;
  readonly labels?: readonly Label[];
  readonly mode?: PermissionMode;
}

function behavior(effect: Effect, { options = {}, labels = [], mode = "default" }: Situation = {}) {
  const permit = makePermit({
    rules: [],
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: [],
    realPath: (path) => (path === `${OWN}/link.md` ? "/home/u/.bashrc" : path),
    ownMemory: [OWN],
    ...options,
  });
  const subject = {
    pid: asPid(1),
    mode,
    cwd: "/ws",
    roots: ["/ws"],
    allowedDevices: null,
    grants: [],
    labels,
  };
  return permit.decide(subject, { tool: "write", effects: [effect] }).behavior;
}
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
