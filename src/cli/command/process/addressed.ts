/** The processes that the words of a command line name: each by its pid, the id of an agent, or the name that its call gave it. */
import { Fault } from "../../../abi/errors.ts";
import { pidOf } from "../../args.ts";
import type { Call } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { allProcesses } from "../../daemon/processes.ts";
import { invalid } from "../../screen/errors.ts";

/** A name or an id: neither is all digits. */
const ADDRESS = /^[A-Za-z][\w.-]{0,63}$/;

/**
 * Does `act` for each process in turn, and reports what fails; the others are done all the same. Resolves to what was done, and
 * to how many failed. INVALID, before the daemon is asked: no word, or one that can name no process.
 */
export async function eachProcess<T>(
  { args, console, host }: Call,
  usage: string,
  act: (client: DaemonClient, pid: number) => Promise<T>,
): Promise<{ readonly done: readonly T[]; readonly failures: number }> {
  const words = [...new Set(args.words)];
  if (words.length === 0) throw invalid("a pid is missing", usage);
  for (const word of words) if (!ADDRESS.test(word)) pidOf(word, usage);
  const client = await host.daemon.ensure();
  const done: T[] = [];
  try {
    for (const word of words)
      try {
        done.push(await act(client, await findPid(client, word)));
      } catch (error) {
        if (words.length === 1) throw error;
        await console.fail(error);
      }
  } finally {
    client.close();
  }
  return { done, failures: words.length - done.length };
}

/** Of several with one name the newest that lives. NOT_FOUND: none has it. */
async function findPid(client: DaemonClient, word: string): Promise<number> {
  if (!ADDRESS.test(word)) return Number(word);
  const named = (await allProcesses(client, "list_procs")).filter(
    ({ agent_id, called }) => agent_id === word || called === word,
  );
  const live = named.filter(({ state }) => state === "created" || state === "running");
  const pid = (live.at(-1) ?? named.at(-1))?.pid;
  if (pid !== undefined) return pid;
  throw new Fault({
    code: "NOT_FOUND",
    message: `no agent is called ${word}`,
    hint: "crux ps --tree lists them",
  });
}
