import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { Pty } from "./pty.ts";

const O_NONBLOCK = 0o4000;

it.skipIf(process.platform !== "linux")("the program's end of a terminal waits for input", () => {
  const pty = new Pty({ cols: 80, rows: 24 });
  const [, flags = ""] =
    /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${pty.slave}`, "utf8")) ?? [];
  pty.release();
  pty.output.destroy();
  expect(Number.parseInt(flags, 8) & O_NONBLOCK).toBe(0);
});
