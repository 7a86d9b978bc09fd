import { expect, test } from "vitest";
import { COMMANDS } from "../commands.ts";
import { FakeDaemon, Feed } from "../testing/fake-daemon.ts";
import { crux as run } from "../testing/run-command.ts";
import { nearCommands } from "./intent-words.ts";

const done = { type: "complete", payload: { event: "complete", pid: 1, exit_code: 0, result: "" } } as const;
const daemon = () => new FakeDaemon({ spawn: () => ({ pid: 1 }) }, new Feed().push(done).end());
const crux = (line: string | readonly string[], parts: Parameters<typeof run>[1] = {}) =>
  run(line, { ...parts, daemon: daemon(), asTyped: true });
const intentOf = async (...call: Parameters<typeof crux>) =>
  ((await crux(...call)).daemon.asked[0]?.[1] as { intent: string } | undefined)?.intent;

test("a single word that is no command is refused, with near commands, before anything is started", async () => {
  expect(await crux("statsu")).toMatchObject({
    out: "",
    err: "✗ unknown command: statsu\n  → hint: crux ps, crux daemon status, or crux -- statsu to use it as an intent\n",
    code: 1,
  });
  expect(await crux("pss --json")).toMatchObject({
    out: '{"ok": false, "error": {"code": "INVALID", "message": "unknown command: pss"}}\n',
    err: "",
    code: 1,
  });
  expect((await crux("pss")).err).toBe(
    "✗ unknown command: pss\n  → hint: crux ps, or crux -- pss to use it as an intent\n",
  );
  expect((await crux("refactor")).err).toBe(
    "✗ unknown command: refactor\n  → hint: crux help lists the commands, or crux -- refactor to use it as an intent\n",
  );
});

test.each([
  "statsu",
  "hello",
  "a",
  "README.md",
  "./x",
  "what?",
  "-q kil",
  "-d hello",
  "-m opus hello",
  "--agent none --json hello",
  "hello -v",
  "--plan statsu",
])("crux %s reaches no daemon, and its exit code is 1", async (line) => {
  for (const parts of [{}, { isTerminal: true }, { stdin: "", stdinKind: "pipe" as const }]) {
    const { code, daemon } = await crux(line, parts);
    expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
  }
});

test("behind -- a word is an intent, and so are several, a sentence in quotes, and one without blanks", async () => {
  expect(await intentOf("-- statsu")).toBe("statsu");
  expect(await intentOf("-q -- kill")).toBe("kill");
  expect(await intentOf("pss explained")).toBe("pss explained");
  expect(await intentOf(["explain this"])).toBe("explain this");
  for (const sentence of ["分析代码", "説明して", "อธิบายโค้ด"])
    expect(await intentOf(sentence)).toBe(sentence);
});

test("with data on stdin a word is an intent; an empty pipe is no data", async () => {
  expect(await intentOf("summarize", { stdin: "text", stdinKind: "pipe" })).toBe("summarize");
  expect(await intentOf("pss", { stdin: "text", stdinKind: "file" })).toBe("pss");
  expect(await intentOf("summarize", { stdin: "", stdinKind: "pipe" })).toBeUndefined();
  // /dev/null and a terminal are not read
  expect(await intentOf("summarize", { stdin: "text", stdinKind: "device" })).toBeUndefined();
});

test("after -c and -r words are what is said, or a title", async () => {
  for (const line of ["-c hello", "-r hello"])
    expect((await crux(line)).err).not.toContain("unknown command");
});

test("a slip that is given pids alone is a command, not an intent", async () => {
  const { err, code, daemon } = await crux("klil 3");
  expect(err).toBe(
    "✗ unknown command: klil 3\n  → hint: crux kill 3, or crux -- klil 3 to use it as an intent\n",
  );
  expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
  expect(await intentOf("add 3")).toBe("add 3");
});

test("a name kept for a later command never begins an intent, with data neither", async () => {
  for (const parts of [{}, { stdin: "text", stdinKind: "pipe" as const }]) {
    const { err, code, daemon } = await crux("hooks for me", parts);
    expect(err).toBe(
      "✗ [UNAVAILABLE] crux hooks is not part of this version\n  → hint: crux -- hooks for me to use it as an intent\n",
    );
    expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
  }
  expect(await intentOf("-- hooks for me")).toBe("hooks for me");
});

test("one that often begins a sentence is kept where it stands alone", async () => {
  expect((await crux("update")).err).toContain("crux update is not part of this version");
  expect(await intentOf("update the readme")).toBe("update the readme");
});

test.each([
  ["login", ["auth login"]],
  ["models", ["model list"]],
  ["pss", ["ps"]],
  ["p", ["ps"]],
  ["sp", ["ps"]],
  ["klil", ["kill"]],
  ["xkill", ["kill"]],
  ["demon", ["demo", "daemon"]],
  ["versoin", ["version"]],
  ["tre", ["tree"]],
  ["tpo", ["top"]],
  ["log", ["logs"]],
  ["group", ["groups"]],
  ["unmount", ["umount"]],
  ["attahc", ["attach"]],
  ["status", ["ps", "daemon status"]],
  ["restrat", ["daemon restart"]],
  ["sesions", ["sessions"]],
  ["", []],
  ["spx", []],
  ["work", []],
  ["what", []],
  ["go", []],
  ["hi", []],
])("nearCommands(%s) is %j", (word, near) => {
  expect(nearCommands(word)).toEqual(near);
});

test("a word kept for a command of another name names that one", async () => {
  expect((await crux("login openai")).err).toBe(
    "✗ unknown command: login openai\n  → hint: crux auth login openai, or crux -- login openai to use it as an intent\n",
  );
});

test("what a word is sent to is a command", () => {
  for (const word of ["status", "list", "start", "restart", "up", "down", "quit", "exit", "history", "usage"])
    for (const line of nearCommands(word)) expect(Object.keys(COMMANDS)).toContain(line.split(" ")[0]);
});
