/** `/add-dir` in a live session: what it opens, what it does not, and that it stays over a crash. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { onSharedStage, serveInTurn, world } from "./harness/stage.ts";
import { TerminalWindow } from "./harness/terminal.ts";
import { text, toolUse } from "./model-server/reply.ts";

onSharedStage();

it("opens a folder to the next call and command of the session, and keeps it after a crash", async () => {
  const other = join(world.dir, "other");
  mkdirSync(other);
  const file = join(other, "a.txt");
  await serveInTurn(
    toolUse({ name: "write", input: { file_path: file, content: "a" } }),
    text("Written."),
    toolUse({ name: "bash", input: { command: `touch ${other}/b.txt` } }),
    text("Touched."),
  );
  await using window = new TerminalWindow(world, ["--permission-mode", "accept_edits"], { columns: 200 });
  await window.shows("% context");
  window.type("/add-dir ../other\r");
  await window.shows(`works in ${world.work}, ${other}`);
  window.type("write it\r");
  await window.shows("Written.");
  expect(existsSync(file)).toBe(true);
  const { daemonPid = 0 } = world;
  process.kill(daemonPid, "SIGKILL");
  await window.until(() => world.daemonPid !== undefined && world.daemonPid !== daemonPid, "another daemon");
  await window.shows("% context");
  window.type("touch it\r");
  await window.shows("Touched.");
  expect(existsSync(join(other, "b.txt"))).toBe(true);
  window.type("/permissions\r");
  await window.until(({ everything }) => everything.split(`works in ${world.work}, ${other}`).length === 3);
});

it("says why a folder is not opened, and opens nothing", async () => {
  await serveInTurn();
  world.write("file.txt", "no folder");
  const secrets = join(world.dir, "home/.ssh");
  mkdirSync(secrets, { recursive: true });
  symlinkSync(secrets, join(world.work, "link"));
  await using window = new TerminalWindow(world, [], { columns: 200 });
  await window.shows("% context");
  for (const [typed, said] of [
    ["missing", `no such folder: ${world.work}/missing`],
    ["file.txt", `no such folder: ${world.work}/file.txt`],
    ["link", `${world.work}/link is not opened`],
    [join(world.dir, "state/crux"), "state/crux is not opened: it belongs to crux"],
  ] as const) {
    window.type(`/add-dir ${typed}\r`);
    await window.shows(said);
    window.type("\x0c");
  }
  window.type("/sandbox\r");
  await window.until(({ everything }) => everything.includes(`works in ${world.work}\n`), "the sandbox");
  window.type("/hooks\r");
  await window.shows("/hooks does not exist");
});
