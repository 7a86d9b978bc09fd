/** `crux demo`: five steps with the real screens, beside the user's own daemon; nothing of it stays. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { beforeTries } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { settled, World } from "./harness/world.ts";

let world: World;
beforeTries(
  () => {
    world = new World();
  },
  () => world.close(),
);

/** The folder that the first lines name. */
function folderOf(stdout: string): string {
  return /(\/\S*crux-demo-\w+)/.exec(stdout)![1]!;
}

/** OS processes whose environment names the folder. */
function startedFor(folder: string): string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, "utf8").includes(folder);
    } catch {
      return false;
    }
  });
}

it("goes through alone in a pipe: refusal and grant, recovery, rewind, replay, a pipe; then all is gone", async () => {
  const { code, stdout, stderr } = await world.crux(["demo"]);
  expect([code, stderr.includes("✗")]).toEqual([0, false]);
  expect(stdout).toContain("Its model is a script");
  const commands = stdout.match(/^\$ .*$/gm)!.map((line) => line.replace(/\d+/g, "N"));
  expect(commands).toEqual([
    '$ crux "greet me"',
    '$ crux --allow write "greet me"',
    '$ crux -d -q --permission-mode accept_edits "write chapters"',
    "$ kill -N N",
    "$ crux ps",
    "$ crux wait N",
    "$ crux steps N",
    "$ crux rewind N --at N --files --yes",
    "$ crux replay N",
    '$ crux -q "name three rivers" | crux -q "sort them" | crux -q "make one line"',
  ]);
  expect(stdout).toContain("The gate refused it: nothing was written.");
  expect(stdout).toMatch(/PID \d+ exited\(0\)/);
  expect(stdout).toMatch(/removed +two\.txt/);
  expect(stdout).toMatch(/replayed 3 steps, 0 differences/);
  expect(stdout).toContain("\nAmazon, Nile, Rhine\n");
  expect(existsSync(folderOf(stdout))).toBe(false);
  expect(startedFor(folderOf(stdout))).toEqual([]);
  expect(world.daemonPid).toBeUndefined();
});

it("breaks no word of what it says on a narrow terminal", async () => {
  await using window = new TerminalWindow(world, ["demo"], { columns: 60 });
  await window.shows("[Enter] continues");
  expect(window.rows.join("\n")).toMatch(/a script, every\n +screen is real/);
});

it.each(["SIGINT", "SIGHUP"] as const)("leaves neither daemon nor folder behind at %s", async (signal) => {
  const running = world.start(["demo"]);
  await running.seen("spawning PID 1");
  const folder = folderOf(running.stdout());
  running.child.kill(signal);
  const end = await running.done;
  expect(end.code === 0).toBe(false);
  expect(existsSync(folder)).toBe(false);
  expect(
    await settled(
      () => startedFor(folder),
      (pids) => pids.length === 0,
    ),
  ).toEqual([]);
});
