/** One state directory, many who want it at once: one has it, the others are told who, and nobody hears of a lock. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { modelEnv } from "./harness/model.ts";
import { Wire } from "./harness/wire.ts";
import { type Run, settled, World } from "./harness/world.ts";
import { text } from "./model-server/reply.ts";
import { type ModelServer, startModelServer } from "./model-server/server.ts";

let world: World;
let server: ModelServer;
beforeEach(async () => {
  server = await startModelServer({ script: () => text("Yes.") });
  world = new World(modelEnv(server));
});
afterEach(async () => {
  await server.close();
  await world.close();
});

const LOCKED = /database is locked|SQLITE_BUSY|journal_locked/;
const offline = (...args: string[]) => world.crux(["daemon", "--internal-fsck", ...args]);
const lastLine = ({ stdout }: Run) =>
  JSON.parse(stdout.trim().split("\n").at(-1)!) as { type: string; payload: Record<string, unknown> };
const many = <T>(count: number, act: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => act(n));

it("whoever takes the journal beside a daemon is told CONFLICT and its pid, and changes nothing", async () => {
  expect((await world.crux(["-q", "hello"])).code).toBe(0);
  const pid = world.daemonPid!;
  const owner = readFileSync(join(world.dir, "state/crux/journal/owner.json"), "utf8");
  for (const taken of [await offline(), await offline("--full"), await offline("--repair")])
    expect(lastLine(taken)).toMatchObject({
      type: "error",
      payload: { code: "CONFLICT", message: `a daemon (PID ${pid}) has the journal open` },
    });
  expect(await world.crux(["fsck", "--repair", "--yes"])).toMatchObject({
    code: 3,
    stdout: "",
    stderr: expect.stringMatching(
      new RegExp(`^✗ \\[CONFLICT\\] .*PID ${pid}.*\\n {2}→ hint: crux daemon stop\\n$`),
    ),
  });
  // without --repair the daemon is asked
  expect((await world.crux(["fsck", "--full"])).code).toBe(0);
  expect(readFileSync(join(world.dir, "state/crux/journal/owner.json"), "utf8")).toBe(owner);
  expect((await world.crux(["-q", "hello"])).code).toBe(0);
  // one that was killed holds nothing, at once
  process.kill(pid, "SIGKILL");
  await settled(
    () => world.processes().length,
    (count) => count === 0,
  );
  expect(lastLine(await offline("--repair"))).toMatchObject({ type: "complete" });
  expect((await world.crux(["ps"])).code).toBe(0);
});

it("ten daemons, five who check offline and five commands at once: one owner, and nobody hears of a lock", async () => {
  expect((await world.crux(["-q", "hello"])).code).toBe(0);
  for (const round of [1, 2, 3]) {
    expect((await world.crux(["daemon", "stop"])).code).toBe(0);
    const [daemons, checks, commands] = [
      many(10, () => world.start(["daemon", "--internal"])),
      many(5, () => offline("--full")),
      many(5, () => world.crux(["logs", "1"])),
    ];
    for (const check of await Promise.all(checks)) {
      expect([check.code, check.stderr]).toEqual([0, ""]);
      const { type, payload } = lastLine(check);
      if (type === "complete") expect(payload).toMatchObject({ findings: [] });
      else {
        expect(payload.code).toBe("CONFLICT");
        expect(payload.message).toMatch(/^a daemon( \(PID \d+\))? has the journal open$/);
      }
    }
    for (const command of await Promise.all(commands))
      expect([round, command.code, command.stderr, command.stdout]).toEqual([
        round,
        0,
        "",
        expect.stringContaining("reasoning step 1"),
      ]);
    const alive = () => world.commands(/daemon --internal$/);
    expect(await settled(alive, (pids) => pids.length === 1)).toEqual([world.daemonPid]);
    const left = daemons.filter(({ child }) => child.pid !== world.daemonPid);
    for (const { code, stdout, stderr } of await Promise.all(left.map(({ done }) => done)))
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "", stderr: "" });
  }
  expect(world.log()).not.toMatch(LOCKED);
  expect((await world.crux(["daemon", "stop"])).code).toBe(0);
});

it("ten write to one session while two follow it and one forks it: one order, that of the journal, for all", async () => {
  expect((await world.crux(["daemon", "start"])).code).toBe(0);
  const ask = async (method: string, payload: object) => {
    await using wire = await Wire.open(world.socket);
    const reply = (await wire.ask(method, payload))!;
    expect([method, reply.error]).toEqual([method, undefined]);
    return reply.payload as Record<string, number>;
  };
  const place = { cwd: world.work, permission_mode: "bypass", env: world.env };
  const first = await Wire.open(world.socket);
  const head = (await first.ask("spawn", { intent: "begin", session: true, verbose: true, ...place }))!;
  const pid = Number(head.payload!.pid);
  const second = await Wire.open(world.socket);
  expect((await second.ask("session.open", { pid, verbose: true }))!.error).toBeUndefined();
  const heard = [first, second].map((wire) => {
    const words: string[] = [];
    void (async () => {
      for (let line = await wire.next(); line !== undefined; line = await wire.next()) {
        const { event, text: said } = line.payload as { event: string; text?: string };
        if (event === "input" && said?.includes(" says ") === true) words.push(said);
      }
    })();
    return words;
  });
  const said = many(10, async (writer) => {
    const seqs: number[] = [];
    for (let n = 0; n < 5; n++) {
      const words = `client-${writer} says ${n}`;
      seqs.push((await ask("session.say", { pid, text: words, client: `client-${writer}` })).seq!);
    }
    return seqs;
  });
  const forks = many(3, async (n) => {
    await settled(
      () => heard[0]!.length,
      (count) => count > n * 10,
    );
    return ask("process.fork", { pid, env: world.env });
  });
  const [seqs, made] = await Promise.all([Promise.all(said), Promise.all(forks)]);
  for (const own of seqs) expect(own).toEqual([...own].sort((a, b) => a - b));
  expect(new Set(seqs.flat()).size).toBe(50);
  for (const words of heard)
    expect(
      await settled(
        () => words.length,
        (count) => count >= 50,
      ),
    ).toBe(50);
  expect(new Set(made.map((fork) => fork.pid)).size).toBe(3);

  const { stdout } = await world.crux(["journal", String(pid), "--json"]);
  const records = stdout
    .trim()
    .split("\n")
    .map(
      (line) => JSON.parse(line) as { seq: number; lsn: number; kind: string; body: Record<string, unknown> },
    );
  expect(records.map(({ seq }) => seq)).toEqual(records.map((_, n) => n + 1));
  expect(records.map(({ lsn }) => lsn)).toEqual(records.map(({ lsn }) => lsn).sort((a, b) => a - b));
  const put = records
    .filter(({ kind }) => kind === "mail.put")
    .map(({ body }) => Buffer.from(String(body.data), "base64").toString());
  const read = records
    .filter(
      ({ kind, body }) =>
        kind === "ctx.record" && body.role === "user" && /says \d/.test(String(body.content)),
    )
    .map(({ body }) => /client-\d says \d/.exec(String(body.content))![0]);
  expect([...read].sort()).toEqual([...put].sort());
  // words of the run's own client join it before those of others
  const of = (all: string[], writer: number) => all.filter((words) => words.startsWith(`client-${writer} `));
  for (const writer of many(10, (n) => n)) expect(of(read, writer)).toEqual(of(put, writer));
  expect(heard).toEqual([read, read]);
  for (const { pid: forked } of made)
    expect((await world.crux(["replay", String(forked)])).stderr).not.toMatch(LOCKED);
  expect((await world.crux(["fsck", "--full"])).code).toBe(0);
  expect(world.log()).not.toMatch(LOCKED);
  await Promise.all([first.close(), second.close()]);
});
