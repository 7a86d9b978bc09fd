/**
 * Records the sessions that every later version must be able to replay (test/recordings):
 *   npm run build && node scripts/record-sessions.ts [name…]
 * One that is there already stays: a recording is of the version that made it. With names, those are made anew.
 */
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ProcessEvent } from "../src/abi/events.ts";
import type { Pid } from "../src/abi/ids.ts";
import { SIGNALS } from "../src/abi/process.ts";
import { RecorderWorld } from "../test/harness/recorder.ts";
import { malformedToolJson, type Reply, rateLimit, text, toolUse } from "../test/model-server/reply.ts";

process.env.TZ = "UTC";

interface Scenario {
  readonly answers: readonly Reply[];
  /** The process to record. */
  act(world: RecorderWorld): Promise<Pid>;
}

const bash = (command: string): Reply => toolUse({ name: "bash", input: { command } }, { text: "I run it." });
const bytes = (words: string): Uint8Array => new TextEncoder().encode(words);

async function whole(world: RecorderWorld, opts = {}, each: (event: ProcessEvent) => unknown = () => {}) {
  const { pid, ended } = await world.start("Look after the desk.", opts, each);
  await ended;
  return pid;
}

/** Answers each question with the next of these. */
function answering(world: RecorderWorld, ...answers: ("yes" | "no" | "always")[]) {
  return async (event: ProcessEvent): Promise<void> => {
    if (event.event !== "ask") return;
    const answer = answers.shift() ?? "no";
    await world.booted.kernel.answer(event.ask_id, answer, answer === "no" ? "not that, please" : "");
  };
}

const LONGEST_MS = 20_000;

/** Rejects when it does not come to be. */
async function once(is: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LONGEST_MS; !(await is()); ) {
    if (performance.now() > end) throw new Error(`waited in vain for ${is.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function activity(world: RecorderWorld, pid: Pid, wanted: string): Promise<void> {
  await once(async () => {
    const all = await world.booted.kernel.init.listProcs();
    return all.some((proc) => proc.pid === pid && proc.activity === wanted);
  });
}

function counter() {
  let count = 0;
  return {
    add: () => void count++,
    get count() {
      return count;
    },
  };
}

/** One step, then a command that this daemon does not outlive. */
const TO_BE_KILLED = "--to-be-killed";
async function toBeKilled(url: string): Promise<void> {
  const world = await RecorderWorld.first(url);
  let steps = 0;
  await world.start("Look after the desk.", {}, (event) => {
    if (event.event === "step") steps++;
  });
  await once(() => steps === 2 && world.booted.kernel.osChildren > 0);
  process.kill(process.pid, "SIGKILL");
}

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  words: { answers: [text("Nothing is to be done.")], act: (world) => whole(world) },
  tools: {
    answers: [
      toolUse([
        { name: "view", input: { file_path: "/tmp/crux-recording/room/desk.txt" } },
        { name: "grep", input: { pattern: "lamp", path: "/tmp/crux-recording/room" } },
        { name: "ls", input: { path: "/tmp/crux-recording/room" } },
      ]),
      toolUse({
        name: "edit",
        input: { file_path: "/tmp/crux-recording/room/desk.txt", old_string: "lamp", new_string: "candle" },
      }),
      bash("cat desk.txt"),
      text("The lamp is a candle now."),
    ],
    act: async (world) => {
      world.write("desk.txt", "a lamp\na chair\n");
      return whole(world);
    },
  },
  errors: {
    answers: [
      toolUse([
        { name: "view", input: { file_path: "/tmp/crux-recording/room/missing.txt" } },
        { name: "nothing", input: {} },
        { name: "bash", input: { command: "exit 7" } },
      ]),
      malformedToolJson("bash", '{"command": '),
      toolUse({ name: "edit", input: { file_path: 7 } }),
      text("None of that worked."),
    ],
    act: (world) => whole(world),
  },
  retries: {
    answers: [rateLimit({ retryAfter: 0 })],
    act: async (world) => {
      let asked = 0;
      world.server.use(() => {
        const replies = [
          rateLimit({ retryAfter: 0 }),
          text("This breaks off.").cut({ afterEvents: 1 }),
          text("At last."),
        ];
        return replies[Math.min(asked++, 2)] as Reply;
      });
      return whole(world);
    },
  },
  asks: {
    answers: [bash("touch one"), bash("touch two"), bash("touch three"), bash("touch three"), text("Asked.")],
    act: (world) =>
      whole(world, { permissionMode: "default", interactive: true }, answering(world, "yes", "no", "always")),
  },
  budget: {
    answers: [bash("true"), bash("true"), bash("true"), text("Done.")],
    act: (world) => whole(world, { contextBudget: 4_000 }),
  },
  steps: { answers: [bash("true")], act: (world) => whole(world, { maxTurns: 3 }) },
  interrupted: {
    answers: [bash("sleep 60")],
    act: async (world) => {
      let running = false;
      const { pid, ended } = await world.start("Look after the desk.", {}, (event) => {
        running ||= event.event === "step";
      });
      await once(() => running && world.booted.kernel.osChildren > 0);
      await world.booted.kernel.init.signal(pid, SIGNALS.SIGINT);
      await ended;
      return pid;
    },
  },
  paused: {
    answers: [bash("echo one"), bash("echo two"), text("Both ran.")],
    act: async (world) => {
      const { pid } = await world.start("Look after the desk.", {}, async (event) => {
        if (event.event === "step" && event.step === 2)
          await world.booted.kernel.init.signal(event.pid, SIGNALS.SIGPAUSE);
      });
      await activity(world, pid, "paused");
      await world.restart();
      const { kernel } = world.booted;
      const events = kernel.attach(pid, { interactive: false });
      world.lendEnv(pid);
      await kernel.init.signal(pid, SIGNALS.SIGRESUME);
      for await (const _ of events);
      return pid;
    },
  },
  session: {
    answers: [bash("echo one"), text("One."), bash("sleep 60"), text("Two."), text("Three.")],
    act: async (world) => {
      const idle = counter();
      const { pid, ended } = await world.start("Look after the desk.", { session: true }, (event) => {
        if (event.event === "idle") idle.add();
      });
      const { init } = world.booted.kernel;
      await once(() => idle.count === 1);
      await init.send(pid, bytes("And the chair?"));
      await once(() => world.booted.kernel.osChildren > 0);
      await init.signal(pid, SIGNALS.SIGINT);
      await once(() => idle.count === 2);
      await init.send(pid, bytes("Leave it, then."));
      await once(() => idle.count === 3);
      await init.signal(pid, SIGNALS.SIGTERM);
      await ended;
      return pid;
    },
  },
  fork: {
    answers: [bash("echo one"), bash("echo two"), text("Both ran."), text("And from here, too.")],
    act: async (world) => {
      const origin = await whole(world);
      const { pid } = await world.fork(origin, 1, "Now say it again.");
      await once(async () => {
        const all = await world.booted.kernel.init.listProcs();
        return all.every((proc) => proc.pid !== pid || proc.state === "zombie");
      });
      return pid;
    },
  },
  killed: {
    answers: [bash("echo one"), bash("sleep 60"), text("I do not know whether the second ended.")],
    act: async (world) => {
      await world.killed([fileURLToPath(import.meta.url), TO_BE_KILLED]);
      const { kernel } = world.booted;
      const [pid] = (await kernel.init.listProcs()).map((proc) => proc.pid);
      if (pid === undefined) throw new Error("it did not come back");
      for await (const _ of kernel.attach(pid, { interactive: false }));
      return pid;
    },
  },
  "ended-by-force": {
    answers: [bash("echo one"), bash("sleep 60")],
    act: async (world) => {
      let steps = 0;
      const { pid, ended } = await world.start("Look after the desk.", {}, (event) => {
        if (event.event === "step") steps++;
      });
      await once(() => steps === 2 && world.booted.kernel.osChildren > 0);
      await world.booted.kernel.init.signal(pid, SIGNALS.SIGKILL);
      await ended;
      return pid;
    },
  },
  supervised: {
    answers: [bash("exit 3"), text("It failed."), bash("true"), text("It worked.")],
    act: async (world) => {
      const { kernel } = world.booted;
      const opts = { ...world.place, permissionMode: "bypass" } as const;
      const start = { agent: "general-purpose", intent: "Look after the desk.", opts };
      const children = [{ id: "keeper", start, restart: "temporary" }] as const;
      const shop = await kernel.init.spawnSupervisor({ name: "shop", exitWhenDone: true, children });
      const found = (await kernel.init.listProcs()).find(({ ppid }) => ppid === shop);
      if (found === undefined) throw new Error("it has no child");
      await kernel.waitFor(shop, new AbortController().signal);
      return found.pid;
    },
  },
  mail: {
    answers: [bash("echo one"), text("Read.")],
    act: (world) =>
      whole(world, {}, async (event) => {
        if (event.event === "step" && event.step === 1)
          await world.booted.kernel.init.send(event.pid, bytes("the chair, too"));
      }),
  },
  outputs: {
    answers: [
      bash("printf 'gr\\303\\274\\303\\237e \\342\\202\\254 \\360\\237\\220\\210\\n'"),
      bash("printf '\\000\\377\\376\\001'"),
      bash("head -c 200000 /dev/zero | tr '\\0' x"),
      text("Größe, 猫, 🐈."),
    ],
    act: (world) => whole(world),
  },
  input: {
    answers: [text("I have read it.")],
    act: (world) => whole(world, { stdin: bytes("a list\nof things\n") }),
  },
};

async function record(name: string, scenario: Scenario, path: string): Promise<void> {
  const world = await RecorderWorld.open(scenario.answers);
  try {
    const pid = await scenario.act(world);
    const report = await world.booted.kernel.replays.replay(pid);
    if (report.outcome !== "same") throw new Error(`${name}: ${JSON.stringify(report)}`);
    const records = await world.records(pid);
    writeFileSync(path, records.map((each) => `${JSON.stringify(each)}\n`).join(""));
    console.log(`${name}: ${records.length} records, ${report.steps} steps`);
  } finally {
    await world.close();
  }
}

const wanted = process.argv.slice(2);
if (wanted[0] === TO_BE_KILLED) {
  wanted.splice(1);
  await toBeKilled(process.argv.at(-1) ?? "");
}
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  const path = fileURLToPath(new URL(`../test/recordings/${name}.ndjson`, import.meta.url));
  if (wanted.length > 0 ? wanted.includes(name) : !existsSync(path)) await record(name, scenario, path);
}
