import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { HostProcesses } from "../host/exec.ts";
import { ask, callerIn, tempFolder } from "../testing.ts";
import { gitDevice } from "./device.ts";

const exec = new HostProcesses({
  kernelId: "k-git",
  epoch: 1,
  pipesDir: join(tmpdir(), `crux-git-${process.pid}`),
});
afterAll(() => exec.close());

const clock = {
  sleep: (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_, no) => signal?.addEventListener("abort", no)),
};

function repository() {
  const root = tempFolder();
  const home = join(root, "home");
  const repo = join(root, "repo");
  for (const dir of [home, repo]) mkdirSync(dir);
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], {
      cwd: repo,
      env,
      stdio: "pipe",
    });
  git("init", "-q", "-b", "main");
  writeFileSync(join(repo, "a.txt"), "one\n");
  git("add", ".");
  git("commit", "-qm", "first");
  const device = gitDevice({ exec, clock, env });
  const status = async (dir = repo) =>
    String(await ask(device, dir, { op: "status" }, callerIn(repo))).split("\0");
  return { root, repo, git, status };
}

describe("/dev/git", () => {
  it("tells what has changed, with any name", async () => {
    const { repo, git, status } = repository();
    writeFileSync(join(repo, "a.txt"), "two\n");
    git("add", "a.txt");
    writeFileSync(join(repo, "a.txt"), "three\n");
    writeFileSync(join(repo, "b\nc"), "");
    const records = await status();
    expect(records).toContain("# branch.head main");
    expect(records.find((record) => record.endsWith(" a.txt"))).toMatch(/^1 MM /);
    expect(records).toContain("? b\nc");
  });

  it("starts nothing that the repository configures", async () => {
    const { root, repo, git, status } = repository();
    const ran = join(root, "ran");
    const script = join(repo, "evil.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${ran}\ncat\n`, { mode: 0o755 });
    git("config", "core.fsmonitor", script);
    git("config", "core.hooksPath", repo);
    git("config", "filter.evil=x.clean", script);
    git("config", "filter.evil=x.required", "true");
    writeFileSync(join(repo, "post-index-change"), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    writeFileSync(join(repo, ".gitattributes"), "*.txt filter=evil=x\n");
    writeFileSync(join(repo, "a.txt"), "two\n");
    expect((await status()).filter((record) => record.endsWith(" a.txt"))).toHaveLength(1);
    expect(existsSync(ran)).toBe(false);
  });

  it("starts nothing that a submodule configures", async () => {
    const { root, repo, git, status } = repository();
    const ran = join(root, "ran");
    const script = join(root, "evil.sh");
    writeFileSync(script, `#!/bin/sh\ntouch ${ran}\ncat\n`, { mode: 0o755 });
    git("-c", "protocol.file.allow=always", "submodule", "add", "-q", repo, "sub");
    const inner = (...args: string[]) => git("-C", join(repo, "sub"), ...args);
    inner("config", "filter.evil.clean", script);
    inner("config", "core.fsmonitor", script);
    writeFileSync(join(repo, "sub/.gitattributes"), "*.txt filter=evil\n");
    writeFileSync(join(repo, "sub/a.txt"), "two\n");
    expect((await status()).filter((record) => record.includes(".gitmodules"))).toHaveLength(1);
    expect(existsSync(ran)).toBe(false);
  });

  it.skipIf(exec.sandbox?.available !== true)("writes nothing, whatever it starts", async () => {
    const { root, repo, git } = repository();
    const [ran, seen] = [join(root, "ran"), join(root, "seen")];
    writeFileSync(join(repo, ".gitattributes"), "*.txt filter=late\n");
    writeFileSync(join(repo, "a.txt"), "two\n");
    writeFileSync(join(root, "key"), "secret");
    // configured after the filters were listed
    const run: HostProcesses["run"] = (spec, signal) => {
      if (spec.argv.includes("status"))
        git(
          "config",
          "filter.late.clean",
          `touch ${ran}; cp ${join(root, "key")} ${seen}; cat ${join(root, "key")}`,
        );
      return exec.run(spec, signal);
    };
    const deps = { exec: { ...exec, sandbox: exec.sandbox, run } as unknown as HostProcesses, clock };
    const env = { PATH: process.env.PATH ?? "", HOME: join(root, "home") };
    const device = gitDevice({ ...deps, env, closed: () => [join(root, "key")] });
    expect(String(await ask(device, repo, { op: "status" }, callerIn(repo)))).toContain(" a.txt");
    expect([existsSync(ran), existsSync(seen)]).toEqual([false, false]);
  });

  it("starts the git of the system, not one that lies in a folder of the PATH before it", async () => {
    const { root, repo } = repository();
    const bin = join(repo, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "git"), "#!/bin/sh\necho found\n", { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}`, HOME: join(root, "home") };
    const device = gitDevice({ exec, clock, env });
    expect(String(await ask(device, repo, { op: "status" }, callerIn(repo)))).toContain("# branch.head main");
  });

  it("NOT_FOUND without a repository", async () => {
    const { root, status } = repository();
    await expect(status(root)).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(status(join(root, "none"))).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});
