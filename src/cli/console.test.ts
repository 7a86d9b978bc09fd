import { expect, test } from "vitest";
import { Console } from "./console.ts";
import { FakeOutput } from "./testing/run-command.ts";

const NOTICE = "! left out, not trusted: 2 skills and 1 MCP server of this folder. To look: crux trust /w";

test("a notice is broken at blanks at a terminal, and not in a pipe", async () => {
  const written = async (isTTY: boolean): Promise<string> => {
    const [stdout, stderr] = [new FakeOutput(isTTY), new FakeOutput(isTTY)];
    stderr.columns = 40;
    await new Console({ env: {}, stdout, stderr }, "default", true).notice(NOTICE);
    return stderr.text;
  };
  expect(await written(false)).toBe(`${NOTICE}\n`);
  const lines = (await written(true)).trimEnd().split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(lines.join(" ").split(/ +/)).toEqual(NOTICE.split(" "));
});

test("what fails and what a model says is broken at blanks too, by what is seen of it, its own line ends kept", async () => {
  const stdout = new FakeOutput(true);
  const stderr = new FakeOutput(true);
  [stdout.columns, stderr.columns] = [30, 30];
  const console = new Console({ env: {}, stdout, stderr }, "default", false);
  await console.errorLine(`\x1b[31m✗\x1b[39m [BUDGET] of nineteen and\nno room for the last words of it`);
  expect(stderr.text).toBe(
    `\x1b[31m✗\x1b[39m [BUDGET] of nineteen and\nno room for the last words of\n  it\n`,
  );
  await console.text(`- one item that is too long for a line\n${"x".repeat(40)}`);
  expect(stdout.text).toBe(`- one item that is too long\nfor a line\n${"x".repeat(40)}\n`);
});
