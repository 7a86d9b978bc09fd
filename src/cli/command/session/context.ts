import { noWords, pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { changedLine, contextLines } from "../../screen/context-lines.ts";
import { invalid } from "../../screen/errors.ts";

const USAGE = "crux context <pid> | crux context undo <pid> | crux context clear <pid>";

const CHANGES: Readonly<Record<string, "context.undo" | "context.clear">> = {
  undo: "context.undo",
  clear: "context.clear",
};

/** What the model sees of a process, and what it costs; takes a change back, or begins anew. */
export const context: Command = { flags: {}, run };

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  const method = CHANGES[args.words[0] ?? ""];
  const [word, ...more] = method === undefined ? args.words : args.words.slice(1);
  if (word === undefined) throw invalid("which process? crux ps lists them", USAGE);
  noWords({ ...args, words: more }, USAGE);
  const pid = pidOf(word, USAGE);
  if (method !== undefined) return change(call, method, { pid });
  const client = await host.daemon.ensure();
  const found = await client.request("context.stat", { pid });
  client.close();
  if (console.mode === "json") await console.data(found);
  else if (console.mode === "quiet") await console.line(`${found.used} ${found.window}`);
  else await console.line(contextLines(found, console).join("\n"));
  return 0;
}

/** `crux compact`: a summary takes the place of the earlier messages. */
export const compact: Command = { flags: {}, run: (call) => compacted(call) };

async function compacted(call: Call): Promise<number> {
  const usage = "crux compact <pid> [what to pay attention to]";
  const [word, ...words] = call.args.words;
  if (word === undefined) throw invalid("which process? crux ps lists them", usage);
  const pid = pidOf(word, usage);
  const text = words.join(" ").trim();
  if (call.console.showsCalls)
    await call.console.errorLine(`Compacting process ${pid}: at its next step its model writes a summary …`);
  return change(call, "context.compact", { pid, ...(text === "" ? {} : { text }) });
}

async function change(
  { console, host }: Call,
  method: "context.compact" | "context.undo" | "context.clear",
  place: { readonly pid: number; readonly text?: string },
): Promise<number> {
  const client = await host.daemon.ensure();
  try {
    const done = await client.request(method, { ...place, env: clientEnvironment(host.env) });
    if (console.mode === "json") await console.data(done);
    else if (console.mode !== "quiet") await console.line(changedLine(done));
    return 0;
  } finally {
    client.close();
  }
}
