import { execFileSync, spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { slugProblem } from "../../abi/worktree.ts";
import { HostProcesses } from "../host/exec.ts";
import { tempFolder } from "../testing.ts";
import { WorktreeSweep } from "./worktree-sweep.ts";
import { GitWorktrees } from "./worktrees.ts";

const exec = new HostProcesses({
  kernelId: "k-trees",
  epoch: 1,
  pipesDir: join(tmpdir(), `crux-trees-${process.pid}`),
});
afterAll(() => exec.close());

const clock = {
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_, no) => signal?.addEventListener("abort", no)),
};
const never = new AbortController().signal;
const canHold = exec.sandbox?.available === true;

function repository() {
  const root = tempFolder();
  const [home, main] = [join(root, "home"), join(root, "main")];
  for (const dir of [home, main]) mkdirSync(dir);
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd, env, stdio: "pipe" })
      .toString()
      .trim();
  const git = (...args: string[]) => gitIn(main, ...args);
  git("init", "-q", "-b", "main");
  writeFileSync(join(main, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const warned: string[] = [];
  let between = () => {};
  let adding: () => unknown = () => {};
  const ran: (readonly string[])[] = [];
  const run: HostProcesses["run"] = (spec, signal) => {
    ran.push(spec.argv);
    // the last command of a count
    if (spec.argv.includes("rev-list")) between();
    if (spec.argv.includes("add")) adding();
    return exec.run(spec, signal);
  };
  const heard = new Proxy(exec, {
    get: (target, name) => {
      const value: unknown = name === "run" ? run : Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const reposDir = join(root, "repositories");
  const deps = { exec: heard, clock, env, notesDir: join(root, "notes"), reposDir };
  const daemon = () => new GitWorktrees({ ...deps, warn: (line) => warned.push(line) });
  const trees = daemon();
  const open = (slug: string, cwd = main, owner = "test") => trees.open({ cwd, slug, owner }, never);
  /** Whether it is still there once it is settled. */
  const settled = async (tree: Awaited<ReturnType<typeof open>>, meanwhile = () => {}) => {
    between = meanwhile;
    trees.settle(tree);
    const isKept = await trees.isKept(tree, never);
    expect(existsSync(tree.path)).toBe(isKept);
    return isKept;
  };
  const remove = async (
    tree: Awaited<ReturnType<typeof open>>,
    how: { owner?: string; discards?: boolean; between?: () => void } = {},
  ) => {
    ({ between = () => {} } = how);
    await trees.remove(tree, { owner: how.owner ?? "test", discards: how.discards === true }, never);
  };
  const notes = () => readdirSync(join(root, "notes"));
  /** The next daemon, once it has cleared what was left. */
  const cleared = async (isUsed = (_path: string) => false) => {
    const next = daemon();
    next.clearLeft(isUsed);
    await next.close();
    return notes();
  };
  /** A sweep of what was last used before `oldest`, with what it waited for between its rounds. */
  const sweepOf = (oldest: number, isUsed: (path: string) => boolean, meanwhile: () => void) => {
    const said: string[] = [];
    const waits: number[] = [];
    const rounds = new EventEmitter();
    let next = () => {};
    const sweep = new WorktreeSweep({
      reposDir,
      clock: {
        sleep: (ms, signal) =>
          new Promise((yes, no) => {
            waits.push(ms);
            next = yes;
            signal?.addEventListener("abort", no);
            rounds.emit("over");
          }),
      },
      oldest: () => oldest,
      users: async () => {
        meanwhile();
        return isUsed;
      },
      removeOld: (tree, isOld) => trees.removeOld(tree, isOld),
      log: (_level, line) => said.push(line),
    });
    return { sweep, said, waits, nextDay: () => next(), round: () => once(rounds, "over") };
  };
  return {
    root,
    reposDir,
    sweepOf,
    adding: (act: () => unknown) => {
      adding = act;
    },
    main,
    git,
    gitIn,
    trees,
    open,
    ran,
    settled,
    remove,
    warned,
    notes,
    cleared,
  };
}

it.each(["a/../b", "x".repeat(65), "a b", "", "a//b", "/a", "-a", "a/-b", "a.lock", ".a", "a/.", "a."])(
  "%j names no worktree",
  (slug) => expect(slugProblem(slug)).toBeTypeOf("string"),
);
it.each(["fix-auth.2", "web/login", "x".repeat(64)])("%j names one", (slug) =>
  expect(slugProblem(slug)).toBeUndefined(),
);

describe.skipIf(!canHold)("GitWorktrees", () => {
  it("makes a worktree on a branch of its own, and changes nothing of the checkout but info/exclude", async () => {
    const { main, git, gitIn, open } = repository();
    writeFileSync(join(main, "b.txt"), "not committed");
    const before = [git("status", "--porcelain"), readFileSync(join(main, ".git/config"), "utf8")];
    const tree = await open("web/login");
    expect(tree).toEqual({
      path: join(main, ".crux/worktrees/web/login"),
      branch: "worktree/web/login",
      main,
      gitDir: join(main, ".git"),
      base: git("rev-parse", "HEAD"),
    });
    expect(gitIn(tree.path, "symbolic-ref", "HEAD")).toBe("refs/heads/worktree/web/login");
    expect([git("status", "--porcelain"), readFileSync(join(main, ".git/config"), "utf8")]).toEqual(before);
    expect(git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
    const again = await open("web/login", tree.path);
    expect(again).toEqual(tree);
    expect(
      readFileSync(join(main, ".git/info/exclude"), "utf8").match(/^\.crux\/worktrees\/$/gm),
    ).toHaveLength(1);
  });

  it("gives one that is there again without a git process, and that counts as new from then on", async () => {
    const { open, ran } = repository();
    const tree = await open("again");
    expect(ran).not.toEqual([]);
    utimesSync(tree.path, 1, 1);
    ran.length = 0;
    expect(await open("again")).toEqual(tree);
    expect(ran).toEqual([]);
    expect(statSync(tree.path).mtimeMs).toBeGreaterThan(1_000);
  });

  it("refuses names that are taken, and takes nothing that it has not made", async () => {
    const { root, main, git, open } = repository();
    await open("a");
    await expect(open("a/b")).rejects.toMatchObject({ code: "CONFLICT" });
    await open("c/d");
    await expect(open("c")).rejects.toMatchObject({ code: "CONFLICT" });
    git("worktree", "add", "-q", "-b", "own", join(main, ".crux/worktrees/own"));
    await expect(open("own")).rejects.toMatchObject({ code: "CONFLICT" });
    await expect(open("../x")).rejects.toMatchObject({ code: "INVALID" });
    await expect(open("x", root)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const other = repository();
    symlinkSync(root, join(other.main, ".crux"));
    await expect(other.open("x")).rejects.toMatchObject({ code: "INVALID" });
    expect(existsSync(join(root, "worktrees"))).toBe(false);
  });

  it("starts nothing that the repository configures", async () => {
    const { root, main, git, open, settled } = repository();
    const ran = join(root, "ran");
    const script = join(main, "evil.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${ran}\ncat\n`, { mode: 0o755 });
    for (const hook of ["post-checkout", "reference-transaction"])
      writeFileSync(join(main, ".git/hooks", hook), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    git("config", "core.fsmonitor", script);
    git("config", "filter.evil.smudge", script);
    git("config", "filter.evil.required", "true");
    writeFileSync(join(main, ".git/info/attributes"), "*.txt filter=evil\n");
    // by now a hook of ours has run
    rmSync(ran, { force: true });
    const tree = await open("a");
    expect(existsSync(ran)).toBe(false);
    expect(existsSync(join(tree.path, "a.txt"))).toBe(true);
    git("config", "--unset", "core.fsmonitor");
    git("config", "--remove-section", "filter.evil");
    for (const hook of ["post-checkout", "reference-transaction"]) rmSync(join(main, ".git/hooks", hook));
    expect(await settled(tree)).toBe(false);
    expect(existsSync(ran)).toBe(false);
  });

  it("starts nothing that a repository within the worktree configures", async () => {
    const { root, gitIn, open, settled } = repository();
    const ran = join(root, "ran");
    const tree = await open("nested");
    const inner = (...args: string[]) => gitIn(join(tree.path, "sub"), ...args);
    gitIn(tree.path, "init", "-q", "sub");
    writeFileSync(join(tree.path, "sub/b.txt"), "one\n");
    inner("add", ".");
    inner("commit", "-qm", "first");
    gitIn(tree.path, "add", "sub");
    inner("config", "filter.evil.clean", `touch ${ran}; cat`);
    writeFileSync(join(tree.path, "sub/.git/info/attributes"), "*.txt filter=evil\n");
    writeFileSync(join(tree.path, "sub/b.txt"), "two\n");
    expect(await settled(tree)).toBe(true);
    expect(existsSync(ran)).toBe(false);
  });

  it("removes what a killed daemon has made for nobody, and keeps what is on record, in use or changed", async () => {
    const { main, git, trees, open, cleared, warned } = repository();
    const [nobody, known, used, changed] = [
      await open("nobody"),
      await open("known"),
      await open("used"),
      await open("changed"),
    ];
    trees.recorded(known);
    writeFileSync(join(changed.path, "new.txt"), "x");
    const isThere = () => [nobody, known, used, changed].map(({ path }) => existsSync(path));
    expect(await cleared((path) => path === used.path)).toEqual([]);
    expect(isThere()).toEqual([false, true, true, true]);
    expect(git("branch", "--list", "--format=%(refname:short)", "worktree/*").split("\n")).toEqual([
      "worktree/changed",
      "worktree/known",
      "worktree/used",
    ]);
    // the daemon that has made one does not take it for that of another
    const own = await open("own");
    trees.clearLeft(() => false);
    await trees.isKept(own, never);
    expect([existsSync(own.path), existsSync(main), warned]).toEqual([true, true, []]);
  });

  it("leaves nothing of one that git fails to make, or is given up; a branch of that name that was there stays", async () => {
    const { main, git, trees, open, notes, adding } = repository();
    const branches = () => git("branch", "--list", "--format=%(refname:short)", "worktree/*");
    writeFileSync(join(main, ".git/worktrees"), "");
    await expect(open("failed")).rejects.toThrow("worktrees");
    rmSync(join(main, ".git/worktrees"));
    const stop = new AbortController();
    adding(() => setTimeout(() => stop.abort(new Error("given up")), 5));
    const wish = { cwd: main, slug: "given-up", owner: "test" };
    // it may be made before that
    const made = await trees.open(wish, stop.signal).catch(() => undefined);
    expect([branches(), notes()]).toEqual(
      made === undefined ? ["", []] : [made.branch, [expect.any(String)]],
    );
    if (made !== undefined) trees.settle(made);
    adding(() => {});
    git("branch", "worktree/mine");
    await expect(open("mine")).rejects.toThrow("already exists");
    expect((await open("failed")).branch).toBe("worktree/failed");
    expect(branches().split("\n")).toEqual(["worktree/failed", "worktree/mine"]);
  });

  it.each(["locked", "nowhere", "only a branch"])(
    "removes one that git was cut off from making: %s",
    async (how) => {
      const { main, git, open, cleared, warned } = repository();
      const { path, branch } = await open("half");
      const own = join(main, ".git/worktrees/half");
      rmSync(join(own, "crux.json"));
      if (how === "only a branch") for (const dir of [path, own]) rmSync(dir, { recursive: true });
      else writeFileSync(join(own, "locked"), "initializing");
      if (how === "nowhere")
        for (const part of [path, join(own, "gitdir")]) rmSync(part, { recursive: true });
      expect(await cleared()).toEqual([]);
      expect([existsSync(path), existsSync(own), git("branch", "--list", branch), warned]).toEqual([
        false,
        false,
        "",
        [],
      ]);
      expect((await open("half")).path).toBe(path);
    },
  );

  it("removes what has not changed, and keeps files, commits and what it cannot judge", async () => {
    const { git, gitIn, trees, open, settled, warned, notes } = repository();
    const clean = await open("clean");
    trees.recorded(clean);
    // a daemon that dies in it leaves a note for the next one
    const noted: number[] = [];
    expect(await settled(clean, () => noted.push(notes().length))).toBe(false);
    expect([noted, notes()]).toEqual([[1, 1], []]);
    expect(git("branch", "--list", clean.branch)).toBe("");
    const file = await open("file");
    writeFileSync(join(file.path, "new.txt"), "x");
    expect(await settled(file)).toBe(true);
    const commit = await open("commit");
    writeFileSync(join(commit.path, "a.txt"), "two\n");
    gitIn(commit.path, "commit", "-qam", "work");
    expect(await settled(commit)).toBe(true);
    const away = await open("away");
    gitIn(away.path, "commit", "-q", "--allow-empty", "-m", "work");
    gitIn(away.path, "checkout", "-q", "--detach", away.base);
    expect(await settled(away)).toBe(true);
    expect(warned).toEqual([]);
    const broken = await open("broken");
    writeFileSync(join(broken.gitDir, "worktrees/broken/index"), "not an index");
    expect(await settled(broken)).toBe(true);
    expect(warned).toHaveLength(1);
  });

  it("remove() takes what its owner made and nothing is lost of; it keeps files, commits and what git cannot judge", async () => {
    const { main, git, gitIn, open, remove } = repository();
    const clean = await open("clean");
    await expect(remove(clean, { owner: "other" })).rejects.toMatchObject({ code: "CONFLICT" });
    await remove(clean);
    expect([existsSync(clean.path), git("branch", "--list", clean.branch)]).toEqual([false, ""]);
    const [file, commit, broken] = [await open("file"), await open("commit"), await open("broken")];
    writeFileSync(join(file.path, "new.txt"), "x");
    gitIn(commit.path, "commit", "-q", "--allow-empty", "-m", "work");
    writeFileSync(join(broken.gitDir, "worktrees/broken/index"), "not an index");
    for (const [tree, words] of [
      [file, /^1 changed file would be lost/],
      [commit, /^1 commit would be lost/],
      [broken, /^git cannot remove it, so it is kept/],
    ] as const) {
      await expect(remove(tree)).rejects.toMatchObject({
        ...{ code: "CONFLICT", message: expect.stringMatching(words) },
      });
      expect(existsSync(tree.path)).toBe(true);
    }
    for (const tree of [file, commit]) {
      await remove(tree, { discards: true });
      expect([existsSync(tree.path), git("branch", "--list", tree.branch)]).toEqual([false, ""]);
    }
    const hand = join(main, ".crux/worktrees/hand");
    git("worktree", "add", "-q", "-b", "hand", hand);
    const byHand = { ...file, path: hand, branch: "hand" };
    await expect(remove(byHand, { discards: true })).rejects.toMatchObject({ code: "CONFLICT" });
    // git's own lock
    const locked = await open("locked");
    git("worktree", "lock", locked.path);
    await expect(remove(locked, { discards: true })).rejects.toMatchObject({ code: "CONFLICT" });
    expect([existsSync(hand), existsSync(locked.path)]).toEqual([true, true]);
  });

  it("remove() counts again just before: what is written between the counts stays", async () => {
    const { open, remove } = repository();
    const tree = await open("late");
    const late = join(tree.path, "late.txt");
    await expect(remove(tree, { between: () => writeFileSync(late, "x") })).rejects.toMatchObject({
      ...{ code: "CONFLICT", message: expect.stringContaining("1 changed file would be lost") },
    });
    expect(readFileSync(late, "utf8")).toBe("x");
  });

  it("sweeps at its start and each day old worktrees of agents in which nothing is lost, and leaves what anything holds", async () => {
    const { main, git, open, sweepOf, reposDir } = repository();
    const agent = "pid 3 worktree";
    const old = await open("old", main, agent);
    const pathOf = (slug: string) => join(main, ".crux/worktrees", slug);
    const base = git("rev-parse", "HEAD");
    const make = (slug: string, owner = agent) => {
      const branch = `worktree/${slug}`;
      git("worktree", "add", "-q", "-b", branch, pathOf(slug));
      writeFileSync(join(main, ".git/worktrees", slug, "crux.json"), JSON.stringify({ base, branch, owner }));
    };
    const kept = ["file", "used", "locked", "busy", "shell", "late"];
    for (const slug of kept) make(slug);
    make("entered", "process 1-2");
    writeFileSync(join(pathOf("file"), "new.txt"), "x");
    git("worktree", "lock", pathOf("locked"));
    writeFileSync(join(main, ".git/worktrees/busy/index.lock"), "");
    const shell = spawn("sleep", ["600"], { cwd: pathOf("shell") });
    onTestFinished(() => void shell.kill("SIGKILL"));
    await once(shell, "spawn");
    const age = (slug: string) => utimesSync(pathOf(slug), 1, 1);
    for (const slug of ["old", "entered", ...kept]) age(slug);
    // taken again between the look at its age and its turn
    const taken = () => utimesSync(pathOf("late"), 20, 20);
    const { sweep, said, waits, nextDay, round } = sweepOf(10_000, (path) => path === pathOf("used"), taken);
    sweep.start();
    await round();
    expect([sweep.swept, existsSync(old.path), git("branch", "--list", old.branch)]).toEqual([
      ...[[old.path], false, ""],
    ]);
    expect(said).toEqual([expect.stringContaining(`${old.path} removed`)]);
    expect(["entered", ...kept].filter((slug) => !existsSync(pathOf(slug)))).toEqual([]);
    // a repository that is gone is forgotten
    rmSync(main, { recursive: true });
    nextDay();
    await round();
    await sweep.close();
    expect([readdirSync(reposDir), said.length, waits]).toEqual([[], 1, [86_400_000, 86_400_000]]);
  });

  it("opens one for a process at the top of the checkout alone, where it says so", async () => {
    const { main, trees } = repository();
    mkdirSync(join(main, "sub"));
    const wish = { slug: "top", owner: "test", isTop: true } as const;
    await expect(trees.open({ ...wish, cwd: join(main, "sub") }, never)).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    expect((await trees.open({ ...wish, cwd: main }, never)).path).toBe(join(main, ".crux/worktrees/top"));
  });
});
