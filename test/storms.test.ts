/** Servers that are overloaded all the time, and replies that drip: each run ends in a stated way, and soon. */
import { afterEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { World } from "./harness/world.ts";
import { overloaded, text } from "./model-server/reply.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "./model-server/server.ts";

let world: World;
const servers: ModelServer[] = [];

beforeTries(
  () => {
    world = new World();
  },
  () => world.close(),
);
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(script: ModelServerOptions["script"]): Promise<ModelServer> {
  const server = await startModelServer({ script });
  servers.push(server);
  return server;
}

const storm = () => overloaded({ "retry-after-ms": "1" });
/** Keeps the connection busy, and sends no event. */
const dripping = () => {
  let reply = text("This never comes to its end.");
  for (let drops = 0; drops < 100; drops++)
    reply = reply.delay(100, { afterEvents: 3 }).inject(": drip\n\n", { afterEvents: 3 });
  return reply;
};

it("a storm over the model and its fallback ends the run as failed, with the retries of the last one", async () => {
  const [first, second] = [await serve(storm), await serve(storm)];
  const env = { ...modelEnv(first, "anthropic"), ...modelEnv(second, "openai"), CRUX_MAX_RETRIES: "4" };
  const to = ["-m", "anthropic/sonnet", "--fallback-model", "openai/test-model"];
  const { code, stderr } = await world.crux([...to, "look"], { env });
  expect(code).toBe(1);
  expect(stderr).toContain("model: sonnet overloaded; test-model answers for the rest of the run");
  expect(stderr).toMatch(/overloaded/);
  expect([first.requests.length, second.requests.length]).toEqual([3, 5]);
  const { stdout } = await world.crux(["ps", "-a", "--json"]);
  const { data } = JSON.parse(stdout) as { data: { processes: { state: string }[] } };
  expect(data.processes.map(({ state }) => state)).toEqual(["dead"]);
});

it("a reply that drips without an event stalls twice, and is then asked for as a whole", async () => {
  let asked = 0;
  const server = await serve(() => (asked++ < 2 ? dripping() : text("All at once.")));
  const env = { ...modelEnv(server, "anthropic"), CRUX_STREAM_IDLE_TIMEOUT_MS: "500" };
  const { code, stdout, stderr } = await world.crux(["-m", "anthropic/sonnet", "look"], { env });
  expect(stderr.match(/reply stalled/g)).toHaveLength(2);
  expect([code, server.requests.map(({ stream }) => stream)]).toEqual([0, [true, true, false]]);
  expect(stdout).toContain("All at once.");
  expect(stdout).not.toContain("never comes");
});
