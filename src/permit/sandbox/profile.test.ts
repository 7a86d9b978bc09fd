import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { ALL_RIGHTS } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { Permit, Subject } from "../../kernel/ports/permit.ts";
import { subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";
import { closedToHelpers, type SandboxSettings } from "./profile.ts";

let dir = "";
let work = "";
let home = "";

beforeAll(async () => {
  await loadParser();
});

beforeEach(() => {
  dir = realpathSync(mkdtempSync("/var/tmp/crux-profile-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  work = join(dir, "work");
  home = join(dir, "home");
  for (const path of [work, home]) mkdirSync(path);
});

function permitOf(sandbox: SandboxSettings = {}, rules: readonly RuleText[] = []): Permit {
  return makePermit({
    rules,
    defaultMode: "default",
    additionalDirectories: [],
    home,
    kernelPaths: [join(home, ".local/state/crux")],
    realPath: (path) => path,
    sandbox,
  });
}

const bash = (shell: string, cwd: string): Extract<Effect, { kind: "exec" }> => ({
  kind: "exec",
  argv: ["bash", "-c", shell],
  cwd,
  certain: false,
  shell,
});

const me = (fields: Partial<Subject> = {}) => subject({ cwd: work, roots: [work], free: [], ...fields });

function profileOf(
  command: string,
  { sandbox = {}, rules = [] as readonly RuleText[], who = me(), effects = [] as readonly Effect[] } = {},
): SandboxProfile | null {
  const permit = permitOf(sandbox, rules);
  const all = effects.length > 0 ? effects : [bash(command, work)];
  return permit.sandbox?.(who, { tool: "bash", effects: all }) ?? null;
}

const deny = (text: string): RuleText => ({ source: "userSettings", behavior: "deny", text });

describe("the profile of a command", () => {
  test("shows the working directory to what only reads, also among temporary files", () => {
    const desk = realpathSync(mkdtempSync("/tmp/crux-profile-"));
    onTestFinished(() => rmSync(desk, { recursive: true, force: true }));
    const permit = permitOf();
    const who = me({ cwd: desk, roots: [desk] });
    const found = permit.sandbox?.(who, { tool: "bash", effects: [bash("ls", desk)] });
    expect([found?.write, found?.show]).toEqual([[], [desk]]);
  });

  test("is that of its roots, its scratch folder and allowWrite; without a network", () => {
    const who = me({ free: [join(dir, "scratch")] });
    const sandbox = { allowWrite: ["~/.cache/x", join(dir, "more"), "build/**"] };
    const found = profileOf("make", { sandbox, who });
    expect(found?.write).toEqual([
      work,
      join(dir, "scratch"),
      join(home, ".cache/x"),
      join(dir, "more"),
      join(work, "build"),
    ]);
    expect(found?.network).toBe("off");
    expect(found?.hide).toContain(join(home, ".local/state/crux"));
    expect(found?.hide).toContain("/run");
  });

  test("is told as places that are not inside one another, with the hosts it reaches", () => {
    const sandbox = { allowWrite: ["~/.cache/x", "build"], network: { allow: ["a.example"] } };
    const who = me({ free: [join(dir, "scratch")] });
    expect(permitOf(sandbox).confinement?.(who)).toEqual({
      write: [work, join(home, ".cache/x")],
      network: { allow: ["a.example"], deny: [] },
    });
    expect(permitOf().confinement?.(who)).toEqual({ write: [work], network: "off" });
    expect(permitOf({ mode: "off" }).confinement?.(who)).toBeNull();
  });

  test("has its scratch folder as its /tmp, without protected places, unless it works in or above it", () => {
    const tmp = join(dir, "scratch");
    mkdirSync(tmp);
    writeFileSync(join(tmp, "k.pem"), "");
    const found = profileOf("make", { who: me({ free: [tmp] }) });
    expect(found?.tmp).toBe(tmp);
    expect(
      [...(found?.protect ?? []), ...(found?.hide ?? [])].filter((path) => path.startsWith(tmp)),
    ).toEqual([]);
    expect(profileOf("ls", { who: me({ free: [tmp] }) })).toMatchObject({ tmp, write: [] });
    for (const root of [dir, tmp, join(tmp, "below")]) {
      const { tmp: none, hide = [] } = profileOf("make", { who: me({ roots: [root], free: [tmp] }) }) ?? {};
      expect([none, hide.includes(join(tmp, "k.pem"))]).toEqual([undefined, true]);
    }
    const sandbox = { allowWrite: [dir] };
    expect(profileOf("make", { sandbox, who: me({ free: [tmp] }) })?.tmp).toBeUndefined();
  });

  test("of one that only reads has nothing to write", () => {
    expect(profileOf("git status && cat x | wc -l")?.write).toEqual([]);
    expect(profileOf("cat x > y")?.write).toEqual([work]);
    expect(profileOf("$X")?.write).toEqual([work]);
  });

  test("stays within the rights of its process", () => {
    const who = me({ roots: [work, home], rights: { ...ALL_RIGHTS, roots: [work], hosts: ["*.a.example"] } });
    const network = { allow: ["a.example", "x.a.example:8080", "b.example", "*.example:22"] };
    const found = profileOf("make", { sandbox: { network }, who });
    expect(found?.write).toEqual([work]);
    expect(found?.network).toEqual({ allow: ["x.a.example:8080", "*.a.example:22"], deny: [] });
  });

  test("is made with the rules of the rights as the decision has read them; what it hides by them is read once", () => {
    let read = 0;
    const rule: RuleText = {
      source: "userSettings",
      behavior: "deny",
      get text() {
        read++;
        return "bash(frobnicate)";
      },
    };
    const who = me({ rights: { ...ALL_RIGHTS, deny: [rule] } });
    const permit = permitOf();
    const call = { tool: "bash", effects: [bash("touch a", work)] };
    expect(permit.decide(who, call).behavior).toBe("ask");
    const before = read;
    for (let n = 0; n < 2; n++) expect(permit.sandbox?.(who, call)?.write).toContain(work);
    expect([before, read]).toEqual([1, 2]);
  });

  test("reaches what the settings allow and no rule denies", () => {
    const network = { allow: ["a.example", "*.b.example"], deny: ["c.b.example"] };
    const rules = [deny("fetch(domain:d.b.example)")];
    expect(profileOf("make", { sandbox: { network }, rules })?.network).toEqual({
      allow: ["a.example", "*.b.example"],
      deny: ["c.b.example", "d.b.example"],
    });
    expect(profileOf("make", { sandbox: { network }, rules: [deny("fetch")] })?.network).toBe("off");
  });

  test("protects settings and hooks whether they exist or not, and leaves git its work", () => {
    const bare = profileOf("make")?.protect ?? [];
    for (const name of [".crux/", ".claude/", ".git/", ".vscode/", ".mcp.json", ".npmrc"])
      expect(bare).toContain(join(work, name));
    mkdirSync(join(work, ".git"));
    mkdirSync(join(work, ".claude/worktrees"), { recursive: true });
    const found = profileOf("make");
    expect(found?.protect).toContain(join(work, ".git/hooks/"));
    expect(found?.protect).toContain(join(work, ".git/config"));
    expect(found?.protect).not.toContain(join(work, ".git/"));
    expect(found?.write).toContain(join(work, ".claude/worktrees"));
  });

  test("finds secrets and repositories below the roots, not in what is fetched", () => {
    for (const name of ["a/b", "node_modules/x", "sub/.git/hooks", "keys"])
      mkdirSync(join(work, name), { recursive: true });
    for (const name of [".env", "a/b/.env.local", "a/b/.env.example", "node_modules/x/.env", "tls.pem"])
      writeFileSync(join(work, name), "");
    for (let i = 0; i < 40; i++) writeFileSync(join(work, `keys/${i}.key`), "");
    const found = profileOf("make");
    const below = found?.hide.filter((path) => path.startsWith(work)).sort();
    expect(below).toEqual([".env", "a/b/.env.local", "keys", "tls.pem"].map((name) => join(work, name)));
    expect(found?.protect).toContain(join(work, "sub/.git/hooks/"));
  });

  test("hides a folder of many secrets as a whole, but not one that it works in", () => {
    const keys = (count: number, at: string) =>
      Array.from({ length: count }, (_, n) => join(work, at, `${n}.key`));
    mkdirSync(join(work, "keys"));
    for (const path of [...keys(40, ""), ...keys(40, "keys")]) writeFileSync(path, "");
    const { hide = [], write } = profileOf("make") ?? {};
    expect(write).toContain(work);
    const below = hide.filter((path) => path.startsWith(work));
    expect(below.toSorted()).toEqual([...keys(40, ""), join(work, "keys")].toSorted());
    for (const path of keys(201, "")) writeFileSync(path, "");
    expect(() => profileOf("make")).toThrow("called like secrets");
  });

  test("sees what has come since the last command", () => {
    const permit = permitOf();
    const hides = () => permit.sandbox?.(me(), { tool: "bash", effects: [bash("make", work)] })?.hide;
    mkdirSync(join(work, "a"));
    expect(hides()).not.toContain(join(work, "a/.env"));
    writeFileSync(join(work, "a/.env"), "");
    expect(hides()).toContain(join(work, "a/.env"));
  });

  test("hides what deny rules for reading and denyRead name, and known secrets of the account", () => {
    mkdirSync(join(work, "secrets"));
    writeFileSync(join(work, "secrets/k"), "");
    mkdirSync(join(home, ".ssh"));
    writeFileSync(join(home, ".ssh/id_x"), "");
    const rules = [deny("view(secrets/**)"), deny("view(~/private/**)"), deny("view(//srv/keys)")];
    const hide = profileOf("make", { rules, sandbox: { denyRead: ["~/notes"] } })?.hide ?? [];
    expect(hide.some((path) => path === join(work, "secrets") || path === join(work, "secrets/k"))).toBe(
      true,
    );
    for (const path of [join(home, "private"), "/srv/keys", join(home, "notes"), join(home, ".ssh/id_x")])
      expect(hide).toContain(path);
    const rights = { ...ALL_RIGHTS, deny: [deny("view(secrets/**)"), deny("ls(//srv/more)")] };
    const own = profileOf("make", { who: me({ rights }) })?.hide ?? [];
    for (const path of [join(work, "secrets"), "/srv/more"]) expect(own).toContain(path);
  });

  test("allowWrite that names a protected path or a secret lifts it", () => {
    writeFileSync(join(work, "test.pem"), "");
    const sandbox = { allowWrite: [".husky", "test.pem"] };
    const found = profileOf("make", { sandbox });
    expect(found?.protect).not.toContain(join(work, ".husky/"));
    expect(found?.hide).not.toContain(join(work, "test.pem"));
    expect(found?.protect).toContain(join(work, ".crux/"));
  });

  test("a protected file with a second name where it may write is PERMISSION", () => {
    mkdirSync(join(work, ".git"));
    writeFileSync(join(work, ".git/config"), "");
    linkSync(join(work, ".git/config"), join(work, "innocent"));
    expect(() => profileOf("make")).toThrow(expect.objectContaining({ code: "PERMISSION" }));
    expect(() => profileOf("make")).toThrow(/innocent/);
  });

  test("opens nothing because a file of the working directory calls it a repository", () => {
    const fake = join(work, "g");
    mkdirSync(fake);
    writeFileSync(join(work, ".git"), `gitdir: ${fake}\n`);
    writeFileSync(join(fake, "gitdir"), join(work, ".git"));
    writeFileSync(join(fake, "commondir"), home);
    expect(profileOf("make")?.write).toEqual([work]);
  });

  test("protects where the worktrees of a repository take their configuration from", () => {
    const of = join(work, ".git/worktrees/x");
    mkdirSync(of, { recursive: true });
    writeFileSync(join(of, "commondir"), "../..");
    expect(profileOf("make")?.protect).toContain(join(of, "commondir"));
  });

  test("hides sockets in the account's own folder, which no lack of a network closes", async () => {
    mkdirSync(join(home, ".ssh"));
    const listener = createServer().listen(join(home, ".ssh/mux"));
    onTestFinished(() => void listener.close());
    await once(listener, "listening");
    expect(profileOf("make")?.hide).toEqual(
      expect.arrayContaining([join(home, ".ssh/mux"), join(home, ".docker/run")]),
    );
  });

  test("hides the sockets that programs of the machine have bound anywhere, but for those that the settings name", async () => {
    const socket = join(home, "of an agent.sock");
    const listener = createServer().listen(socket);
    onTestFinished(() => void listener.close());
    await once(listener, "listening");
    expect(profileOf("make")?.hide).toContain(socket);
    expect(closedToHelpers({ home, kernelPaths: [], realPath: (path) => path })).toContain(socket);
    expect(profileOf("make", { sandbox: { allowWrite: [socket] } })?.hide).not.toContain(socket);
  });

  test("hides a folder where sockets come and go, but not one with other files, nor one where the settings open something", async () => {
    const folder = join(dir, "service.d");
    mkdirSync(folder);
    const sockets = ["1", "2"].map((name) => join(folder, name));
    for (const socket of sockets) {
      const listener = createServer().listen(socket);
      onTestFinished(() => void listener.close());
      await once(listener, "listening");
    }
    const helpers = () => closedToHelpers({ home, kernelPaths: [], realPath: (path) => path });
    const hidden = () =>
      [profileOf("make")?.hide ?? [], helpers()].map((all) => all.filter((p) => p.startsWith(folder)));
    expect(hidden()).toEqual([[folder], [folder]]);
    const opened = profileOf("make", { sandbox: { allowWrite: [join(folder, "1")] } })?.hide;
    expect(opened?.filter((path) => path.startsWith(folder))).toEqual([join(folder, "2")]);
    writeFileSync(join(folder, "note"), "");
    expect(hidden().map((paths) => paths.toSorted())).toEqual([sockets, sockets]);
  });

  test("of a worktree has the repository it belongs to, if that knows of it", () => {
    const main = join(dir, "main");
    const git = (cwd: string, ...args: string[]) =>
      spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd });
    mkdirSync(main);
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "x");
    const tree = join(dir, "tree");
    git(main, "worktree", "add", "-q", tree);
    const who = me({ cwd: tree, roots: [tree] });
    const found = profileOf("make", { who });
    expect(found?.write).toEqual([tree, join(main, ".git/worktrees/tree"), join(main, ".git")]);
    for (const name of ["hooks/", "config", "worktrees/tree/commondir"])
      expect(found?.protect).toContain(join(main, ".git", name));
    // git commit writes to these
    for (const name of ["HEAD", "index"])
      expect(found?.protect).not.toContain(join(main, ".git/worktrees/tree", name));
    expect(found?.protect).not.toContain(join(main, ".git/worktrees"));
    writeFileSync(join(work, ".git"), `gitdir: ${join(main, ".git")}\n`);
    expect(profileOf("make")?.write).toEqual([work]);
  });

  test("of what only claims to be a worktree has nothing but that", () => {
    const own = join(home, "worktrees/x");
    const tree = join(own, "tree");
    mkdirSync(tree, { recursive: true });
    writeFileSync(join(tree, ".git"), `gitdir: ${own}\n`);
    writeFileSync(join(own, "gitdir"), join(tree, ".git"));
    writeFileSync(join(own, "commondir"), "../..");
    expect(profileOf("make", { who: me({ cwd: tree, roots: [tree] }) })?.write).toEqual([tree]);
  });

  test("behind a wall has the worktree alone: the checkout is hidden, its git directory read-only but for commits", () => {
    const main = join(dir, "main");
    const git = (cwd: string, ...args: string[]) =>
      spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd });
    mkdirSync(main);
    git(main, "init", "-q");
    git(main, "commit", "-q", "--allow-empty", "-m", "x");
    const open = join(main, ".crux/worktrees/a");
    git(main, "worktree", "add", "-q", "-b", "worktree/a", open);
    const gitDir = join(main, ".git");
    const rights = { ...ALL_RIGHTS, walls: [{ dir: main, open, gitDir }] };
    const who = me({ cwd: open, roots: [open], rights });
    const found = profileOf("make", { who, sandbox: { excluded: ["bash(make)"] } });
    const shared = ["objects", "refs/heads/worktree", "logs/refs/heads/worktree"];
    const own = join(gitDir, "worktrees/a");
    expect(found?.write).toEqual([open, own, ...shared.map((name) => join(gitDir, name))]);
    expect(found?.hide).toContain(main);
    expect(found?.show).toEqual([gitDir]);
    const reading = profileOf("", {
      effects: [bash("ls", open)],
      who: { ...who, mode: "plan", rights: { ...rights, mode: "plan" } },
    });
    expect([reading?.write, reading?.show]).toEqual([[], [open, gitDir]]);
  });

  test("is none for calls that start nothing", () => {
    symlinkSync("x", join(work, "link"));
    expect(
      profileOf("", { effects: [{ kind: "read", path: join(work, "x"), real: join(work, "x") }] }),
    ).toBeNull();
  });
});

describe("the profile of a command that says what it writes", () => {
  const sandbox = { allowWrite: ["~/more"], network: { allow: ["a.example"] } };
  const other = () => {
    const path = join(dir, "other");
    mkdirSync(path);
    return path;
  };

  test("opens exactly that where it is there, and its folder to make it there", () => {
    const place = other();
    writeFileSync(join(place, "there"), "");
    expect(profileOf(`cp a ${place}/there`)?.write).toEqual([work, join(place, "there")]);
    expect(profileOf(`echo x >> ${place}/there`)?.write).toEqual([work, join(place, "there")]);
    expect(profileOf(`cp a ${place}/new`)?.write).toEqual([work, place]);
    expect(profileOf(`rm ${place}/there`)?.write).toEqual([work, place]);
  });

  test("opens no folder to what may do anything else, and nothing it does not name", () => {
    const place = other();
    writeFileSync(join(place, "there"), "");
    for (const with_ of ["make", "./cp a b", "npm test", "python3 x.py"]) {
      expect(profileOf(`${with_} && cp a ${place}/new`)?.write).toEqual([work]);
      expect(profileOf(`${with_} && cp a ${place}/there`)?.write).toEqual([work, join(place, "there")]);
    }
    expect(profileOf(`frob ${place}/there`)?.write).toEqual([work]);
    expect(profileOf(`cp a $X/there`)?.write).toEqual([work]);
    expect(profileOf(`cp a b; cd ${place} && tee there`)?.write).toEqual([work, join(place, "there")]);
    expect(profileOf("touch /x")?.write).toEqual([work]);
  });

  test("opens nothing that the settings shut, that is hidden, or that is no file", () => {
    const place = other();
    for (const name of ["notes", "migrations"]) mkdirSync(join(place, name));
    for (const name of ["notes/a", "migrations/a"]) writeFileSync(join(place, name), "");
    const shut = { denyRead: [join(place, "notes")], denyWrite: [join(place, "migrations")] };
    for (const to of ["notes/a", "notes/new", "migrations/a", "migrations/new"])
      expect(profileOf(`cp a ${place}/${to}`, { sandbox: shut })?.write).toEqual([work]);
    const inside = { denyWrite: ["deny"] };
    mkdirSync(join(work, "deny"));
    writeFileSync(join(work, "deny/a"), "");
    const found = profileOf("cp a deny/a", { sandbox: inside });
    expect([found?.write, found?.protect.includes(join(work, "deny"))]).toEqual([[work], true]);
    for (const to of [
      "/tmp/new",
      "/run/x",
      "/proc/sys/kernel/core_pattern",
      "/dev/sda",
      "/sys/x",
      "/etc/shadow",
    ])
      expect([to, profileOf(`cp a ${to}`)?.write]).toEqual([to, [work]]);
  });

  test("stays within the rights of the process", () => {
    const who = me({ rights: { ...ALL_RIGHTS, roots: [work] } });
    expect(profileOf(`cp a ${other()}/new`, { who })?.write).toEqual([work]);
  });

  test("protects what it does not name, and what may be named by another", () => {
    mkdirSync(join(work, ".git/hooks"), { recursive: true });
    writeFileSync(join(work, ".git/config"), "");
    const hooks = join(work, ".git/hooks/");
    expect(profileOf("echo x > .git/hooks/pre-commit")?.protect).not.toContain(hooks);
    expect(profileOf("echo x > .git/hooks/pre-commit")?.protect).toContain(join(work, ".git/config"));
    expect(profileOf("make && echo x > .git/hooks/pre-commit")?.protect).toContain(hooks);
    expect(profileOf("make && echo x > .git/config")?.protect).not.toContain(join(work, ".git/config"));
  });

  test("opens home for a file there, but not its start-up files", () => {
    const found = profileOf("cp a ~/x");
    expect(found?.write).toContain(home);
    expect(found?.protect).toContain(join(home, ".bashrc"));
  });

  test("a program that writes its settings may write those, and no others", () => {
    mkdirSync(join(work, ".git/hooks"), { recursive: true });
    writeFileSync(join(work, ".git/config"), "");
    const project = profileOf("git config a.b c");
    expect(project?.protect).not.toContain(join(work, ".git/config"));
    expect(project?.protect).toContain(join(work, ".git/hooks/"));
    expect(profileOf("git config a.b c; frob")?.protect).not.toContain(join(work, ".git/config"));
    expect(profileOf("git config a.b $x")?.protect).toContain(join(work, ".git/config"));
    expect(profileOf("git config --get a.b")?.write).toEqual([]);
    const account = profileOf("git config --global a.b c");
    expect(account?.write).toContain(home);
    expect(account?.protect).not.toContain(join(home, ".gitconfig"));
    expect(account?.protect).toContain(join(home, ".bashrc"));
  });

  test("protects names that are patterns, whatever comes to stand there", () => {
    writeFileSync(join(work, ".yarnrc.yml"), "");
    const { protect = [] } = profileOf("frob") ?? {};
    expect(protect).toContain(join(work, ".yarnrc*"));
    expect(protect).toContain(join(work, ".yarnrc.yml"));
    expect(profileOf("touch .yarnrc.cjs")?.protect).not.toContain(join(work, ".yarnrc*"));
  });

  test("lets git init make its folder, and nobody else in the same command", () => {
    const git = join(work, ".git/");
    expect(profileOf("git init -q")?.protect).not.toContain(git);
    expect(profileOf("git init -b main .")?.protect).not.toContain(git);
    mkdirSync(join(dir, "repo"));
    expect(profileOf(`git init ${join(dir, "repo")}`)?.write).toEqual([work]);
    for (const command of ["git init --template=x", "git -c a=b init", "git init && make", "make"])
      expect(profileOf(command)?.protect).toContain(git);
  });

  test("is the strictest where the command cannot be read with certainty", () => {
    const certain = profileOf("make", { sandbox });
    expect([certain?.write, certain?.network]).toEqual([
      [work, join(home, "more")],
      { allow: ["a.example"], deny: [] },
    ]);
    for (const command of ["$X", "make $(", 'eval "$X"']) {
      const found = profileOf(command, { sandbox });
      expect([command, found?.write, found?.network]).toEqual([command, [work], "off"]);
    }
  });
});

describe("outside the sandbox", () => {
  test("runs what the settings exclude, if every part is", () => {
    const sandbox = { excluded: ["bash(docker *)", "bash(make)"] };
    expect(profileOf("docker ps", { sandbox })).toBeNull();
    expect(profileOf("docker ps && make", { sandbox })).toBeNull();
    expect(profileOf("docker ps && rm x", { sandbox })).not.toBeNull();
    expect(profileOf("docker ps $(rm x)", { sandbox })).not.toBeNull();
    expect(profileOf("ls", { sandbox })).not.toBeNull();
    expect(profileOf("ls", { sandbox: { mode: "off" } })).toBeNull();
  });

  test("a call may ask to run there only where the settings let it, and then a person answers", () => {
    const effect = { ...bash("make", work), unconfined: true as const };
    const decided = (sandbox: SandboxSettings) =>
      permitOf(sandbox, [{ source: "userSettings", behavior: "allow", text: "bash" }]).decide(
        me({ mode: "bypass" }),
        { tool: "bash", effects: [effect] },
      );
    expect(decided({})).toMatchObject({ behavior: "deny", code: "INVALID" });
    expect(decided({ allowOptOut: true })).toMatchObject({ behavior: "ask", isHard: true, always: null });
    expect(profileOf("", { sandbox: { allowOptOut: true }, effects: [effect] })).toBeNull();
    expect(profileOf("", { effects: [effect] })).not.toBeNull();
  });
});

test("what was read of others stands against a command only where that has a network, or cannot be read", () => {
  const labels = [{ kind: "untrusted", source: "web", detail: "https://a.example" }] as const;
  const allowed: RuleText = { source: "userSettings", behavior: "allow", text: "bash" };
  const reasonOf = (command: string, sandbox: SandboxSettings) =>
    permitOf(sandbox, [allowed]).decide(me({ labels }), { tool: "bash", effects: [bash(command, work)] })
      .reason;
  expect(reasonOf("make", {}).kind).not.toBe("label");
  for (const [command, sandbox] of [
    ["make", { network: { allow: ["a.example"] } }],
    ["make", { mode: "off" }],
    ["make", { excluded: ["bash(make)"] }],
    ["$X", {}],
  ] as const)
    expect([command, sandbox, reasonOf(command, sandbox).kind]).toEqual([command, sandbox, "label"]);
});

describe("autoAllow", () => {
  const decided = (command: string, sandbox: SandboxSettings = {}, rules: readonly RuleText[] = []) =>
    permitOf({ autoAllow: true, ...sandbox }, rules).decide(me(), {
      tool: "bash",
      effects: [bash(command, work)],
    });

  test("runs unasked what nothing but the mode asks", () => {
    expect(decided("npm run build")).toMatchObject({ behavior: "allow", reason: { kind: "sandbox" } });
  });

  test("leaves denies, asks of rules, protected paths and what is uncertain as they are", () => {
    const ask: RuleText = { source: "userSettings", behavior: "ask", text: "bash(npm run build)" };
    expect(decided("npm run build", {}, [ask]).behavior).toBe("ask");
    expect(decided("npm run build", {}, [deny("bash(npm *)")]).behavior).toBe("deny");
    expect(decided("echo x > .git/hooks/pre-commit").behavior).toBe("ask");
    expect(decided("$X").behavior).toBe("ask");
    expect(decided("npm run build", { mode: "off" }).behavior).toBe("ask");
    expect(decided("docker ps", { excluded: ["bash(docker *)"] }).behavior).toBe("ask");
  });
});

test("the folder that the agents of a session share is writable, and nothing in it is closed", () => {
  const shared = join(home, ".local/state/crux/scratchpads/1");
  mkdirSync(join(shared, ".git"), { recursive: true });
  const profile = profileOf("make", { who: me({ free: [join(dir, "own")], shared }) });
  expect(profile?.write).toEqual(expect.arrayContaining([work, join(dir, "own"), shared]));
  expect(profile?.tmp).toBe(join(dir, "own"));
  expect(profile?.protect.filter((path) => path.startsWith(shared))).toEqual([]);
  expect(profileOf("make")?.write).not.toContain(shared);
  const who = me({ free: [join(dir, "own")], shared });
  expect(profileOf("cat x", { who })).toMatchObject({ write: [], show: [shared] });
  expect(profileOf(`echo x > ${shared}/x`, { who })).toMatchObject({ write: [shared], show: [] });
});
