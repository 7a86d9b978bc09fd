import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

const code = [
  `import { watchStdoutReader } from ${JSON.stringify(new URL("stdout-reader.ts", import.meta.url).href)};`,
  "setInterval(() => {}, 1000);",
  "await watchStdoutReader(() => process.exit(7));",
  'console.log("ready");',
].join("\n");
const silent = [process.execPath, "--input-type=module", "--no-warnings", "-e", code] as const;

test("a reader that leaves a socket, as Node makes it for its children, is missed without a write", async () => {
  const [node, ...args] = silent;
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  await once(child.stdout, "data");
  child.stdout.destroy();
  expect(await once(child, "exit")).toEqual([7, null]);
});

test("and one that leaves a pipe, as shells make it", async () => {
  const pipeline = '"$@" | head -n 1; exit "${PIPESTATUS[0]}"';
  const child = spawn("bash", ["-c", pipeline, "bash", ...silent], { stdio: ["ignore", "pipe", "inherit"] });
  expect(await text(child.stdout)).toBe("ready\n");
  expect(child.exitCode ?? (await once(child, "exit"))[0]).toBe(7);
});
