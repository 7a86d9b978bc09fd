import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startOf } from "./mount-place.ts";

test("startOf() confines what lies in a project, and starts at home what names nothing here", () => {
  const home = realpathSync(mkdtempSync("/var/tmp/crux-mount-place-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const [project, plain] = [join(home, "project"), join(home, "plain")];
  for (const dir of [join(project, ".git"), join(project, "src"), plain, join(home, ".claude")])
    mkdirSync(dir, { recursive: true });
  for (const file of [join(project, "src/server.mjs"), join(project, "tool.py"), join(plain, "server.mjs")])
    writeFileSync(file, "");
  const at = (cwd: string) => (line: string) => startOf(line.split(" "), { cwd, home });
  const here = { cwd: project, confined: true };
  for (const line of [
    "node src/server.mjs",
    "sh ./src/server.mjs",
    "python3 -m tool",
    "npx -y server-files .",
  ])
    expect(at(project)(line)).toEqual(here);
  expect(at(join(project, "src"))("node server.mjs")).toEqual({ cwd: join(project, "src"), confined: true });
  expect(at(plain)(`node ${project}/src/server.mjs`)).toEqual(here);
  for (const line of ["npx -y server-memory", `npx server-files ${project}`, "/bin/cat"])
    expect(at(project)(line)).toEqual({});
  expect(at(plain)("node server.mjs")).toEqual({ cwd: plain });
  expect(at(home)(`node ${plain}/server.mjs`)).toEqual({});
});
