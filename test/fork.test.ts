/** Going back with the built program: steps, forks and rewinds of agents that run, rest, have ended or died with their daemon. */
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { onSharedStage, ownWorld, serveInTurn, server, world } from "./harness/stage.ts";
import { settled } from "./harness/world.ts";
import { text, toolUse } from "./model-server/reply.ts";

onSharedStage();

const write = (name: string, content: string) =>
  toolUse(
    { name: "write", input: { file_path: join(world.work, name), content } },
    { text: `I write ${name}.` },
  );
const bash = (command: string) => toolUse({ name: "bash", input: { command } }, { text: "I run it." });
const view = (name: string) => toolUse({ name: "view", input: { file_path: join(world.work, name) } });
const edit = (name: string, from: string, to: string) =>
  toolUse({ name: "edit", input: { file_path: join(world.work, name), old_string: from, new_string: to } });

interface Forked {
  readonly pid: number;
  readonly step: number | null;
}
interface Rewound {
  readonly refused: boolean;
  readonly conflicts: readonly string[];
  readonly files: readonly { path: string; deed: string }[];
  readonly fork: Forked | null;
}
async function data<T>(...args: string[]): Promise<T> {
  const { stdout, stderr } = await world.crux([...args, "--json"]);
  const answer = JSON.parse(stdout) as { ok: boolean; data: T };
  if (!answer.ok) throw new Error(stdout + stderr);
  return answer.data;
}

/** To its end; the pid. */
async function work(...words: string[]): Promise<number> {
  const { stdout } = await world.crux(["-q", "-d", "--permission-mode", "bypass", ...words]);
  await world.crux(["wait", stdout.trim()]);
  return Number(stdout);
}
const sent = (request: number): string => JSON.stringify(server.requests[request]!.messages);

describe("crux fork", () => {
  it("goes on from a step with another message, and the other process is left as it was", async () => {
    await serveInTurn(write("a", "1"), write("b", "2"), text("Done."));
    const pid = await work("write the files");
    const shown = await world.crux(["steps", String(pid)]);
    expect(shown.stdout).toMatch(/1 .*a +I write a\.\n +2 .*b +I write b\.\n +3 .*Done\./);
    const requests = server.requestCount;
    const fork = await data<Forked>("fork", String(pid), "--at", "1", "-m", "No, write c instead");
    expect(fork).toMatchObject({ step: 1 });
    expect((await world.crux(["wait", String(fork.pid)])).code).toBe(0);
    const first = sent(requests);
    expect(first).toMatch(/write the files.*I write a\..*No, write c instead/);
    expect(first).not.toContain("I write b.");
    expect((await data<{ steps: unknown[] }>("steps", String(pid))).steps).toHaveLength(4);
    expect((await world.crux(["logs", String(pid)])).stdout).toContain("result: Done.");
  });

  it("--attach talks to it at once, and a session that rests is rewound, with its files", async () => {
    await serveInTurn(write("a", "1"), text("Done."), write("b", "2"), text("The answer."));
    const pid = await work("write a");
    const talk = await world.crux(["fork", String(pid), "--attach", "-m", "and b"]);
    expect([talk.code, talk.stderr]).toEqual([0, ""]);
    expect(talk.stdout).toMatch(/fork of PID \d+ at step 2\n(?:.*\n)*.*The answer\./);
    const fork = Number(/PID (\d+): fork/.exec(talk.stdout)?.[1]);
    expect(readdirSync(world.work).sort()).toEqual(["a", "b"]);
    const tryIt = () => world.crux(["rewind", String(fork), "--files", "--yes"]);
    const done = await settled(tryIt, ({ code }) => code === 0);
    expect(done.stdout).toMatch(/removed +b -1\n.*at step 2/);
    expect(readdirSync(world.work)).toEqual(["a"]);
    await world.crux(["kill", "-s", "KILL", String(fork)]);
  });

  it("of one that runs, over kill -9 of the daemon; a resting fork costs nothing and is there again", async () => {
    const gate = Promise.withResolvers<void>();
    await serveInTurn(write("a", "1"), text("Late.").until(gate.promise, { afterEvents: 1 }), text("Other."));
    const pid = Number((await world.crux(["-q", "-d", "--permission-mode", "bypass", "work"])).stdout);
    await server.waitFor(() => server.requestCount === 2);
    const fork = await data<Forked>("fork", String(pid));
    expect(fork.step).toBe(1);
    process.kill(world.daemonPid!, "SIGKILL");
    gate.resolve();
    const again = await data<Forked>("fork", String(fork.pid), "-m", "go on");
    expect(again.step).toBe(1);
    const told = () => server.requests.map((_, n) => sent(n)).find((messages) => messages.includes("go on"));
    expect(await settled(told, (is) => is !== undefined)).toMatch(/work.*I write a\..*go on/);
    await world.crux(["kill", "-s", "KILL", String(again.pid)]);
    await world.crux(["kill", "-s", "KILL", String(pid)]);
  });

  it.each([
    [["999"], /NOT_FOUND/],
    [["PID", "--at", "77"], /NOT_FOUND.*step 77/],
    [["PID", "--at", "seq:0"], /INVALID/],
    [["PID", "--at", "soon"], /INVALID.*--at needs a step/],
    [["PID", "-m", " "], /INVALID/],
    [[], /INVALID.*pid/],
  ])("fork %j is refused with words", async (args, words) => {
    await serveInTurn(text("Done."));
    const pid = String(await work("say it"));
    const own = args.map((word) => (word === "PID" ? pid : word));
    const { code, stderr, stdout } = await world.crux(["fork", ...own]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(words);
  });
});

describe("crux rewind", () => {
  it("--files puts back bytes and mode, names the commands that ran, and goes on as a new process", async () => {
    await serveInTurn(
      view("main.sh"),
      edit("main.sh", "echo old", "echo new"),
      write("deep/made.txt", "made\n"),
      bash("echo by-command > other"),
      text("Done."),
    );
    writeFileSync(world.write("main.sh", "#!/bin/sh\necho old\n"), "#!/bin/sh\necho old\n");
    chmodSync(join(world.work, "main.sh"), 0o750);
    const pid = await work("change it");
    expect(world.file("main.sh")).toContain("echo new");
    const refused = await world.crux(["rewind", String(pid), "--files"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/INVALID.*\n.*--yes/)]);
    const dry = await world.crux(["rewind", String(pid), "--files", "--dry-run"]);
    expect(dry.stdout).toMatch(
      /restored +main\.sh \+1 -1\nremoved +deep\/made\.txt -1\n.*1 command ran.*by-command/,
    );
    expect(world.file("main.sh")).toContain("echo new");
    const done = await world.crux(["rewind", String(pid), "--files", "--yes"]);
    expect(done.code).toBe(0);
    expect(done.stdout).toMatch(/at step 0 continues as PID \d+, which rests/);
    expect(world.file("main.sh")).toBe("#!/bin/sh\necho old\n");
    expect(statSync(join(world.work, "main.sh")).mode & 0o777).toBe(0o750);
    expect([existsSync(join(world.work, "deep")), existsSync(join(world.work, "other"))]).toEqual([
      false,
      true,
    ]);
    const back = await data<Rewound>("rewind", String(pid), "--at", "4", "--files", "--yes");
    expect(back.files.map(({ deed }) => deed).sort()).toEqual(["recreated", "recreated", "restored"]);
    expect([world.file("main.sh"), world.file("deep/made.txt")]).toEqual(["#!/bin/sh\necho new\n", "made\n"]);
  });

  it("a file that a person has changed since: exit 1, nothing touched; --force", async () => {
    ownWorld();
    await serveInTurn(write("a", "1"), write("b", "2"), text("Done."));
    const pid = await work("write");
    writeFileSync(join(world.work, "b"), "mine");
    const refused = await world.crux(["rewind", String(pid), "--at", "0", "--files", "--yes"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/CONFLICT.*work\/b\n.*--force/);
    expect([world.file("a"), world.file("b")]).toEqual(["1", "mine"]);
    expect(
      await data<Rewound>("rewind", String(pid), "--at", "0", "--files", "--yes", "--force"),
    ).toMatchObject({
      refused: false,
    });
    expect(readdirSync(world.work)).toEqual([]);
  });

  it("one that runs is to be paused first", async () => {
    const gate = Promise.withResolvers<void>();
    await serveInTurn(write("a", "1"), text("Late.").until(gate.promise, { afterEvents: 1 }));
    const pid = Number((await world.crux(["-q", "-d", "--permission-mode", "bypass", "work"])).stdout);
    await server.waitFor(() => server.requestCount === 2);
    const refused = await world.crux(["rewind", String(pid), "--at", "0", "--files", "--yes"]);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/CONFLICT.*is running\n.*crux pause/),
    ]);
    await world.crux(["pause", String(pid)]);
    gate.resolve();
    const tryIt = () => world.crux(["rewind", String(pid), "--at", "0", "--files", "--yes"]);
    const done = await settled(tryIt, ({ code }) => code === 0);
    expect(done.code).toBe(0);
    expect(readdirSync(world.work)).toEqual([]);
    await world.crux(["kill", "-s", "KILL", String(pid)]);
  });

  it.each([0, 1, 2, 3, 4])(
    "kill -9 of the daemon among the writes (%i): all of it is put back",
    async (n) => {
      const names = Array.from({ length: 12 }, (_, at) => `f${at}`);
      for (const name of names.slice(0, 6)) world.write(name, `${name} was`);
      const many = toolUse(
        names.flatMap((name) => [
          { name: "view", input: { file_path: join(world.work, name) } },
          {
            name: "write",
            input: { file_path: join(world.work, name), content: `${name} is ${"x".repeat(20_000)}` },
          },
        ]),
      );
      await serveInTurn(many, text("Done."));
      const pid = Number((await world.crux(["-q", "-d", "--permission-mode", "bypass", "work"])).stdout);
      const snapshots = () => count("snapshot");
      await settled(snapshots, (is) => is > n * 2);
      process.kill(world.daemonPid!, "SIGKILL");
      await world.crux(["pause", String(pid)]);
      const tryIt = () => world.crux(["rewind", String(pid), "--at", "0", "--files", "--yes"]);
      const done = await settled(tryIt, ({ code }) => code === 0);
      expect(done.stderr).toBe("");
      const left = Object.fromEntries(
        readdirSync(world.work).map((name) => [name, readFileSync(join(world.work, name), "utf8")]),
      );
      expect(left).toEqual(Object.fromEntries(names.slice(0, 6).map((name) => [name, `${name} was`])));
      await world.crux(["kill", "-s", "KILL", String(pid)]);
    },
  );
});

/** Records of a kind in the journal of a daemon that may be running. */
function count(kind: string): number {
  const path = join(world.dir, "state/crux/journal/journal.db");
  if (!existsSync(path)) return 0;
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(db.prepare("SELECT count(*) AS n FROM records WHERE kind = ?").get(kind)?.n);
  } finally {
    db.close();
  }
}
