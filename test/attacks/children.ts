/** A hostile program as a child of an agent whose rules allow every command, while another agent waits for an answer. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { shellWord } from "../../src/lib/shell-word.ts";
import { modelEnv } from "../harness/model.ts";
import { Wire } from "../harness/wire.ts";
import { Field, filled } from "./attempt.ts";
import { HOSTILE, IMPOSTOR } from "./deeds.ts";
import { HOME, makeSite, prepareShared } from "./site.ts";
import type { Attack } from "./table.ts";

export interface Hostile {
  readonly how: "as a child of an agent" | "freely";
  /** Its lines: `done: …`, `held: …`, and `the end`. */
  readonly said: readonly string[];
  /** Protected files that differ, secrets that show, other changes on the machine. */
  readonly traces: readonly string[];
  readonly isVictimAlive: boolean;
  /** After it: does the same daemon answer, and does the question still wait? */
  readonly isDaemonAlive?: boolean;
  readonly isQuestionOpen?: boolean;
}

/** It is confined by whatever works: where namespaces do not, tests are without a sandbox otherwise. */
const SETTINGS = {
  permissions: { allow: ["bash"], deny: ["view(secrets/**)"] },
  sandbox: { mode: "on" },
};
const DAEMON = { CANARY: "canary-of-the-daemon" };
const KEYS = { CANARY_TOKEN: "canary-of-the-environment" };
const FILES = { "hostile.sh": HOSTILE, "impostor.cjs": IMPOSTOR };
const HOSTILE_CALL: Attack = {
  expected: "OK",
  tool: "bash",
  input: { command: "bash hostile.sh", timeout: 60_000 },
  text: "a hostile program",
};

export async function children(_: object, tell: (hostile: Hostile) => void): Promise<void> {
  const services = ["\0canary-abstract", "/var/tmp/canary.sock"].map((name) =>
    createServer((socket) => socket.end()).listen(name),
  );
  const field = await Field.open(SETTINGS, DAEMON);
  tell(await confined(field));
  tell(await freely(field));
  await field.close();
  for (const service of services) service.close();
}

async function confined(field: Field): Promise<Hostile> {
  const victim = someone();
  const question = await Question.open(field);
  const daemon = field.world.daemonPid;
  const places = placesOf(victim, daemon, question.id);
  const { result, ...attempt } = await field.try(HOSTILE_CALL, "nobody", { files: FILES, places, env: KEYS });
  const hostile: Hostile = {
    how: "as a child of an agent",
    said: linesOf(result),
    traces: [...attempt.touched, ...attempt.leaks, ...attempt.elsewhere],
    isVictimAlive: isAlive(victim),
    isDaemonAlive: field.world.daemonPid === daemon && (await field.world.crux(["ps"])).code === 0,
    isQuestionOpen: await question.isOpen(),
  };
  victim.kill("SIGKILL");
  return hostile;
}

/** The same program with nothing around it: which of its deeds work on this machine at all. */
async function freely(field: Field): Promise<Hostile> {
  const [victim, daemon] = [someone(), someone()];
  const { work } = makeSite("freely");
  const [state, runtime] = ["/arena/free/state", "/arena/free/runtime"];
  for (const dir of [join(state, "journal"), runtime]) mkdirSync(dir, { recursive: true });
  writeFileSync(join(state, "journal/journal.db"), "journal");
  writeFileSync(join(runtime, "crux.cookie"), "cookie");
  // it is as open as a daemon would be that takes everybody for the person
  const yes = `${JSON.stringify({ ok: true })}\n`;
  const open = createServer((socket) => socket.on("error", () => {}).end(yes + yes));
  open.listen(join(runtime, "crux.sock"));
  const places = { ...placesOf(victim, daemon.pid, "none"), state, runtime, workspace: work };
  const port = String(field.listener.port);
  for (const [name, content] of Object.entries(FILES))
    writeFileSync(join(work, name), filled(content, { ...places, port }));
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME, ...DAEMON, ...KEYS, CRUX_IPC_SOCKET: "none" };
  const said = await run(work, env);
  open.close();
  const isVictimAlive = isAlive(victim);
  for (const each of [victim, daemon]) each.kill("SIGKILL");
  prepareShared();
  return { how: "freely", said, traces: [], isVictimAlive };
}

function run(cwd: string, env: Record<string, string>): Promise<string[]> {
  const child = spawn("bash", ["hostile.sh"], { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString("utf8");
  });
  return new Promise((resolve) => child.once("close", () => resolve(linesOf(text))));
}

/** A program that is none of the attacker's. */
const someone = (): ChildProcess =>
  spawn("sleep", ["1000"], { argv0: "canary-victim", env: { PATH: "/usr/bin:/bin" }, stdio: "ignore" });

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

function placesOf(victim: ChildProcess, daemon: number | undefined, ask: string): Record<string, string> {
  return { ask, node: shellWord(process.execPath), daemon: String(daemon), victim: String(victim.pid) };
}

const linesOf = (text: string): string[] =>
  text.split("\n").filter((line) => /^(?:done|held|refused)|^the end$/.test(line));

/** Of another agent, to a person who does not answer. */
class Question {
  readonly id: string;
  readonly #wire: Wire;
  readonly #socket: string;

  private constructor(id: string, wire: Wire, socket: string) {
    this.id = id;
    this.#wire = wire;
    this.#socket = socket;
  }

  static async open(field: Field): Promise<Question> {
    const { socket, env } = field.world;
    const wire = await Wire.open(socket);
    const { work } = makeSite("asking");
    const more = { cwd: work, env: { ...env, ...modelEnv(field.server) }, interactive: true };
    await wire.ask("spawn", {
      intent: field.script("write", { file_path: "answered", content: "x" }),
      ...more,
    });
    for (let line = await wire.next(); line !== undefined; line = await wire.next())
      if (line.payload?.event === "ask") return new Question(String(line.payload.ask_id), wire, socket);
    throw new Error("the agent asked nothing");
  }

  /** It is: a person can still say no, and is the first to answer. */
  async isOpen(): Promise<boolean> {
    await using hand = await Wire.open(this.#socket);
    const reply = await hand.ask("ask.answer", { ask_id: this.id, answer: "no" });
    await this.#wire.close();
    return reply?.ok === true;
  }
}
