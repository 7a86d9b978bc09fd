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
