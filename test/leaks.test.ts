/** Hundreds of runs through one daemon leave nothing behind: no process, fd, socket, child, file, or memory. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inTurn, modelEnv } from "./harness/model.ts";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { settled, World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const RUNS = 200;
const AT_ONCE = 10;
const WARM_UP = 60;
/** With so small a young generation memory follows what is held, not what the collector leaves for later. */
const NODE_OPTIONS = "--max-semi-space-size=2";
const MAX_GROWTH_MB = 60;

let world: World;
let server: ModelServer;
let spawnPayload: object;

beforeTries(
  async () => {
    world = new World({ NODE_OPTIONS });
    world.write("a.txt", "one\n".repeat(2_000));
    server = await startModelServer({
      script: [
        { when: { lastUserText: "hang" }, reply: text("This begins and then").stall({ afterEvents: 3 }) },
        {
          default: inTurn(
            toolUse([
              { name: "view", input: { file_path: "a.txt" } },
              { name: "grep", input: { pattern: "one", mode: "count" } },
            ]),
            toolUse({ name: "bash", input: { command: "echo out; sleep 300 & disown; exit 3" } }),
            text("Done."),
          ),
        },
      ],
      keepRequests: 1,
    });
    const env = { PATH: world.env.PATH, HOME: world.env.HOME, ...modelEnv(server, "anthropic") };
    spawnPayload = { cwd: world.work, permission_mode: "bypass", env };
    expect((await world.crux(["ps"])).code).toBe(0);
    // caches, pools and compiled code come with the first of them
    await many(WARM_UP, runOnce);
  },
  async () => {
    await server.close();
    await world.close();
  },
);

async function runOnce(): Promise<void> {
  await using wire = await Wire.open(world.socket);
  expect(await wire.ask("spawn", { intent: "work", ...spawnPayload })).toMatchObject({ ok: true });
  const last = (await wire.rest()).at(-1);
  expect(last).toMatchObject({ type: "complete", payload: { exit_code: 0, result: "Done." } });
}

/** `count` times, `AT_ONCE` of them at a time. */
async function many(count: number, once: () => Promise<void>): Promise<void> {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await once();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

interface Holdings {
  readonly fds: number;
  readonly tasks: number;
  readonly rssMb: number;
}

function holdings(): Holdings {
  const proc = `/proc/${world.daemonPid}`;
  const status = readFileSync(`${proc}/status`, "utf8");
  return {
    fds: readdirSync(`${proc}/fd`).length,
    tasks: readdirSync(`${proc}/task`).length,
    rssMb: Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024,
  };
}

/** Once nobody is connected but the one who asks. */
async function quietHoldings(): Promise<Holdings> {
  await server.waitFor(() => server.openSockets === 0);
  await using wire = await Wire.open(world.socket);
  const status = await settled(
    async () => (await wire.ask("kernel.status"))!.payload,
    (payload) => payload?.connections === 1 && payload.processes === 0,
  );
  expect(status).toMatchObject({ connections: 1, processes: 0 });
  return holdings();
}

it(`${RUNS} runs, ${AT_ONCE} at a time, leave the daemon as it was`, async () => {
  const before = await quietHoldings();
  const pid = world.daemonPid;
  await many(RUNS, runOnce);
  expect(world.daemonPid).toBe(pid);
  expect(server.rejected).toEqual([]);
  expect(server.unexpected).toEqual([]);
  expect(server.requestCount).toBe(3 * (WARM_UP + RUNS));
  await server.waitFor(() => server.openSockets === 0);
  await expectClean(before);
  const journal = readdirSync(join(world.dir, "state/crux/journal"));
  expect(journal).toContain("journal.db");
  expect(readdirSync(join(world.dir, "state/crux/outputs"))).toEqual([]);
  expect(readdirSync(join(world.dir, "state/crux/tmp"))).toEqual([]);
  expect(readdirSync(join(world.dir, "state/crux/scratch"))).toEqual([]);
  expect(world.log()).not.toMatch(/ (?:error|warn) /);
});

it("clients that go away, processes that are killed and readers that detach leave nothing either", async () => {
  const before = await quietHoldings();
  await many(40, async () => {
    await using wire = await Wire.open(world.socket);
    const { pid } = (await wire.ask("spawn", { intent: "hang", ...spawnPayload }))!.payload as {
      pid: number;
    };
    for (let event = ""; event !== "step"; )
      ({ event } = (await wire.next())!.payload as unknown as { event: string });
    const reader = await Wire.open(world.socket);
    expect(await reader.ask("attach_debug", { pid })).toMatchObject({ ok: true });
    await reader.next();
    await reader.close();
    // every second client goes before the end of its process, of which then another one is told: else it is shown for a minute
    if (pid % 2 === 0) await wire.close();
    await using killer = await Wire.open(world.socket);
    expect(await killer.ask("kill", { pid })).toMatchObject({ ok: true });
    if (pid % 2 === 0) expect(await killer.ask("process.wait", { pid })).toMatchObject({ ok: true });
    else expect((await wire.rest()).at(-1)).toMatchObject({ payload: { exit_code: 143 } });
  });
  await server.waitFor(() => server.openSockets === 0);
  await expectClean(before);
});

async function expectClean(before: Holdings): Promise<void> {
  const quiet = await settled(
    async () => (await world.crux(["ps", "-q"])).stdout,
    (pids) => pids === "",
  );
  expect(quiet).toBe("");
  const left = await settled(
    () => world.processes(),
    (pids) => pids.length === 1,
  );
  expect(left).toEqual([world.daemonPid]);
  const after = await quietHoldings();
  expect(after.fds).toBeLessThanOrEqual(before.fds);
  expect(after.tasks).toBeLessThanOrEqual(before.tasks + 2);
  expect(after.rssMb - before.rssMb).toBeLessThan(MAX_GROWTH_MB);
}
