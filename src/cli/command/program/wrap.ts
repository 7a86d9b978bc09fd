/**
 * crux wrap: a program of the host whose output becomes events, in an intent of its own that can be cancelled. Everything
 * else is as with `crux exec`.
 */
import { basename } from "node:path/posix";
import { messageOf } from "../../../abi/errors.ts";
import type { IpcResult } from "../../../abi/methods/ipc/methods.ts";
import { SIGNALS } from "../../../abi/process.ts";
import { type KernelClient, KernelError } from "../../../wire/client/kernel.ts";
import { textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { oneLine } from "../../screen/text/json.ts";
import { exec, runProgram, type Wrapping } from "./exec.ts";
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
  const { args, console, host } = call;
  const program = basename(args.behind?.[0] ?? "");
  if (program === "") throw invalid("a command is missing", USAGE);
  const parser = parserOf(call, program);
  if (parser === undefined && host.stderr.isTTY === true) {
    const own = Object.keys(PARSERS).join(", ");
    await console.errorLine(
      `[wrap] no parser for ${program}: no events (built in: ${own}; --parser <file> reads your own)`,
    );
  }
  const wrapping = new Wrapped(call, program, parser);
  const code = await runProgram(call, USAGE, wrapping);
  const { failure } = wrapping;
  if (failure !== undefined) await console.errorLine(`[wrap] events are missing: ${messageOf(failure)}`);
  for (const line of parser?.slow ?? [])
    await console.errorLine(`[wrap] the rule in line ${line} of the parser took too long and was left out`);
  return code;
}

/** undefined: there is none for this program. INVALID: a wrong one. */
function parserOf({ args, host }: Call, program: string): OutputParser | undefined {
  const wish = textFlag(args, "parser") ?? (Object.hasOwn(PARSERS, program) ? program : undefined);
  if (wish === undefined) return undefined;
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

class Wrapped implements Wrapping {
  /** Why events are missing. It does not change what the program is told, or says. */
  failure: unknown;
  readonly #call: Call;
  readonly #program: string;
  readonly #parser: OutputParser | undefined;
  #intentId = "";
  #isCancelled = false;

  constructor(call: Call, program: string, parser: OutputParser | undefined) {
    this.#call = call;
    this.#program = program;
    this.#parser = parser;
  }

  async begin(kernel: KernelClient): Promise<{ intentId: string }> {
    const name = this.#program.slice(0, 200);
    const { intentId } = await kernel.call("intent.begin", { name, onDisconnect: "fail" });
    this.#intentId = intentId;
    return { intentId };
  }

  async beside(kernel: KernelClient, pid: number): Promise<void> {
    kernel.on("intent.cancel_requested", () => this.#stop(kernel, pid));
    const parser = this.#parser;
    const streams = this.#call.args.flags.has("tty")
      ? (["terminal"] as const)
      : (["stdout", "stderr"] as const).filter((stream) => parser?.reads(stream));
    const follow = (stream: OutputStream | "terminal") =>
      parser && publishAll({ kernel, pid, stream, parser, intentId: this.#intentId }, this.#call);
    await Promise.all(streams.map(follow)).catch((error: unknown) => {
      this.failure = error;
    });
  }

  /** A program that takes input ends by what it reads; the kernel insists at the deadline. */
  #stop(kernel: KernelClient, pid: number): void {
    this.#isCancelled = true;
    const data = this.#call.args.flags.has("interactive") ? this.#parser?.stop : undefined;
    const told =
      data === undefined
        ? kernel.call("process.kill", { pid, signal: SIGNALS.SIGINT })
        : kernel.call("process.stdin.write", { pid, data });
    told.catch(() => {});
  }

  async over(kernel: KernelClient, exit: IpcResult<"process.wait"> | undefined): Promise<void> {
    if (this.#intentId === "") return;
    const isCancelled = this.#isCancelled || exit?.kind === "killed";
    const outcome = exit?.exitCode === 0 ? "completed" : isCancelled ? "cancelled" : "failed";
    const summary = exit === undefined ? {} : { summary: exit.reason };
    // with the daemon gone there is nothing to end
    await kernel.call("intent.end", { intentId: this.#intentId, outcome, ...summary }).catch(() => {});
  }
}

interface Following {
  readonly kernel: KernelClient;
  readonly pid: number;
  readonly stream: OutputStream | "terminal";
  readonly parser: OutputParser;
  readonly intentId: string;
}

async function publishAll(following: Following, { console }: Call): Promise<void> {
  const { kernel, pid, stream, parser } = following;
  for await (const line of kernel.lines({ pid, filter: stream === "terminal" ? "stdout" : stream })) {
    const parsed = parser.parse(stream, line);
    if (parsed === undefined || !(await offer(following, parsed)) || console.mode !== "json") continue;
    await console.line(oneLine({ event: parsed.event, pid, data: parsed.data }));
  }
}

/** False: there was no room for a progress, which the next one replaces. */
async function offer({ kernel, pid, intentId }: Following, { event, data }: ParsedEvent): Promise<boolean> {
  for (let n = 1; ; n++) {
    try {
      await kernel.call("event.publish", { event, pid, data: { ...data } }, { intentId });
      return true;
    } catch (error) {
      if (!(error instanceof KernelError)) throw error;
      // the intent was cancelled: what the program still says is nobody's progress
      if (error.code === "CANCELLED") return false;
      if (error.code !== "UNAVAILABLE" || n === MAX_OFFERS) throw error;
      if (event.endsWith(".progress")) return false;
      const { setTimeout: delay } = process.getBuiltinModule("node:timers/promises");
      await delay(error.retryAfterMs ?? OFFER_MS);
    }
  }
}
