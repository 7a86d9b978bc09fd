import { countFlag, noWords } from "../../args.ts";
import type { Call } from "../../command.ts";
import { findProject } from "./file.ts";

const DEFAULT_TIMEOUT_MS = 10_000;

export async function down({ args, console, host }: Call): Promise<number> {
  noWords({ ...args, words: args.words.slice(1) }, "crux compose down [--timeout ms]");
  const timeout_ms = args.flags.has("timeout") ? countFlag(args, "timeout") : DEFAULT_TIMEOUT_MS;
  const project = findProject(args, host);
  const client = await host.daemon.ensure();
  await client.request("compose.down", { project, timeout_ms });
  client.close();
  if (console.mode === "json") await console.data({ project });
  else if (console.mode !== "quiet") await console.line(`[compose] ${project}: stopped`);
  return 0;
}
