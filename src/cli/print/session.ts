/** The session that a print run works in: a new one, one that is continued, or a fork of one. */
import type { Detail } from "../../abi/events.ts";
import type { SpawnRequest } from "../../abi/methods/process.ts";
import type { WireEvent } from "../../abi/wire-events.ts";
import { textFlag } from "../args.ts";
import type { ChatClient } from "../chat/client.ts";
import { continueWith, type More } from "../chat/continued.ts";
import { latestHere, sessionOf } from "../chat/ref.ts";
import type { Call } from "../command.ts";
import { clientEnvironment } from "../run/environment.ts";
import { requestOptions, workingDirectory } from "../run/run-options.ts";
import { invalid } from "../screen/errors.ts";
import type { Wish } from "./controls.ts";
import { type PrintOptions, printLimits } from "./flags.ts";
import type { ToolServers } from "./tool-servers.ts";
import type { Said } from "./user-line.ts";

export interface PrintSession {
  readonly pid: number;
  readonly uuid: string;
  /** It began with this run. */
  readonly isNew: boolean;
  /** The message that it began with. */
  readonly first?: Said;
  readonly events: AsyncIterable<WireEvent>;
  close(): void;
}

interface Beginning {
  readonly client: ChatClient;
  readonly detail: Detail;
  /** Closes the connection. */
  readonly signal: AbortSignal;
  /** Questions are answered by whoever runs the command; without, the permission mode decides. */
  readonly interactive?: true;
  /** Servers of tools that the client library has. */
  readonly servers: Pick<ToolServers, "add" | "entries">;
  /** Of a session that begins, a copy of one, or the one that is continued. */
  readonly uuid?: string | undefined;
}

/** `said`: its first message; `words`: what the model is sent for it. */
export async function beginSession(
  call: Call,
  { said, words, wish }: { readonly said: Said; readonly words: string; readonly wish: Wish },
  beginning: Beginning,
): Promise<PrintSession> {
  const { host } = call;
  const { client, detail, signal, interactive, uuid: wished } = beginning;
  const request: SpawnRequest = {
    intent: words,
    ...(said.media === undefined ? {} : { media: said.media }),
    ...ownOptions(call),
    ...(await moreOf(call, beginning, wish)),
    ...(wished === undefined ? {} : { uuid: wished }),
    session: true,
    client: client.name,
    detail,
    ...(interactive === undefined ? {} : { interactive }),
  };
  const daemon = await host.daemon.ensure(signal);
  const { response, lines, close } = await daemon.stream("spawn", request, signal);
  const { pid, uuid = "" } = response;
  return { pid, uuid, isNew: true, first: said, events: eventsOf(lines), close: () => close() };
}

/** The deadline is the command's: it ends the run, of an earlier session too, and no session. */
function ownOptions({ args, host }: Call): ReturnType<typeof requestOptions> {
  const options = requestOptions(args, host);
  delete options.timeout_ms;
  return options;
}

/** What print mode adds to the flags of a run: its limits, and what its client wishes. */
async function moreOf(
  { args, host }: Call,
  { servers }: Pick<Beginning, "servers">,
  { instructions, agents, more }: Wish,
): Promise<More> {
  const { max_steps, usd } = printLimits(args);
  const { limits, system_prompt = "", mcp_servers: given = {}, agents: own } = requestOptions(args, host);
  const isAsked = textFlag(args, "input-format") === "stream-json";
  const inClient = Object.keys(given).filter((name) => isAsked && given[name]?.type === "sdk");
  servers.add(inClient);
  const mcp_servers = { ...without(given, inClient), ...(await servers.entries()) };
  const prompt = [system_prompt, more].filter((part) => part !== "").join("\n\n");
  const hasServers = Object.keys(mcp_servers).length > 0 || inClient.length > 0;
  return {
    ...(hasServers ? { mcp_servers } : {}),
    ...(prompt === "" ? {} : { system_prompt: prompt }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(agents === undefined ? {} : { agents: { ...own, ...agents } }),
    ...(max_steps === undefined ? {} : { max_steps }),
    ...(usd === undefined ? {} : { limits: { ...limits, usd } }),
  };
}

/** NOT_FOUND: no such session, or none in this folder. */
export async function reopenSession(
  call: Call,
  from: NonNullable<PrintOptions["from"]>,
  { wish, ...beginning }: Beginning & { readonly wish: Wish },
): Promise<PrintSession> {
  const { args, host } = call;
  const { client, detail, signal, interactive, uuid } = beginning;
  const more = await moreOf(call, beginning, wish);
  const found =
    from.ref === "latest"
      ? await latestHere(call, workingDirectory(args, host), worktreeOf(call))
      : await sessionOf(call, from.ref);
  const env = clientEnvironment(host.env);
  if (uuid !== undefined && !from.forks) await checkUuid(client, found, uuid);
  const fork = { pid: found, env, ...(uuid === undefined ? {} : { uuid }) };
  const pid = from.forks ? (await client.request("process.fork", fork)).pid : found;
  const endRules = await continueWith(call, { pid, client }, more);
  const daemon = await host.daemon.ensure(signal);
  const { response, lines, close } = await daemon.stream(
    "session.open",
    { pid, env, verbose: true, detail, ...(interactive === undefined ? {} : { interactive }) },
    signal,
  );
  const events = eventsOf(lines);
  const ended = () => {
    endRules();
    close();
  };
  return { pid, uuid: response.uuid, isNew: false, events, close: ended };
}

function worktreeOf({ args }: Call): string | undefined {
  return args.flags.has("worktree") ? (textFlag(args, "worktree") ?? "") : undefined;
}

async function checkUuid(client: ChatClient, pid: number, uuid: string): Promise<void> {
  const { sessions } = await client.request("session.list", { all: true });
  if (sessions.find((session) => session.pid === pid)?.uuid === uuid) return;
  const message = `session ${pid} has another uuid: --session-id is settled when a session begins`;
  throw invalid(message, "--fork-session continues a copy, which gets this uuid");
}

function without<T>(map: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> {
  return Object.fromEntries(Object.entries(map).filter(([name]) => !names.includes(name)));
}

async function* eventsOf(lines: AsyncIterable<{ payload?: unknown }>): AsyncGenerator<WireEvent> {
  for await (const { payload } of lines) yield payload as WireEvent;
}
