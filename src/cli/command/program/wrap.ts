/** crux wrap: a program of the host whose output becomes events. Everything else is as with `crux exec`. */
import { basename } from "node:path/posix";
import { messageOf } from "../../../abi/errors.ts";
import { type KernelClient, KernelError } from "../../../wire/client/kernel.ts";
import { textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { oneLine } from "../../screen/text/json.ts";
import { exec, runProgram } from "./exec.ts";
import {
  type OutputParser,
  type OutputStream,
  PARSERS,
  type ParsedEvent,
  readParser,
} from "./output-parser.ts";

const USAGE = "crux wrap [--parser <name|file>] [-it] [-e NAME[=VALUE]]… -- <command> [args…]";
/** An event that must not be lost is offered so often; the kernel takes 100 a second. */
const MAX_OFFERS = 100;
const OFFER_MS = 100;

export const wrap: Command = {
  flags: { ...exec.flags, parser: { type: "string" } },
  run,
};

async function run(call: Call): Promise<number> {
  const parser = parserOf(call);
  let failure: unknown;
  const code = await runProgram(call, USAGE, async (kernel, pid) => {
    const streams = call.args.flags.has("tty")
      ? (["terminal"] as const)
      : (["stdout", "stderr"] as const).filter((stream) => parser.reads(stream));
    const follow = (stream: OutputStream | "terminal") => publishAll({ kernel, pid, stream, parser }, call);
    // what the events come to does not change what the program is told, or says
    await Promise.all(streams.map(follow)).catch((error: unknown) => {
      failure = error;
    });
  });
  const { console } = call;
  if (failure !== undefined) await console.errorLine(`[wrap] events are missing: ${messageOf(failure)}`);
  for (const line of parser.slow)
    await console.errorLine(`[wrap] the rule in line ${line} of the parser took too long and was left out`);
  return code;
}

/** INVALID: no parser, or a wrong one. */
function parserOf({ args, host }: Call): OutputParser {
  const program = basename(args.behind?.[0] ?? "");
  const wish = textFlag(args, "parser") ?? (Object.hasOwn(PARSERS, program) ? program : undefined);
  if (program === "") throw invalid("a command is missing", USAGE);
  if (wish === undefined) throw invalid(`no parser for ${program}: give one with --parser <file>`, USAGE);
  const own = Object.hasOwn(PARSERS, wish) ? PARSERS[wish] : undefined;
  if (own !== undefined) return readParser(own, wish);
  const { resolve } = process.getBuiltinModule("node:path");
  const { readFileSync } = process.getBuiltinModule("node:fs");
  let text: string;
  try {
    text = readFileSync(resolve(host.cwd, wish), "utf8");
  } catch (error) {
    throw invalid(`the parser ${wish} cannot be read: ${messageOf(error)}`);
  }
  return readParser(text, wish);
}

interface Wrapped {
  readonly kernel: KernelClient;
  readonly pid: number;
  readonly stream: OutputStream | "terminal";
  readonly parser: OutputParser;
}

async function publishAll({ kernel, pid, stream, parser }: Wrapped, { console }: Call): Promise<void> {
  for await (const line of kernel.lines({ pid, filter: stream === "terminal" ? "stdout" : stream })) {
    const parsed = parser.parse(stream, line);
    if (parsed === undefined || !(await offer(kernel, pid, parsed)) || console.mode !== "json") continue;
    await console.line(oneLine({ event: parsed.event, pid, data: parsed.data }));
  }
}

/** False: there was no room for a progress, which the next one replaces. */
async function offer(kernel: KernelClient, pid: number, { event, data }: ParsedEvent): Promise<boolean> {
  for (let n = 1; ; n++) {
    try {
      await kernel.call("event.publish", { event, pid, data: { ...data } });
      return true;
    } catch (error) {
      if (!(error instanceof KernelError && error.code === "UNAVAILABLE") || n === MAX_OFFERS) throw error;
      if (event.endsWith(".progress")) return false;
      const { setTimeout: delay } = process.getBuiltinModule("node:timers/promises");
      await delay(error.retryAfterMs ?? OFFER_MS);
    }
  }
}
