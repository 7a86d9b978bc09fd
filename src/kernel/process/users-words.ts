/**
 * Whose words a message in the user's role is. What an agent writes there, for a child or a thread of its own, must not count
 * as said by the user: not for the classifier of auto mode, and not where an address is quoted.
 */
import { isFramed } from "../../abi/child.ts";
import type { Pid } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import type { Process } from "./process.ts";

type Started = { readonly seed: Pick<Process["seed"], "fork" | "intent" | "kind" | "line" | "tasks"> };

export interface Family {
  readonly table: { get(pid: Pid): Started | undefined };
}

/** What other agents have written as the first message of the conversation: of its own, and of the one that it goes on with. */
export function agentsIntents({ table }: Family, self: Started): ReadonlySet<string> {
  const intents = new Set<string>();
  for (let at: Started | undefined = self; at !== undefined; at = parentOfFork(table, at)) {
    // supervisors of the user start what its project says
    const isUsers = at.seed.line.every((pid) => table.get(pid)?.seed.kind === "supervisor");
    for (const each of isUsers ? (at.seed.tasks ?? []) : [at.seed.intent]) intents.add(each);
  }
  return intents;
}

function parentOfFork(table: Family["table"], { seed }: Started): Started | undefined {
  const [parent] = seed.fork === undefined ? [] : seed.line;
  return parent === undefined ? undefined : table.get(parent);
}

/** `intents`: those of agents. */
export function isUsers({ role, content }: ContextMessage, intents: ReadonlySet<string>): boolean {
  return role === "user" && !isFramed(content) && !intents.has(content);
}
