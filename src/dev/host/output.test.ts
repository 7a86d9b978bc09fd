import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { tempFolder } from "../testing.ts";
import { posixLaunch } from "./launch.ts";
import { findLibc } from "./libc.ts";
import { Output } from "./output.ts";
import { Pipes } from "./pipes.ts";
import { withStreams } from "./streams.ts";

const pause = new Int32Array(new SharedArrayBuffer(4));

it("quiet() takes what came while the event loop stood still, however long that was", async () => {
  const said = join(tempFolder(), "said");
  const child = spawn("sh", ["-c", `read go; echo late; : > ${said}; exec sleep 60`], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const taken: string[] = [];
  const output = new Output(
    [{ name: "stdout", stream: child.stdout }],
    (_, chunk) => void taken.push(`${chunk}`),
  );
  await new Promise<void>((resolve) => child.stdin.write("go\n", () => resolve()));
  const quiet = output.quiet();
  const beganMs = performance.now();
  // longer than the silence that counts as the end
  while (!existsSync(said) || performance.now() < beganMs + 150) Atomics.wait(pause, 0, 0, 1);
  await quiet;
  output.end();
  expect(taken).toEqual(["late\n"]);
  child.kill("SIGKILL");
  await ended;
});

it("a stream that is ahead rests after each chunk, and nothing of it is lost", async () => {
  const stream = new PassThrough();
  const taken: [string, boolean][] = [];
  const output = new Output([{ name: "stdout", stream, isAhead: (count) => count < 3 }], () => {});
  stream.on("data", (chunk: Buffer) => taken.push([`${chunk}`, stream.isPaused()]));
  stream.write("abc");
  stream.write("de");
  stream.end("f");
  await output.quiet();
  output.end();
  expect(taken).toEqual([
    ["abc", false],
    ["de", true],
    ["f", true],
  ]);
});

const libc = findLibc();
it.runIf(libc !== undefined)("a pipe is ahead once much has come and it holds more", async () => {
  const pipes = new Pipes(tempFolder());
  const launch = posixLaunch(libc as NonNullable<typeof libc>);
  const argv = ["/bin/sh", "-c", "head -c 3000000 /dev/zero"] as const;
  const { child, streams } = withStreams({ isMerged: true }, pipes, (stdio) =>
    launch({ argv, cwd: "/", env: { PATH: "/usr/bin:/bin" }, stdio }),
  );
  const [{ stream, isAhead } = { stream: new PassThrough() }] = streams.outputs;
  expect(isAhead?.(1)).toBe(false);
  stream.on("data", () => {});
  await Promise.all([once(stream, "close"), child.leader.ended]);
  expect([isAhead?.(1), isAhead?.(256 * 1024)]).toEqual([true, false]);
  await pipes.close();
});
