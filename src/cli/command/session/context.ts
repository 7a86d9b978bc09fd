import { pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { changedLine, contextLines } from "../../screen/context-lines.ts";
import { invalid } from "../../screen/errors.ts";

const USAGE =
  "crux context [undo|clear] <pid> | crux context pin <pid> <number|text> | crux context unpin <pid> <number> | crux context snip <pid> <number>…";

/** What the model sees of a process, and what it costs; changes it. */
export const context: Command = { flags: { messages: { type: "boolean" } }, run };

async function run(call: Call): Promise<number> {
  const [first = "", ...rest] = call.args.words;
  switch (first) {
    case "undo":
    case "clear":
      return changed(call, `context.${first}`, pidIn(rest, 0));
    case "snip":
      return snip(call, rest);
    case "pin":
    case "unpin":
      return pin(call, first, rest);
    default:
      return show(call, pidIn(call.args.words, 0));
  }
}

/** The pid at the front of these words, with at most `more` behind it. */
function pidIn([word, ...others]: readonly string[], more: number): number {
  if (word === undefined) throw invalid("which process? crux ps lists them", USAGE);
  if (others.length > more) throw invalid(`too many words: ${others[more]}`, USAGE);
  return pidOf(word, USAGE);
}

function numbersIn(words: readonly string[]): number[] {
  const wrong = words.find((word) => !/^[1-9]\d{0,8}$/.test(word));
  if (wrong !== undefined || words.length === 0)
    throw invalid(wrong === undefined ? "which messages?" : `${wrong} is not the number of a message`, USAGE);
  return words.map(Number);
}

/** One that takes a pid alone. */
function changed(call: Call, method: "context.undo" | "context.clear", pid: number): Promise<number> {
  return change(call, (client, env) => client.request(method, { pid, env }));
}

function snip(call: Call, words: readonly string[]): Promise<number> {
  const place = { pid: pidIn(words, Infinity), messages: numbersIn(words.slice(1)) };
  return change(call, (client, env) => client.request("context.snip", { ...place, env }));
}

async function show({ args, console, host }: Call, pid: number): Promise<number> {
  const messages = args.flags.has("messages");
  const client = await host.daemon.ensure();
  const found = await client.request("context.stat", { pid, ...(messages ? { messages } : {}) });
  client.close();
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet") await console.line(`${found.used} ${found.window}`);
  else await console.line(contextLines(found, console).join("\n"));
  return 0;
}

async function pin(
  { console, host }: Call,
  verb: "pin" | "unpin",
  words: readonly string[],
): Promise<number> {
  const pid = pidIn(words, Infinity);
  const text = words.slice(1).join(" ").trim();
  const message = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  if (text === "" || (verb === "unpin" && message === undefined)) throw invalid("which message?", USAGE);
  const client = await host.daemon.ensure();
  try {
    const env = clientEnvironment(host.env);
    const done =
      verb === "unpin"
        ? await client.request("context.unpin", { pid, env, message: message ?? 0 })
        : await client.request("context.pin", {
            pid,
            env,
            ...(message === undefined ? { text } : { message }),
          });
    if (console.mode === "json") await console.data(done);
    else if (console.mode === "quiet") await console.line(`${done.message}`);
    else
      await console.line(
        `Message ${done.message} of process ${pid} is ${verb === "pin" ? "pinned: it stays in view" : "no longer pinned"}.`,
      );
    return 0;
  } finally {
    client.close();
  }
}

/** `crux compact`: a summary takes the place of the earlier messages. */
export const compact: Command = {
  flags: { from: { type: "string" }, "up-to": { type: "string" } },
  run: (call) => compacted(call),
};

async function compacted(call: Call): Promise<number> {
  const usage = "crux compact <pid> [what to pay attention to] [--from <number> | --up-to <number>]";
  const [word, ...words] = call.args.words;
  if (word === undefined) throw invalid("which process? crux ps lists them", usage);
  const pid = pidOf(word, usage);
  const text = words.join(" ").trim();
  const [from, upTo] = [messageIn(call, "from", usage), messageIn(call, "up-to", usage)];
  if (from !== undefined && upTo !== undefined) throw invalid("either --from or --up-to", usage);
  const part = { ...(from === undefined ? {} : { from }), ...(upTo === undefined ? {} : { up_to: upTo }) };
  if (call.console.showsCalls)
    await call.console.errorLine(`Compacting process ${pid}: at its next step its model writes a summary …`);
  const place = { pid, ...(text === "" ? {} : { text }), ...part };
  return change(call, (client, env) => client.request("context.compact", { ...place, env }));
}

function messageIn({ args }: Call, flag: string, usage: string): number | undefined {
  const word = args.flags.get(flag);
  if (word === undefined) return undefined;
  if (typeof word === "string" && /^[1-9]\d{0,8}$/.test(word)) return Number(word);
  throw invalid(`--${flag} takes the number of a message: crux context <pid> --messages lists them`, usage);
}

type Ask = (client: DaemonClient, env: Readonly<Record<string, string>>) => Promise<Changed>;
type Changed = Parameters<typeof changedLine>[0];

async function change({ console, host }: Call, ask: Ask): Promise<number> {
  const client = await host.daemon.ensure();
  try {
    const done = await ask(client, clientEnvironment(host.env));
    if (console.mode === "json") await console.data(done);
    else if (console.mode !== "quiet") await console.line(changedLine(done));
    return 0;
  } finally {
    client.close();
  }
}
