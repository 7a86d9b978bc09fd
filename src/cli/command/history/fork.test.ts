import { expect, test } from "vitest";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { runCli } from "../../cli.ts";
import { FakeDaemon } from "../../testing/fake-daemon.ts";
import { aMachine, crux, MODE_FLAGS } from "../../testing/run-command.ts";

const MADE = { pid: 8, uuid: "u-8", step: 4, from: "u-3", at: 61 };
const daemonOf = (answers: ConstructorParameters<typeof FakeDaemon>[0]) => new FakeDaemon(answers);

const FORKED = {
  default: "[kernel] PID 8: fork of PID 3 at step 4, rests; crux -r 8\n",
  verbose: "[kernel] PID 8: fork of PID 3 at step 4, rests; crux -r 8\n",
  quiet: "8\n",
  json: '{"ok": true, "data": {"pid": 8, "uuid": "u-8", "step": 4, "from": "u-3", "at": 61}}\n',
};

test.each(MODE_FLAGS)("fork %s is %s", async (flags, mode) => {
  const daemon = daemonOf({ "process.fork": () => MADE });
  const { out, err, code } = await crux(`fork 3 --at 4 ${flags}`, { daemon });
  expect({ out, err, code }).toEqual({ out: FORKED[mode], err: "", code: 0 });
  expect(daemon.asked).toEqual([["process.fork", { pid: 3, at: { step: 4 } }]]);
  expect(daemon.openConnections).toBe(0);
});

test("fork -m wakes it with the environment of the terminal, and seq: names a record", async () => {
  const daemon = daemonOf({ "process.fork": () => ({ ...MADE, step: null }) });
  const { out } = await crux(["fork", "3", "--at", "seq:61", "-m", "the other way"], { daemon });
  expect(out).toBe("[kernel] PID 8: fork of PID 3 at record 61; crux -r 8 shows what it answers\n");
  expect(daemon.asked[0]?.[1]).toMatchObject({
    pid: 3,
    at: { seq: 61 },
    text: "the other way",
    wake: true,
    env: expect.any(Object),
  });
});

test.each([
  "fork",
  "fork x",
  "fork 3 4",
  "fork 3 --at x",
  "fork 3 --at -1",
  "fork 3 -m",
  "steps",
  "rewind",
  "rewind 3 --force",
])("%s is INVALID and reaches no daemon", async (line) => {
  const { err, out, code, daemon } = await crux(line);
  expect(err).toMatch(/^✗ \[INVALID\] /);
  expect({ out, code, reached: daemon.reached }).toEqual({ out: "", code: 1, reached: [] });
});

const STEPS = {
  pid: 3,
  steps: [
    {
      step: 0,
      at: "2026-01-01T00:00:00.000Z",
      words: "",
      asked: [],
      files: [],
      file_count: 0,
      commands: 0,
      uuid: "u",
      seq: 3,
    },
    {
      step: 1,
      at: "2026-01-01T00:00:01.000Z",
      asked: [],
      words: "I \u001b[31mred",
      files: ["/desk/a", "/b", "/c"],
      file_count: 5,
      commands: 2,
      uuid: "u",
      seq: 9,
    },
  ],
};

test("steps shows a line for each, harmless on a terminal; quiet numbers, json all", async () => {
  const daemon = daemonOf({ "process.steps": () => STEPS });
  const { out } = await crux("steps 3 -n 7", { daemon });
  expect(daemon.asked).toEqual([["process.steps", { pid: 3, last: 7 }]]);
  expect(out).toMatch(/STEP +TIME +COMMANDS +FILES CHANGED +WORDS/);
  expect(out).toMatch(/ 0 .*\(before the first reply\)\n/);
  expect(out).toMatch(/ 1 .* 2 .*\/b \/c \+2 +I \\x1b\[31mred\n/);
  expect((await crux("steps 3 -q", { daemon })).out).toBe("0\n1\n");
  expect(JSON.parse((await crux("steps 3 --json", { daemon })).out)).toEqual({ ok: true, data: STEPS });
});

const REWOUND = {
  pid: 3,
  step: 4,
  seq: 61,
  refused: false,
  files: [
    { path: "/w/a", deed: "restored", reason: "", insertions: 3, deletions: 1 },
    {
      path: "/w/b",
      deed: "kept",
      reason: "its content was not kept: over 64 MiB",
      insertions: 0,
      deletions: 0,
    },
  ],
  conflicts: [] as string[],
  commands: ["one", "two", "three", "four"],
  command_count: 9,
  fork: MADE,
} as const;

test("rewind --files --yes tells each file, and what it does not put back", async () => {
  const daemon = daemonOf({ "process.rewind": () => REWOUND as never });
  const { out, err, code } = await crux("rewind 3 --files --yes --at 4", { daemon });
  expect({ out, code }).toEqual({
    out: [
      "restored   /w/a +3 -1",
      "kept       /w/b (its content was not kept: over 64 MiB)",
      "[rewind] 9 commands ran since, and what they changed is not put back: four; three; two; and 6 more",
      "[rewind] PID 3 at step 4 continues as PID 8, which rests; crux -r 8",
      "",
    ].join("\n"),
    code: 1,
  });
  expect(err).toMatch(
    /\[CONFLICT\].*not put back: \/w\/b \(its content was not kept: over 64 MiB\)\n.*others? /,
  );
  expect(daemon.asked).toEqual([["process.rewind", { pid: 3, at: { step: 4 }, files: true }]]);
  expect((await crux("rewind 3 --files --yes --json", { daemon })).code).toBe(1);
  expect((await crux("rewind 3 --files --dry-run", { daemon })).code).toBe(0);
});

test("rewind --files without --yes changes nothing where nobody can be asked", async () => {
  const daemon = daemonOf({ "process.rewind": () => ({ ...REWOUND, fork: null }) as never });
  const { err, code } = await crux("rewind 3 --files", { daemon });
  expect([code, err]).toEqual([1, expect.stringContaining("--yes")]);
  expect(daemon.asked).toEqual([["process.rewind", { pid: 3, files: true, dry_run: true }]]);
});

test("rewind that is refused names the files, and ends with 1, also in JSON", async () => {
  const refused = { ...REWOUND, refused: true, conflicts: ["/w/a"], fork: null };
  const daemon = daemonOf({ "process.rewind": () => refused as never });
  const shown = await crux("rewind 3 --files --yes", { daemon });
  expect([shown.code, shown.err]).toEqual([1, expect.stringMatching(/CONFLICT\].*\/w\/a\n.*--force/)]);
  const json = await crux("rewind 3 --files --yes --json", { daemon });
  expect([json.code, JSON.parse(json.out)]).toEqual([1, { ok: true, data: refused }]);
});

test("rewind of one that runs is the daemon's error", async () => {
  const daemon = daemonOf({
    "process.rewind": () => {
      throw new WireFault({ code: "CONFLICT", message: "process 3 runs", hint: "crux pause 3 holds it" });
    },
  });
  expect((await crux("rewind 3", { daemon })).err).toBe(
    "✗ [CONFLICT] process 3 runs\n  → hint: crux pause 3 holds it\n",
  );
  expect(daemon.openConnections).toBe(0);
});

test.each([
  ["y", 2],
  ["y\r", 2],
  ["Yes\r", 2],
  ["\r", 1],
  ["n", 1],
  ["yy", 1],
  ["\x03", 1],
])("rewind --files at a terminal: %j is so many requests: %i", async (keys, requests) => {
  const whole = { ...REWOUND, files: REWOUND.files.slice(0, 1) };
  const daemon = daemonOf({ "process.rewind": () => whole as never });
  const { host, stdin, stdout } = aMachine({ daemon, isTerminal: true });
  const done = runCli(["rewind", "3", "--files"], host);
  await stdout.shows("[y/N] ");
  stdin.type(keys);
  expect(await done).toBe(requests === 2 ? 0 : 1);
  expect([daemon.asked.length, stdin.isRaw]).toEqual([requests, false]);
});
