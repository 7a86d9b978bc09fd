/** Every recording is replayed by the code of today, with nothing behind it, and what is changed in one is told apart. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { agentProgram } from "../src/agent/loop.ts";
import { replayRecords } from "../src/history/replay/replayer.ts";
import { Kernel } from "../src/kernel/kernel.ts";
import type { JournalRecord } from "../src/kernel/ports/journal.ts";
import type { ReplayReport } from "../src/kernel/ports/replays.ts";
import { systemClock } from "../src/lib/time/system-clock.ts";
import { inTurn, modelEnv } from "./harness/model.ts";
import { World } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

const DIR = fileURLToPath(new URL("recordings/", import.meta.url));
const NAMES = readdirSync(DIR).flatMap((file) => file.match(/^(.+)\.ndjson$/)?.slice(1) ?? []);

const linesOf = (file: string): string[] =>
  readFileSync(`${DIR}${file}.ndjson`, "utf8")
    .split("\n")
    .filter((line) => line !== "");
const recordsOf = (name: string): JournalRecord[] =>
  linesOf(name).map((line) => JSON.parse(line) as JournalRecord);

/** Differences that a change of the loop made on purpose, by recording, with their reason. */
const KNOWN = JSON.parse(readFileSync(`${DIR}known-differences.json`, "utf8")) as Record<string, string>;

function replay(records: readonly JournalRecord[]): Promise<ReplayReport> {
  const { pid, proc } = records.at(-1)!;
  const ports = { program: agentProgram({ platform: "linux" }), clock: systemClock };
  const each = async function* () {
    yield* records;
  };
  return replayRecords(each(), { pid, proc, ports, make: (closed) => new Kernel(closed) });
}

describe("recordings", () => {
  it("are there, and name no machine", () => {
    expect(NAMES.length).toBeGreaterThan(8);
    for (const name of NAMES)
      for (const line of linesOf(name)) expect([name, ...ownOf(line)]).toEqual([name]);
  });

  it.each([
    ["/home/ada/desk", ["/home/ada/desk"]],
    ["/root/.bashrc and /Users/ada", ["/root/.bashrc", "/Users/ada"]],
    ["uid=1000(ada) gid=1000", ["uid=1000", "gid=1000"]],
    ["https://registry.example.org/left-pad", ["registry.example.org"]],
    ["ada@build-7.example.com", ["ada@build-7", "build-7.example.com"]],
    ["Bearer test-key-0123456789", ["test-key"]],
    ['{"at":1700000000123}', ["1700000000123"]],
    ['{"text":"/tmp/crux-recording/room/a.txt, 127.0.0.1:8080, 2026-01-05T12:00:00.000Z"}', []],
  ])("a machine's own is found in %j", (line, own) => {
    expect(ownOf(line).sort()).toEqual([...own].sort());
  });

  test.each(NAMES)("%s replays without a difference", async (name) => {
    const report = await replay(recordsOf(name));
    if (KNOWN[name] === undefined) expect(report).toMatchObject({ outcome: "same" });
    else expect(report.outcome, KNOWN[name]).toBe("differs");
    expect(report.steps).toBeGreaterThan(0);
  });

  test.each(NAMES)("%s: another argument, message, place or end is reported at its record", async (name) => {
    const records = recordsOf(name);
    let tried = 0;
    for (const [at, record] of records.entries()) {
      if (!isOwn(records, record)) continue;
      for (const body of changesOf(record)) {
        tried++;
        const report = await replay(records.with(at, { ...record, body }));
        const words = JSON.stringify(body).slice(0, 200);
        expect(report.difference?.seq, `${record.seq} ${record.kind} ${words}`).toBe(record.seq);
      }
    }
    expect(tried).toBeGreaterThan(3);
  });

  test.each(NAMES)("%s: what the model said, if it had said something else, is noticed", async (name) => {
    const records = recordsOf(name);
    for (const [at, record] of records.entries()) {
      if (record.kind !== "call.read" || !isOwn(records, record)) continue;
      const said = JSON.stringify(record.body);
      const other = said.replace(/(\\"type\\":\\"text\\",\\"text\\":\\")/, "$1Not at all. ");
      if (other === said) continue;
      const report = await replay(records.with(at, { ...record, body: JSON.parse(other) }));
      expect(report.outcome).toBe("differs");
      expect(report.difference?.seq).toBeGreaterThanOrEqual(record.seq);
    }
  });
});

/** Where a recording is made, and what is nobody's own. */
const PLACES = /^\/(tmp\/crux-recording|dev\/(llm|zero|null)|bin|usr\/bin|usr\/local\/bin|var\/out)\b/;
/** The recorder's hour (harness/recorder.ts), ms. */
const NOON = Date.UTC(2026, 0, 5, 12);
const HOUR_MS = 3_600_000;

/** What tells of the machine or the person that made it: folders, hosts, users, keys, times. */
function ownOf(line: string): string[] {
  const all = (pattern: RegExp) => [...line.matchAll(pattern)].map(([found]) => found);
  const paths = all(/(?<![\w.:/\\-])\/[A-Za-z0-9_.+-]+(?:\/[A-Za-z0-9_.+-]+)+/g).filter(
    (path) => !PLACES.test(path),
  );
  const times = all(/(?<![\w.])1\d{12}(?!\w)/g).filter((text) => Math.abs(Number(text) - NOON) > HOUR_MS);
  const hosts = all(/\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|dev|internal|local|lan)\b/g);
  const users = all(/\b[ug]id=\d+|\b[a-z_][\w-]*@[a-z][\w-]*/g);
  return [...paths, ...times, ...hosts, ...users, ...all(/test-key|sk-[A-Za-z0-9]{8}/g)];
}

/** A fork only remembers what its origin did. */
function isOwn(records: readonly JournalRecord[], { proc }: JournalRecord): boolean {
  return proc === records.at(-1)?.proc;
}

type Passage = Readonly<Record<string, unknown>>;

/** One thing of a record at a time. */
function changesOf({ kind, body }: JournalRecord): unknown[] {
  const known = body as Record<string, unknown>;
  if (kind === "ctx.record" && "role" in known) return [{ ...known, content: `${String(known.content)}!` }];
  // what was ended by force came to no end of its own
  if (kind === "process.exited" && known.code === 137) return [];
  if (kind === "process.exited") return [{ ...known, result: `${String(known.result)}!` }];
  if (kind !== "call.read") return [];
  const did = known.did as readonly Passage[];
  return did.flatMap((passage, at) => {
    if ("a" in passage) return [{ did: did.with(at, { ...passage, a: "AAAAAAAAAAAAAAAAAAAAAA" }) }];
    return [];
  });
}

describe("crux replay", () => {
  let world: World;
  let server: ModelServer;
  beforeEach(async () => {
    world = new World();
    const answers = [toolUse({ name: "bash", input: { command: "echo ran >> count" } }), text("Done.")];
    server = await startModelServer({ script: inTurn(...answers) });
  });
  afterEach(async () => {
    await server.close();
    await world.close();
  });
  const work = () => world.crux(["do it", "--permission-mode", "bypass"], { env: modelEnv(server) });

  it("asks no model, runs nothing, and says that it is the same", async () => {
    await work();
    const asked = server.requestCount;
    const { code, stdout } = await world.crux(["replay", "1"]);
    expect([code, stdout]).toEqual([0, "[replay] PID 1: replayed 2 steps, 0 differences\n"]);
    expect(server.requestCount).toBe(asked);
    expect(world.file("count")).toBe("ran\n");
  });

  it("--show prints again what was seen; a file does as well as a pid", async () => {
    await work();
    const shown = await world.crux(["replay", "1", "--show"]);
    expect(shown.stdout).toMatch(
      /reasoning step 1\.\.\.\n.*tool \/bin\/bash .*\n.*reasoning step 2\.\.\.\n.*Done\.\n/,
    );
    expect(shown.stdout).toContain("exited(0)");
    world.write("run.ndjson", `${linesOf("tools").join("\n")}\n`);
    expect((await world.crux(["replay", "run.ndjson"])).stdout).toMatch(/replayed 4 steps, 0 differences/);
    expect((await world.crux(["replay", "run.ndjson", "--show"])).stdout).toContain("a candle now");
  });

  it("runs a process again from what crux journal --json printed of it, a fork with what it remembers", async () => {
    await work();
    const forked = await world.crux(["fork", "1", "--at", "1", "-m", "again", "-q"], {
      env: modelEnv(server),
    });
    const pid = forked.stdout.trim();
    expect((await world.crux(["wait", pid])).code).toBe(0);
    for (const [name, ...flags] of [["1"], [pid, "--with-prefix"]] as const) {
      const { code, stdout } = await world.crux(["journal", name, "--json", ...flags]);
      expect(code).toBe(0);
      world.write(`${name}.ndjson`, stdout);
      const replayed = await world.crux(["replay", `${name}.ndjson`]);
      expect(replayed).toMatchObject({ code: 0, stderr: "" });
      expect(replayed.stdout).toMatch(/replayed \d+ steps?, 0 differences\n$/);
      expect(replayed.stdout.replace(/PID \d+/, "")).toBe(
        (await world.crux(["replay", name])).stdout.replace(/PID \d+/, ""),
      );
    }
  });

  it("names the record of a file that was changed, is missing or changed places", async () => {
    await work();
    const { stdout } = await world.crux(["journal", "1", "--json"]);
    const lines = stdout.trimEnd().split("\n");
    const at = lines.findIndex((line) => line.includes('"role":"assistant"')) + 1;
    const files = {
      changed: lines.with(at - 1, lines[at - 1]!.replace('"role":"assistant"', '"role":"user"')),
      gone: lines.toSpliced(at - 1, 1),
      swapped: lines.toSpliced(at - 1, 2, lines[at]!, lines[at - 1]!),
    };
    for (const [name, all] of Object.entries(files)) {
      world.write(`${name}.ndjson`, `${all.join("\n")}\n`);
      const { code, stdout: said, stderr } = await world.crux(["replay", `${name}.ndjson`]);
      expect({ name, code, said }).toEqual({ name, code: 1, said: "" });
      expect(stderr).toContain(
        `record ${at} ${name === "changed" ? "was changed" : "is missing or out of place"}`,
      );
    }
  });

  it("tells a changed record, a record of before, and a file that is none", async () => {
    const other = linesOf("tools").map((line) =>
      line.replace(/"content":"The lamp is a candle now/, '"content":"No'),
    );
    world.write("other.ndjson", other.join("\n"));
    const differs = await world.crux(["replay", "other.ndjson"]);
    expect(differs.code).toBe(1);
    expect(differs.stderr).toMatch(/then it differs at record \d+ \(ctx\.record\)\n {2}expected: .*"No/);
    world.write(
      "old.ndjson",
      linesOf("tools")
        .filter((line) => !line.includes('"call.read"'))
        .map((line, at) => line.replace(/"seq":\d+/, `"seq":${at + 1}`))
        .join("\n"),
    );
    const old = await world.crux(["replay", "old.ndjson", "--json"]);
    expect(old.code).toBe(1);
    expect(JSON.parse(old.stdout)).toMatchObject({ ok: false, error: { code: "UNAVAILABLE" } });
    expect((await world.crux(["replay", "old.ndjson"])).stderr).toMatch(/not replayable: /);
    world.write("bad.ndjson", "{}\n");
    expect((await world.crux(["replay", "bad.ndjson"])).stderr).toMatch(
      /\[INVALID\].*line 1 is not a record/,
    );
    expect((await world.crux(["replay", "none.ndjson"])).stderr).toMatch(/\[NOT_FOUND\]/);
    expect((await world.crux(["replay"])).stderr).toMatch(/a pid or a file is missing/);
  });
});
