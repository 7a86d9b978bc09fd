import { countFlag, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { journalLine } from "../../screen/journal-line.ts";
import { type Asked, prefixesOf, readRecords } from "./journal-records.ts";
import { untilInterrupted } from "./journal-stream.ts";

/** The records of a process, running or ended: as a screen, or as a recording. */
export const journal: Command = {
  flags: {
    last: { type: "string", short: "n" },
    kind: { type: "string" },
    from: { type: "string" },
    follow: { type: "boolean", short: "f" },
    "with-prefix": { type: "boolean" },
  },
  follows: ({ flags }) => flags.has("follow"),
  run,
};

const USAGE = "crux journal <pid|uuid> [-n <last>] [--kind <kind>] [--from <seq>] [-f]";
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
    // Ctrl-C is the normal end of following
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

async function printPrefix(call: Call, process: string, signal: AbortSignal): Promise<void> {
  for (const prefix of await prefixesOf(call, process, signal)) await printRecords(call, prefix, signal);
}

async function printRecords(call: Call, asked: Asked, signal: AbortSignal): Promise<void> {
  const { console } = call;
  for await (const text of readRecords(call, asked, signal))
    await console.line(
      console.mode === "json"
        ? text
        : journalLine(JSON.parse(text), console.paint, console.mode === "verbose"),
    );
}
