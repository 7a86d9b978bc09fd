import type { ProcessRow } from "../kernel/ports/journal.ts";
import type { SessionState, SessionView } from "../kernel/ports/sessions.ts";
import type { Process } from "../kernel/process/process.ts";
import { firstWords } from "./title.ts";

/** Its row, and what is known better of one that is in memory. */
export function viewOf(row: ProcessRow, live: Process | undefined): SessionView {
  const isHere = live !== undefined && live.seed.uuid === row.proc;
  return {
    pid: row.pid,
    uuid: row.proc,
    title: row.title || (isHere ? live.conversation?.title : "") || firstWords(row.intent),
    name: row.name,
    cwd: row.cwd,
    state: isHere ? liveState(live) : row.exit === null ? "resting" : "ended",
    createdAt: row.createdAt,
    lastAt: row.lastAt,
    tokensUsed: isHere ? Math.max(live.used.tokens, row.tokensUsed) : row.tokensUsed,
    turns: row.turns,
    isKept: row.isKept,
  };
}

function liveState(proc: Process): SessionState {
  if (!proc.isLive) return "ended";
  if (proc.halt.why !== null) return "paused";
  if (proc.halt.openAsks > 0) return "blocked";
  const { conversation } = proc;
  return conversation !== null && conversation.run === null ? "waiting" : "running";
}
