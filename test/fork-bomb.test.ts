/** A program of a project that starts agents in its own name as fast as it can: the budget ends it, and nothing is left. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { settled, World } from "./harness/world.ts";
import { toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;

beforeEach(() => {
  world = new World();
});
afterEach(async () => {
  await server.close();
  await world.close();
});

/** Asks once, by the socket of its process; exits 3 when it was refused, and says with what. */
const SPAWN = `
const socket = require("node:net").connect(process.env.CRUX_IPC_SOCKET);
let text = "";
socket.on("data", (chunk) => {
  text += chunk;
  if (!text.includes("\\n")) return;
  const { ok, error } = JSON.parse(text.slice(0, text.indexOf("\\n")));
  if (!ok) console.log(error.code + " " + error.message);
  process.exit(ok ? 0 : 3);
});
const payload = { intent: "look", agent: "none", max_steps: 1000, detach: true };
socket.write(JSON.stringify({ method: "spawn", payload }) + "\\n");
`;
const BOMB = `until [ -e go ]; do sleep 0.05; done; for worker in 1 2 3; do (while "$NODE" spawn.cjs; do :; done) & done; wait`;
const TOKENS = 40_000;
const CHILDREN = 24;
const WORKERS = 3;

interface Row {
  readonly kind: string;
  readonly state: string;
  readonly exit: { readonly code: number } | null;
}

it("a shell loop that spawns by its own socket is refused with BUDGET; all it started ends within the budget", async () => {
  const look = toolUse({ name: "ls", input: {} }, { text: "Looking once more." });
  server = await startModelServer({ script: () => look });
  world.write("spawn.cjs", SPAWN);
  const command = ["bash", "-c", BOMB];
  const env = { NODE: process.execPath };
  const services = { bomb: { command, env, permission_mode: "bypass", restart: "temporary" } };
  const file = { name: "bomb", budget: { tokens: TOKENS }, services };
  world.write("crux.compose.yaml", JSON.stringify(file));
  const up = world.start(["compose", "up"], { env: modelEnv(server), timeoutMs: 90_000 });
  await up.seen("bomb-1: started");
  const [, pid = ""] = /bomb-1: started \(PID (\d+)\)/.exec(up.stdout()) ?? [];
  expect((await world.crux(["budget", "set", pid, "--children", String(CHILDREN)])).code).toBe(0);
  world.write("go", "");
  const run = await up.done;
  expect(run.code, run.stderr).toBe(0);
  const refused = run.stdout.match(/^bomb-1 +\| BUDGET .*$/gm) ?? [];
  expect(refused).toHaveLength(WORKERS);
  expect(refused[0]).toContain(`agents started below: limit ${CHILDREN}, used ${CHILDREN}`);

  const rows = async () => {
    const { stdout } = await world.crux(["ps", "-a", "--json", "--verbose"]);
    return (JSON.parse(stdout) as { data: { processes: Row[] } }).data.processes;
  };
  const isOver = (found: readonly Row[]) => found.every(({ state }) => state !== "running");
  const left = await settled(rows, isOver, 30_000);
  expect(left.filter(({ state }) => state === "running")).toEqual([]);

  const { stdout } = await world.crux(["cost", "--by", "pid", "--json"]);
  const { lines } = (JSON.parse(stdout) as { data: { lines: { tokens: number; calls: number }[] } }).data;
  const spent = lines.reduce((sum, { tokens }) => sum + tokens, 0);
  expect(left.filter(({ kind }) => kind === "agent").length).toBeLessThanOrEqual(CHILDREN);
  expect(lines.length).toBeGreaterThan(0);
  expect(spent).toBeLessThanOrEqual(TOKENS);
  expect(lines.reduce((sum, { calls }) => sum + calls, 0)).toBe(server.requests.length);
  expect(world.commands(/spawn\.cjs/)).toEqual([]);
}, 120_000);
