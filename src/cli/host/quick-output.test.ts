import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { quickOutput } from "./quick-output.ts";

const dir = mkdtempSync(join(tmpdir(), "crux-quick-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function streamed() {
  const got: string[] = [];
  const write = (text: string | Uint8Array, done: () => void): boolean => {
    got.push(Buffer.from(text).toString());
    done();
    return true;
  };
  return { got, stream: () => ({ isTTY: true, write }) };
}

it("quickOutput() writes to a file without a stream", () => {
  const path = join(dir, "out");
  const fd = openSync(path, "w");
  let dones = 0;
  const { got, stream } = streamed();
  const output = quickOutput(fd, stream);
  output.write("one\n", () => dones++);
  output.write(Buffer.from("two\n"), () => dones++);
  closeSync(fd);
  expect([readFileSync(path, "utf8"), dones, got, output.isTTY]).toEqual(["one\ntwo\n", 2, [], undefined]);
});

it("quickOutput() leaves to the stream what it cannot write", () => {
  const fd = openSync(dir, "r");
  const { got, stream } = streamed();
  quickOutput(fd, stream).write("one\n", () => {});
  closeSync(fd);
  expect(got).toEqual(["one\n"]);
});

it("quickOutput() of a terminal, or another device, is the stream", () => {
  const fd = openSync("/dev/null", "w");
  const { stream } = streamed();
  expect(quickOutput(fd, stream).isTTY).toBe(true);
  closeSync(fd);
});
