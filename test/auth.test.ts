/** `crux auth`: a key is tried, stored for the user alone, used where the environment names none, and shown nowhere. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { onStage, server, startModel, world } from "./harness/stage.ts";
import { error, text } from "./model-server/reply.ts";

onStage();

const KEY = "sk-test-planted-key-4711";

const login = (key: string, ...flags: string[]) =>
  world.crux(["auth", "login", "openai", "--key-stdin", "--base-url", server.openaiBaseUrl, ...flags], {
    stdin: `${key}\n`,
  });

/** Every file below a folder, as text. */
function filesBelow(dir: string): [path: string, content: string][] {
  const all = readdirSync(dir, { recursive: true, withFileTypes: true });
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path, "latin1")]);
}

describe("crux auth", () => {
  it("stores a key that works, uses it, and shows it nowhere", async () => {
    await startModel({ script: text("ok") });
    const done = await login(KEY);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    expect(done.stdout).toMatch(
      /^\[auth\] openai: key …4711 stored in .*credentials\.json \(a test call was answered/,
    );
    const file = join(world.dir, "state/crux/credentials.json");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const run = await world.crux(["-q", "say ok", "-m", "openai"]);
    expect(run).toMatchObject({ code: 0, stdout: "ok\n" });
    expect(server.requests.length).toBeGreaterThanOrEqual(2);
    expect((await world.crux(["auth"])).stdout).toMatch(/^openai: key …4711, stored, http/);
    expect((await world.crux(["daemon", "restart"])).code).toBe(0);
    expect((await world.crux(["-q", "say ok", "-m", "openai"])).stdout).toBe("ok\n");
    const shown = filesBelow(join(world.dir, "state")).filter(([, content]) => content.includes(KEY));
    expect(shown.map(([path]) => path)).toEqual([file]);
    expect(JSON.stringify(done)).not.toContain(KEY);
  });

  it("does not store a key that fails, and says why", async () => {
    await startModel({ script: error(401, "invalid_request_error", "wrong key") });
    const failed = await login(KEY);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toMatch(/the key was not stored: a test call failed/);
    expect((await world.crux(["auth", "status"])).stdout).toBe(
      "No provider has a key: crux auth login stores one.\n",
    );
    expect((await login(KEY, "--no-check")).code).toBe(0);
    const listed = JSON.parse((await world.crux(["auth", "--json"])).stdout);
    expect(listed.data.credentials).toEqual([
      { driver: "openai", ends_with: "4711", base_url: server.openaiBaseUrl, from: "stored" },
    ]);
    expect((await world.crux(["auth", "logout", "openai"])).stdout).toBe(
      "[auth] openai: the stored key is removed\n",
    );
    expect((await world.crux(["auth", "logout", "openai"])).stdout).toBe(
      "[auth] openai: no key was stored\n",
    );
  });

  it("gives no stored key to a server that the environment names", async () => {
    await startModel({ script: text("ok") });
    expect((await login(KEY, "--no-check")).code).toBe(0);
    const env = { OPENAI_BASE_URL: `${server.openaiBaseUrl}/`, OPENAI_MODEL: "test-model" };
    await world.crux(["-q", "say ok", "-m", "openai"], { env });
    expect((await world.crux(["auth", "list"], { env })).stdout).toBe(
      "openai: key from OPENAI_API_KEY (key …4711, stored, is not used here)\n",
    );
    expect(server.requests.filter(({ headers }) => JSON.stringify(headers).includes(KEY))).toEqual([]);
  });
});
