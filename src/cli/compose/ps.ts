import { noWords } from "../args.ts";
import type { Call } from "../command.ts";
import { composeTable, type ReplicaRow } from "../screen/compose-table.ts";
import { indented } from "../screen/json.ts";
import { findProject } from "./file.ts";

export async function ps({ args, console, host }: Call): Promise<number> {
  noWords({ ...args, words: args.words.slice(1) }, "crux compose ps");
  const project = findProject(args, host);
  const client = await host.daemon.ensure();
  const found = await client.request("compose.ps", { project });
  client.close();
  switch (console.mode) {
    case "json":
      await console.line(indented({ ok: true, data: found }));
      break;
    case "quiet":
      for (const { pid } of found.services.filter(isAlive)) await console.line(String(pid));
      break;
    case "verbose":
    case "default":
      await console.line(composeTable(found.services));
  }
  return 0;
}

/** Has a process that a script can do something with. */
function isAlive({ pid, state }: ReplicaRow): boolean {
  return pid !== null && state === "running";
}
