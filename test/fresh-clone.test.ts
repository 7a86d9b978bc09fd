/**
 * What a newcomer does: clone, `npm start`. Only with CRUX_TEST_FRESH=1, since it installs the dependencies; they come from
 * wherever the npm configuration of the machine says.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const INSTALL_MS = 15 * 60_000;

describe.skipIf(process.env.CRUX_TEST_FRESH !== "1")("a fresh clone", () => {
  let dir: string;
  let env: Record<string, string>;

  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-fresh-")));
    for (const name of ["home", "run"]) mkdirSync(join(dir, name), { mode: 0o700 });
    env = {
      PATH: systemPath(),
      HOME: join(dir, "home"),
      XDG_RUNTIME_DIR: join(dir, "run"),
      LANG: "C.UTF-8",
      ...npmConfiguration(),
    };
  });
  afterEach(async () => {
    const crux = join(dir, "clone/bin/crux");
    if (existsSync(crux)) await run(crux, ["daemon", "stop"]);
    rmSync(dir, { recursive: true, force: true });
  });

  async function run(
    command: string,
    args: readonly string[],
    cwd = dir,
  ): Promise<{ code: number; stdout: string }> {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, "close")) as [number];
    return { code, stdout: Buffer.concat(chunks).toString("utf8") };
  }

  it("sets itself up with `npm start` and does an intent, without any configuration", {
    timeout: INSTALL_MS,
  }, async () => {
    expect((await run("git", ["clone", "--quiet", ROOT, "clone"])).code).toBe(0);
    const clone = join(dir, "clone");
    const { code, stdout } = await run("npm", ["start", "--silent", "--", "what is here?"], clone);
    expect(code).toBe(0);
    const lines = stdout.split("\n").filter((line) => line !== "");
    expect(lines[0]).toMatch(/^No model is set up: answered by the built-in interpreter, /);
    expect(stdout).toMatch(/\[kernel\] PID 1 exited\(0\) \| tokens: \d+ \| elapsed: \d+\.\ds\n/);
    const { stdout: changed } = await run("git", ["status", "--porcelain"], clone);
    expect(changed).toBe("");
    const again = await run(join(clone, "bin/crux"), ["-q", "version"], "/");
    expect(again).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect(readdirSync(join(dir, "run/crux")).sort()).toEqual(["crux.pid", "crux.sock"]);
  });
});

/** The machine's own Node and npm, without the folders that a package script puts in front. */
function systemPath(): string {
  const parts = (process.env.PATH ?? "").split(delimiter);
  return parts.filter((part) => !part.includes("node_modules")).join(delimiter);
}

/** Where packages come from is the machine's business; an empty HOME must not change it. */
function npmConfiguration(): Record<string, string> {
  const keys = ["registry", "cafile", "proxy", "https-proxy"];
  const found: Record<string, string> = {};
  for (const key of keys) {
    const { stdout } = spawnSync("npm", ["config", "get", key], { encoding: "utf8" });
    const value = stdout.trim();
    if (value !== "" && value !== "null" && value !== "undefined")
      found[`npm_config_${key.replace(/-/g, "_")}`] = value;
  }
  return found;
}
