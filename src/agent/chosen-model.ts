/**
 * Another model, chosen by the user: it takes over between two requests. The conversation stays as it is; what only the
 * model before could read is not sent to this one (model/in-use.ts).
 */
import { O_RDWR } from "../abi/device.ts";
import { messageOf } from "../abi/errors.ts";
import type { Fd } from "../abi/ids.ts";
import type { ChosenModel, ProgramStart } from "../abi/program.ts";
import { modelWords } from "../lib/text/model-words.ts";
import { requestTurn } from "./asking.ts";
import { unlearned, WindowKeeper } from "./context/keeper.ts";
import { bare, ownModel, release } from "./model/in-use.ts";
import { dropMedia } from "./refused-media.ts";
import type { Run } from "./run-state.ts";

/** Whether another model answers from now on, so that the position has to be recorded. */
export async function takeChosen(run: Run): Promise<boolean> {
  const { sys, start, model: before, keeper } = run;
  // a history from before models could be chosen
  if (start.chosen === undefined) return false;
  const chosen = sys.chosenModel();
  if (chosen === null || chosen.chosen === start.chosen) return false;
  const fd = await opened(run, chosen);
  if (fd === undefined) {
    run.start = { ...start, chosen: chosen.chosen };
    return true;
  }
  if (chosen.window !== undefined) await keeper.makeRoom(await requestTurn(run), chosen.window);
  await release(sys, before);
  await sys.close(start.modelFd).catch(() => undefined);
  run.start = startWith(start, chosen, fd);
  run.model = ownModel(run.start);
  run.state = { ...run.state, model: 0 };
  run.keeper = new WindowKeeper(run.start, unlearned(keeper.state));
  sys.switches({ from: bare(before), to: bare(run.model), cause: "user" });
  if (!chosen.images) await dropMedia(sys, start.ctxId, `${modelWords(run.model)} takes no images`);
  return true;
}

/** undefined: it cannot be opened, and the model before goes on. */
async function opened({ sys, model }: Run, { modelDevice: device, model: name }: ChosenModel) {
  try {
    return await sys.open(device, O_RDWR, sys.ending);
  } catch (error) {
    sys.ending.throwIfAborted();
    const words = modelWords({ device, model: name });
    sys.log("warn", `model: ${words} cannot answer, ${modelWords(model)} goes on: ${messageOf(error)}`);
    return undefined;
  }
}

function startWith(start: ProgramStart, chosen: ChosenModel, modelFd: Fd): ProgramStart {
  const { maker, thinking, effort, fallbacks, fallbackWindows, window, ...same } = start;
  const { images, ...model } = chosen;
  return { ...same, ...model, modelFd };
}
