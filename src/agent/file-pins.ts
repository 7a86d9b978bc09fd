/** The texts that an agent file pins: in view from before the first request on, whatever is summarised later. */
import { codeOf, messageOf } from "../abi/errors.ts";
import { requestTurn } from "./asking.ts";
import type { Run } from "./run-state.ts";

/**
 * Called at each start of the program: a daemon that died after some of them leaves the rest to the next one. After the first
 * request it does nothing, so the user may unpin one. A fork has those of its parent in view.
 */
export async function pinFileTexts(run: Run): Promise<void> {
  const { sys, start, keeper, state } = run;
  if (state.requests > 0 || start.fork !== undefined) return;
  for (const text of start.agent?.manifest.pins ?? []) {
    const turn = await requestTurn(run);
    try {
      await keeper.pinOfFile(turn, text);
    } catch (error) {
      if (codeOf(error) !== "BUDGET") throw error;
      sys.log("warn", `not pinned, of the agent file: ${text.slice(0, 60)}: ${messageOf(error)}`);
    }
  }
}
