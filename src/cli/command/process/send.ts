import { pidOf } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { invalid } from "../../screen/errors.ts";
import { readStdin } from "../../terminal/stdin.ts";

const USAGE = "crux send <pid> <text…>";
/** The kernel's limit for one message. */
const MAX_BYTES = 256 * 1024;
const TOO_LONG = "put it into a file, and name the file in the message";

/** Sends a message to an agent, which reads it before its next step. */
export const send: Command = { flags: {}, run };

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  const pid = pidOf(args.words[0], USAGE);
  const text = args.words.length > 1 ? args.words.slice(1).join(" ") : await textOnStdin(call);
  if (text.trim() === "") throw invalid("the message is empty", USAGE);
  const size = Buffer.byteLength(text);
  if (size > MAX_BYTES) throw invalid(`the message has ${size} bytes, at most ${MAX_BYTES}`, TOO_LONG);
  const client = await host.daemon.ensure();
  await client.request("mail.send", { pid, text });
  client.close();
  if (console.mode === "json") await console.data({ pid, size });
  else if (console.mode !== "quiet") await console.line(`[kernel] PID ${pid}: message sent (${size} bytes)`);
  return 0;
}

async function textOnStdin({ console, host }: Call): Promise<string> {
  if (host.stdin.isTTY === true) throw invalid("the message is missing", USAGE);
  const bytes = await readStdin(host.stdin, {
    maxBytes: MAX_BYTES,
    what: "the message on stdin",
    hint: TOO_LONG,
    onSilence: () => {
      if (console.isScreen) void console.errorLine("[crux] reading the message from stdin, to its end");
      return false;
    },
  });
  return bytes.toString("utf8").replace(/(?:\r?\n)+$/, "");
}
