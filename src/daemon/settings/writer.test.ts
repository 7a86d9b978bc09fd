import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PermissionUpdate } from "../../abi/permit/permission-update.ts";
import type { RuleDestination } from "../../abi/rules.ts";
import { realPath } from "../../dev/host/real-path.ts";
import type { BroughtFile } from "../../kernel/ports/trust.ts";
import { syncedBy } from "../testing/synced.ts";
import { SettingsFiles, type SettingsFilesOptions } from "./writer.ts";

let dir = "";
let ws = "";
let isTrusted = false;
let wrote: (readonly [string, BroughtFile | null, BroughtFile])[];
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-writer-")));
  ws = join(dir, "ws");
  mkdirSync(join(ws, ".git"), { recursive: true });
  isTrusted = false;
  wrote = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function writer(more: Partial<SettingsFilesOptions> = {}): SettingsFiles {
  return new SettingsFiles({
    places: {
      configDir: join(dir, "config"),
      policyDir: join(dir, "etc"),
      policyOwner: 0,
      home: join(dir, "home"),
    },
    realPath,
    trust: { isTrusted: () => isTrusted, hasWritten: (...what) => void wrote.push(what) },
    isTrusted: () => isTrusted,
    warn: () => {},
    ...more,
  });
}
const add = (destination: RuleDestination, ...rules: string[]): PermissionUpdate => ({
  type: "addRules",
  destination,
  behavior: "allow",
  rules,
});
const json = (name: string) => JSON.parse(readFileSync(join(dir, name), "utf8"));
const put = (name: string, text: string) => {
  mkdirSync(join(dir, name, ".."), { recursive: true });
  writeFileSync(join(dir, name), text);
};

describe("SettingsFiles.apply()", () => {
  it("has synced the file, its folder and each folder above that is new, before it answers", async () => {
    const synced = await syncedBy(() => writer().apply(add("projectSettings", "bash(npm test)"), ws));
    const paths = ["ws/.crux/settings.json", "ws/.crux", "ws"];
    expect(synced).toEqual(paths.map((path) => statSync(join(dir, path)).ino));
  });

  it("writes each destination into its own file; the user's is for nobody else", async () => {
    for (const [destination, name] of [
      ["userSettings", "config/settings.json"],
      ["projectSettings", "ws/.crux/settings.json"],
      ["localSettings", "ws/.crux/settings.local.json"],
    ] as const) {
      const { file } = await writer().apply(add(destination, "bash(npm test)"), join(ws));
      expect(file).toBe(join(dir, name));
      expect(json(name)).toEqual({ permissions: { allow: ["bash(npm test)"] } });
    }
    expect(statSync(join(dir, "config/settings.json")).mode & 0o777).toBe(0o600);
    expect(await writer().apply(add("session", "bash"), ws)).toEqual({ file: null });
  });

  it("adds, replaces and removes rules and directories, and sets the mode", async () => {
    const steps: [PermissionUpdate, object][] = [
      [add("userSettings", "bash(a)", "bash(b)", "bash(a)"), { allow: ["bash(a)", "bash(b)"] }],
      [
        { type: "removeRules", destination: "userSettings", behavior: "allow", rules: ["bash(a)"] },
        { allow: ["bash(b)"] },
      ],
      [
        { type: "replaceRules", destination: "userSettings", behavior: "deny", rules: ["view(x)"] },
        { allow: ["bash(b)"], deny: ["view(x)"] },
      ],
      [
        { type: "addDirectories", destination: "userSettings", directories: ["~/lib"] },
        { allow: ["bash(b)"], deny: ["view(x)"], additionalDirectories: ["~/lib"] },
      ],
      [
        { type: "removeDirectories", destination: "userSettings", directories: ["~/lib"] },
        { allow: ["bash(b)"], deny: ["view(x)"], additionalDirectories: [] },
      ],
      [
        { type: "setMode", destination: "userSettings", mode: "accept_edits" },
        { allow: ["bash(b)"], deny: ["view(x)"], additionalDirectories: [], defaultMode: "accept_edits" },
      ],
    ];
    for (const [update, permissions] of steps) {
      await writer().apply(update, ws);
      expect(json("config/settings.json")).toEqual({ permissions });
    }
  });

  it("keeps every byte it does not have to change", async () => {
    const text = '{\n\t"future": {"n": 12345678901234567890,"s" : [1.0]},\n\t"permissions": {"odd": 1}\n}\n';
    put("config/settings.json", text);
    await writer().apply(add("userSettings", "bash(x)"), ws);
    const written = readFileSync(join(dir, "config/settings.json"), "utf8");
    expect(
      written.startsWith(
        '{\n\t"future": {"n": 12345678901234567890,"s" : [1.0]},\n\t"permissions": {"odd": 1,',
      ),
    ).toBe(true);
    await writer().apply(add("userSettings", "bash(x)"), ws);
    expect(readFileSync(join(dir, "config/settings.json"), "utf8")).toBe(written);
  });

  it("unknown keys survive any sequence of updates", async () => {
    const rule = fc.constantFrom("bash(a)", "view(b)", "fetch(domain:c)");
    const update = fc.oneof(
      fc.record({
        type: fc.constantFrom("addRules" as const, "replaceRules" as const, "removeRules" as const),
        destination: fc.constantFrom("userSettings" as const, "localSettings" as const),
        behavior: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
        rules: fc.array(rule, { maxLength: 3 }),
      }),
      fc.record({
        type: fc.constantFrom("addDirectories" as const, "removeDirectories" as const),
        destination: fc.constantFrom("userSettings" as const, "localSettings" as const),
        directories: fc.array(fc.constantFrom("/a", "~/b"), { maxLength: 2 }),
      }),
    );
    const unknown = fc.dictionary(fc.stringMatching(/^x[a-z]{0,3}$/), fc.jsonValue({ maxDepth: 2 }), {
      maxKeys: 3,
    });
    const files = {
      userSettings: "config/settings.json",
      localSettings: "ws/.crux/settings.local.json",
    } as const;
    await fc.assert(
      fc.asyncProperty(
        unknown,
        unknown,
        fc.array(update, { maxLength: 6 }),
        async (outer, inner, updates) => {
          for (const name of Object.values(files))
            put(name, JSON.stringify({ ...outer, permissions: inner }));
          for (const each of updates) await writer().apply(each, ws);
          for (const name of Object.values(files)) {
            const { permissions, ...rest } = json(name);
            expect(rest).toEqual(JSON.parse(JSON.stringify(outer)));
            expect(permissions).toMatchObject(JSON.parse(JSON.stringify(inner)));
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  it("refuses what no file takes, and writes nothing", async () => {
    const wrong: PermissionUpdate[] = [
      { ...add("userSettings", "bash"), destination: "policySettings" as unknown as RuleDestination },
      { ...add("userSettings", "bash"), destination: "cliArg" as unknown as RuleDestination },
      add("userSettings", "bash("),
      add("userSettings", "tool_call"),
      { type: "setMode", destination: "projectSettings", mode: "plan" },
      { type: "setMode", destination: "userSettings", mode: "bypass" },
      { type: "addDirectories", destination: "userSettings", directories: ["lib"] },
      { type: "addDirectories", destination: "localSettings", directories: ["/"] },
    ];
    for (const update of wrong)
      await expect(writer().apply(update, ws), JSON.stringify(update)).rejects.toMatchObject({
        code: "INVALID",
      });
    for (const name of ["config", "etc", "ws/.crux"]) expect(existsSync(join(dir, name)), name).toBe(false);
  });

  it("does not write over what it cannot read", async () => {
    put("config/settings.json", '{"permissions": {"deny": ["vi');
    await expect(writer().apply(add("userSettings", "bash(x)"), ws)).rejects.toMatchObject({
      code: "INVALID",
    });
    expect(readFileSync(join(dir, "config/settings.json"), "utf8")).toBe('{"permissions": {"deny": ["vi');
  });

  it("takes in a change that comes in between once, and gives up at the second", async () => {
    put("config/settings.json", '{"x": 0}');
    let times = 0;
    const beforeWrite = (file: string) => {
      if (times++ === 0) writeFileSync(file, '{"x": 1, "more": true}');
    };
    await writer({ beforeWrite }).apply(add("userSettings", "bash(x)"), ws);
    expect(json("config/settings.json")).toEqual({ x: 1, more: true, permissions: { allow: ["bash(x)"] } });
    const always = (file: string) => writeFileSync(file, `{"x": ${"1".repeat(++times)}}`);
    await expect(
      writer({ beforeWrite: always }).apply(add("userSettings", "bash(y)"), ws),
    ).rejects.toMatchObject({
      code: "CONFLICT",
    });
    expect(json("config/settings.json")).not.toHaveProperty("permissions");
  });

  it("two answers at one moment lose none", async () => {
    const rules = Array.from({ length: 20 }, (_, i) => `bash(x${i})`);
    const one = writer();
    await Promise.all(rules.map((rule) => one.apply(add("localSettings", rule), ws)));
    expect(json("ws/.crux/settings.local.json").permissions.allow).toEqual(rules);
  });

  it("follows a link of the user's own file, and none that a project brings", async () => {
    put("dotfiles/crux.json", "{}");
    mkdirSync(join(dir, "config"));
    symlinkSync(join(dir, "dotfiles/crux.json"), join(dir, "config/settings.json"));
    await writer().apply(add("userSettings", "bash(x)"), ws);
    expect(json("dotfiles/crux.json").permissions.allow).toEqual(["bash(x)"]);
    symlinkSync(join(dir, "config"), join(ws, ".crux"));
    for (const destination of ["localSettings", "projectSettings"] as const)
      await expect(writer().apply(add(destination, "bash(y)"), ws)).rejects.toMatchObject({
        code: "PERMISSION",
      });
    expect(existsSync(join(dir, "config/settings.local.json"))).toBe(false);
  });

  it("tells the trust what it wrote, and the person that an untrusted project allows nothing", async () => {
    expect(await writer().apply(add("localSettings", "bash(x)"), ws)).toMatchObject({
      note: expect.stringContaining("until you trust"),
    });
    isTrusted = true;
    expect(await writer().apply(add("localSettings", "bash(y)"), ws)).not.toHaveProperty("note");
    expect(wrote).toHaveLength(2);
    expect(wrote[0]?.slice(0, 2)).toEqual([ws, null]);
    expect(wrote[1]?.[1]).toEqual({ ...(wrote[0]?.[2] as object), narrows: false });
  });

  it("keeps local settings out of the repository, once, also of a worktree, and through no link", async () => {
    const exclude = join(ws, ".git/info/exclude");
    mkdirSync(join(ws, ".git/info"));
    writeFileSync(exclude, "*.log");
    await writer().apply(add("localSettings", "bash(x)"), ws);
    await writer().apply(add("localSettings", "bash(y)"), ws);
    expect(readFileSync(exclude, "utf8")).toBe("*.log\n**/.crux/settings.local.json\n");
    rmSync(exclude);
    put("canary", "");
    symlinkSync(join(dir, "canary"), exclude);
    await writer().apply(add("localSettings", "bash(z)"), ws);
    expect(readFileSync(join(dir, "canary"), "utf8")).toBe("");
    const main = join(dir, "main/.git");
    mkdirSync(join(main, "worktrees/w"), { recursive: true });
    mkdirSync(join(main, "objects"));
    writeFileSync(join(main, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(main, "worktrees/w/commondir"), "../..\n");
    mkdirSync(join(dir, "tree"));
    writeFileSync(join(dir, "tree/.git"), `gitdir: ${main}/worktrees/w\n`);
    await writer().apply(add("localSettings", "bash(x)"), join(dir, "tree"));
    expect(readFileSync(join(main, "info/exclude"), "utf8")).toBe("**/.crux/settings.local.json\n");
  });
});
