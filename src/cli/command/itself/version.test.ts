import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { crux, MODE_FLAGS } from "../../testing/run-command.ts";
import { findClaudeVersion } from "./claude-cli.ts";

let root: string;
/** PATHs on which `claude` is present, fails, hangs with a child that holds its output. */
let PRESENT: string;
let FAILING: string;
let HANGING: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "crux-version-"));
  PRESENT = await claude("present", 'echo "2.1.69 (Claude Code)"');
  FAILING = await claude("failing", 'echo "2.1.69"; exit 3');
  HANGING = await claude("hanging", `sleep 600 & echo $! > ${root}/sleeper; wait`);
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function claude(name: string, script: string): Promise<string> {
  const folder = await mkdtemp(join(root, `${name}-`));
  await writeFile(join(folder, "claude"), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, "claude"), 0o755);
  return `${folder}:/usr/bin:/bin`;
}

const SCREENS = {
  default: "crux v0.1.0\nclaude-code: 2.1.69\n",
  verbose: "crux v0.1.0\nclaude-code: 2.1.69\ndaemon: not running\n",
  quiet: "0.1.0\n",
};

test.each(MODE_FLAGS)("version %s is %s, and starts no daemon", async (flags, mode) => {
  for (const line of [`${flags} version`, `version ${flags}`]) {
    const daemon = new FakeDaemon();
    daemon.isRunning = false;
    const { out, err, code } = await crux(line, { daemon, env: { PATH: PRESENT } });
    expect({ err, code, ensured: daemon.reached.includes("ensure") }).toEqual({
      err: "",
      code: 0,
      ensured: false,
    });
    if (mode !== "json") expect(out).toBe(SCREENS[mode]);
    else
      expect(JSON.parse(out).data).toMatchObject({
        version: "0.1.0",
        claude_code_available: true,
        claude_code: "2.1.69",
      });
  }
});

test("version --json is the line of the manual, with and without claude", async () => {
  expect((await crux("version --json", { env: { PATH: PRESENT } })).out).toBe(
    '{"ok": true, "data": {"version": "0.1.0", "claude_code_available": true, "claude_code": "2.1.69"}}\n',
  );
  expect((await crux("version --json", { env: { PATH: root } })).out).toBe(
    '{"ok": true, "data": {"version": "0.1.0", "claude_code_available": false}}\n',
  );
});

test("version without claude is the screen of the manual, in both languages, exit 0", async () => {
  const screen = (LANG: string) => crux("version", { env: { PATH: root, LANG } });
  expect(await screen("zh_CN.UTF-8")).toMatchObject({
    out: "crux v0.1.0\n✗ claude-code CLI not found\n  → 建议: npm install -g @anthropic-ai/claude-code\n",
    err: "",
    code: 0,
  });
  expect((await screen("en")).out).toBe(
    "crux v0.1.0\n✗ claude-code CLI not found\n  → hint: npm install -g @anthropic-ai/claude-code\n",
  );
});

test("findClaudeVersion() takes a claude that fails for none", async () => {
  expect(await findClaudeVersion({ PATH: FAILING })).toBeUndefined();
});

test("findClaudeVersion() gives a claude that hangs 2 s, then ends it with its children", async () => {
  await rm(join(root, "sleeper"), { force: true });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const version = findClaudeVersion({ PATH: HANGING });
    // by no timer: vitest would let the 2 s pass while it waits
    let sleeper = 0;
    while (sleeper === 0) sleeper = Number(await readFile(join(root, "sleeper"), "utf8").catch(() => ""));
    await vi.advanceTimersByTimeAsync(2000);
    expect(await version).toBeUndefined();
    while (await isRunning(sleeper));
  } finally {
    vi.useRealTimers();
  }
});

/** A zombie that nobody has reaped yet has ended, too. */
async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/\) [ZX] /.test(stat);
}

test("version --verbose adds the configured drivers and the daemon", async () => {
  const daemon = new FakeDaemon({
    "kernel.status": () => ({ version: "0.1.0", os_pid: 4711, processes: 0, connections: 1, uptime_ms: 5 }),
  });
  const env = { PATH: PRESENT, OPENAI_API_KEY: "k", CRUX_PROVIDER: "anthropic" };
  const { out } = await crux("version -v", { daemon, env });
  expect(out).toBe(
    "crux v0.1.0\nclaude-code: 2.1.69\nanthropic: ANTHROPIC_API_KEY is not set\nopenai: ready\ndaemon: v0.1.0 (PID 4711)\n",
  );
  expect(daemon).toMatchObject({ reached: ["find"], openConnections: 0 });
});

test("version takes no words", async () => {
  expect((await crux("version 2")).err).toMatch(/^✗ \[INVALID\] unknown argument: 2\n/);
});
