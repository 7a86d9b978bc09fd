import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { realPath } from "../../dev/host/real-path.ts";
import { digestOf } from "./inventory.ts";
import { TrustStore } from "./store.ts";
import { Trust } from "./trust.ts";

const PLACE = fileURLToPath(new URL("../../../node_modules", import.meta.url));
/** Trust does not outlive its session in a temporary directory, where this repository may lie: the usual ones count as elsewhere. */
const asIfPermanent: typeof realPath = (path) =>
  ["/tmp", "/var/tmp", "/dev/shm"].includes(path) ? `/no-such${path}` : realPath(path);

let base: string;
let state: string;
let warned: string[];

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(PLACE, ".trust-test-")));
  state = join(base, "state");
  mkdirSync(state);
  mkdirSync(join(base, "home"));
  warned = [];
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function store(isWritable = true): TrustStore {
  return new TrustStore({ stateDir: state, isWritable, warn: (line) => warned.push(line) });
}

function trustOf(from = store(), home = join(base, "home"), to = asIfPermanent, mono = () => 0): Trust {
  const log = (_: string, line: string) => warned.push(line);
  return new Trust({ store: from, home, realPath: to, now: () => 1000, mono, log });
}

function put(name: string, content: string): string {
  const path = join(base, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const HOOK = { PreToolUse: [{ matcher: "*", hooks: [{ type: "command", command: "touch /canary" }] }] };
const SETTINGS = JSON.stringify({ permissions: { allow: ["bash"], defaultMode: "bypass" }, hooks: HOOK });
const MCP = JSON.stringify({
  mcpServers: { a: { command: "one", args: ["x"] }, b: { url: "https://b.io" } },
});

function workspace(name = "ws"): string {
  put(`${name}/.crux/settings.json`, SETTINGS);
  put(`${name}/.mcp.json`, MCP);
  put(`${name}/.claude/agents/helper.md`, "---\nname: helper\ntools: Bash\n---\nHelp.\n");
  put(`${name}/AGENTS.md`, "Be kind.\n");
  return join(base, name);
}

async function trustAll(trust: Trust, dir: string) {
  const { items } = await trust.show(dir);
  return trust.add(dir, Object.fromEntries(items.map(({ path, digest }) => [path, digest])), {
    by: "user 1",
  });
}

const settingsOf = (root: string) => {
  const path = join(root, ".crux/settings.json");
  return [{ path, digest: digestOf(readFileSync(path)) }];
};
const states = async (trust: Trust, root: string) =>
  Object.fromEntries((await trust.show(root)).items.map(({ path, state: each }) => [path, each]));

describe("Trust.show()", () => {
  test("names what would act and what it would do, and nothing is trusted", async () => {
    const root = workspace();
    put("ws/src/a.ts", "no part of it");
    const view = await trustOf().show(join(root, "src"));
    expect(view).toMatchObject({ root, isTrusted: false, isSessionOnly: false, main: null, refused: [] });
    expect(view.items.map(({ path, kind, state: each }) => [path, kind, each])).toEqual([
      [".crux/settings.json", "settings", "new"],
      ["AGENTS.md", "instructions", "new"],
      [".claude/agents/helper.md", "agent", "new"],
      [".mcp.json#a", "server", "new"],
      [".mcp.json#b", "server", "new"],
    ]);
    const acts = view.items.flatMap((item) => item.acts);
    expect(acts).toEqual(
      expect.arrayContaining([
        "allows without asking: bash",
        "runs at PreToolUse: touch /canary",
        "tools: Bash",
        "starts: one x",
        "connects to: https://b.io",
      ]),
    );
  });

  test("follows no link out of the workspace, waits for no pipe, and says so", async () => {
    put("outside/agent.md", "---\nname: x\n---\n");
    const root = workspace();
    symlinkSync(join(base, "outside"), join(root, ".claude/skills"));
    symlinkSync(join(base, "outside/agent.md"), join(root, "CLAUDE.md"));
    execFileSync("mkfifo", [join(root, ".envrc")]);
    const view = await trustOf().show(root);
    expect(view.refused).toEqual([
      { path: "CLAUDE.md", why: "a link that leads out of the workspace" },
      { path: ".envrc", why: "not a regular file" },
      { path: ".claude/skills", why: "a link that leads out of the workspace" },
    ]);
    expect(view.items.every(({ path }) => !path.includes("skills") && path !== "CLAUDE.md")).toBe(true);
  });

  test("in a home directory what other programs keep there is the person's own", async () => {
    const root = workspace("home");
    const { items, isSessionOnly } = await trustOf().show(root);
    expect(isSessionOnly).toBe(true);
    expect(items.map(({ path }) => path)).not.toContain(".claude/agents/helper.md");
  });

  test("NOT_FOUND for no folder", async () => {
    await expect(trustOf().show(join(base, "none"))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("a settings file that only forbids", () => {
  const DENY = JSON.stringify({ permissions: { deny: ["bash(rm:*)"], ask: ["edit"] }, budget: { usd: 1 } });

  test("holds unseen beside what is trusted, and by its first look it is part of that", async () => {
    const root = workspace();
    const [deny, trust] = [put("ws/.crux/settings.local.json", DENY), trustOf()];
    expect((await states(trust, root))[".crux/settings.local.json"]).toBe("holds");
    rmSync(deny);
    await trustAll(trust, root);
    put("ws/.crux/settings.local.json", DENY);
    const files = () => [
      ...settingsOf(root),
      { path: deny, digest: digestOf(readFileSync(deny)), narrows: true },
    ];
    expect(trust.isTrusted(root, files())).toBe(true);
    expect(
      trust.isTrusted(
        root,
        files().map(({ path, digest }) => ({ path, digest })),
      ),
    ).toBe(false);
    await trustAll(trust, root);
    expect((await states(trust, root))[".crux/settings.local.json"]).toBe("trusted");
    // it forbids less than what was trusted with it
    put("ws/.crux/settings.local.json", JSON.stringify({ permissions: { deny: [] } }));
    expect((await states(trust, root))[".crux/settings.local.json"]).toBe("changed");
    expect(trust.isTrusted(root, files())).toBe(false);
  });

  test("trusts nothing by itself, and stays trusted with what Crux writes to it for the user", async () => {
    const root = workspace();
    const [deny, trust] = [put("ws/.crux/settings.local.json", DENY), trustOf()];
    const before = { path: deny, digest: digestOf(DENY), narrows: true };
    expect(trust.isTrusted(root, [before])).toBe(false);
    rmSync(deny);
    await trustAll(trust, root);
    const after = { path: deny, digest: digestOf("after") };
    trust.hasWritten(root, { ...before, narrows: false }, after);
    expect(trust.isTrusted(root, [after])).toBe(false);
    trust.hasWritten(root, before, after);
    expect(trust.isTrusted(root, [after])).toBe(true);
  });

  test("asks again for nothing after a no", async () => {
    const root = workspace();
    const trust = trustOf();
    const { items } = await trust.show(root);
    await trust.decline(root, Object.fromEntries(items.map(({ path, digest }) => [path, digest])));
    put("ws/.crux/settings.local.json", DENY);
    expect((await trust.show(root)).isDeclined).toBe(true);
    put("ws/.crux/settings.local.json", SETTINGS);
    expect((await trust.show(root)).isDeclined).toBe(false);
  });
});

describe("Trust.isTrusted()", () => {
  test("holds for what was seen, after a restart too, and not for what changed since", async () => {
    const root = workspace();
    expect(trustOf().isTrusted(root, settingsOf(root))).toBe(false);
    await trustAll(trustOf(), root);
    const later = trustOf();
    expect(later.isTrusted(root, settingsOf(root))).toBe(true);
    put("ws/.crux/settings.json", SETTINGS.replace("bash", "view"));
    expect(later.isTrusted(root, settingsOf(root))).toBe(false);
    expect(later.isTrusted(root, [])).toBe(true);
    const view = await later.show(root, { withDiff: true });
    const [changed] = view.items;
    expect(changed).toMatchObject({ path: ".crux/settings.json", state: "changed" });
    expect(changed?.diff).toContain(`-${SETTINGS}`);
    expect(await states(later, root)).toMatchObject({ "AGENTS.md": "trusted", ".mcp.json#a": "trusted" });
  });

  test("one server that changes is off, its neighbours and the form of the file do not matter", async () => {
    const root = workspace();
    const trust = trustOf();
    await trustAll(trust, root);
    const { mcpServers } = JSON.parse(MCP) as { mcpServers: { a: object; b: object } };
    const changed = { mcpServers: { b: mcpServers.b, a: { args: ["y"], command: "one" } } };
    put("ws/.mcp.json", JSON.stringify(changed, null, 4));
    expect(await states(trust, root)).toMatchObject({ ".mcp.json#a": "changed", ".mcp.json#b": "trusted" });
    put(
      "ws/.mcp.json",
      JSON.stringify({ mcpServers: { b: mcpServers.b, a: { args: ["x"], command: "one" } } }),
    );
    expect(await states(trust, root)).toMatchObject({ ".mcp.json#a": "trusted" });
  });

  test("trust of a directory is not that of a repository or a submodule in it", async () => {
    const root = workspace();
    mkdirSync(join(root, ".git"));
    workspace("ws/vendor/nested");
    mkdirSync(join(root, "vendor/nested/.git"));
    workspace("ws/sub");
    mkdirSync(join(root, ".git/modules/sub"), { recursive: true });
    put("ws/sub/.git", "gitdir: ../.git/modules/sub\n");
    const trust = trustOf();
    await trustAll(trust, root);
    for (const name of ["vendor/nested", "sub"]) {
      const inner = join(root, name);
      expect(trust.viewOf(inner)).toMatchObject({ root: inner, isTrusted: false });
      expect(trust.isTrusted(inner, [])).toBe(false);
    }
    expect(trust.viewOf(join(root, "vendor")).isTrusted).toBe(true);
  });

  test("a worktree has the trust of its main repository, as long as that has it", async () => {
    const root = workspace();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: root,
        stdio: "pipe",
      });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    const tree = join(base, "tree");
    git("worktree", "add", "-q", tree);
    const trust = trustOf();
    expect(trust.isTrusted(tree, settingsOf(tree))).toBe(false);
    await trustAll(trust, root);
    expect(trust.isTrusted(tree, settingsOf(tree))).toBe(true);
    expect((await trust.show(tree)).main).toBe(root);
    put("tree/.crux/settings.json", "{}");
    expect(trust.isTrusted(tree, settingsOf(tree))).toBe(false);
    await trustAll(trust, tree);
    expect(trust.isTrusted(tree, settingsOf(tree))).toBe(true);
    await trust.remove(root);
    expect(trust.isTrusted(tree, settingsOf(tree))).toBe(false);
  });

  test("a directory that says it is a worktree of a trusted repository is none", async () => {
    const root = workspace();
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
        cwd: root,
        stdio: "pipe",
      });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "first");
    git("worktree", "add", "-q", join(base, "tree"));
    const trust = trustOf();
    await trustAll(trust, root);
    const liar = workspace("liar");
    put("liar/.git", `gitdir: ${join(root, ".git/worktrees/tree")}\n`);
    expect(trust.viewOf(liar).isTrusted).toBe(false);
    put("liar/own/commondir", `${join(root, ".git")}\n`);
    put("liar/own/gitdir", `${join(liar, ".git")}\n`);
    put("liar/.git", `gitdir: ${join(liar, "own")}\n`);
    expect(trust.viewOf(liar).isTrusted).toBe(false);
  });
});

describe("Trust.add()", () => {
  test("CONFLICT for what is not there as it was seen: nothing is trusted", async () => {
    const root = workspace();
    const trust = trustOf();
    const { items } = await trust.show(root);
    put("ws/AGENTS.md", "Be cruel.\n");
    const seen = Object.fromEntries(items.map(({ path, digest }) => [path, digest]));
    await expect(trust.add(root, seen, { by: "user" })).rejects.toMatchObject({ code: "CONFLICT" });
    expect(trust.isTrusted(root, [])).toBe(false);
    expect(existsSync(join(state, "trust.json"))).toBe(false);
  });

  test("takes a compose file where it is named, and keeps it when something else is trusted", async () => {
    const root = workspace();
    const trust = trustOf();
    put("ws/sub/shop.yaml", "services: { a: { command: [touch, x] }, b: { agent: writer, intent: Draft } }");
    const compose = join(root, "sub/shop.yaml");
    const shown = async () =>
      (await trust.show(root, { compose })).items.filter(({ kind }) => kind === "compose");
    const [item] = await shown();
    expect(item).toMatchObject({
      path: "sub/shop.yaml",
      state: "new",
      acts: ["starts a: touch x", "starts b: the agent writer, Draft"],
    });
    const seen = { "sub/shop.yaml": item?.digest ?? "" };
    await expect(trust.add(root, seen, { by: "user" })).rejects.toMatchObject({ code: "CONFLICT" });
    await trust.add(root, seen, { by: "user", compose });
    await trustAll(trust, root);
    expect(await shown()).toMatchObject([{ state: "trusted" }]);
    expect(await states(trust, root)).not.toHaveProperty("sub/shop.yaml");
    put("ws/sub/shop.yaml", "services: { a: { command: [touch, y] } }");
    expect(await shown()).toMatchObject([{ state: "changed" }]);
    put("elsewhere.yaml", "services: {}");
    symlinkSync(join(base, "elsewhere.yaml"), join(root, "link.yaml"));
    const { items, refused } = await trust.show(root, { compose: join(root, "link.yaml") });
    expect([items.some(({ kind }) => kind === "compose"), refused]).toEqual([
      false,
      [{ path: "link.yaml", why: "a link that leads out of the workspace" }],
    ]);
  });

  test("in the home directory it ends with the last process there, and is written nowhere", async () => {
    const root = workspace("home");
    const trust = trustOf();
    expect(await trustAll(trust, root)).toMatchObject({ isSessionOnly: true });
    trust.endSessions([]);
    expect(trust.viewOf(root).isTrusted).toBe(true);
    trust.endSessions([root]);
    expect(trust.viewOf(root).isTrusted).toBe(true);
    trust.endSessions([base]);
    expect(trust.viewOf(root).isTrusted).toBe(false);
    expect(existsSync(join(state, "trust.json"))).toBe(false);
  });

  test("for an hour it outlasts the last process, no longer, and not for another folder of its name", async () => {
    const root = workspace("home");
    const clock = { mono: 0 };
    const trust = trustOf(store(), undefined, undefined, () => clock.mono);
    const given = async () => {
      const { items } = await trust.show(root);
      const seen = Object.fromEntries(items.map(({ path, digest }) => [path, digest]));
      await trust.add(root, seen, { by: "user", isForHour: true });
    };
    const worked = (): boolean => {
      const { isTrusted } = trust.viewOf(root);
      trust.endSessions([]);
      return isTrusted;
    };
    await given();
    expect([worked(), worked()]).toEqual([true, true]);
    clock.mono = 3_600_000;
    expect(trust.list()).toEqual([]);
    expect(worked()).toBe(false);
    await given();
    // it began within the hour, and ends after it
    expect(trust.viewOf(root).isTrusted).toBe(true);
    clock.mono *= 2;
    expect(trust.viewOf(root).isTrusted).toBe(true);
    trust.endSessions([]);
    expect(trust.viewOf(root).isTrusted).toBe(false);
    await given();
    renameSync(root, `${root}-before`);
    cpSync(`${root}-before`, root, { recursive: true });
    expect(worked()).toBe(false);
    await given();
    await trust.remove(root);
    expect(worked()).toBe(false);
  });

  test("a temporary directory is trusted for a session only", async () => {
    const dir = realpathSync(mkdtempSync("/tmp/crux-trust-"));
    try {
      writeFileSync(join(dir, "AGENTS.md"), "x");
      expect(await trustOf(store(), undefined, realPath).show(dir)).toMatchObject({ isSessionOnly: true });
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});

describe("Trust.hasWritten()", () => {
  test("what Crux wrote for a person stays trusted, and what was not does not become it", async () => {
    const root = workspace();
    const trust = trustOf();
    const path = join(root, ".crux/settings.local.json");
    trust.hasWritten(root, null, { path, digest: digestOf("{}") });
    expect(trust.isTrusted(root, [])).toBe(false);
    await trustAll(trust, root);
    trust.hasWritten(root, null, { path, digest: digestOf("{}") });
    expect(trust.isTrusted(root, [{ path, digest: digestOf("{}") }])).toBe(true);
    trust.hasWritten(root, { path, digest: digestOf("other") }, { path, digest: digestOf("evil") });
    expect(trust.isTrusted(root, [{ path, digest: digestOf("evil") }])).toBe(false);
  });
});

describe("Trust.decline()", () => {
  test("holds until there is something else to decide on", async () => {
    const root = workspace();
    const trust = trustOf();
    const { items } = await trust.show(root);
    await trust.decline(root, Object.fromEntries(items.map(({ path, digest }) => [path, digest])));
    expect((await trustOf().show(root)).isDeclined).toBe(true);
    put("ws/CLAUDE.md", "new");
    expect((await trust.show(root)).isDeclined).toBe(false);
  });
});

describe("TrustStore", () => {
  test("is for its owner alone", async () => {
    await trustAll(trustOf(), workspace());
    expect(statSync(join(state, "trust.json")).mode & 0o777).toBe(0o600);
    for (const name of readdirSync(join(state, "trust")))
      expect(statSync(join(state, "trust", name)).mode & 0o777).toBe(0o600);
  });

  test.each([
    ["broken", (file: string) => writeFileSync(file, "{")],
    ["writable by others", (file: string) => chmodSync(file, 0o666)],
    [
      "a link",
      (file: string) => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
    ],
  ])("a file that is %s counts as none, is kept, and is told", async (_, spoil) => {
    const root = workspace();
    await trustAll(trustOf(), root);
    const file = join(state, "trust.json");
    spoil(file);
    expect(trustOf().isTrusted(root, [])).toBe(false);
    expect(warned.at(-1)).toMatch(/^no workspace is trusted: .*trust\.json/);
    expect(existsSync(`${file}.unread`)).toBe(true);
    await trustAll(trustOf(), root);
    expect(trustOf().isTrusted(root, settingsOf(root))).toBe(true);
  });

  test("a file that the host does not give now stays, is told once, and counts again once it is there", async () => {
    const root = workspace();
    await trustAll(trustOf(), root);
    const other = workspace("other");
    const texts = readdirSync(join(state, "trust"));
    let isGiven = false;
    const readText = (path: string): string => {
      if (isGiven) return readFileSync(path, "utf8");
      throw Object.assign(new Error("EMFILE: too many open files"), { errno: -24, code: "EMFILE" });
    };
    const warn = (line: string) => warned.push(line);
    const starved = new TrustStore({ stateDir: state, isWritable: true, warn, readText });
    const trust = trustOf(starved);
    expect(trust.isTrusted(root, settingsOf(root))).toBe(false);
    await expect(trustAll(trust, other)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(warned.filter((line) => line.includes("EMFILE"))).toHaveLength(1);
    expect(readdirSync(state).sort()).toEqual(["trust", "trust.json"]);
    expect(readdirSync(join(state, "trust"))).toEqual(texts);
    const { key } = trust.viewOf(root);
    isGiven = true;
    expect(trust.isTrusted(root, settingsOf(root))).toBe(true);
    expect(trust.viewOf(root).key).not.toBe(key);
    await trustAll(trust, other);
    expect(trustOf().isTrusted(root, settingsOf(root))).toBe(true);
  });

  test("what a killed daemon left half written is swept, and what was there before holds", async () => {
    const root = workspace();
    await trustAll(trustOf(), root);
    put("state/.trust.json.0123456789abcdef", '{"v":1,"workspaces":[{"root":"/"');
    put("state/trust/orphan", "x");
    expect(trustOf().isTrusted(root, settingsOf(root))).toBe(true);
    expect(readdirSync(state).sort()).toEqual(["trust", "trust.json"]);
    expect(existsSync(join(state, "trust/orphan"))).toBe(false);
  });

  test("UNAVAILABLE where nothing can be written, and nothing is trusted", async () => {
    const root = workspace();
    const trust = trustOf(store(false));
    await expect(trustAll(trust, root)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(trust.isTrusted(root, [])).toBe(false);
  });
});
