/** What a world's agents did is run again from their records before the world ends: no run of the suite may differ. */
import { DatabaseSync } from "node:sqlite";
import { Wire } from "./wire.ts";

/** The newest: a soak has thousands. */
const MOST = 64;

/** One line for each that differs. A world whose daemon or journal is gone tells nothing. */
export async function replayDifferences(socket: string, journal: string): Promise<string[]> {
  let wire: Wire;
  try {
    wire = await Wire.open(socket);
  } catch {
    return [];
  }
  try {
    const told: string[] = [];
    for (const pid of agentPids(journal)) {
      const reply = await wire.ask("process.replay", { pid });
      const { outcome, difference } = reply?.payload ?? {};
      if (outcome === "differs") told.push(`pid ${pid}: ${JSON.stringify(difference)}`);
      // what nobody can replay is no difference; what reaches out of its records is a fault of the replay
      else if (reply?.error?.message.includes("a replay reached for") === true)
        told.push(`pid ${pid}: ${reply.error.message}`);
    }
    return told;
  } finally {
    await wire.close();
  }
}

function agentPids(journal: string): number[] {
  try {
    using db = new DatabaseSync(journal, { readOnly: true });
    const newest =
      "SELECT pid FROM processes WHERE kind = 'agent' AND spawned_lsn IS NOT NULL ORDER BY pid DESC";
    return db
      .prepare(`${newest} LIMIT ${MOST}`)
      .all()
      .map(({ pid }) => Number(pid));
  } catch {
    return [];
  }
}
