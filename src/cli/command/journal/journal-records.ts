/** The records of a process, read from the daemon's journal. */
import type { JournalLine } from "../../../abi/journal/line.ts";
import type { Params } from "../../../abi/methods/methods.ts";
import type { Call } from "../../command.ts";
import type { DaemonClient } from "../../daemon/client.ts";
import { daemonVanished } from "../../daemon/vanished.ts";
import { streamFailure } from "../../screen/errors.ts";

/** The most forks in a chain of forks: far more than occur in practice. */
const MAX_FORKS = 1_000;

export type Asked = Params<"journal.read">;

/** The text of each record. */
export async function* readRecords(
  { host }: Pick<Call, "host">,
  asked: Asked,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const client: DaemonClient = await host.daemon.ensure(signal);
  const stream = await client.stream("journal.read", asked, signal);
  const pieces: string[] = [];
  try {
    for await (const { type, payload } of stream.lines) {
      if (type === "eof") return;
      if (type === "error") throw streamFailure(payload);
      if (type !== "record") continue;
      const { text, more } = payload as { text: string; more?: boolean };
      pieces.push(text);
      if (more === true) continue;
      yield pieces.splice(0).join("");
    }
    throw daemonVanished();
  } finally {
    stream.close();
  }
}

/** The records that a fork has inherited from its ancestors, oldest first. */
export async function prefixesOf(
  call: Pick<Call, "host">,
  process: string,
  signal: AbortSignal,
): Promise<readonly Asked[]> {
  const prefixes: Asked[] = [];
  for (let name = process; prefixes.length < MAX_FORKS; ) {
    let first: JournalLine | undefined;
    for await (const text of readRecords(call, { process: name, to: 1 }, signal)) first ??= JSON.parse(text);
    if (first?.kind !== "process.forked") break;
    const { from, at } = first.body as { from: string; at: number };
    prefixes.unshift({ process: from, to: at });
    name = from;
  }
  return prefixes;
}
