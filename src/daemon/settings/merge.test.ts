import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Settings } from "../../abi/settings/settings.ts";
import { unite } from "./folder-keys.ts";
import { mergeSettings } from "./merge.ts";
import type { FileSource, LoadedFile } from "./sources.ts";

const SOURCES: readonly FileSource[] = ["userSettings", "projectSettings", "localSettings", "policySettings"];
const file = (source: FileSource, settings: Settings, problems: readonly string[] = []): LoadedFile => ({
  source,
  path: `/${source}.json`,
  settings,
  problems,
  digest: "d",
});
const merge = (files: readonly LoadedFile[], isTrusted = false) =>
  mergeSettings(files, { root: "/ws", isTrusted });

const names = fc.array(fc.constantFrom("bash", "view", "edit(src/**)", "bash(rm:*)"), { maxLength: 3 });
const permissions = fc.record(
  {
    allow: names,
    ask: names,
    deny: names,
    defaultMode: fc.constantFrom("plan", "acceptEdits", "auto", "dontAsk"),
    additionalDirectories: fc.array(fc.constantFrom("/a", "~/b"), { maxLength: 2 }),
    protect: fc.array(fc.constantFrom("x/", "!.vscode/"), { maxLength: 2 }),
    disableBypass: fc.boolean(),
  },
  { requiredKeys: [] },
);
const anySettings = fc.record(
  {
    permissions,
    sandbox: fc.record({ mode: fc.constantFrom("on" as const, "off" as const) }),
    labels: fc.record({ outward: fc.constantFrom("ask" as const, "deny" as const, "off" as const) }),
  },
  { requiredKeys: [] },
);

describe("mergeSettings()", () => {
  test("every deny and ask of every source is in force, with its source", () => {
    fc.assert(
      fc.property(fc.tuple(anySettings, anySettings, anySettings, anySettings), (all) => {
        const files = all.map((settings, i) => file(SOURCES[i] as FileSource, settings));
        const { rules } = merge(files);
        for (const { source, settings } of files)
          for (const behavior of ["deny", "ask"] as const)
            for (const text of settings.permissions?.[behavior] ?? [])
              expect(rules).toContainEqual({ source, behavior, text });
      }),
    );
  });

  test("what a directory brings sets no mode, sandbox, label or protection, and closes none", () => {
    fc.assert(
      fc.property(anySettings, anySettings, anySettings, fc.boolean(), (own, project, local, isTrusted) => {
        const base = [file("userSettings", own)];
        const alone = merge(base, isTrusted);
        const brought = merge(
          [...base, file("projectSettings", project), file("localSettings", local)],
          isTrusted,
        );
        for (const key of ["defaultMode", "closedModes", "sandbox", "labels", "protection"] as const)
          expect(brought[key]).toEqual(alone[key]);
        if (!isTrusted) expect(brought.additionalDirectories).toEqual(alone.additionalDirectories);
      }),
    );
  });

  test("of single values the policy's counts, else the user's", () => {
    const user = file("userSettings", {
      permissions: { defaultMode: "plan", disableBypass: true },
      sandbox: { mode: "off", allowWrite: ["/a"] },
    });
    const policy = file("policySettings", {
      permissions: { defaultMode: "dontAsk", disableBypass: false, disableAutoMode: true },
      sandbox: { mode: "required", allowWrite: ["/b"] },
    });
    expect(merge([user])).toMatchObject({
      defaultMode: "plan",
      closedModes: ["bypass"],
      sandbox: { mode: "off" },
    });
    expect(merge([user, policy])).toMatchObject({
      defaultMode: "dont_ask",
      closedModes: ["auto"],
      sandbox: { mode: "required", allowWrite: ["/a", "/b"] },
    });
  });

  test("a mode that is none, and bypass, are default, with a warning", () => {
    for (const defaultMode of ["fast", "bypass", "bypassPermissions"]) {
      const { defaultMode: mode, warnings } = merge([file("userSettings", { permissions: { defaultMode } })]);
      expect([mode, warnings.length]).toEqual(["default", 1]);
    }
  });

  test("labels are switched off by the user alone", () => {
    const off = { labels: { outward: "off", exec: "deny" } } as const;
    expect(merge([file("userSettings", off)]).labels).toEqual({ outward: "off", exec: "deny" });
    const { labels, warnings } = merge([file("policySettings", off)]);
    expect(labels).toEqual({ exec: "deny" });
    expect(warnings).toEqual([expect.stringContaining("only user settings")]);
    const strict = file("policySettings", { labels: { outward: "ask" } });
    expect(merge([file("userSettings", off), strict]).labels.outward).toBe("ask");
  });

  test("a project may list what leaves of what was read, and no more; its list is rules", () => {
    const project = file("projectSettings", { labels: { outward: ["web"] } });
    const { labels, rules, warnings } = merge([project]);
    expect([labels, warnings]).toEqual([{}, []]);
    expect(rules).toEqual([{ source: "projectSettings", behavior: "allow", text: "outward(web)" }]);
    for (const more of [{ outward: "off" as const }, { outward: ["web" as const], exec: "off" as const }])
      expect(merge([file("projectSettings", { labels: more })]).warnings).toHaveLength(1);
  });

  test("memory and its notes are turned off by any source, and on again by the user and the policy alone", () => {
    const set = (source: FileSource, value: boolean) =>
      file(source, { autoMemoryEnabled: value, memory: { extract: value, tidy: value } });
    const of = (...files: readonly LoadedFile[]) => {
      const { hasMemory, takesNotes, tidiesNotes } = merge(files, true);
      expect([takesNotes, tidiesNotes]).toEqual([hasMemory, hasMemory]);
      return takesNotes;
    };
    expect(of()).toBe(true);
    for (const source of SOURCES) expect(of(set(source, false))).toBe(false);
    expect(of(set("userSettings", true), set("projectSettings", false))).toBe(false);
    for (const brought of ["projectSettings", "localSettings"] as const)
      expect(of(set("userSettings", false), set(brought, true))).toBe(false);
    expect(of(set("projectSettings", false), set("policySettings", true))).toBe(true);
  });

  test("protected paths are added by user and policy and removed by the user alone", () => {
    const protect = ["infra/", "!.vscode/", "!no-such/"];
    const { protection, warnings } = merge([
      file("userSettings", { permissions: { protect } }),
      file("policySettings", { permissions: { protect: ["//srv", "!.idea/"] } }),
    ]);
    expect(protection).toEqual({ added: ["infra/", "//srv"], removed: [".vscode/"] });
    expect(warnings).toHaveLength(2);
    const odd = file("userSettings", { permissions: { protect: ["a/**/b"] } });
    expect(merge([odd]).unreadable).toEqual([expect.stringContaining("permissions.protect")]);
  });

  test("directories of a project begin at its root, and count once it is trusted", () => {
    const project = file("projectSettings", { permissions: { additionalDirectories: ["../lib", "/abs"] } });
    expect(merge([project], true).additionalDirectories).toEqual(["/lib", "/abs"]);
    const user = file("userSettings", { permissions: { additionalDirectories: ["lib", "~/x"] } });
    expect(merge([user])).toMatchObject({
      additionalDirectories: ["~/x"],
      warnings: [expect.stringContaining("lib")],
    });
  });

  test("problems of the policy are kept apart from all others", () => {
    const files = SOURCES.map((source) => file(source, {}, [`${source} broken`]));
    expect(merge(files)).toMatchObject({
      unreadable: ["userSettings broken", "projectSettings broken", "localSettings broken"],
      policyProblems: ["policySettings broken"],
    });
  });

  test("a mistyped key is told with the one that was meant, an ignored one with its source", () => {
    const { warnings } = merge([
      file("userSettings", { permissions: { denny: ["bash"] } }),
      file("projectSettings", { permissions: { defaultMode: "plan" }, sandbox: { mode: "off" } }),
    ]);
    expect(warnings).toEqual([
      "/userSettings.json: permissions.denny: no such key (did you mean deny?); ignored",
      "/projectSettings.json: permissions.defaultMode: not taken from project settings; ignored",
      "/projectSettings.json: sandbox: not taken from project settings; ignored",
    ]);
  });
});

test("unite() keeps what only one side has, joins lists without repeats, and else takes the later", () => {
  const json = fc.dictionary(
    fc.constantFrom("a", "b", "c"),
    fc.oneof(fc.integer(), fc.array(fc.integer({ min: 0, max: 3 }))),
  );
  fc.assert(
    fc.property(json, json, (a, b) => {
      const both = unite(a, b) as Record<string, unknown>;
      expect(new Set(Object.keys(both))).toEqual(new Set([...Object.keys(a), ...Object.keys(b)]));
      for (const [key, value] of Object.entries(b)) {
        if (Array.isArray(value) && Array.isArray(a[key]))
          expect(both[key]).toEqual(expect.arrayContaining([...value, ...(a[key] as number[])]));
        else expect(both[key]).toEqual(value);
      }
      expect(unite(b, b)).toEqual(b);
    }),
  );
});
