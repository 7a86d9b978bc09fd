/**
 * Sessions on the command line: a new one, the latest of a folder, or a chosen one; at a terminal or through a pipe.
 */
import type { SpawnRequest } from "../../../abi/methods/process.ts";
import { RUN_FLAGS, textFlag } from "../../args.ts";
import { ChatClient } from "../../chat/client.ts";
import { continueWith } from "../../chat/continued.ts";
import { chatAtTerminal } from "../../chat/loop.ts";
import { once } from "../../chat/once.ts";
import { chatThroughPipe } from "../../chat/pipe.ts";
import { latestHere, sessionOf } from "../../chat/ref.ts";
import { beginSession, openSession } from "../../chat/stream.ts";
import type { Call, Command } from "../../command.ts";
import { settleTrust } from "../../dialog/trust-question.ts";
import { findData } from "../../run/intent.ts";
import { callsWish, requestOptions, workingDirectory } from "../../run/run-options.ts";
import { refuseUnknownSkill } from "../../run/slash.ts";
import { tellSandbox } from "../../run/tell-sandbox.ts";
import { uiAtStart } from "../../run/ui-at-start.ts";
import { invalid } from "../../screen/errors.ts";
import { catalogueOf } from "../../screen/words/catalogue.ts";

export const chat: Command = { flags: RUN_FLAGS, run };

async function run(call: Call): Promise<number> {
  const { args } = call;
  if (args.flags.has("detach"))
    throw invalid("a conversation is not detached from", "crux -d runs an agent alone");
  const found = await findSession(call);
  if (found !== undefined) return converse(call, found.pid, found.text);
  return begin(call, args.words.join(" "));
}

/** `crux -c`, `crux -r`: with words one run, without them a conversation. */
export async function goOn(call: Call): Promise<number> {
  const { console, host } = call;
  if (call.args.flags.has("detach")) throw invalid("--detach begins a process; -c and -r continue one");
  const found = await findSession(call);
  if (found === undefined) return 0;
  if (found.text === "" || found.pid === "choose") return converse(call, found.pid, "");
  const { pid } = found;
  await refuseUnknownSkill(host.daemon, workingDirectory(call.args, host), found.text);
  const data = await findData(host, console);
  const text = data === undefined ? found.text : `${found.text}\n\n${data.toString("utf8")}`;
  return continued(call, pid, (client) => once(call, { pid, client }, text));
}

interface Place {
  readonly pid: number;
  readonly client: ChatClient;
}

/** The flags of the command count in the session as long as it lasts, or longer. */
async function continued(
  call: Call,
  pid: number,
  act: (client: ChatClient) => Promise<number>,
): Promise<number> {
  const client = new ChatClient(call.host.daemon);
  const end = await continueWith(call, { pid, client });
  try {
    return await act(client);
  } finally {
    end();
  }
}

interface Found {
  /** "choose": the user chooses one, in the terminal. */
  readonly pid: number | "choose";
  readonly text: string;
}

/** undefined: a new session. */
async function findSession(call: Call): Promise<Found | undefined> {
  const { args, host } = call;
  const [latest, named] = [args.flags.has("continue"), args.flags.has("resume")];
  if (!latest && !named) return undefined;
  if (latest && named) throw invalid("either -c or -r, not both");
  if (latest) {
    const worktree = args.flags.has("worktree") ? (textFlag(args, "worktree") ?? "") : undefined;
    const pid = await latestHere(call, workingDirectory(args, host), worktree);
    return { pid, text: args.words.join(" ") };
  }
  const [ref, ...words] = args.words;
  if (ref !== undefined) return { pid: await sessionOf(call, ref), text: words.join(" ") };
  if (opensTerminal(call)) return { pid: "choose", text: "" };
  throw invalid("which session? a pid or words of its title is missing", "crux sessions --all lists them");
}

async function begin(call: Call, text: string): Promise<number> {
  const { args, host } = call;
  const cwd = workingDirectory(args, host);
  const first = text.trim() === "" ? "" : text;
  if (opensTerminal(call)) {
    const request: SpawnRequest = { intent: first, ...requestOptions(args, host) };
    return (await terminal()).openTerminal(call, cwd, { kind: "new", request });
  }
  if ((await settleTrust(call, cwd)) === "interrupted") return 130;
  await refuseUnknownSkill(host.daemon, cwd, text);
  const client = new ChatClient(host.daemon);
  const isThere = isTerminal(call);
  if (isThere) await speak(call);
  const request: SpawnRequest = { intent: first, ...requestOptions(args, host), ...callsWish(call.console) };
  const stream = await beginSession(host, isThere ? { ...request, interactive: true } : request, client.name);
  await tellSandbox(call, stream.sandbox);
  if (isThere) return chatAtTerminal(call, stream, client);
  return chatThroughPipe(call, stream, client, { isAsked: first !== "", text: "" });
}

export async function converse(call: Call, pid: number | "choose", text: string): Promise<number> {
  if (pid === "choose") {
    const settle = (place: Place) => continueWith(call, place);
    return (await terminal()).openTerminal(call, call.host.cwd, { kind: "choose", settle });
  }
  return continued(call, pid, (client) => converseAs(call, { pid, client }, text));
}

async function converseAs(call: Call, { pid, client }: Place, text: string): Promise<number> {
  const { maxSteps } = client;
  const opening = { kind: "session", pid, text, maxSteps } as const;
  if (opensTerminal(call)) return (await terminal()).openTerminal(call, call.host.cwd, opening);
  const isThere = isTerminal(call);
  if (isThere) await speak(call);
  const stream = await openSession(call, pid, isThere);
  if (!isThere) return chatThroughPipe(call, stream, client, { isAsked: false, text });
  if (text !== "") void client.say(pid, text).catch((error: unknown) => call.console.fail(error));
  return chatAtTerminal(call, stream, client);
}

/** The user types and reads at a terminal, and no script parses the output. */
function isTerminal({ console, host }: Call): boolean {
  return host.stdin.isTTY === true && host.stdout.isTTY === true && console.isScreen;
}

/** From now on the conversation is in the language of the user. */
async function speak({ console, host }: Call): Promise<void> {
  console.catalogue = await catalogueOf(uiAtStart(host.env).language);
}

/** The screen is one that can be drawn on, and the user wants that: otherwise the conversation is lines. */
function opensTerminal(call: Call): boolean {
  const { env, stdout } = call.host;
  const { columns = 80, rows = 24 } = stdout;
  const isDrawable = !["", "dumb"].includes(env.TERM ?? "") && (columns || 80) >= 40 && (rows || 24) >= 10;
  return isTerminal(call) && isDrawable && !uiAtStart(env).isAccessible;
}

/** Loaded when it is opened, and by no other command. */
const terminal = () => import("../../../tui/open.ts");
