/** `crux resume <pid>`: continues a process in the background, whether it is paused, idle or ended. */
import { onePid } from "../../args.ts";
import type { Call, Command } from "../../command.ts";
import { clientEnvironment } from "../../run/environment.ts";

export const resume: Command = { flags: {}, run };

async function run({ args, console, host }: Call): Promise<number> {
  const pid = onePid(args, "crux resume <pid>");
  const client = await host.daemon.ensure();
  try {
    // the variables it needs to connect are stored nowhere else
    const env = clientEnvironment(host.env);
    const { state } = await client.request("process.resume", { pid, env });
    if (console.mode === "json") await console.data({ pid, state });
    else if (console.mode !== "quiet") await console.line(`[kernel] PID ${pid}: ${WORDS[state]}`);
  } finally {
    client.close();
  }
  return 0;
}

const WORDS = {
  thinking: "resumed",
  tool: "resumed",
  running: "resumed",
  waiting: "waits for a message",
  idle: "waits for a message",
  blocked: "waits for an answer to its question",
  paused: "is paused",
} as const;
