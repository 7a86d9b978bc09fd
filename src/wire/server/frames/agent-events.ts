/**
 * What agents report of their runs, as events that every subscription gets within its rights. They are recorded from the
 * first subscription that wants them on: a daemon whose clients never ask pays nothing for each step.
 */
import type { KernelApi } from "../../../kernel/ports/kernel-api.ts";
import { toLine } from "../progress.ts";

const NAMES = ["agent.spawn", "agent.step", "agent.complete", "agent.error"];
/** The result of an agent beyond these characters is in its record alone. */
const MAX_RESULT = 32_768;
const PLAIN = { interactive: false, verbose: false, calls: false };

/** `wants`: whether a subscription matches a name. */
export function tellAgents(
  { runs, events }: Pick<KernelApi, "runs" | "events">,
  wants: (name: string) => boolean,
): void {
  if (!NAMES.some(wants)) return;
  runs.hear((event) => {
    const { pid } = event;
    const data = (toLine(event, PLAIN)?.payload ?? {}) as { readonly result?: string };
    const cut = data.result === undefined ? {} : { result: data.result.slice(0, MAX_RESULT) };
    const ids = { pid, intentId: `i_${pid}` };
    // a full disk refuses it: the run itself is in the journal's own records
    events.publish({ event: `agent.${event.event}`, ...ids, data: { ...data, ...cut } }).catch(() => {});
  });
}
