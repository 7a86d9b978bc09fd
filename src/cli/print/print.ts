/** `crux -p`: a run for scripts. Nobody is asked anything; stdout has the answer in the chosen format, and nothing else. */
import { randomUUID } from "node:crypto";
import { SIGNALS } from "../../abi/process.ts";
import { ChatClient } from "../chat/client.ts";
import type { Call, Command } from "../command.ts";
import type { DaemonClient } from "../daemon/client.ts";
import { answerParams } from "../dialog/answer-params.ts";
import { settleTrust } from "../dialog/trust-question.ts";
import { workingDirectory } from "../run/run-options.ts";
import { refuseUnknownSkill } from "../run/slash.ts";
import { invalid, wireOf } from "../screen/errors.ts";
import { Approver } from "./approver.ts";
import { Controls } from "./controls.ts";
import { type Around, Conversation } from "./conversation.ts";
import { initFacts } from "./facts.ts";
import {
  type OutputFormat,
  outputFormat,
  type PrintOptions,
  parsePrint,
  printOptions,
  printTable,
  wantsJson,
} from "./flags.ts";
import { type AnswerSchema, answerSchema } from "./json-schema.ts";
import { onlyMessage, readAhead, stdinMessages } from "./messages.ts";
import { type Gate, Outlet } from "./outlet.ts";
import { Printer } from "./printer.ts";
import { findPrompt } from "./prompt.ts";
import { beginSession, type PrintSession, reopenSession } from "./session.ts";
import { Stops } from "./stops.ts";
import { ToolServers } from "./tool-servers.ts";
import type { Said } from "./user-line.ts";
import { viewOf } from "./views.ts";

export const print: Command = { flags: printTable, parse: parsePrint, refusal, run: start };

/** The one line of a command line whose flags cannot be read, where it asks for a JSON format. */
function refusal(argv: readonly string[], error: unknown): string | undefined {
  if (!wantsJson(argv)) return undefined;
  return JSON.stringify(new Printer(randomUUID).failed(wireOf(error), NOTHING_SPENT).line);
}

const NOTHING_SPENT = { durationMs: 0, usd: 0, totalUsd: 0 };

/** In a JSON format a refusal is a result, too. */
async function start(call: Call): Promise<number> {
  const format = outputFormat(call.args);
  const printer = new Printer(randomUUID);
  const client = new ChatClient(call.host.daemon);
  const startedMs = performance.now();
  await using stops = new Stops(client);
  await stops.listen(call.host);
  try {
    return await new PrintRun(call, { format, printer, client, stops }).run();
  } catch (error) {
    if (stops.code !== undefined && stops.abandoned.aborted) return stops.code;
    if (format === "text") throw error;
    const durationMs = performance.now() - startedMs;
    const { line, exitCode } = printer.failed(wireOf(error), { ...NOTHING_SPENT, durationMs });
    await call.console.line(JSON.stringify(line));
    return exitCode;
  }
}

/** The journal is what makes an agent survive a crash: nothing runs without it. */
const STAYS_RECORDED =
  "--no-session-persistence: the session ends with this command and -c does not find it; its record stays in the journal (crux help journal)";

interface Parts extends Pick<Around, "client" | "printer" | "stops"> {
  readonly format: OutputFormat;
}

class PrintRun implements Gate {
  readonly #call: Call;
  readonly #parts: Parts;
  readonly #outlet: Outlet;
  #session: PrintSession | undefined;
  #conversation: Conversation | undefined;
  #hasBadLine = false;
  #approver: Approver | undefined;
  readonly #controls: Controls;
  readonly #servers: ToolServers;
  readonly #opened = Promise.withResolvers<number>();
  /** What is said of lines that are read while the session begins: it comes after the line of its beginning. */
  #early: Array<() => void> | undefined;
  /** The connection that holds the run back: the daemon lets it go on once that is closed, however this command ends. */
  #holding: Promise<DaemonClient | undefined> = Promise.resolve(undefined);

  constructor(call: Call, parts: Parts) {
    this.#call = call;
    this.#parts = parts;
    this.#outlet = new Outlet(call.console, this);
    this.#servers = new ToolServers((line) => this.#outlet.put(`${JSON.stringify(line)}\n`));
    this.#controls = new Controls({
      client: parts.client,
      servers: this.#servers,
      put: (line) => this.#outlet.put(`${JSON.stringify(line)}\n`),
    });
  }

  async run(): Promise<number> {
    const { args, host, console } = this.#call;
    const { format, printer, client, stops } = this.#parts;
    const options = printOptions(args);
    using _servers = this.#servers;
    let schema = await schemaOf(options.schema, host.cwd);
    const isTerminal = host.stdout.isTTY === true;
    if (options.asksOnStdio) this.#approver = this.#approverOf();
    const isVerbose = console.mode === "verbose" || args.flags.has("debug");
    const view = viewOf(format, { console, printer, outlet: this.#outlet, isTerminal, isVerbose });
    const messages = await this.#messages(options, (line, why) => {
      this.#fail();
      const tell = () => view.notice(`line ${line} of stdin: ${why}`, { line, code: "INVALID" });
      if (this.#early === undefined) tell();
      else this.#early.push(tell);
    });
    const begun = await messages.next();
    this.#early = [];
    const { unmet, wish } = this.#controls;
    if (unmet !== undefined) throw invalid(unmet);
    this.#controls.comes(this.#opened.promise);
    if (begun.done === true) throw invalid("there is no message on stdin");
    schema ??= await schemaOf(wish.schema, host.cwd);
    const first = begun.value;
    await settleTrust(this.#call, workingDirectory(args, host), "never asked");
    await refuseUnknownSkill(host.daemon, workingDirectory(args, host), first.text);
    const words = schema?.asking(first.text) ?? first.text;
    const session = await this.#open(options, { said: first, words });
    this.#session = session;
    this.#opened.resolve(session.pid);
    printer.sessionId = session.uuid;
    stops.began(session, options.timeoutMs);
    if (format === "stream-json") {
      const facts = await initFacts(this.#call, session.pid);
      this.#outlet.put(`${JSON.stringify(printer.init(facts))}\n`);
    }
    const conversation = new Conversation(
      { client, printer, view, stops, schema, approver: this.#approver, replays: options.replays },
      session,
    );
    conversation.hasFailed = this.#hasBadLine;
    const { title = wish.title, endsSession } = options;
    if (title !== undefined) await client.request("session.describe", { pid: session.pid, title });
    if (endsSession) view.notice(STAYS_RECORDED, { level: "info" });
    this.#conversation = conversation;
    for (const tell of this.#early) tell();
    this.#early = undefined;
    try {
      return await conversation.follow(session.isNew ? messages : preceded(first, messages));
    } finally {
      // an end that was asked for before has its own signal
      if (endsSession && stops.code === undefined)
        await client.request("kill", { pid: session.pid, signal: SIGNALS.SIGTERM }).catch(() => {});
      session.close();
      await Promise.race([this.#outlet.flushed(), aborted(stops.abandoned)]);
      (await this.#holding)?.close();
    }
  }

  hold(): void {
    const { pid } = this.#session ?? {};
    if (pid !== undefined)
      this.#holding = this.#holding.then((held) => held ?? this.#held(pid)).catch(() => undefined);
  }

  release(): void {
    this.#holding = this.#holding.then((held) => void held?.close());
  }

  async #held(pid: number): Promise<DaemonClient> {
    const client = await this.#call.host.daemon.ensure();
    try {
      await client.request("kill", { pid, signal: SIGNALS.SIGPAUSE, while_connected: true });
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  #fail(): void {
    this.#hasBadLine = true;
    if (this.#conversation !== undefined) this.#conversation.hasFailed = true;
  }

  async #messages(
    { isStreamInput }: PrintOptions,
    bad: (line: number, why: string) => void,
  ): Promise<AsyncGenerator<Said>> {
    const { args, host } = this.#call;
    const words = args.words.join(" ");
    if (!isStreamInput) return onlyMessage(await findPrompt(words, host));
    const lines = stdinMessages(words, host.stdin, {
      ...{ bad, control: (request) => this.#controls.take(request) },
      answer: (answer) => this.#servers.answered(answer) || this.#approver?.answered(answer) === true,
      end: () => {
        this.#approver?.end();
        this.#servers.end();
      },
    });
    return readAhead(lines);
  }

  #approverOf(): Approver {
    const { client } = this.#parts;
    return new Approver({
      put: (line) => this.#outlet.put(`${JSON.stringify(line)}\n`),
      answer: (askId, reply) => client.request("ask.answer", answerParams(askId, reply)),
    });
  }

  #open(
    { from, withDeltas, uuid }: PrintOptions,
    begun: { readonly said: Said; readonly words: string },
  ): Promise<PrintSession> {
    const { client, stops } = this.#parts;
    const detail = withDeltas ? ("deltas" as const) : ("messages" as const);
    const asks = this.#approver === undefined ? {} : { interactive: true as const };
    const beginning = { client, detail, signal: stops.abandoned, uuid, ...asks, servers: this.#servers };
    return from === undefined
      ? beginSession(this.#call, { ...begun, wish: this.#controls.wish }, beginning)
      : reopenSession(this.#call, from, { ...beginning, wish: this.#controls.wish });
  }
}

async function schemaOf(given: string | undefined, cwd: string): Promise<AnswerSchema | undefined> {
  return given === undefined ? undefined : answerSchema(given, cwd);
}

async function* preceded(first: Said, rest: AsyncIterable<Said>): AsyncGenerator<Said> {
  yield first;
  yield* rest;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
