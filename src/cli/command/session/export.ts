/** `crux export`: the conversation of a process, even a long ended one, as Markdown or JSON. */
import { resolve } from "node:path";
import { Fault, messageOf } from "../../../abi/errors.ts";
import type { JournalLine } from "../../../abi/journal/line.ts";
import { counted } from "../../../lib/text/counted.ts";
import { type Args, textFlag } from "../../args.ts";
import { sessionOf } from "../../chat/ref.ts";
import type { Call, Command } from "../../command.ts";
import { writeDurably } from "../../host/durable-file.ts";
import type { Conversation } from "../../screen/conversation-text.ts";
import { conversationMarkdown } from "../../screen/conversation-text.ts";
import { invalid } from "../../screen/errors.ts";
import { safeLine, safeLines } from "../../screen/text/safe-text.ts";
import { ConversationReader } from "../history/conversation.ts";
import { type Asked, prefixesOf, readRecords } from "../journal/journal-records.ts";
import { untilInterrupted } from "../journal/journal-stream.ts";

/** `export` is a reserved word of the language. */
export const exportCommand: Command = {
  flags: {
    format: { type: "string" },
    output: { type: "string", short: "o" },
    force: { type: "boolean", short: "f" },
  },
  run,
};

const USAGE = "crux export <pid|session> [--format md|json] [-o <file>] [--force]";

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  const format = formatOf(args);
  const file = textFlag(args, "output") ?? "-";
  if (args.words.length === 0) throw invalid("a pid or a session is missing", USAGE);
  const process = await processOf(call, args.words.join(" "));
  const found = await untilInterrupted(call, (signal) => conversationOf(call, process, signal));
  const text = format === "md" ? conversationMarkdown(found) : `${JSON.stringify(found, null, 2)}\n`;
  if (file !== "-") {
    const path = resolve(host.cwd, file);
    await write(path, text, args.flags.has("force"));
    if (console.mode === "json") await console.data({ file: path, messages: found.messages.length });
    else if (console.isScreen)
      await console.line(`${safeLine(path)}: ${counted(found.messages.length, "message")}`);
  } else if (console.mode === "json") await console.data(format === "md" ? { markdown: text } : found);
  else await console.raw(host.stdout.isTTY === true ? safeLines(text) : text);
  return 0;
}

/** --json selects JSON, unless Markdown is requested explicitly. */
function formatOf(args: Args): "md" | "json" {
  const named = textFlag(args, "format") ?? (args.flags.has("json") ? "json" : "md");
  if (named === "md" || named === "json") return named;
  throw invalid(`unknown format: ${named}`, "formats: md, json");
}

/** A session may be referred to by words of its title. */
async function processOf(call: Call, ref: string): Promise<string> {
  return /^\d{1,15}$|^[0-9a-f-]{36}$/.test(ref) ? ref : String(await sessionOf(call, ref));
}

async function conversationOf(call: Call, process: string, signal: AbortSignal): Promise<Conversation> {
  const reader = new ConversationReader();
  const parts: readonly Asked[] = [...(await prefixesOf(call, process, signal)), { process }];
  for (const part of parts) {
    // the records in between are not needed and may be many
    for (const asked of [
      { process: part.process, to: 1 },
      { ...part, kind: "ctx.record" },
    ])
      for await (const text of readRecords(call, asked, signal)) reader.take(JSON.parse(text) as JournalLine);
  }
  return reader.whole;
}

/** Does not overwrite an existing file or follow a link, unless forced. */
async function write(path: string, text: string, isForced: boolean): Promise<void> {
  try {
    await writeDurably(path, text, { flag: isForced ? "w" : "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST")
      throw new Fault({
        code: "CONFLICT",
        message: `it is there already: ${path}`,
        hint: "--force overwrites it",
      });
    throw new Fault({
      code: "UNAVAILABLE",
      message: `cannot write ${path}: ${messageOf(error)}`,
      cause: error,
    });
  }
}
