/** The journal's tools as a person uses them: on what real agents left, beside a daemon and without one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JournalLine } from "../src/abi/journal/line.ts";
import type { CheckWire, VerifyWire } from "../src/abi/journal/wire.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeEach(async () => {
  world = new World();
  const runs = toolUse({ name: "bash", input: { command: "echo ran" } }, { text: "I run it." });
  server = await startModelServer({ script: inTurn(runs, text("It ran.")) });
  Object.assign(world.env, modelEnv(server));
});
afterEach(async () => {
  await server.close();
  await world.close();
});

const run = async () => {
  const { stdout, code } = await world.crux(["-q", "--permission-mode", "bypass", "work"]);
  expect([code, stdout]).toEqual([0, "It ran.\n"]);
};
const stop = async () => expect((await world.crux(["daemon", "stop"])).code).toBe(0);
const path = (name: string) => join(world.dir, "state/crux/journal", name);
async function json<T>(...args: string[]): Promise<T> {
  const { stdout } = await world.crux([...args, "--json"]);
  return (JSON.parse(stdout) as { data: T }).data;
}
const records = async (pid: number) =>
  (await world.crux(["journal", String(pid), "--json"])).stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JournalLine);

test("what an agent did can be read, checked and verified, beside the daemon and without it", async () => {
  await run();
  const lines = await records(1);
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, n) => n + 1));
  expect(lines[0]).toMatchObject({ kind: "process.spawned", pid: 1, body: { intent: "work" } });
  expect(lines.every(({ hash }) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
  const shown = await world.crux(["journal", "1", "--kind", "call.intent"]);
  expect(shown.stdout).toContain("exec echo ran");
  expect(await world.crux(["fsck", "--full"])).toMatchObject({ code: 0, stderr: "" });
  expect(await json<VerifyWire>("audit", "verify")).toMatchObject({ broken: null, processes: 1 });

  await stop();
  const report = await json<CheckWire>("fsck", "--full");
  expect(report).toMatchObject({ findings: [], processes: 1 });
  expect(world.daemonPid).toBeUndefined();
  const unknown = await world.crux(["journal", "77"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining("[NOT_FOUND] no history of process 77"),
  ]);
});

test("an edited record is found, named and cut; others go on, and roots kept elsewhere still tell of it", async () => {
  await run();
  await run();
  await stop();
  writeFileSync(join(world.dir, "roots"), (await world.crux(["audit", "roots", "--json"])).stdout);
  await stop();
  const db = new DatabaseSync(path("journal.db"));
  const done = db
    .prepare("UPDATE records SET body = replace(body, 'It ran.', 'It did!') WHERE pid = 1")
    .run();
  db.close();
  expect(done.changes).toBeGreaterThan(0);

  const found = await json<CheckWire>("fsck", "--full");
  expect(found.findings).toMatchObject([{ code: "bad_hash", severity: "damage", pid: 1 }]);
  const { seq } = found.findings[0]!;
  const verified = await world.crux(["audit", "verify", "--against", join(world.dir, "roots")]);
  expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining(`pid 1, record ${seq}`)]);

  const beside = await world.crux(["fsck", "--repair", "--yes"]);
  expect([beside.code, beside.stderr]).toEqual([3, expect.stringContaining(`PID ${world.daemonPid}`)]);
  await stop();
  expect((await world.crux(["fsck", "--full", "--repair"])).code).toBe(3);
  expect(await world.crux(["fsck", "--full", "--repair", "--yes"])).toMatchObject({ code: 2 });
  expect((await world.crux(["fsck", "--full"])).code).toBe(0);
  expect((await records(2)).at(-1)?.kind).toMatch(/^process\./);
  await run();
});

test("a database that does not open is told, and left as it is", async () => {
  await run();
  await stop();
  for (const name of ["journal.db-wal", "journal.db-shm"]) writeFileSync(path(name), "");
  writeFileSync(path("journal.db"), "no journal\n".repeat(900));
  const { code, stdout } = await world.crux(["fsck"]);
  expect([code, stdout]).toEqual([1, expect.stringMatching(/database .*file is not a database/)]);
  expect(readFileSync(path("journal.db"), "utf8")).toBe("no journal\n".repeat(900));
});
