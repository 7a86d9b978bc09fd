import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempFolder } from "../testing.ts";
import { Output } from "./output.ts";

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
