/** Without a model the built-in interpreter answers, and says so; what it tells of the folder is true. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, it } from "vitest";
import { beforeTries } from "./harness/stage.ts";
import { Wire } from "./harness/wire.ts";
import { type Run, type RunOptions, World } from "./harness/world.ts";

let world: World;
let folders = 0;
/** Of one test. */
let cwd: string;
beforeTries(
  async () => {
    world = new World();
    await world.crux(["daemon", "start"]);
  },
  () => world.close(),
);
beforeEach(() => {
  cwd = join(world.work, `folder ${++folders}`);
  mkdirSync(cwd);
});

const file = (name: string): string => readFileSync(join(cwd, name), "utf8");
const write = (name: string, content: string): string => world.write(`folder ${folders}/${name}`, content);
const crux = (args: readonly string[], options: RunOptions = {}): Promise<Run> =>
  world.crux(args, { cwd, ...options });

const README_INTENT = "count the lines of every file here and write them to LINES.md";
const NOTICE =
  "No model is set up: answered by the built-in interpreter, which knows a few things: " +
  "count, list, show, search and write files.";
/** The last lines: one way to a real model each. */
const WAYS = [
  /^ {2}→ crux auth login .*docs\/models\.md/,
  /^ {2}→ .*ANTHROPIC_API_KEY/,
  /^ {2}→ .*OPENAI_API_KEY.*OPENAI_BASE_URL/,
  /^ {2}→ .*claude-code/,
];

function expectWays(lines: readonly string[]): void {
  expect(lines).toHaveLength(WAYS.length);
  for (const [at, way] of WAYS.entries()) expect(lines[at]).toMatch(way);
}

/** A folder with what trips up a counter. */
function fillOddly(): void {
  write("a.txt", "one\ntwo\n");
  write("my notes/b c.md", "one\ntwo\nthree");
  write("deep/er/d|e.ts", "x\n");
  write("empty", "");
  write("binary", "\u0000\u0001\n\u0000");
}

/** Its conversation as a file, which is not overwritten unasked. */
async function exported(pid: string): Promise<void> {
  const markdown = await crux(["export", pid]);
  expect(markdown.stdout).toContain(`## User\n\n${README_INTENT}\n`);
  expect(markdown.stdout).toMatch(/### Call `\S+`: write\n\n```json\n\{\n {2}"file_path": "LINES\.md"/);
  expect((await crux(["export", pid, "-o", "talk.json", "--format", "json"])).code).toBe(0);
  const roles = JSON.parse(file("talk.json")).messages.map(({ role }: { role: string }) => role);
  expect(roles.slice(0, 3)).toEqual(["user", "assistant", "tool"]);
  const again = await crux(["export", pid, "-o", "talk.json"]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("--force overwrites it")]);
  expect((await crux(["export", pid, "-o", "talk.json", "--force"])).code).toBe(0);
  expect(file("talk.json")).toBe(markdown.stdout);
}

describe("crux without a model", () => {
  it("does the first command of the README: counts, asks, writes, and tells how to take it back", async () => {
    fillOddly();
    const wire = await Wire.open(world.socket);
    const request = { intent: README_INTENT, interactive: true, calls: true, cwd, env: world.env };
    const calls: unknown[] = [];
    expect(await wire.ask("spawn", request)).toMatchObject({ ok: true });
    let [result, pid] = ["", ""];
    let asked = 0;
    for (let line = await wire.next(); line !== undefined; line = await wire.next()) {
      const event = line.payload as Record<string, unknown>;
      if (event.event === "ask") {
        asked++;
        expect(event.detail ?? event.arguments).toContain("| a.txt | 2 |");
        await using other = await Wire.open(world.socket);
        await other.ask("ask.answer", { ask_id: event.ask_id, answer: "yes" });
      }
      if (event.event === "call") calls.push(event.call);
      if (event.event !== "complete") continue;
      expect(event).toMatchObject({ exit_code: 0, tokens_used: 0 });
      expect(event.cost_usd ?? 0).toBe(0);
      [result, pid] = [String(event.result), String(event.pid)];
      break;
    }
    await wire.close();
    expect(asked).toBe(1);
    expect(calls.at(-1)).toEqual({ tool: "write", about: "LINES.md", facts: { added: 11, removed: 0 } });
    expect(file("LINES.md")).toBe(`| file | lines |
|---|---:|
| a.txt | 2 |
| binary | – |
| deep/er/d\\|e.ts | 1 |
| empty | – |
| my notes/b c.md | 3 |

5 files, 6 lines; files that git ignores are left out

–: empty, or not text
`);
    expect(result).toMatch(/^LINES\.md is written: 5 files, 6 lines\.\n\n {2}crux undo \d+ /);
    expect(result.match(/^ {2}crux \w+/gm)).toEqual([
      "  crux undo",
      "  crux steps",
      "  crux replay",
      "  crux demo",
    ]);
    const undone = await crux(["undo", pid, "--yes"]);
    expect(undone.code).toBe(0);
    expect(() => file("LINES.md")).toThrow("ENOENT");
    const replayed = await crux(["replay", pid]);
    expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining("0 differences")]);
    await exported(pid);
  });

  it("says first what answers, and last how to get a model; headless the gate refuses the write", async () => {
    fillOddly();
    const { code, stdout, stderr } = await crux([README_INTENT]);
    expect(code).toBe(1);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe(NOTICE);
    expectWays(lines.slice(-WAYS.length));
    expect(stderr).toMatch(/LINES\.md was not written: .*the rule edit\(.*\n.*to allow it: --allow 'edit\(/);
    expect(() => file("LINES.md")).toThrow("ENOENT");
  });

  it("works in an empty folder, in one of 500 files, and with tokens and cost of nothing", async () => {
    const allowed = ["--permission-mode", "accept_edits"];
    const empty = join(cwd, "none");
    mkdirSync(empty);
    expect((await crux([...allowed, README_INTENT], { cwd: empty })).code).toBe(0);
    expect(file("none/LINES.md")).toContain("0 files, 0 lines");
    for (let i = 0; i < 500; i++) write(`many/part${i % 10}/file ${i}.ts`, "x\n".repeat(1 + (i % 9)));
    const options = { cwd: join(cwd, "many") };
    const { code, stdout } = await crux(["--json", ...allowed, README_INTENT], options);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { ok: true, data: { tokens_used: 0, exit_code: 0 } },
    ]);
    const total = Array.from({ length: 500 }, (_, i) => 1 + (i % 9)).reduce((sum, own) => sum + own, 0);
    expect(file("many/LINES.md")).toContain(`\n500 files, ${total} lines`);
    const again = await crux([...allowed, "--budget", "1", README_INTENT], options);
    expect(again.code).toBe(0);
  });

  it("what it does not understand is exit 1, with what it can; nothing is changed", async () => {
    write("a.txt", "one\n");
    const { code, stderr } = await crux(["--permission-mode", "bypass", "delete everything here"]);
    expect(code).toBe(1);
    expect(stderr).toContain('crux "count the lines of every file here and write them to LINES.md"');
    expect(stderr).toMatch(/→ hint: .*ANTHROPIC_API_KEY/);
    expect(file("a.txt")).toBe("one\n");
  });

  it("is a program in a pipe: data in, the result alone out", async () => {
    const run = async (intent: string, stdin: string): Promise<string> => {
      const { code, stdout } = await crux(["-q", intent], { stdin });
      expect(code).toBe(0);
      return stdout;
    };
    expect(await run("number the lines", "a\nb\n")).toBe("1. a\n2. b\n");
    expect(await run("sum the numbers", "1\n2\n3.5\n")).toBe("6.5\n");
  });

  it("is no failure for crux doctor, which names a way to a model", async () => {
    const { stdout } = await crux(["doctor"]);
    expect(stdout).toContain("\n! test call: not made, since no model is set up\n");
    expect(stdout.split("→ export ANTHROPIC_API_KEY")).toHaveLength(2);
    expect(stdout).not.toContain("\\n");
  });

  it("-d tells at once what answers: nobody follows who could be told later", async () => {
    const { code, stdout } = await crux(["-d", "list the files"]);
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toBe(NOTICE);
    expect(stdout).toMatch(/\[kernel\] spawning PID \d+\.\.\.\n {2}→ crux auth login/);
  });
});

describe("crux -m script", () => {
  it("surveys the folder: the shipped scenario, with true figures and a report", async () => {
    write("src/a.ts", "one\n// TODO: mend\n");
    write("b.md", "one\n");
    const { code, stdout } = await crux(["-m", "script/", "-q", "what is here?"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^A script answered, not a model: /);
    expect(stdout).toContain("- files: 2\n");
    expect(stdout).toContain("- lines: 3 (text files: 2)\n");
    expect(stdout).toContain("- lines marked TODO, FIXME, XXX or HACK: 1 (files: 1)\n");
  });
});

describe("a scenario", () => {
  const five = [1, 2, 3, 4, 5].map((n) => ({
    tool: "agent",
    args: { description: `part ${n}`, prompt: `part ${n}` },
  }));
  const turns = [
    { when: { user: "/^lead/", turn: 1 }, say: "Five at once.", call: five },
    { when: { user: "/^lead/" }, say: "All five are done." },
    { when: { user: "/^part/", turn: 1 }, call: [{ tool: "ls", args: { path: "." } }] },
    { when: { user: "/^part/" }, say: "My part is done." },
  ];
  /** What each process was asked, said and was told, in order; and its calls, which end as they can. */
  const ORDERED = ["process.spawned", "ctx.record", "process.exited"];
  const CALLS = ["call.intent", "call.result"];

  /** In a world of its own, where nothing has a number yet: the records of each process, whichever was first. */
  async function played(): Promise<string[]> {
    const own = new World();
    try {
      own.write("five.json", JSON.stringify({ scenario: "five", turns }));
      const { code, stdout } = await own.crux(["-m", "script/five.json", "-q", "lead the work"]);
      expect([code, stdout]).toEqual([0, "All five are done.\n"]);
      using db = new DatabaseSync(join(own.dir, "state/crux/journal/journal.db"), { readOnly: true });
      const rows = db.prepare("SELECT pid, kind, body FROM records ORDER BY seq").all();
      const of = (kinds: readonly string[], pid: unknown) =>
        rows.flatMap((row) => {
          if (row.pid !== pid || !kinds.includes(String(row.kind))) return [];
          const said = String(row.body)
            .replaceAll(own.dir, "W")
            .replace(/agent-[0-9a-f]{12}/g, "agent")
            // which of them gets the next pid is a race
            .replace(/\bpid [2-6]\b/g, "pid")
            .replace(/\bcall_[2-6]_/g, "call_")
            .replace(/[\d.]+ s\]/g, "s]");
          const { createdAt, request, accounts, session, reserved, cost, ...rest } = JSON.parse(said);
          return [JSON.stringify({ kind: row.kind, ...rest })];
        });
      return [...new Set(rows.map(({ pid }) => pid))]
        .map((pid) => [...of(ORDERED, pid), ...of(CALLS, pid).sort()].join("\n"))
        .sort();
    } finally {
      await own.close();
    }
  }

  it("with five agents side by side has the same records twice", async () => {
    const first = await played();
    expect(first.filter((text) => text.includes('"My part is done."'))).toHaveLength(5);
    expect(await played()).toEqual(first);
  });
});

describe("crux with requireModel", () => {
  it("is refused where no model is set up", async () => {
    world.settings({ requireModel: true });
    await world.crux(["daemon", "stop"]);
    await world.crux(["daemon", "start"]);
    const { code, stdout, stderr } = await crux(["what is here?"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^✗ \[UNAVAILABLE\] .*no model is configured.*\n {2}→ hint: .*ANTHROPIC_API_KEY/);
  });
});
