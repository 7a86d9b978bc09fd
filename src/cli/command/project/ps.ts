import type { Result } from "../../../abi/methods/methods.ts";
import { WireFault } from "../../../wire/client/wire-fault.ts";
import { noWords } from "../../args.ts";
import type { Call } from "../../command.ts";
import type { Console } from "../../console.ts";
import { failureJson, wireOf } from "../../screen/errors.ts";
import { composeTable, type ReplicaRow } from "../../screen/table/compose-table.ts";
import { indented } from "../../screen/text/json.ts";
import { findProject } from "./file.ts";

export async function ps({ args, console, host }: Call): Promise<number> {
  noWords({ ...args, words: args.words.slice(1) }, "crux compose ps");
  const project = findProject(args, host);
  const client = await host.daemon.ensure();
  const found = await client
    .request("compose.ps", { project })
    .catch((error: unknown) => failed(console, error))
    .finally(() => client.close());
  if (found === null) return 1;
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

/** The project does not run: for one that has failed, the final state of its services is shown beside the error. */
async function failed(console: Console, error: unknown): Promise<null> {
  const details =
    error instanceof WireFault ? (error.wire.details as Partial<Result<"compose.ps">>) : undefined;
  if (details?.services === undefined) throw error;
  if (console.mode === "json") {
    await console.line(failureJson(wireOf(error), { data: details }));
    return null;
  }
  if (console.isScreen) await console.line(composeTable(details.services));
  throw error;
}

/** Whether the replica has a running process that a script can use. */
function isAlive({ pid, state }: ReplicaRow): boolean {
  return pid !== null && state === "running";
}
