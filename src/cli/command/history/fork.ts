import { onePid, textFlag } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { clientEnvironment } from "../../run/environment.ts";
import { invalid } from "../../screen/errors.ts";
import { placeFlag } from "./place-flag.ts";

const USAGE = "crux fork <pid> [--at <step>] [-m <text>] [--attach]";

/** Creates a process that continues from a step of another, which stays unchanged. */
export const fork: Command = {
  flags: {
    at: { type: "string" },
    message: { type: "string", short: "m" },
    attach: { type: "boolean" },
  },
  run,
};

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  const pid = onePid(args, USAGE);
  const place = placeFlag(args, USAGE);
  const text = textFlag(args, "message");
  if (args.flags.has("message") && (text ?? "").trim() === "") throw invalid("the message is empty", USAGE);
  const isFollowed = args.flags.has("attach");
  // with --attach the message is sent in the conversation instead
  const isTold = text !== undefined && !isFollowed;
  const client = await host.daemon.ensure();
  const made = await client.request("process.fork", {
    pid,
    ...place,
    ...(isTold ? { text, wake: true, env: clientEnvironment(host.env) } : {}),
  });
  client.close();
  if (console.mode === "json") await console.data(made);
  else if (console.mode === "quiet") await console.line(String(made.pid));
  else await console.line(`${forkLine(pid, made)}${isFollowed ? "" : whereTo(made.pid, isTold)}`);
  return isFollowed ? follow(call, made.pid, text) : 0;
}

/** One that was told something answers there. */
function whereTo(pid: number, isTold: boolean): string {
  return `${isTold ? "" : ", rests"}; crux -r ${pid}${isTold ? " shows what it answers" : ""}`;
}

function forkLine(pid: number, made: { pid: number; step: number | null; at: number }): string {
  const where = made.step === null ? `record ${made.at}` : `step ${made.step}`;
  return `[kernel] PID ${made.pid}: fork of PID ${pid} at ${where}`;
}

/** Continues like `crux -r <pid> [text]`. */
async function follow(call: Call, pid: number, text: string | undefined): Promise<number> {
  const { goOn } = await import("../session/chat.ts");
  const words = [String(pid), ...(text === undefined ? [] : [text])];
  return goOn({ ...call, args: { flags: new Map([["resume", true]]), values: new Map(), words } });
}
