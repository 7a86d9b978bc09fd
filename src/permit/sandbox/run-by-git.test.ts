/** What git would run for the user is closed to agents, wherever its configuration says that it lies. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Effect } from "../../abi/effects.ts";
import { subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";

test("hooks in the working tree are protected from commands and asked about in every mode, like .git/hooks", async () => {
  await loadParser();
  const dir = realpathSync(mkdtempSync("/var/tmp/crux-run-by-git-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [home, work] = [join(dir, "home"), join(dir, "work")];
  for (const path of [home, join(work, ".git/worktrees/w"), join(work, "sub/.git")])
    mkdirSync(path, { recursive: true });
  writeFileSync(join(work, ".git/config"), "[core]\n\thooksPath = .githooks\n");
  writeFileSync(join(work, "sub/.git/config"), "[include]\n\tpath = ../settings\n");
  const permit = makePermit({
    ...{ rules: [], defaultMode: "default" as const, additionalDirectories: [], home, kernelPaths: [] },
    realPath: (path) => path,
  });
  const who = subject({ cwd: work, roots: [work], free: [], mode: "bypass" });
  const shell = "make";
  const make: Effect = { kind: "exec", argv: ["bash", "-c", shell], cwd: work, certain: false, shell };
  const profile = permit.sandbox?.(who, { tool: "bash", effects: [make] });
  expect(profile?.gitDirs).toEqual([join(work, ".git"), join(work, "sub/.git")]);
  const closed = [".githooks", "sub/settings", ".git/worktrees/w/config.worktree"].map((name) =>
    join(work, name),
  );
  expect(profile?.protect).toEqual(expect.arrayContaining(closed));
  const write = (name: string) =>
    permit.decide(who, {
      tool: "write",
      effects: [{ kind: "write", path: join(work, name), change: "create" }],
    });
  for (const name of [".githooks/pre-commit", "sub/settings"])
    expect(write(name)).toMatchObject({ behavior: "ask", isHard: true, reason: { kind: "protected" } });
  expect(write("src/a.ts").behavior).toBe("allow");
  const look: Effect = { ...make, argv: ["bash", "-c", "ls"], shell: "ls" };
  expect(permit.sandbox?.(who, { tool: "bash", effects: [look] })).not.toHaveProperty("gitDirs");
});

test("a repository whose .git is a file or a link is closed where that leads to, in a working directory", async () => {
  await loadParser();
  const dir = realpathSync(mkdtempSync("/var/tmp/crux-run-by-git-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const [home, work] = [join(dir, "home"), join(dir, "work")];
  for (const path of [home, join(work, "sub"), join(work, "store"), join(work, "other")])
    mkdirSync(path, { recursive: true });
  writeFileSync(join(work, "sub/.git"), "gitdir: ../store\n");
  symlinkSync("other", join(work, ".git"));
  const permit = makePermit({
    ...{ rules: [], defaultMode: "default" as const, additionalDirectories: [], home, kernelPaths: [] },
    realPath: (path) => path,
  });
  const who = subject({ cwd: work, roots: [work], free: [], mode: "bypass" });
  const make: Effect = {
    kind: "exec",
    argv: ["bash", "-c", "make"],
    cwd: work,
    certain: false,
    shell: "make",
  };
  const profile = permit.sandbox?.(who, { tool: "bash", effects: [make] });
  const closed = ["store/config", "store/hooks/", "other/config", "other/commondir"];
  expect(profile?.protect).toEqual(expect.arrayContaining(closed.map((name) => join(work, name))));
  expect(profile?.gitDirs).toEqual(expect.arrayContaining([join(work, "store"), join(work, "other")]));
  const write = (name: string) =>
    permit.decide(who, {
      tool: "write",
      effects: [{ kind: "write", path: join(work, name), change: "create" }],
    });
  expect(write("other/hooks/pre-commit")).toMatchObject({ behavior: "ask", isHard: true });
  expect(write("other/index").behavior).toBe("allow");
});
