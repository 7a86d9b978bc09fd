/**
 * A question of the user beside the conversation of a session: an internal fork answers it from what was said, while the session
 * goes on with its work. It may call nothing, pays from the account of the session, and leaves nothing in its context.
 */
import { unframed } from "../abi/child.ts";
import { Fault } from "../abi/errors.ts";
import type { ForkPrefix } from "../abi/fork.ts";
import { type Hosting, spawnProcess } from "../kernel/native/spawn-process.ts";
import type { Aside, AsideWish } from "../kernel/ports/sessions.ts";
import type { ViewControl } from "../kernel/ports/view-control.ts";
import type { Process } from "../kernel/process/process.ts";

/** What this needs of the kernel. */
export type Asking = Hosting & { readonly views: Pick<ViewControl, "ask"> };

/** A call is refused, and the model can say what it knows. */
const MOST_STEPS = 3;

export async function askAside(
  core: Asking,
  proc: Process,
  { text, detail, signal }: AsideWish,
): Promise<Aside> {
  core.journalWatch.check("Aside");
  const { pid, seed, isPaused } = proc;
  if (isPaused)
    throw new Fault({
      code: "CONFLICT",
      message: `process ${pid} is paused`,
      fact: { kind: "paused", pid },
    });
  const prefix = await prefixOf(core, proc, signal);
  let events: Aside["events"] | undefined;
  const made = (fork: Process): void => {
    events = fork.watchers.watch(undefined, detail);
  };
  const opts = {
    fork: { label: "aside", prefix },
    permissionMode: "dont_ask",
    maxTurns: MOST_STEPS,
    rights: { tools: [] },
  } as const;
  const request = { caller: proc, intent: directive(text), agent: seed.agent, opts, more: { onMade: made } };
  const fork = await spawnProcess(core, request, signal);
  return { pid: fork.pid, events: events as Aside["events"] };
}

/** Where it has made no request yet, its program says what one would begin with. */
async function prefixOf(core: Asking, proc: Process, signal: AbortSignal): Promise<ForkPrefix> {
  if (proc.asideOffer === null) await core.views.ask(proc.pid, { op: "offer" }, { signal });
  if (proc.asideOffer === null) throw new Error(`process ${proc.pid} offers no beginning`);
  return proc.asideOffer;
}

function directive(question: string): string {
  return `<crux-note>A question of the user beside the conversation: it goes on without your answer, and nothing of it stays there. \
Answer from what stands above and from what you know, in a few sentences. You can call no tool here: every call is refused. If \
something would have to be looked up, say so.</crux-note>\n\n${unframed(question)}`;
}
