/** A run in a worktree of its own: what it can reach, what is left of it, also after a crash of the daemon. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { unconfined } from "./harness/confined.ts";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;
let main: string;

const COMMANDS = [
  "echo two > a.txt && git add . && git -c user.name=t -c user.email=t@t commit -qm work && echo committed",
  'cat "$MAIN/a.txt" || echo unreadable',
  'echo bad > "$MAIN/a.txt" || echo unwritable',
  "git config core.pager evil || echo unconfigured",
  "git branch other || echo unbranched",
];

const used = (tool: string, params: object) => ({ name: "tool_call", input: { tool, params } });
const shell = (command: string) => ({ name: "bash", input: { command } });
/** From its folder, below the checkout in .crux/worktrees. */
const UP = "../../../a.txt";
const WAYS_OUT = [
  shell(`echo bad > ${UP}`),
  // where they lead is only known when they are followed; below /tmp its writes are to a folder of the sandbox alone
  shell('ln -s "$MAIN/$(echo a.txt)" out; cat out || echo unreadable; echo bad > out'),
  { name: "write", input: { file_path: "out", content: "bad" } },
  shell('h=$(git rev-parse --git-common-dir)/hooks; echo evil > "$h/$(echo pre-commit)" || echo unhooked'),
  { name: "write", input: { file_path: UP, content: "bad" } },
  { name: "edit", input: { file_path: "$MAIN/a.txt", old_string: "one", new_string: "bad" } },
];

/** Its target is known only when it runs. */
const CONFIGURE = 'echo evil >> "$(git rev-parse --git-common-dir)/$(echo config)" || echo unconfigured';

const MOVES = [
  used("worktree_enter", { name: "moved" }),
  used("worktree_enter", {}),
  shell('pwd; echo two > a.txt; git status --short; cat "$MAIN/a.txt" || echo unreadable'),
  { name: "write", input: { file_path: "new.txt", content: "new" } },
  used("worktree_exit", { strategy: "remove" }),
  used("worktree_exit", { strategy: "keep" }),
  shell("pwd; cat a.txt"),
  used("worktree_exit", { strategy: "keep" }),
  used("worktree_enter", { name: "moved" }),
  used("worktree_exit", { strategy: "remove", discard_changes: true }),
];

beforeTries(
  async () => {
    server = await startModelServer({
      script: ({ lastUserText, assistantTurns }) => {
        if (lastUserText.includes("rest a while"))
          return toolUse({ name: "sleep", input: { duration_ms: 600_000 } });
        if (lastUserText.includes("move there and back"))
          return MOVES[assistantTurns] === undefined ? text("Done.") : toolUse(MOVES[assistantTurns]!);
        if (lastUserText.includes("give it to two"))
          return assistantTurns === 0 ? childCall("write there").and(childCall("look there")) : text("Both.");
        if (lastUserText.includes("write there") && assistantTurns === 0)
          return toolUse({ name: "bash", input: { command: "echo two > a.txt" } });
        if (lastUserText.includes("try all ways out")) {
          const way = JSON.stringify(WAYS_OUT[assistantTurns] ?? null).replace(
            "$MAIN/a.txt",
            join(main, "a.txt"),
          );
          return way === "null" ? text("Done.") : toolUse(JSON.parse(way));
        }
        if (lastUserText.includes("commit by hand") && assistantTurns === 0)
          return toolUse({ name: "bash", input: { command: `${COMMANDS[0]}; ${CONFIGURE}` } });
        const command = lastUserText.includes("do the work") ? COMMANDS[assistantTurns] : undefined;
        return command === undefined ? text("Done.") : toolUse({ name: "bash", input: { command } });
      },
    });
    world = new World();
    main = join(world.work, "main repo");
    mkdirSync(main);
    git("init", "-q", "-b", "main");
    writeFileSync(join(main, "a.txt"), "one\n");
    git("add", ".");
    git("-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first");
    Object.assign(world.env, modelEnv(server), { MAIN: main });
  },
  async () => {
    await server.close();
    await world.close();
  },
);

const childCall = (prompt: string) =>
  toolUse({ name: "agent", input: { description: prompt, prompt, isolation: "worktree" } });
const git = (...args: string[]) => execFileSync("git", args, { cwd: main, stdio: "pipe" }).toString().trim();
const inTree = (...words: string[]) =>
  world.crux(["--cwd", main, "--permission-mode", "bypass", "-q", ...words]);
const trees = () => git("worktree", "list", "--porcelain").match(/^worktree .*$/gm)?.length;
const stateOfMain = () => [
  git("status", "--porcelain"),
  git("symbolic-ref", "HEAD"),
  git("rev-parse", "main"),
  git("branch", "--list", "other"),
  readFileSync(join(main, ".git/config"), "utf8"),
  readFileSync(join(main, "a.txt"), "utf8"),
  readdirSync(join(main, ".git/hooks")).join(),
];

it.skipIf(unconfined !== undefined)(
  "commits in its worktree, reaches nothing of the checkout, and its work is kept",
  async () => {
    const before = stateOfMain();
    const run = await inTree("--worktree=fix-1", "do the work");
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const said = server.requests.flatMap(({ lastToolResults }) =>
      lastToolResults.map((each) => String(each.content)),
    );
    const wanted = [/^committed$/m, /^unreadable$/m, /^/, /writes \.git\/config/, /^unbranched$/m];
    expect(said).toEqual(wanted.map((words) => expect.stringMatching(words)));
    expect(stateOfMain()).toEqual(before);
    const path = join(main, ".crux/worktrees/fix-1");
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("two\n");
    expect(git("log", "-1", "--format=%s", "worktree/fix-1")).toBe("work");
    const left = `worktrees: 1 kept, with changes or after a crash: ${path}`;
    const doctor = await settled(
      async () => (await world.crux(["doctor", "--offline"], { cwd: main })).stdout,
      (said) => said.includes(left),
    );
    expect(doctor).toContain(left);
    git("worktree", "remove", path);
  },
);

it.skipIf(unconfined !== undefined)(
  "reaches the checkout neither by .., nor by a link, nor by tools that write, and no hook of it",
  async () => {
    const before = stateOfMain();
    const from = server.requests.length;
    await inTree("--worktree=ways-out", "try all ways out");
    const said = server.requests.slice(from).flatMap(({ lastToolResults }) => lastToolResults);
    const apart = /\[PERMISSION\].*belongs to the checkout that this worktree is apart from/;
    expect(said.map(({ content }) => String(content))).toEqual(
      [apart, /unreadable$/m, apart, /unhooked$/m, apart, apart].map((words) => expect.stringMatching(words)),
    );
    expect(stateOfMain()).toEqual(before);
    git("worktree", "remove", "--force", join(main, ".crux/worktrees/ways-out"));
  },
);

it.skipIf(unconfined !== undefined)(
  "commits in a worktree that was made by hand, and configures nothing there",
  async () => {
    const hand = join(world.work, "by hand");
    git("worktree", "add", "-q", "-b", "hand", hand);
    onTestFinished(() => {
      git("worktree", "remove", "--force", hand);
      git("branch", "-D", "hand");
    });
    const config = readFileSync(join(main, ".git/config"), "utf8");
    const from = server.requests.length;
    await world.crux(["--cwd", hand, "--permission-mode", "bypass", "-q", "commit by hand"]);
    const said = server.requests.slice(from).flatMap(({ lastToolResults }) => lastToolResults);
    expect(said.map(({ content }) => content)).toEqual([
      expect.stringMatching(/^committed$[\s\S]*^unconfigured$/m),
    ]);
    expect(git("log", "-1", "--format=%s", "hand")).toBe("work");
    expect(readFileSync(join(main, ".git/config"), "utf8")).toBe(config);
  },
);

it.skipIf(unconfined !== undefined)(
  "an agent gives it to another one, and learns path and branch where something has changed",
  async () => {
    const before = stateOfMain();
    const from = server.requests.length;
    const run = await inTree("give it to two");
    expect([run.code, run.stdout]).toEqual([0, "Both.\n"]);
    const lead = server.requests.slice(from).find(({ lastToolResults }) => lastToolResults.length === 2);
    const [wrote = "", looked = ""] = lead!.lastToolResults.map(({ content }) => String(content));
    const [, path = "", branch = ""] =
      /its work is in (.+), branch (worktree\/agent-\w+)\]$/.exec(wrote) ?? [];
    expect(readFileSync(join(path, "a.txt"), "utf8")).toBe("two\n");
    expect(looked).toMatch(/^Done\.\n\n\[agent-\w+, pid \d+: \d+ tokens, \d+\.\d s\]$/);
    expect([trees(), git("branch", "--list", "worktree/agent-*")]).toEqual([
      2,
      expect.stringMatching(`^\\+ ${branch}$`),
    ]);
    git("worktree", "remove", "--force", path);
    git("branch", "-D", branch);
    expect(stateOfMain()).toEqual(before);
  },
);

it.skipIf(unconfined !== undefined)(
  "is not given below the top, makes nothing there, and says what to do",
  async () => {
    const before = [trees(), stateOfMain()];
    const below = join(main, "below");
    mkdirSync(below);
    const from = server.requests.length;
    await world.crux(["--cwd", below, "--permission-mode", "bypass", "-q", "give it to two"]);
    const told = server.requests.slice(from).flatMap(({ lastToolResults }) => lastToolResults);
    expect(told.map(({ content }) => String(content))).toEqual(
      Array(2).fill(
        expect.stringMatching(/\[PERMISSION\].*at the top of the repository.*do without it here$/),
      ),
    );
    rmSync(below, { recursive: true });
    // what was made is taken back beside the answer
    const after = () => [trees(), stateOfMain()];
    expect(await settled(after, ([count]) => count === before[0])).toEqual(before);
  },
);

it.skipIf(unconfined !== undefined)(
  "leaves nothing where nothing has changed, is listed while it works, and outlives the daemon; without its folder it fails",
  async () => {
    const before = stateOfMain();
    const start = async () => (await inTree("--worktree", "-d", "rest a while")).stdout.trim();
    const [pid, gone] = [await start(), await start()];
    const listed = await world.crux(["ps", "-v"]);
    const pathOf = (of: string) =>
      new RegExp(`worktree of PID ${of}: (.+) \\(branch worktree/`).exec(listed.stdout)?.[1] ?? "";
    const branchOf = (of: string) => `worktree/${basename(pathOf(of))}`;
    const path = pathOf(pid);
    expect(existsSync(join(path, "a.txt"))).toBe(true);
    const { daemonPid = 0 } = world;
    process.kill(daemonPid, "SIGKILL");
    rmSync(pathOf(gone), { recursive: true });
    const from = server.requests.length;
    const again = await world.crux(["ps", "-v"]);
    const ended = await world.crux(["logs", gone]);
    expect(ended.stdout).toContain(`[NOT_FOUND] its worktree is gone: ${pathOf(gone)}`);
    expect((await world.crux(["wait", gone])).code).toBe(1);
    const resumed = await world.crux(["resume", gone]);
    expect(resumed.stderr).toContain(`[NOT_FOUND] process ${gone} cannot be resumed: its worktree is gone`);
    expect([stateOfMain(), server.requests.length]).toEqual([before, from]);
    // what it had committed is not Crux's to remove
    git("worktree", "prune");
    git("branch", "-D", branchOf(gone));
    expect(again.stdout).toContain(`worktree of PID ${pid}: ${path} (branch`);
    expect((await world.crux(["stop", pid])).code).toBe(0);
    // in the background, once its end was known
    const after = await settled(
      () => [existsSync(path), trees(), git("branch", "--list", "worktree/agent-*")],
      ([isThere, count, branches]) => isThere === false && count === 1 && branches === "",
    );
    expect(after).toEqual([false, 1, ""]);
  },
);

it.skipIf(unconfined !== undefined)(
  "moves to a worktree and back, as its files and commands do; what is there is removed only where it is said so",
  async () => {
    const before = stateOfMain();
    const path = join(main, ".crux/worktrees/moved");
    onTestFinished(() => {
      if (existsSync(path)) git("worktree", "remove", "--force", path);
      if (git("branch", "--list", "worktree/moved") !== "") git("branch", "-D", "worktree/moved");
    });
    const from = server.requests.length;
    const run = await inTree("move there and back");
    expect([run.code, run.stdout]).toEqual([0, "Done.\n"]);
    const said = server.requests.slice(from).flatMap(({ lastToolResults }) => lastToolResults);
    expect(said.map(({ content }) => String(content))).toEqual([
      expect.stringContaining(`You work in ${path} now, branch worktree/moved`),
      expect.stringMatching(/^Error \[CONFLICT\].*it works in a worktree already/),
      expect.stringMatching(new RegExp(`^${path}\n M a\\.txt\n[^]*^unreadable$`, "m")),
      expect.stringContaining("new.txt"),
      expect.stringMatching(/^Error \[CONFLICT\].*2 changed files would be lost/),
      expect.stringContaining(`You work in ${main} again. The worktree ${path} stays`),
      `${main}\none\n`,
      expect.stringMatching(/^Error \[CONFLICT\]/),
      expect.stringContaining(`You work in ${path} now`),
      expect.stringContaining(`The worktree ${path} is gone, with its branch`),
    ]);
    expect([existsSync(path), git("branch", "--list", "worktree/moved")]).toEqual([false, ""]);
    expect(stateOfMain()).toEqual(before);
  },
);
