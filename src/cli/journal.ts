import type { JournalLine } from "../abi/journal-line.ts";
import type { Params } from "../abi/methods.ts";
import { countFlag, textFlag } from "./args.ts";
import type { Call, Command } from "./command.ts";
import type { DaemonClient } from "./daemon-client.ts";
import { daemonVanished } from "./daemon-vanished.ts";
import { untilInterrupted } from "./journal-stream.ts";
import { invalid, streamFailure } from "./screen/errors.ts";
import { journalLine } from "./screen/journal-line.ts";

/** The records of a process, alive or gone: for people, or as a recording. */
export const journal: Command = {
  flags: {
    last: { type: "string", short: "n" },
    kind: { type: "string" },
    from: { type: "string" },
    follow: { type: "boolean", short: "f" },
    "with-prefix": { type: "boolean" },
  },
  run,
};

const USAGE = "crux journal <pid|uuid> [-n <last>] [--kind <kind>] [--from <seq>] [-f]";
/** A fork of a fork …: far more than anybody makes. */
const MAX_FORKS = 1_000;

type Asked = Params<"journal.read">;

async function run(call: Call): Promise<number> {
  const asked = askedOf(call);
  let isInterrupted = false;
  const unlisten = call.host.interrupts.listen(() => {
    isInterrupted = true;
  });
  try {
    return await untilInterrupted(call, async (signal) => {
      if (call.args.flags.has("with-prefix")) await printPrefix(call, asked.process, signal);
      await printRecords(call, asked, signal);
      return 0;
    });
  } catch (error) {
    // following ends when the person says so
    if (isInterrupted && asked.follow === true) return 0;
    throw error;
  } finally {
    unlisten();
  }
}

function askedOf({ args }: Call): Asked {
  const [process, ...more] = args.words;
  if (process === undefined) throw invalid("a pid is missing", USAGE);
  if (more.length > 0) throw invalid(`one process at a time: ${args.words.join(" ")}`, USAGE);
  if (!/^\d{1,15}$|^[0-9a-f-]{36}$/.test(process))
    throw invalid(`neither a pid nor a UUID: ${process}`, USAGE);
  const kind = textFlag(args, "kind");
  return {
    process,
    ...(args.flags.has("last") ? { last: countFlag(args, "last") } : {}),
    ...(args.flags.has("from") ? { from: Math.max(1, countFlag(args, "from")) } : {}),
    ...(kind === undefined ? {} : { kind }),
    ...(args.flags.has("follow") ? { follow: true } : {}),
  };
}

/** Of a fork: what it remembers of those it came from, oldest first. */
async function printPrefix(call: Call, process: string, signal: AbortSignal): Promise<void> {
  const prefixes: Asked[] = [];
  for (let name = process; prefixes.length < MAX_FORKS; ) {
    const [first] = await read(call, { process: name, to: 1 }, signal, async () => {});
    if (first?.kind !== "process.forked") break;
    const { from, at } = first.body as { from: string; at: number };
    prefixes.unshift({ process: from, to: at });
    name = from;
  }
  for (const prefix of prefixes) await printRecords(call, prefix, signal);
}

async function printRecords(call: Call, asked: Asked, signal: AbortSignal): Promise<void> {
  const { console } = call;
  await read(call, asked, signal, async (text) => {
    if (console.mode === "json") return console.line(text);
    return console.line(journalLine(JSON.parse(text), console.paint, console.mode === "verbose"));
  });
}

/** Each record's text in turn; the first of them parsed. */
async function read(
  { host }: Call,
  asked: Asked,
  signal: AbortSignal,
  take: (text: string) => Promise<void>,
): Promise<readonly [JournalLine] | readonly []> {
  const client: DaemonClient = await host.daemon.ensure(signal);
  const stream = await client.stream("journal.read", asked, signal);
  let first: readonly [JournalLine] | readonly [] = [];
  const pieces: string[] = [];
  try {
    for await (const { type, payload } of stream.lines) {
      if (type === "eof") return first;
      if (type === "error") throw streamFailure(payload);
      if (type !== "record") continue;
      const { text, more } = payload as { text: string; more?: boolean };
      pieces.push(text);
      if (more === true) continue;
      const whole = pieces.splice(0).join("");
      if (first.length === 0) first = [JSON.parse(whole) as JournalLine];
      await take(whole);
    }
    throw daemonVanished();
  } finally {
    stream.close();
  }
}
