/** A sandboxed command leaves no step of a rebase that the user's own git would run, in every kind of sandbox. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { HostProcesses } from "../exec.ts";
import { bashSpec, confinersHere } from "../testing.ts";
import { Sandboxes } from "./sandbox.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-git-steps-"));
const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
const confiners = confinersHere().map(({ kind, by }) => ({
  kind,
  exec: new HostProcesses({ kernelId: "k-steps", epoch: 1, pipesDir: join(own, kind), sandboxes, ...by }),
}));
afterAll(async () => {
  for (const { exec } of confiners) await exec.close();
  rmSync(own, { recursive: true, force: true });
});

let work: string;
let git: (...args: string[]) => string;
beforeEach(() => {
  work = mkdtempSync(join(own, "work-"));
  const env = { PATH: process.env.PATH ?? "", HOME: own, GIT_EDITOR: "true" };
  const names = ["-c", "user.name=a", "-c", "user.email=a@b"];
  git = (...args) => execFileSync("git", [...names, ...args], { cwd: work, env, stdio: "pipe" }).toString();
  git("init", "-q", "-b", "main");
  for (const text of ["one", "two", "three"]) {
    writeFileSync(join(work, "a"), text);
    git("add", "a");
    git("commit", "-qm", text);
  }
});

describe.each(confiners)("in $kind", ({ kind, exec }) => {
  const run = async (script: string, protect: readonly string[] = []) => {
    const sandbox = {
      ...{ write: [work], protect, hide: [], show: [], network: "off" as const },
      gitDirs: [join(work, ".git")],
    };
    const { spec, out } = bashSpec(script, { cwd: work, sandbox, isMerged: true });
    const { error, violations = [] } = await exec.run(spec, new AbortController().signal).exited;
    if (error !== undefined) throw error;
    return { out: out(), violations };
  };
  const todo = () => readFileSync(join(work, ".git/rebase-merge/git-rebase-todo"), "utf8");

  test("a step that a command put into the user's rebase is taken out; the user's own stay, and the rebase goes on", async () => {
    git("-c", "sequence.editor=sed -i -e '1ibreak' -e '$aexec touch mine'", "rebase", "-i", "HEAD~2");
    const { violations } = await run("printf 'x touch evil\\n' >> .git/rebase-merge/git-rebase-todo");
    expect(violations).toEqual([expect.stringContaining("git-rebase-todo")]);
    expect(todo()).toContain("exec touch mine");
    expect(todo()).not.toContain("evil");
    expect(readdirSync(join(work, ".git/rebase-merge"))).toContain("git-rebase-todo.crux-quarantine-1");
    git("rebase", "--continue");
    expect([existsSync(join(work, "evil")), existsSync(join(work, "mine"))]).toEqual([false, true]);
  });

  const hook = (version: number) => `import hashlib, struct, subprocess
blob = subprocess.run(["git", "hash-object", "-w", "--stdin"], input=b"#!/bin/sh\\ntouch evil\\n", capture_output=True).stdout
def entry(name, size):
    head = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100755, 0, 0, 0) + bytes.fromhex(blob.decode().strip()) + struct.pack(">H", size)
    return head + (b"\\0" + name + b"\\0" if ${version} == 4 else name + b"\\0" * (8 - (62 + size) % 8))
bad = b".git/hooks/post-checkout"
index = b"DIRC" + struct.pack(">II", ${version}, 1) + entry(bad, len(bad))
open(".git/index", "wb").write(index + hashlib.sha1(index).digest())`;

  test.each([2, 4])(
    "an index of version %i that names a hook is put aside; git's own index stays",
    async (version) => {
      const own = await run(
        "echo new > a; mkdir d; echo x > d/.gitignore; git add -A; git -c user.name=a -c user.email=a@b commit -qm four",
      );
      expect(own.violations).toEqual([]);
      const { violations } = await run(`python3 - <<'END'\n${hook(version)}\nEND`);
      expect(violations).toEqual([expect.stringContaining("git reset makes a new one")]);
      git("reset", "-q");
      git("checkout", "--", ".");
      git("checkout-index", "-a", "-f");
      git("checkout", "-q", "HEAD");
      expect([existsSync(join(work, "evil")), existsSync(join(work, ".git/hooks/post-checkout"))]).toEqual([
        false,
        false,
      ]);
      expect(git("status", "--short")).toBe("");
    },
  );

  test.each([
    [
      "a rebase that never began",
      "mkdir .git/rebase-merge; echo 'exec touch evil' > .git/rebase-merge/git-rebase-todo",
    ],
    ["a cherry-pick", "mkdir .git/sequencer; printf '  x\\ttouch evil\\n' > .git/sequencer/todo"],
    ["a strategy by its path", "mkdir .git/rebase-merge; echo x/../evil > .git/rebase-merge/strategy"],
    [
      "a worktree",
      "mkdir -p .git/worktrees/w/rebase-merge; echo 'x evil' > .git/worktrees/w/rebase-merge/git-rebase-todo",
    ],
    [
      "a link in place of the folder",
      "mkdir d; echo 'x evil' > d/git-rebase-todo; ln -s ../d .git/rebase-merge",
    ],
    [
      "a link in place of the list",
      "echo 'x evil' > d; mkdir .git/rebase-merge; ln -s ../../d .git/rebase-merge/git-rebase-todo",
    ],
  ])("of %s, too", async (_, script) => {
    const { out, violations } = await run(script);
    expect({ out, violations }).toEqual({
      out: "",
      violations: [expect.stringContaining("crux-quarantine-1")],
    });
  });

  test("an agent's own rebase, cherry-pick and merge work over several commands", async () => {
    const as =
      "export GIT_EDITOR=true GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b;";
    const first = await run(
      `${as} git checkout -q -b side HEAD~1; echo side > a; git commit -qam side; git rebase main`,
    );
    expect(first.out).toContain("CONFLICT");
    const second = await run(
      `${as} echo both > a; git add a; git rebase --continue; git log --format=%s -n 2`,
    );
    expect(second.out).toContain("side\nthree");
    const third = await run(
      `${as} git reset -q --hard HEAD~1; git cherry-pick side@{1} || git cherry-pick --abort; git merge -q main; git status`,
    );
    expect(third.out).toContain("nothing to commit");
    expect([first, second, third].flatMap(({ violations }) => violations)).toEqual([]);
  });

  test("what the configuration would run is taken out, where a command could write it since the user's git replaced it", async () => {
    git("config", "alias.mine", "!true");
    const running = run(
      `touch ready; until grep -q upstream .git/config; do :; done
      printf '[core]\n\tfsmonitor = ./evil\n[alias]\n\tx = "!evil"\n[core] pager = ./evil\n' >> .git/config`,
      [join(work, ".git/config")],
    );
    while (!existsSync(join(work, "ready"))) await new Promise((resolve) => setTimeout(resolve, 5));
    git("config", "remote.upstream.url", "git@example.org:a/b.git");
    const { violations } = await running;
    expect(violations).toEqual([expect.stringContaining(".git/config")]);
    const now = git("config", "--local", "--list");
    expect(now).not.toContain("evil");
    expect(now).toContain("alias.mine=!true");
    if (kind !== "landlock") expect(now).toContain("remote.upstream.url=git@example.org:a/b.git");
  });
});
